"""Rows of relayed calls beside LiteLLM's proxy in the same rounds: chats, pictures and streams, one process each.

Our service authenticates the key, reserves, and settles in PostgreSQL. LiteLLM knows one master key and keeps no books.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.model import OURS, BenchRow, Contest, Goal
from bench.relay import calls, litellm_proxy, started, streams
from bench.relay.contenders import DIRECT, LITELLM, Contenders
from bench.surroundings import Bench


@contextmanager
def relayed(
    bench: Bench, *, path: str, body: str, is_together: bool = False, is_alone: bool = False
) -> Iterator[Contest]:
    service = started.kept_service(bench)
    yield Contenders(
        bench=bench, service=service, path=path, body=body, is_together=is_together, is_alone=is_alone
    ).contest()


@contextmanager
def streamed(bench: Bench) -> Iterator[Contest]:
    service = started.kept_service(bench)
    yield {
        DIRECT: partial(streams.direct, bench),
        LITELLM: partial(streams.litellm, bench),
        OURS: partial(streams.ours, bench, service),
    }


TEN_TIMES = Goal(figure="rate", against=LITELLM, at_least=10)
PEERS = {litellm_proxy.NAME: litellm_proxy.REQUIREMENTS}
A_FIFTH = Goal(figure="added_ms", against=LITELLM, at_most=0.2)

ROWS = [
    BenchRow(
        name="relay-chat",
        what="relayed chat calls with key, reservation and settlement, c=16, one web process",
        goals=(TEN_TIMES,),
        quick_seconds=30,
        peers=PEERS,
        contest=partial(relayed, path=calls.CHAT_PATH, body=calls.CHAT_BODY, is_together=True),
    ),
    BenchRow(
        name="relay-chat-latency",
        what="excess of the median of single relayed chat calls over that of direct calls",
        goals=(A_FIFTH,),
        quick_seconds=15,
        peers=PEERS,
        contest=partial(relayed, path=calls.CHAT_PATH, body=calls.CHAT_BODY, is_alone=True),
    ),
    BenchRow(
        name="relay-images",
        what="relayed image calls, pictures of 24 KB: c=16, and one at a time",
        goals=(TEN_TIMES, A_FIFTH),
        quick_seconds=30,
        peers=PEERS,
        contest=partial(relayed, path=calls.IMAGES_PATH, body=calls.IMAGE_BODY, is_together=True, is_alone=True),
    ),
    BenchRow(
        name="relay-streams",
        what=f"{streams.STREAMS} chat streams at once in one web process, first bytes after the upstream's",
        goals=(
            Goal(figure="first_p50_ms", at_most=10.0, unit="ms"),
            Goal(figure="first_p95_ms", at_most=100.0, unit="ms"),
        ),
        quick_seconds=17,
        peers=PEERS,
        contest=streamed,
    ),
]
