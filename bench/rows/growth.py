"""Measures what a large table costs: the same steps with many and with few ended tasks, in turn."""

import http.client
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bench import claimer, clones, crew, limits, offers, seed
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Sample
from bench.service import BenchService
from bench.surroundings import Bench
from bench.talks import Talk, talking

SEEDED = 1_000
FEW = 10_000
MANY, QUICK_MANY = 10_000_000, 1_000_000
TIMES = 40
STEPS = ("submit_ms", "claim_ms", "get_ms", "list_ms", "filter_ms")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A service with one connection as the first account, which owns all tasks but the seed's, and a process that
    claims."""

    tasks: int
    prefix: str
    service: BenchService
    client: http.client.HTTPConnection
    claims: Talk

    def ask(self, method: str, path: str, body: object = None) -> tuple[float, bytes]:
        """Makes a request; returns milliseconds and answer. Raises Incorrect unless it is a 2xx."""
        headers = {"Authorization": seed.authorizations(1)[0], "Content-Type": "application/json"}
        started = time.perf_counter()
        self.client.request(method, path, json.dumps(body) if body else None, headers)
        answer = self.client.getresponse()
        said = answer.read()
        milliseconds = (time.perf_counter() - started) * 1000
        if not 200 <= answer.status < 300:
            raise Incorrect(f"{method} {path.partition('?')[0]} was answered {answer.status}: {said[:200]!r}")
        return milliseconds, said

    def submit(self, number: int) -> float:
        return self.ask("POST", "/v1/tasks", offers.IMAGE)[0]

    def claim(self, number: int) -> float:
        return float(self.claims.ask("1").split()[0]) * 1000

    def read(self, number: int) -> float:
        """Reads an ended task; the numbers spread over the whole table."""
        picked = SEEDED + number * (self.tasks - SEEDED) // TIMES
        return self.ask("GET", f"/v1/tasks/{self.prefix}{picked:0{clones.DIGITS}d}")[0]

    def list(self, number: int) -> float:
        return self.ask("GET", "/v1/tasks?limit=20")[0]

    def filter(self, number: int) -> float:
        return self.ask("GET", "/v1/tasks?limit=20&status=succeeded&modality=image")[0]

    def steps(self) -> Mapping[str, Callable[[int], float]]:
        """Returns a function for each figure, which runs its step and returns milliseconds."""
        return dict(zip(STEPS, (self.submit, self.claim, self.read, self.list, self.filter), strict=True))


class Race:
    """Two sides that alternate single steps, so that a busy machine slows both alike."""

    def __init__(self, small: Side, large: Side) -> None:
        self.sides = (small, large)
        self._of_large = Sample(figures={})

    def run(self) -> Sample:
        """Returns the small side's medians; `large` returns the other's."""
        found: dict[str, tuple[float, float]] = {}
        for figure in STEPS:
            taken = [[side.steps()[figure](number) for side in self.sides] for number in range(TIMES)]
            small, large = zip(*taken, strict=True)
            found[figure] = median(small), median(large)
        self._of_large = Sample(figures={figure: large for figure, (_, large) in found.items()})
        return Sample(figures={figure: small for figure, (small, _) in found.items()})

    def large(self) -> Sample:
        return self._of_large


@contextmanager
def side(bench: Bench, tasks: int) -> Iterator[Side]:
    with bench.database(tasks=SEEDED) as url, crew.started(bench, url, offers.instant()) as service:
        clones.grow(url, SEEDED, tasks)
        service.start_web()
        client = http.client.HTTPConnection(urlsplit(service.base_url).netloc, timeout=crew.PATIENCE)
        program = [str(bench.python), "-P", str(Path(claimer.__file__))]
        log = service.folder / "claims.log"
        with talking(program, folder=bench.tree, environment=service.environment, log=log) as claims:
            claims.heard()
            yield Side(tasks=tasks, prefix=clones.seeded_prefix(url), service=service, client=client, claims=claims)
        client.close()  # a stopping web process gives open connections a moment
        crew.check(service)


@contextmanager
def growth(bench: Bench) -> Iterator[Contest]:
    many = QUICK_MANY if bench.is_quick else MANY
    longest = 600 if bench.is_quick else 3_600
    with limits.within(longest), side(bench, FEW) as small, side(bench, many) as large:
        race = Race(small, large)
        race.run()
        yield {"small": race.run, OURS: race.large}


ROWS = [
    BenchRow(
        name="growth",
        what=f"steps with {MANY:,} ended tasks ({QUICK_MANY:,} with --quick) against those with {FEW:,}",
        goals=tuple(Goal(figure=step, against="small", at_most=1.3) for step in STEPS),
        quick_seconds=40,
        contest=growth,
    )
]
