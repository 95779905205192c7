"""A door is full of strangers: the right connection is dropped, and users still get in."""

import asyncio
import contextlib
import resource
import socket
import ssl
import tempfile
from pathlib import Path

import pytest
from parts import LONG, until

from isthmus.base import hostport
from isthmus.base.relay import Voice
from isthmus.doors import doorway as doorways
from isthmus.doors.admission import Limits
from isthmus.doors.doorway import Doorway
from isthmus.meeting.door import Door as GuestsDoor
from isthmus.meeting.door import dial
from isthmus.queues import partline
from isthmus.queues.door import Awaited, Door, Policy
from isthmus.run.portname import fresh


class Strangers:
    """Connections that say `first`, and then nothing."""

    def __init__(self, port: int, count: int, first: bytes = b"") -> None:
        self.all = []
        for _ in range(count):
            stranger = socket.create_connection(("127.0.0.1", port))
            if first:
                with contextlib.suppress(OSError):
                    stranger.sendall(first)
            self.all.append(stranger)

    def dropped(self) -> int:
        def gone(stranger: socket.socket) -> bool:
            stranger.setblocking(False)
            try:
                while stranger.recv(1 << 16):
                    pass
                return True
            except BlockingIOError:
                return False
            except OSError:
                return True

        return sum(map(gone, self.all))

    def close(self) -> None:
        for stranger in self.all:
            stranger.close()


def client_hello() -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    out = ssl.MemoryBIO()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(ssl.MemoryBIO(), out).do_handshake()
    return out.read()


HELLO = client_hello()


class Heard:
    """A doorway, or a door, with what it has said; tracebacks of the loop among that."""

    def __init__(self) -> None:
        self.said = []
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, context: self.said.append(str(context))
        )

    def say(self, sentence):
        self.said.append(sentence)


@contextlib.asynccontextmanager
async def a_queues_door(heard, key):
    async def over(cluster):
        return ""

    door = Door(Awaited(["east"]), key.lock, Policy(), heard.say, over)
    listening = hostport.listening(0)
    await door.open(listening)
    try:
        yield door, listening.getsockname()[1]
    finally:
        door.close()


OPENINGS = {
    "silent": (b"", 1100, doorways.Limits().of_network),
    "one byte": (b"\x16", 1100, doorways.Limits().of_network),
    "garbage": (b"GET / HTTP/1.1\r\n\r\n", 100, 0),
    "half a handshake": (HELLO, 100, doorways.NAMELESS.of_network),
}


@pytest.mark.parametrize("opening", OPENINGS)
def test_strangers_keep_nobody_out_of_the_door_of_a_job(key, tmp_path, opening):
    first, count, most = OPENINGS[opening]
    file = str(key.file(tmp_path, "east"))

    async def go():
        heard = Heard()
        async with a_queues_door(heard, key) as (door, port):
            strangers = await asyncio.to_thread(Strangers, port, count, first)
            come = asyncio.to_thread(
                partline.connect, [("127.0.0.1", port)], partline.Key(str(file)), LONG
            )
            stream = await come
            stream.sendall(b'{"op": "join", "cluster": "east"}\n')
            await until(lambda: door.guests)
            # After the user has come, its address has as many places again.
            await until(lambda: strangers.dropped() >= count - 2 * most)
            strangers.close()
            stream.close()
        assert [text for text in heard.said if "cluster east has come" in text]
        others = [text for text in heard.said if "cluster east" not in text]
        assert others == [text for text in others if "did not prove to belong here" in text]
        assert len(others) == 1

    asyncio.run(go())


def test_strangers_keep_nobody_out_of_the_door_for_guests():
    met = []

    async def go():
        heard = Heard()

        async def welcome(said, reader, writer):
            if not said["port"]:
                writer.write(b"no\n")
                writer.close()
                return False
            met.append((said, await reader.readline()))
            writer.write(b"yes\n")
            return True

        door = GuestsDoor(welcome, Voice(False))
        port = fresh("job", 1, await door.open("127.0.0.1", 0))
        number = int(port.at.partition("/")[0].rpartition(":")[2])
        strangers = [await asyncio.to_thread(Strangers, number, 100, f) for f in (b"", HELLO)]
        await until(lambda: strangers[1].dropped() >= 100 - 2 * doorways.NAMELESS.of_network)
        for known in (0, 1):
            reader, writer = await dial(port)
            writer.write(b'{"ask": "meet", "port": %d}\n%s\n' % (known, b"x" * 100_000))
            assert await reader.readline() == (b"yes\n" if known else b"no\n")
            writer.close()
        assert len(met[0][1]) > 100_000
        # Without its first line a connection ends, however much TLS it speaks.
        reader, writer = await dial(port)
        writer.write(b"x" * 100_000)
        with contextlib.suppress(OSError):
            assert await reader.read() == b""
        for each in strangers:
            each.close()
        door.close()
        assert heard.said == []

    asyncio.run(go())


