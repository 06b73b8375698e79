"""`python -m bench`: runs the rows and prints the table. Exits with 1 if a row failed; a missed goal is no failure."""

import argparse
import sys
from pathlib import Path

from bench import peers, results, rows, runner, table
from bench.model import BenchRow
from bench.surroundings import Bench
from tools.stack import ROOT


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="short runs and smaller tables: all rows in ten minutes")
    parser.add_argument(
        "--only", metavar="NAME[,NAME]", default="", help="only rows whose names begin with these prefixes"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="add the figures of each round to this file")
    parser.add_argument("--tree", metavar="PATH", type=Path, default=ROOT, help="measure another checkout's service")
    parser.add_argument("--rounds", metavar="N", type=int, default=3)
    parser.add_argument("--list", action="store_true", help="list the rows and what they measure")
    return parser.parse_args()


def chosen(only: str) -> list[BenchRow]:
    """Returns the rows whose names begin with these prefixes. Exits if a prefix matches none."""
    every, wanted = rows.every(), [name for name in only.split(",") if name]
    for name in wanted:
        if not any(row.name.startswith(name) for row in every):
            sys.exit(f"bench: no row begins with {name!r}; --list names them")
    return [row for row in every if not wanted or any(row.name.startswith(name) for name in wanted)]


def say(line: str) -> None:
    print(line, flush=True)


def main() -> int:
    given = arguments()
    picked = chosen(given.only)
    if given.list:
        for row in picked:
            say(f"{row.name}: {row.what} (about {row.quick_seconds} s with --quick)")
        return 0
    found = []
    with Bench(tree=given.tree.resolve(), is_quick=given.quick, rounds=given.rounds) as bench:
        preparation = peers.Preparation({name: needs for row in picked for name, needs in row.peers.items()})
        for together in runner.groups(picked, is_quick=given.quick):
            if together[0].is_compared:
                preparation.wait()
            found += runner.run_beside(together, bench, say)
        versions = bench.versions()
    if given.json:
        results.merge(given.json, found, versions)
    say("\n" + table.text(zip(picked, found, strict=True)))
    return int(any(result.failed for result in found))


if __name__ == "__main__":
    sys.exit(main())
