"""Answers that come compressed although none was asked for: some gateways compress whatever a request says."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from common.outbound import Failed, Reply
from common.outbound_wire import CHUNK_BYTES, capped

CODINGS = ("gzip", "x-gzip", "deflate")
ANY_HEADER = 32 + zlib.MAX_WBITS  # zlib tells gzip and zlib apart


def plain(reply: Reply, max_bytes: int) -> Reply:
    """The reply with its body as it was before it was compressed, still capped. Its chunks raise Failed."""
    if reply.headers.get("Content-Encoding", "").strip().lower() not in CODINGS:
        return reply
    return replace(reply, chunks=capped(_inflated(reply.chunks), max_bytes))


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(ANY_HEADER)
    try:
        for chunk in chunks:
            rest = chunk
            while rest:
                yield inflater.decompress(rest, CHUNK_BYTES)
                rest = inflater.unconsumed_tail
        yield inflater.flush()
    except zlib.error as error:
        raise Failed("the answer is badly compressed", reason="network", was_sent=True) from error
    if not inflater.eof:
        raise Failed("the answer breaks off", reason="network", was_sent=True)
