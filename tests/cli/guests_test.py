"""Runs that meet: names of ports, the line between launchers, and who is a guest as what."""

import asyncio
import contextlib
from types import SimpleNamespace

import pytest

from isthmus.errors import RunError, UsageError
from isthmus.grid import ClusterSpec
from isthmus.growing import Growing
from isthmus.meeting import portname
from isthmus.meeting.guests import Guests
from isthmus.meeting.wire import RefusedError, Wire
from isthmus.placement import Block, Part
from isthmus.plan import ClusterPlan


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


@pytest.mark.parametrize("text", ["", ":80", "host:", "host:x", "host:70000"])
def test_where_guests_cannot_come(text):
    with pytest.raises(UsageError):
        portname.place_of(text)
    assert portname.place_of("host") == ("host", 0)
    assert portname.place_of("[::1]:80") == ("::1", 80)


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
