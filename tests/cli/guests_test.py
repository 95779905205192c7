"""Runs that meet: names of ports, the line between launchers, and who is a guest as what."""

import asyncio
import contextlib
import hashlib
import hmac
import struct
from types import SimpleNamespace

import pytest

from isthmus.base.errors import RunError, UsageError
from isthmus.grid.grid import ClusterSpec
from isthmus.meeting import calls, door, ways
from isthmus.meeting.guests import Guests
from isthmus.place.placement import Block, Part
from isthmus.place.plan import ClusterPlan
from isthmus.run import portname
from isthmus.run.growing import Growing
from isthmus.run.wire import RefusedError, Wire


def test_the_name_of_a_port_says_where_and_is_short():
    port = portname.fresh("isthmus-0123abcd", 7, "h" * 100 + ":65535/" + 32 * "f")
    assert portname.parse(str(port)) == port
    assert len(str(port)) < 256
    assert portname.shown(str(port)) == "isthmus:isthmus-0123abcd/7"
    assert str(portname.fresh("job", 1)) != str(portname.fresh("job", 1))


@pytest.mark.parametrize(
    "text", ["", "isthmus:", "tag#0$description", "isthmus:a/1", "isthmus:../a/1/" + 32 * "0"]
)
def test_what_is_no_port_of_isthmus(text):
    assert portname.parse(text) is None


@pytest.mark.parametrize("text", ["", ":80", "host:", "host:x", "host:70000", "[::1"])
def test_where_guests_cannot_come(text):
    with pytest.raises(UsageError):
        portname.place_of(text)
    assert portname.place_of("host") == ("host", 0)
    assert portname.place_of("[::1]:80") == ("::1", 80)
    assert portname.place_of("::1") == ("::1", 0)


async def wires(serve):
    """Two ends of a line, of which one serves; and what they have told of their ends."""
    over = []
    served = asyncio.get_running_loop().create_future()

    async def take(reader, writer):
        wire = Wire(reader, writer, serve, lambda: over.append("server"))
        wire.start()
        served.set_result(wire)

    async def nothing(message):
        return {}

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    asking = Wire(reader, writer, nothing, lambda: over.append("asking"))
    asking.start()
    serving = await served
    server.close()
    return asking, serving, over


def test_questions_are_answered_in_any_order_and_end_with_the_line():
    late = None

    async def serve(message):
        if message["do"] == "wait":
            await late.wait()
        if message["do"] == "refuse":
            raise RefusedError("port", "there is no such port")
        return {"said": message["do"]}

    async def both():
        nonlocal late
        late = asyncio.Event()
        asking, serving, over = await wires(serve)
        waiting = asyncio.create_task(asking.ask("wait"))
        assert (await asking.ask("other"))["said"] == "other"
        with pytest.raises(RefusedError) as refused:
            await asking.ask("refuse")
        assert (refused.value.error, refused.value.sentence) == ("port", "there is no such port")
        late.set()
        assert (await waiting)["said"] == "wait"
        late.clear()
        waiting = asyncio.create_task(asking.ask("wait"))
        await asyncio.sleep(0)
        serving.close()
        with pytest.raises(RunError):
            await waiting
        with contextlib.suppress(RunError):
            await asking.ask("more")
        assert sorted(over) == ["asking", "server"]

    asyncio.run(both())


class Steps:
    def machine(self, cluster):
        return {"arch": f"arch{cluster}"}


def guests_of(run):
    east = ClusterPlan("east", ClusterSpec(), Block("east", 0, [(3, Part(["a"]))]))
    plan = SimpleNamespace(job="job-1", clusters=[east], size=3, grown=[])
    growing = Growing(plan, [], Steps(), None)
    return growing, Guests(run, growing, [], None, "")


def test_guests_follow_all_others_and_are_admitted_once():
    growing, guests = guests_of("job-2")
    west = {"name": "west", "first": 0, "size": 2, "arch": "z80", "long_double": ""}
    asyncio.run(guests.admit([west], like=0))
    asyncio.run(guests.admit([west, west | {"name": "west/1", "first": 2, "size": 1}], like=0))
    assert [guests.node(there) for there in range(3)] == [3, 4, 5]
    assert [growth.cluster.name for growth in growing.growths] == ["west@job-2", "west/1@job-2"]
    assert [growth.index for growth in growing.growths] == [1, 2]
    told = growing.growths[0].json({"arch": "ours"})
    assert (told["run"], told["there"], told["arch"]) == ("job-2", 0, "z80")
    assert [cluster["name"] for cluster in growing.own()] == ["east"]
    assert growing.home(2) == 0
    for wrong in (lambda: guests.node(3), lambda: growing.home(3)):
        with pytest.raises(RunError):
            wrong()


