"""Runs the rounds of a row: each contender once in each round, in turn, so that all meet the same conditions."""

import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Any

from bench.model import BenchRow, Contest, Incorrect, Missing, Round, RowResult, Sample

Say = Callable[[str], None]


def one_round(contest: Contest, missing: dict[str, str], say: Say) -> Round:
    """Runs each contender that is not missing; one found to be missing is left out from then on."""
    samples: dict[str, Sample] = {}
    for name, contender in contest.items():
        if name in missing:
            continue
        try:
            samples[name] = contender()
        except Missing as error:
            missing[name] = str(error)
            say(f"  {name}: skipped: {error}")
        else:
            say(f"  {name}: " + ", ".join(f"{key} {value:,.4g}" for key, value in samples[name].figures.items()))
    return samples


def run(row: BenchRow, bench: Any, say: Say) -> RowResult:
    """Runs all rounds of a row. A failure fails only this row."""
    missing: dict[str, str] = {}
    started = time.monotonic()
    try:
        with row.contest(bench) as contest:
            rounds = []
            most = min(bench.rounds, row.rounds or bench.rounds)
            for n in range(most):
                say(f" {row.name}, round {n + 1} of {most}")
                rounds.append(one_round(contest, missing, say))
        return RowResult(name=row.name, rounds=tuple(rounds), missing=missing)
    except Missing as error:
        return RowResult(name=row.name, skipped=str(error))
    except Incorrect as error:
        return RowResult(name=row.name, failed=str(error))
    except Exception as error:
        say(traceback.format_exc())
        return RowResult(name=row.name, failed=f"{type(error).__name__}: {error}".splitlines()[0][:200])
    finally:
        say(f" {row.name}: {time.monotonic() - started:.0f} s")


def groups(rows: Sequence[BenchRow], *, is_quick: bool) -> Iterator[list[BenchRow]]:
    """Returns each row alone; in a quick run, consecutive rows that mostly wait are grouped."""
    for waits, those in groupby(rows, key=lambda row: row.waits and is_quick):
        listed = list(those)
        yield from [listed] if waits else [[row] for row in listed]


def run_beside(rows: Sequence[BenchRow], bench: Any, say: Say) -> list[RowResult]:
    """Runs rows concurrently; the output of each comes at its end."""

    def run_one(row: BenchRow) -> RowResult:
        said: list[str] = []
        result = run(row, bench, said.append)
        say("\n".join(said))
        return result

    if len(rows) == 1:
        return [run(rows[0], bench, say)]
    with ThreadPoolExecutor(len(rows)) as threads:
        return list(threads.map(run_one, rows))