def test_dropped_connections_wait_for_no_handshake(key, monkeypatch):
    monkeypatch.setattr(doorways._Handshakes, "begin_one", lambda self: None)

    async def go():
        heard = Heard()
        async with a_queues_door(heard, key) as (door, port):
            most = doorways.Limits().of_network
            strangers = await asyncio.to_thread(Strangers, port, most + 100, HELLO)
            await until(lambda: strangers.dropped() == 100)
            (waiting,) = door._doorway._nameless.waiting.values()
            assert len(waiting) <= most
            strangers.close()

    asyncio.run(go())


@pytest.mark.parametrize("knows", ["part", "stranger"])
def test_handshakes_of_those_who_do_not_name_the_door_begin_at_a_bounded_rate(
    key, tmp_path, monkeypatch, knows
):
    """The first may begin at once, and no other. A caller that names the door waits for none of
    them."""
    monkeypatch.setattr(doorways, "NAMELESS_A_SECOND", 1e-3)
    begun = []
    begin_one = doorways._Handshakes.begin_one
    monkeypatch.setattr(
        doorways._Handshakes, "begin_one", lambda self: (begun.append(self), begin_one(self))
    )
    file = str(key.file(tmp_path, "east"))
    if knows == "stranger":
        monkeypatch.setattr(partline, "server_name", lambda path: "a" * 32)

    async def go():
        heard = Heard()
        async with a_queues_door(heard, key) as (door, port):
            strangers = await asyncio.to_thread(Strangers, port, 20, HELLO)
            nameless = door._doorway._nameless
            await until(lambda: sum(map(len, nameless.waiting.values())) == 19)
            come = asyncio.create_task(
                asyncio.to_thread(
                    partline.connect, [("127.0.0.1", port)], partline.Key(str(file)), 0
                )
            )
            if knows == "part":
                (await come).close()
                assert begun.count(door._doorway._users) == 1
            else:
                await until(lambda: sum(map(len, nameless.waiting.values())) == 20)
            assert begun.count(nameless) == 1
            strangers.close()
        if knows == "stranger":
            with pytest.raises(partline.JoinError):
                await come

    asyncio.run(go())


def test_door_and_parts_agree_on_the_name_of_the_door(key, tmp_path):
    file = str(key.file(tmp_path, "east"))
    assert partline.server_name(file) in key.lock.names


@contextlib.asynccontextmanager
async def a_doorway(heard, listening, **more):
    kept = []

    async def greet(first, place):
        reader, writer = await first.streams(1 << 16)
        if await reader.readline() == b"proof\n":
            place.proved()
            writer.write(b"welcome\n")
            kept.append(writer)

    doorway = Doorway(greet=greet, say=heard.say, tell=heard.say, **more)
    doorway.listen(listening)
    try:
        yield doorway
    finally:
        doorway.close()


def test_who_proves_nothing_in_time_is_dropped(monkeypatch):
    monkeypatch.setattr(doorways, "PATIENCE", 0.2)

    async def go():
        heard = Heard()
        listening = hostport.listening(0)
        async with a_doorway(heard, listening):
            at = ("127.0.0.1", listening.getsockname()[1])
            good = await asyncio.open_connection(*at)
            good[1].write(b"proof\n")
            assert await good[0].readline() == b"welcome\n"
            slow = await asyncio.open_connection(*at)
            slow[1].write(b"p")
            with contextlib.suppress(OSError):
                assert await slow[0].read() == b""
            assert not good[0].at_eof()
            for _, writer in (good, slow):
                writer.close()

    asyncio.run(go())


def test_unix_sockets():
    async def go():
        heard = Heard()
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            path = Path(folder) / "door"
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(str(path))
            listening.listen()
            few = Limits(total=8, of_network=4, of_site=4)
            async with a_doorway(heard, listening, limits=few):
                silent = [await asyncio.open_unix_connection(path) for _ in range(6)]
                reader, writer = await asyncio.open_unix_connection(path)
                writer.write(b"proof\n")
                assert await reader.readline() == b"welcome\n"
                await until(lambda: sum(reader.at_eof() for reader, _ in silent) == 3)
                for _, each in [*silent, (reader, writer)]:
                    each.close()
        assert len(heard.said) == 1
        assert "user" in heard.said[0]

    asyncio.run(go())


def test_no_more_files_is_said_once_and_waited_out():
    async def go():
        heard = Heard()
        listening = hostport.listening(0)
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        async with a_doorway(heard, listening):
            client = socket.create_connection(("127.0.0.1", listening.getsockname()[1]))
            client.sendall(b"proof\n")
            resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
            try:
                await until(lambda: heard.said)
                await asyncio.sleep(3 * doorways._PAUSE)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, limits)
            assert len(heard.said) == 1
            assert (
                "Too many open files; this process may open 3, more by `ulimit -n`" in heard.said[0]
            )
            reader, writer = await asyncio.open_connection(sock=client)
            assert await reader.readline() == b"welcome\n"
            writer.close()

    asyncio.run(go())