@pytest.mark.parametrize(
    "entry", [None, {}, {"name": "w", "first": -1, "size": 1}, {"name": "w", "first": 0, "size": 0}]
)
def test_what_is_no_cluster_is_not_admitted(entry):
    growing, guests = guests_of("job-2")
    with pytest.raises(RunError):
        asyncio.run(guests.admit([entry], like=0))
    assert growing.growths == []


# -- services and relays by which runs reach each other --------------------------------------------


def test_the_name_of_a_port_by_a_service_is_short_too_and_shows_no_secret():
    at = "service:" + "h" * 40 + ":65535/" + "k" * 20 + "/" + 64 * "e" + "/" + 32 * "f"
    port = portname.fresh("isthmus-0123abcd", 999999999, at)
    assert portname.parse(str(port)) == port
    assert len(str(port)) < 256
    assert port.place == "service:" + "h" * 40 + ":65535"


def test_services_of_another_run_that_are_none_are_left_out():
    good = {"at": "r:7500", "name": "k/j.guests", "secret": "00ff"}
    wrong = [None, {}, good | {"secret": "0x"}, good | {"name": 256 * "n"}, good | {"at": ""}]
    told = ways.read([*wrong, good | {"more": 1}] + 40 * [good], [1, "why"])
    assert told.services == 27 * [good]  # of the first 32
    assert told.troubles == ["1", "why"]
    assert ways.read("nonsense").services == []


class Relay:
    """A service for one job, with a sentence for connections that it refuses."""

    def __init__(self, secret: bytes) -> None:
        self.secret = secret
        self.said: list[tuple[int, int, int]] = []
        self.awaiting: asyncio.StreamWriter | None = None
        self.caller: asyncio.StreamWriter | None = None
        self.refuses = ""

    async def serve(self, reader, writer):
        head = await reader.readexactly(10)
        assert head[:9] == b"ISTHMUS\n\1"
        name = await reader.readexactly(head[9])
        nonce, own = await reader.readexactly(32), 32 * b"n"
        writer.write(b"\0" + own)

        def proof(role):
            text = b"isthmus/1 " + role + b"\0" + head[9:] + name + nonce + own
            return hmac.new(self.secret, text, hashlib.sha256).digest()

        if await reader.readexactly(32) != proof(b"client"):
            writer.write(b"\2" + 32 * b"\0")
            writer.close()
            return
        writer.write(b"\0" + proof(b"server"))
        verb, node, number = struct.unpack("<B3xIQ", await reader.readexactly(16))
        self.said.append((verb, node, number))
        if self.refuses:
            writer.write(bytes([1, len(self.refuses)]) + self.refuses.encode())
        elif verb == 1:
            writer.write(b"\0\0")
            self.awaiting = writer
        elif verb == 2:
            self.caller = writer
            self.awaiting.write(struct.pack("<QQ", 0, 7))  # that it lives; a call
        else:
            for side in (self.caller, writer):
                side.write(b"\0\0")
            self.caller.write(b"hello")


def test_a_launcher_is_called_by_a_service():
    async def go():
        relay = Relay(b"secret")
        server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
        at = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        known = calls.Service(at, "alice-1/job.guests", b"secret")
        ready, came = asyncio.Queue(), asyncio.Queue()
        waiting = asyncio.create_task(calls.wait_for_calls(known, 0, came.put, ready.put_nowait))
        assert await ready.get() is None
        with await calls.call(known, 0) as line:
            assert await asyncio.get_running_loop().sock_recv(line, 5) == b"hello"
        (await came.get()).close()
        assert relay.said == [(1, 0, 0), (2, 0, 0), (3, 0, 7)]
        relay.refuses = "the key was revoked"
        with pytest.raises(RunError, match=f"the service {at} says: the key was revoked"):
            await calls.call(known, 0)
        with pytest.raises(RunError, match="does not take the key alice-1"):
            await calls.call(calls.Service(at, "alice-1/job.guests", b"other"), 0)
        relay.awaiting.close()  # it is lost, and asked again
        assert "closed the connection" in str(await ready.get())
        assert "was revoked" in str(await ready.get())
        waiting.cancel()
        server.close()
        await server.wait_closed()
        with pytest.raises(RunError, match="cannot be reached"):
            await calls.call(known, 0)

    asyncio.run(go())


@pytest.mark.parametrize("at", ["service:r:1/k/0g/" + 32 * "f", "service:r:1/k/" + 32 * "f"])
def test_a_damaged_name_is_told(at):
    with pytest.raises(OSError, match="damaged"):
        asyncio.run(door.dial(portname.fresh("job", 1, at)))
