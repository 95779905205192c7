"""Parts that dial in: keys, the door, and what joiners do."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest
from parts import LONG, fake_isthmusd, join, join_with, until
from waiting import with_enough_time

from isthmus.base.errors import RunError
from isthmus.queues import joiner, partline
from isthmus.queues.door import Awaited, Door, Guest, Policy


async def runs(cluster: str) -> str:
    """A scheduler that knows nothing bad."""
    return ""


@asynccontextmanager
async def opened(key, *clusters, spare=(), **more):
    """A door for these clusters, and its port."""
    door = Door(Awaited(list(clusters), list(spare)), key.lock, Policy(), print, runs, **more)
    listening = socket.create_server(("127.0.0.1", 0))
    await door.open(listening)
    try:
        yield door, listening.getsockname()[1]
    finally:
        door.close()


def test_all_come(meet, key, tmp_path):
    meeting = meet()
    parts = [join(meeting, key, tmp_path, name) for name in ("east", "west")]
    assert meeting.end() == ["east", "west"]
    for part in parts:
        assert part.communicate(timeout=LONG)[1].count("\n") <= 1
        assert part.returncode == 0
    assert len(meeting.said) == 2
    assert not list(tmp_path.glob("*.pem")), "keys that open nothing any more"


def test_agents_come_as_they_are_asked_for(key, tmp_path):
    """Each on a connection of its own, with all that it has said from its start."""

    async def go() -> None:
        async with opened(key, "east") as (door, port):
            part = join_with(port, key.file(tmp_path, "east"), tmp_path)
            await door.gather()
            (tmp_path / "isthmusd").write_text("#!/bin/sh\necho hello\nexec cat\n")
            for _ in range(40):
                agent = await door.agent("east")
                assert await asyncio.wait_for(agent.stdout.readline(), LONG) == b"hello\n"
                agent.stdin.write(b"as before\n")
                assert await asyncio.wait_for(agent.stdout.readline(), LONG) == b"as before\n"
            await door.dismiss("east")
            assert await asyncio.to_thread(part.wait, LONG) == 0
            with pytest.raises(RunError, match="its batch job has ended"):
                await door.agent("east")

    asyncio.run(go())


def test_agents_that_nobody_has_asked_for_are_refused(key, tmp_path):
    """Their number is one that nobody has, or belongs to another cluster."""

    async def go() -> None:
        async with opened(key, "east", "west") as (door, port):
            at = [("127.0.0.1", port)]
            parts = {
                name: await asyncio.to_thread(
                    partline.connect, at, partline.Key(str(key.file(tmp_path, name))), LONG
                )
                for name in ("east", "west")
            }
            for part in parts.values():
                partline.say_to(part, op="join")
            await door.gather()
            asked = asyncio.create_task(door.agent("east"))
            assert (await asyncio.to_thread(partline.read_line, parts["east"]))["op"] == "go"
            number = (await asyncio.to_thread(partline.read_line, parts["east"]))["number"]
            for name, wrong in (("west", number), ("east", number + 1), ("east", None)):
                came = await asyncio.to_thread(
                    partline.connect, at, partline.Key(str(key.file(tmp_path, name))), LONG
                )
                partline.say_to(came, op="agent", number=wrong)
                assert await asyncio.to_thread(came.recv, 1) == b""
                came.close()
            assert not asked.done()
            for part in parts.values():
                part.close()
            with pytest.raises(RunError, match="its batch job has ended"):
                await asked

    asyncio.run(go())


def test_an_agent_that_cannot_start(key, tmp_path):
    """The part says why."""

    async def go() -> None:
        async with opened(key, "east") as (door, port):
            part = join_with(port, key.file(tmp_path, "east"), tmp_path)
            await door.gather()
            (tmp_path / "isthmusd").unlink()
            with pytest.raises(RunError, match="No such file or directory"):
                await door.agent("east")
            await door.dismiss("east")
            assert await asyncio.to_thread(part.wait, LONG) == 0

    asyncio.run(go())


@pytest.mark.parametrize(
    ("limit", "over", "said"),
    [
        (0, "", "^cluster west has not come from its queue yet$"),
        (1, "", "^after 1 s, cluster west has not come from its queue yet$"),
        (None, "PBS says that its job 7 is F", "^cluster west: PBS says that its job 7 is F$"),
    ],
)
def test_a_spare_part_that_does_not_come(key, limit, over, said):
    async def ask(cluster: str) -> str:
        return over

    door = Door(Awaited(["east"], ["west"]), key.lock, Policy(), print, ask)
    with pytest.raises(RunError, match=said):
        asyncio.run(door.until_here("west", limit))


def test_a_spare_part_comes_later(key, tmp_path):
    """It waits with its key, and may go and come again, until it is needed."""
    news: list[list[str]] = []

    async def go() -> None:
        async with opened(key, "east", spare=["west"], here=news.append) as (door, port):
            east = join_with(port, key.file(tmp_path, "east"), tmp_path)
            await door.gather()
            waiting = asyncio.create_task(door.until_here("west", None))
            file = key.file(tmp_path, "west")
            first = join_with(port, file, tmp_path)
            await asyncio.wait_for(waiting, LONG)
            first.terminate()
            await asyncio.to_thread(first.wait, LONG)
            await until(lambda: news[-1] == ["east"])
            assert file.exists()
            again = join_with(port, file, tmp_path)
            await until(lambda: news[-1] == ["east", "west"])
            assert await door.agent("west")
            await until(lambda: not file.exists())
            for cluster, part in (("west", again), ("east", east)):
                await door.dismiss(cluster)
                assert await asyncio.to_thread(part.wait, LONG) == 0

    asyncio.run(go())


def test_nobody_is_told_to_wait_for_nobody(key):
    """All have come while schedulers were asked."""
    told = []

    class Told:
        async def tell(self, **message):
            told.append(message)

    door = Door(Awaited(["east"]), key.lock, Policy(None, None), told.append, runs)
    door.guests["east"] = Guest(Told(), {}, 0.0)
    asyncio.run(door._ask())
    assert told == []


def test_who_has_waited_long_enough_is_given_back(meet, key, tmp_path):
    def run(seconds):
        """Both have to come within `hold` of each other in the end."""
        meeting = meet(hold=seconds, wait=20 * seconds)
        part = join(meeting, key, tmp_path, "east", "--requeue", f"touch {tmp_path}/requeued")
        part.communicate(timeout=LONG)
        assert part.returncode == 0
        assert (tmp_path / "requeued").exists()
        assert list(tmp_path.glob("east-*.pem")), "the key, for the next time"
        late = [join(meeting, key, tmp_path, name) for name in ("east", "west")]
        ended = meeting.end()
        for part in late:
            part.communicate(timeout=LONG)
        return ended

    assert with_enough_time(run, lambda ended: len(ended) == 2, 0.5) == ["east", "west"]


def test_a_part_that_will_never_come(meet, key, tmp_path):
    meeting = meet(west="Slurm says that its job 7 is CANCELLED")
    part = join(meeting, key, tmp_path, "east")
    assert meeting.end() == "cluster west: Slurm says that its job 7 is CANCELLED"
    assert "its job 7 is CANCELLED" in part.communicate(timeout=LONG)[1]
    assert not list(tmp_path.glob("*.pem"))


def test_nobody_listens(key, capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    file = key.file(tmp_path, "east")
    words = ["--key", str(file), "--to", f"127.0.0.1:{port}", "--reach", "0"]
    assert joiner.main([*words, "--isthmusd", str(fake_isthmusd(tmp_path))]) == 1
    assert "orchestrator is not reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10:00", 600), ("1:30:00", 5400), ("1-00:00:01", 86401), ("59", 59), ("UNLIMITED", None),
     ("INVALID", None)],
)  # fmt: skip
def test_time_that_is_left(text, seconds):
    assert joiner.seconds_left(text) == seconds
