"""Task queues to compare workers with, each in an environment of its own: what they need and how to run them."""

import json
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench import peers
from bench.lateness import percentile
from bench.model import Incorrect, Missing, Sample
from bench.surroundings import Bench, tool

LONGEST_RUN = 90.0
PICKED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A queue to compare with; `needs` are programs that it requires."""

    program: str
    requirements: tuple[str, ...]
    jobs: int
    needs: tuple[str, ...] = ()


PEERS: Mapping[str, Peer] = {
    "pgqueuer": Peer(program="pgqueuer_peer.py", requirements=("pgqueuer==1.6.0", "asyncpg==0.32.0"), jobs=10_000),
    "procrastinate": Peer(
        program="procrastinate_peer.py",
        requirements=("procrastinate==3.10.0", "psycopg[binary,pool]==3.3.9"),
        jobs=800,
    ),
    "celery": Peer(
        program="celery_peer.py",
        requirements=("celery==5.7.0", "redis==8.1.0", "packaging==26.3"),
        jobs=2_000,
        needs=("redis-server",),
    ),
}
"""Versions as in docs/performance.md. Celery's own extra for Redis resolves to an old kombu, and lacks packaging."""


def contender(bench: Bench, name: str) -> Callable[[], Sample]:
    """Returns a function that runs this peer; its first run also measures the pick-up time."""
    pickups = iter([PICKED])
    return lambda: run(bench, name, pickups=next(pickups, 0))


def run(bench: Bench, name: str, *, pickups: int) -> Sample:
    """Runs no-op jobs through one worker of this peer, then single ones. Raises Missing and Incorrect."""
    peer = PEERS[name]
    for program in peer.needs:
        tool(program)
    python = peers.python(name, *peer.requirements)
    url = bench.databases.empty("peer")
    script = Path(__file__).parent / peer.program
    arguments = ["--url", url, "--jobs", str(peer.jobs), "--pickups", str(pickups)]
    try:
        answer = subprocess.run(
            [python, script, *arguments], capture_output=True, text=True, timeout=LONGEST_RUN, check=True
        )
    except subprocess.TimeoutExpired as error:
        raise Incorrect(f"{name} took too long") from error
    except subprocess.CalledProcessError as error:
        raise Missing(f"{name} that runs: {error.stderr.strip()[-200:]}") from error
    finally:
        bench.databases.drop(url)
    return sample(json.loads(answer.stdout))


def sample(told: Mapping[str, object]) -> Sample:
    """Converts the output of a peer's program."""
    rate, cpu, waited = told["jobs_per_second"], told["cpu_per_job"], told["pickup_ms"]
    if not isinstance(rate, float) or not isinstance(cpu, float) or not isinstance(waited, list):
        raise Incorrect(f"a peer printed {told}")
    figures = {"rate": rate, "cpu_ms": cpu * 1000}
    if waited:
        figures |= {"p50_ms": median(waited), "p99_ms": percentile(waited, 0.99)}
    return Sample(figures=figures)
