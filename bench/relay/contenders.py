"""Contenders of a row of relayed calls: the upstream itself, LiteLLM and our service, each with the same call."""

from dataclasses import dataclass, field

from bench import load
from bench.model import OURS, Contest, Incorrect, Load, LoadPlan, Sample
from bench.relay import books, started, upstream
from bench.service import BenchService
from bench.surroundings import Bench

DIRECT, LITELLM = "direct", "LiteLLM"
TOGETHER, ALONE = 16, 1
WARM_SECONDS, WARM_CALLS, MOST_WARM_RUNS = 1, 40, 30


@dataclass(slots=True, kw_only=True)
class Contenders:
    """One kind of call, made over 16 connections (`is_together`), over one (`is_alone`), or both in turn.

    Figures are rate, p50_ms and p99_ms over 16 connections; over one, p50_ms_c1, and added_ms: the excess over the
    direct call in the same round. CPU is that of a call, without the load generator and the upstream.
    """

    bench: Bench
    service: BenchService
    path: str
    body: str
    is_together: bool = False
    is_alone: bool = False
    direct_ms: float = 0.0
    warm: set[str] = field(default_factory=set)

    def contest(self) -> Contest:
        return {DIRECT: self.direct, LITELLM: self.litellm, OURS: self.ours}

    def direct(self) -> Sample:
        plan = self.plan(started.kept_upstream(self.bench).url, upstream.KEY)
        found = self.loads(plan, share=0.5)
        self.direct_ms = found[-1].p50_ms
        return Sample(figures=self.figures(found))

    def litellm(self) -> Sample:
        """Measures LiteLLM. Raises Missing."""
        proxy = started.kept_proxy(self.bench)
        with proxy.awake():
            plan = self.plan(proxy.url, proxy.master_key)
            self.once(LITELLM, plan)
            spent = proxy.cpu_seconds()
            found = self.loads(plan)
            spent = proxy.cpu_seconds() - spent
        figures = self.figures(found)
        return Sample(figures={**figures, "cpu_ms": spent * 1000 / sum(each.answered for each in found)})

    def ours(self) -> Sample:
        """Measures our service and checks the books. Raises Incorrect."""
        plan = self.plan(self.service.base_url, *started.keys())
        self.once(OURS, plan)
        books.settle(self.service)
        before, spent = books.counts(self.service), self.service.spent()
        found = self.loads(plan)
        books.settle(self.service)
        answered = sum(each.answered for each in found)
        cpu = self.service.spent().since(spent).each(answered)
        books.check(self.service, before=before, answered=answered, in_flight=TOGETHER + ALONE)
        return Sample(figures={**self.figures(found), **cpu})

    def once(self, name: str, plan: LoadPlan) -> None:
        """Makes a first call, so that no figure includes imports, connections and caches. Raises Incorrect."""
        if name in self.warm:
            return
        self.warm.add(name)
        answered = 0
        for _ in range(MOST_WARM_RUNS):
            answered += self.load(plan, connections=4, seconds=WARM_SECONDS).answered
            if answered >= WARM_CALLS:
                return
        raise Incorrect(f"{name} answers nothing")

    def plan(self, url: str, *keys: str) -> LoadPlan:
        authorizations = tuple(f"Bearer {key}" for key in keys)
        return LoadPlan(url=url, method="POST", paths=(self.path,), body=self.body, authorizations=authorizations)

    def seconds(self, connections: int) -> float:
        return self.bench.seconds if connections == TOGETHER else self.bench.seconds / 2

    def load(self, plan: LoadPlan, *, connections: int, seconds: float) -> Load:
        return load.run(plan, connections=connections, seconds=seconds, folder=self.bench.folder)

    def loads(self, plan: LoadPlan, *, share: float = 1.0) -> list[Load]:
        """Runs the load over 16 connections, then over one, for a share of the usual time. Raises Incorrect if an
        answer was not 2xx."""
        wanted = [TOGETHER] * self.is_together + [ALONE] * self.is_alone
        found = [self.load(plan, connections=each, seconds=share * self.seconds(each)) for each in wanted]
        if not all(each.answered and not each.refused for each in found):
            raise Incorrect(f"{sum(each.refused for each in found)} answers were not 2xx")
        return found

    def figures(self, found: list[Load]) -> dict[str, float]:
        first, last = found[0], found[-1]
        together = {"rate": first.rate, "p50_ms": first.p50_ms, "p99_ms": first.p99_ms}
        alone = {"p50_ms_c1": last.p50_ms, "added_ms": last.p50_ms - self.direct_ms}
        return {**(together if self.is_together else {}), **(alone if self.is_alone else {})}
