"""Rows of the web processes on PostgreSQL: submissions of many accounts and of one, the latency of one, GET."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench import correctness, load, naive_reference, processor, seed
from bench.anchors import databases, pgbench, script
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Load, LoadPlan, Sample
from bench.service import BenchService
from bench.surroundings import ACCOUNTS, Bench
from tools.children import Child

STEP_MANY = "pgbench step by step, many, c=4"
STEP_HOT = "pgbench step by step, hot, c=4"
PIPELINE_MANY = "pgbench pipeline, many, c=16"
PIPELINE_HOT = "pgbench pipeline, hot, c=4"
NAIVE = "naive Django, c=4"
NAIVE_GET = "naive Django, c=16"
BARE = "bare psycopg, c=1"
CONNECTIONS = 64
BODY = f'{{"model": "aurora-image", "modality": "image", "params": {script.BODY}}}'


def plan(url: str, *, accounts: int = ACCOUNTS, prompt: str = "") -> LoadPlan:
    """Plans submissions of the accounts in turn, each with its own Idempotency-Key; prompts begin with `prompt`."""
    keys = tuple(seed.authorizations(accounts))
    body = BODY.replace('"prompt": "', f'"prompt": "{prompt}')
    return LoadPlan(url=url, method="POST", paths=("/v1/tasks",), body=body, authorizations=keys, is_unique=True)


def figures(found: Load) -> dict[str, float]:
    return {"rate": found.rate, "p50_ms": found.p50_ms, "p99_ms": found.p99_ms}


def submit(bench: Bench, service: BenchService, *, accounts: int, connections: int, prompt: str = "") -> Sample:
    """Runs our service once, and checks the result. Raises Incorrect."""
    before, spent = correctness.counts(service.database_url), service.spent()
    found = load.run(
        plan(service.base_url, accounts=accounts, prompt=prompt),
        connections=connections,
        seconds=bench.seconds,
        folder=bench.folder,
    )
    correctness.settle(service)
    cpu = service.spent().since(spent).each(found.answered)
    correctness.check(service, before=before, answered=found.answered, refused=found.refused, in_flight=connections)
    return Sample(figures={**figures(found), **cpu})


def warm(bench: Bench, url: str, *, prompt: str = "") -> None:
    """Sends a little load, so that no round pays for imports, connections and snapshots."""
    load.run(plan(url, prompt=prompt), connections=8, seconds=1, folder=bench.folder)


def start_web(bench: Bench, service: BenchService, *, prompt: str = "") -> None:
    """Starts two web processes and warms them up. Tasks with this prompt are left for workers that start later."""
    warm(bench, service.start_web().url, prompt=prompt)
    correctness.settle(service)


def naively(bench: Bench, naive: Child, plan: LoadPlan, *, connections: int) -> Sample:
    """Runs the naive reference once."""
    pids = (naive.process.pid, bench.databases.pid)
    spent = sum(map(processor.seconds, pids))
    found = load.run(plan, connections=connections, seconds=bench.script_seconds, folder=bench.folder)
    cpu = (sum(map(processor.seconds, pids)) - spent) * 1000 / max(1, found.answered)
    return Sample(figures={**answered(found).figures, "cpu_ms": cpu})


def answered(found: Load) -> Sample:
    """Raises Incorrect if an answer was not 2xx."""
    if found.refused or not found.answered:
        raise Incorrect(f"{found.refused} answers were not 2xx, {found.answered} were")
    return Sample(figures=figures(found))


@contextmanager
def many(bench: Bench) -> Iterator[Contest]:
    with (
        bench.database() as url,
        databases.on_postgresql(bench) as anchor,
        naive_reference.running(bench) as naive,
        bench.service(url) as service,
    ):
        start_web(bench, service)
        warm(bench, naive.url)
        yield {
            STEP_MANY: lambda: pgbench.run(bench, anchor, "step", clients=4, accounts=ACCOUNTS),
            OURS: lambda: submit(bench, service, accounts=ACCOUNTS, connections=CONNECTIONS),
            NAIVE: lambda: naively(bench, naive, plan(naive.url), connections=4),
            PIPELINE_MANY: lambda: pgbench.run(bench, anchor, "pipeline", clients=16, accounts=ACCOUNTS),
        }


@contextmanager
def hot(bench: Bench, *, emulated: bool = False) -> Iterator[Contest]:
    with bench.database() as url, databases.on_postgresql(bench) as anchor, bench.service(url) as service:
        if emulated:
            bench.databases.emulate_flush(url)
            bench.databases.emulate_flush(anchor)
        start_web(bench, service)
        contest = {
            STEP_HOT: lambda: pgbench.run(bench, anchor, "step", clients=4, accounts=1),
            OURS: lambda: submit(bench, service, accounts=1, connections=CONNECTIONS),
        }
        if not emulated:
            contest[PIPELINE_HOT] = lambda: pgbench.run(bench, anchor, "pipeline", clients=4, accounts=1)
        yield contest


@contextmanager
def hot_on_a_slow_disk(bench: Bench) -> Iterator[Contest]:
    with hot(bench, emulated=True) as contest:
        yield contest


@contextmanager
def latency(bench: Bench) -> Iterator[Contest]:
    with bench.database() as url, databases.on_postgresql(bench) as anchor, bench.service(url) as service:
        start_web(bench, service)
        yield {
            BARE: lambda: script.bare_psycopg(anchor, accounts=ACCOUNTS, seconds=bench.script_seconds),
            OURS: lambda: submit(bench, service, accounts=ACCOUNTS, connections=1),
        }


def read(bench: Bench, service: BenchService, plan: LoadPlan) -> Sample:
    spent = service.spent()
    found = load.run(plan, connections=16, seconds=bench.seconds, folder=bench.folder)
    return Sample(figures={**answered(found).figures, **service.spent().since(spent).each(found.answered)})


@contextmanager
def get(bench: Bench) -> Iterator[Contest]:
    with bench.database() as url, naive_reference.running(bench) as naive, bench.service(url) as service:
        start_web(bench, service)
        warm(bench, naive.url)
        keys = tuple(seed.authorizations(ACCOUNTS))
        # Tasks are dealt to the accounts in turn, on both sides.
        ids = [task for (task,) in correctness.fetch(url, f"SELECT id FROM tasks_task ORDER BY id LIMIT {ACCOUNTS}")]
        ours = LoadPlan(
            url=service.base_url,
            paths=tuple(f"/v1/tasks/{task}" for task in ids),
            authorizations=keys,
        )
        theirs = LoadPlan(
            url=naive.url, paths=tuple(f"/v1/tasks/{n + 1}" for n in range(ACCOUNTS)), authorizations=keys
        )
        yield {
            NAIVE_GET: lambda: naively(bench, naive, theirs, connections=16),
            OURS: lambda: read(bench, service, ours),
        }


ROWS = [
    BenchRow(
        name="submissions-many",
        what="submissions over HTTP, 1,000 accounts, c=64, two web processes, PostgreSQL",
        goals=(
            Goal(figure="rate", against=STEP_MANY, at_least=1),
            Goal(figure="rate", against=NAIVE, at_least=6),
            Goal(figure="rate", against=PIPELINE_MANY, at_least=0.7, is_stretch=True),
        ),
        quick_seconds=30,
        contest=many,
    ),
    BenchRow(
        name="submissions-hot",
        what="submissions of one hot account",
        goals=(
            Goal(figure="rate", against=STEP_HOT, at_least=1.8),
            Goal(figure="rate", against=PIPELINE_HOT, at_least=1, is_stretch=True),
        ),
        quick_seconds=22,
        contest=hot,
    ),
    BenchRow(
        name="submissions-hot-flush",
        what="submissions of one hot account, where each flush takes 1 ms more (commit_delay)",
        goals=(Goal(figure="rate", against=STEP_HOT, at_least=3),),
        quick_seconds=20,
        contest=hot_on_a_slow_disk,
    ),
    BenchRow(
        name="latency",
        what="one submission at a time: its median against the same statements on a bare connection",
        goals=(Goal(figure="p50_ms", against=BARE, at_most=2),),
        quick_seconds=20,
        contest=latency,
    ),
    BenchRow(
        name="get",
        what="GET of a task, c=16, two web processes, PostgreSQL",
        goals=(Goal(figure="rate", against=NAIVE_GET, at_least=2.5),),
        quick_seconds=20,
        contest=get,
    ),
]
