"""The last of a refused connection, on real sockets and a clock of its own."""

import asyncio
import socket
import struct
from contextlib import suppress

from front.server.farewell import Farewell
from front.server.places import ConnectionLimits, Places
from tests.front.virtual_time import seconds_of


class Owner(asyncio.Protocol):
    def __init__(self) -> None:
        self.lost = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc):
        self.lost.set_result(exc)


async def farewell() -> tuple[Owner, socket.socket]:
    """A connection that was said farewell on, and its peer."""
    ours, peer = socket.socketpair()
    peer.setblocking(False)
    transport, owner = await asyncio.get_running_loop().create_connection(Owner, sock=ours)
    Farewell(transport, b"bye", places=places(), after=owner)
    return owner, peer


def places() -> Places:
    return Places(asyncio.get_running_loop(), ConnectionLimits(room=1))


def test_a_peer_that_has_reset_the_connection_ends_it_quietly():
    async def part():
        with socket.create_server(("127.0.0.1", 0)) as listener:
            peer = socket.create_connection(listener.getsockname())
            ours, _ = listener.accept()
        transport, owner = await asyncio.get_running_loop().create_connection(Owner, sock=ours)
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.close()
        Farewell(transport, b"", places=places(), after=owner)
        await owner.lost

    assert seconds_of(part()) == 0.0


def test_the_words_arrive_and_our_end_follows_them():
    async def part():
        _, peer = await farewell()
        with peer:
            loop = asyncio.get_running_loop()
            assert [await loop.sock_recv(peer, 9), await loop.sock_recv(peer, 9)] == [b"bye", b""]

    asyncio.run(part())


def test_a_peer_that_stays_is_cut_off_after_two_seconds():
    async def part():
        owner, peer = await farewell()
        with peer:
            await owner.lost

    assert seconds_of(part()) == 2.0


def test_a_peer_that_drips_is_cut_off_after_two_seconds():
    async def part():
        owner, peer = await farewell()
        with peer:
            while not owner.lost.done():
                with suppress(BrokenPipeError):
                    peer.send(b"x")
                await asyncio.sleep(0.5)

    assert seconds_of(part()) in (2.0, 2.5)


def test_a_peer_that_writes_a_mebibyte_is_cut_off_at_once():
    async def part():
        owner, peer = await farewell()
        with peer, suppress(BrokenPipeError):
            for _ in range(64):
                await asyncio.get_running_loop().sock_sendall(peer, bytes(65_536))
        await owner.lost

    assert seconds_of(part()) == 0.0


def test_a_peer_that_leaves_ends_it():
    async def part():
        owner, peer = await farewell()
        peer.close()
        await owner.lost

    assert seconds_of(part()) == 0.0
