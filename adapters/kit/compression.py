"""Answers that come compressed although none was asked for: some gateways compress whatever a request says."""

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import replace

from common.outbound import Failed, Reply
from common.outgoing.wire import CHUNK_BYTES, bounded

CODINGS = ("gzip", "x-gzip", "deflate")
ANY_HEADER = 32 + zlib.MAX_WBITS  # zlib tells gzip and zlib apart


def plain(reply: Reply, max_bytes: int) -> Reply:
    """The reply with its body as it was before it was compressed, still capped and in time. Its chunks raise Failed."""
    if reply.headers.get("Content-Encoding", "").strip().lower() not in CODINGS:
        return reply
    pieces = bounded(_inflated(reply.chunks), max_bytes, reply.deadline)
    return replace(reply, chunks=filter(None, pieces))


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What stands before the end of the compressed stream; what comes after it is not read any more: zlib would keep
    it, and copy all that it keeps for each further chunk. A piece may be empty: so much was read in vain."""
    inflater = zlib.decompressobj(ANY_HEADER)
    try:
        for chunk in chunks:
            rest = chunk
            while rest and not inflater.eof:
                yield inflater.decompress(rest, CHUNK_BYTES)
                rest = inflater.unconsumed_tail
            if inflater.eof:
                return
        yield inflater.flush()
    except zlib.error as error:
        raise Failed("the answer is badly compressed", reason="network", was_sent=True) from error
    if not inflater.eof:
        raise Failed("the answer breaks off", reason="network", was_sent=True)
