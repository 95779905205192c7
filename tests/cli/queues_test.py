"""Parts that dial in: keys, the door, what joiners do, and batch scripts as text."""

import asyncio
import json
import socket

import pytest
from parts import LONG, fake_isthmusd, join, join_with, submit, until
from running import ran
from waiting import with_enough_time

from isthmus.base.errors import RunError, UsageError
from isthmus.grid import grid as grids
from isthmus.queues import commands, joiner, partline, place, schedulers, scripts, times
from isthmus.queues.door import Awaited, Door, Guest, Policy


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
        door = Door(Awaited(["east"]), key.lock, Policy(), print, runs)
        listening = socket.create_server(("127.0.0.1", 0))
        await door.open(listening)
        part = join_with(listening.getsockname()[1], key.file(tmp_path, "east"), tmp_path)
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
        door.close()

    asyncio.run(go())


def test_agents_that_nobody_has_asked_for_are_refused(key, tmp_path):
    """Their number is one that nobody has, or belongs to another cluster."""

    async def go() -> None:
        door = Door(Awaited(["east", "west"]), key.lock, Policy(), print, runs)
        listening = socket.create_server(("127.0.0.1", 0))
        await door.open(listening)
        at = [("127.0.0.1", listening.getsockname()[1])]
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
        door.close()

    asyncio.run(go())


def test_an_agent_that_cannot_start(key, tmp_path):
    """The part says why."""

    async def go() -> None:
        door = Door(Awaited(["east"]), key.lock, Policy(), print, runs)
        listening = socket.create_server(("127.0.0.1", 0))
        await door.open(listening)
        part = join_with(listening.getsockname()[1], key.file(tmp_path, "east"), tmp_path)
        await door.gather()
        (tmp_path / "isthmusd").unlink()
        with pytest.raises(RunError, match="No such file or directory"):
            await door.agent("east")
        await door.dismiss("east")
        assert await asyncio.to_thread(part.wait, LONG) == 0
        door.close()

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
        door = Door(Awaited(["east"], ["west"]), key.lock, Policy(), print, runs, here=news.append)
        listening = socket.create_server(("127.0.0.1", 0))
        await door.open(listening)
        port = listening.getsockname()[1]
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
        door.close()

    asyncio.run(go())


async def runs(cluster: str) -> str:
    """A scheduler that knows nothing bad."""
    return ""


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


# ---- scripts


def part(**more):
    words = {
        "name": "isthmus-1", "cluster": "lyon", "n": 32, "folder": '"$HOME"/jobs', "to": "a:7400",
        "isthmusd": "~/isthmus/bin/isthmusd", "wdir": "/work/it's here", "time": 5400.0,
        "options": ["--partition=main"], "setup": ["module load openmpi/5"],
    }  # fmt: skip
    return scripts.PartScript(**(words | more))


HEADS = {
    "slurm": ["#SBATCH --ntasks=32", "#SBATCH --time=01:30:00", "#SBATCH --partition=main"],
    "pbs": ["#PBS -l select=32:ncpus=1:mpiprocs=1", "#PBS -l walltime=01:30:00",
            "#PBS --partition=main"],
    "lsf": ["#BSUB -n 32", "#BSUB -W 90", "#BSUB --partition=main"],
    "flux": ["# flux: -n 32", "# flux: -t 90m", "# flux: --partition=main"],
}  # fmt: skip


@pytest.mark.parametrize("name", schedulers.KNOWN)
def test_scripts(name):
    scheduler = schedulers.KNOWN[name]
    text = scripts.text(part(), scheduler)
    lines = text.splitlines()
    assert lines[0] == "#!/bin/bash -l"
    assert set(HEADS[name]) <= set(lines)
    assert lines.index("module load openmpi/5") < lines.index(
        "cd '/work/it'\"'\"'s here' 2>/dev/null || cd \"$HOME\""
    )
    assert "--to a:7400 --cluster lyon" in text
    assert scheduler.batch in text
    done = ran(["bash", "-n"], input=text)
    assert (done.returncode, done.stderr) == (0, "")
    command = schedulers.command(scheduler.state, id="12")
    assert "12" in command
    assert "{{" not in command


@pytest.mark.parametrize(
    ("shell", "line", "said"), [("bash", "false", 1), ("sh", "exit 3", 3), ("sh", "true", None)]
)
def test_a_setup_that_fails_is_the_end_of_a_script(tmp_path, shell, line, said):
    """No signal: it goes on, here to a joiner that is missing."""
    words = part(setup=["true", line], folder=str(tmp_path), wdir="/")
    script = scripts.text(words, schedulers.KNOWN["slurm"])
    done = ran([shell], input=script)
    assert ("join.py" in done.stderr) == (said is None)
    told = f"isthmus: setup ended with status {said}\n"
    assert (done.stderr == told) == (said is not None), done.stderr
    assert done.returncode == (said or done.returncode)


@pytest.mark.parametrize(
    ("name", "printed", "identifier"),
    [
        ("slurm", "4711;cluster\n", "4711"),
        ("pbs", "4711.server\n", "4711.server"),
        ("lsf", "Job <4711> is submitted to queue <normal>.\n", "4711"),
        ("flux", "f2aBcD\n", "f2aBcD"),
        ("slurm", "nonsense\n", None),
    ],
)
def test_what_submitting_prints(name, printed, identifier):
    assert schedulers.found_identifier(schedulers.KNOWN[name], printed) == identifier


def test_a_template(tmp_path):
    file = tmp_path / "mine"
    file.write_text(
        "#!/bin/sh\n#ISTHMUS submit = mysub {script}\n#ISTHMUS requeue = again $MYID\n"
        "#ISTHMUS batch = $MYID\n#MY {n} {clock} {name}\n{command}\n"
    )
    scheduler, template = schedulers.of_template(file)
    text = scripts.text(part(), scheduler, template)
    assert "#MY 32 01:30:00 isthmus-1" in text
    assert "--requeue 'again $MYID'" in text
    assert schedulers.command(scheduler.submit, script="a b") == "mysub 'a b'"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{command}", "has no '#ISTHMUS submit"),
        ("#ISTHMUS submit = x {script}\n", "has no {command}"),
        ("#ISTHMUS nonsense = x\n{command}", "is not KEY = VALUE"),
    ],
)
def test_a_wrong_template(tmp_path, text, what):
    file = tmp_path / "mine"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        schedulers.of_template(file)
    assert what in str(error.value)


def test_a_cluster_without_a_queue(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text('[cluster.east]\nscheduler = "slurm"\n[cluster.west]\n')
    done = submit("-g", file, "-n", 4, "x")
    assert done.returncode == 2
    assert "cluster 'west': the grid file names no 'scheduler'" in done.stderr


def test_a_spare_cluster_gets_a_batch_job(tmp_path):
    """It asks for all its slots."""
    file = tmp_path / "grid.toml"
    file.write_text(
        '[cluster.east]\nscheduler = "slurm"\n[cluster.south]\nscheduler = "slurm"\nslots = 7\n'
    )
    done = submit("-g", file, "--spare", "south", "-n", 4, "--dry-run", "x")
    assert done.returncode == 0, done.stderr
    east, south = done.stdout.split("==== cluster south")
    assert "#SBATCH --ntasks=4" in east
    assert "#SBATCH --ntasks=7" in south


def test_a_spare_cluster_without_a_queue(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text('[cluster.east]\nscheduler = "slurm"\n[cluster.south]\nspare = true\n')
    done = submit("-g", file, "-n", 4, "--dry-run", "x")
    assert done.returncode == 2
    assert "cluster 'south': the grid file names no 'scheduler'" in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90min", 5400), ("2 h", 7200), ("30:00", 1800), ("02:00:00", 7200), ("100:00:01", 360001),
     ("1-00", 86400), ("1-12:30", 131400), ("2-00:00:05", 172805)],
)  # fmt: skip
def test_times_as_batch_systems_write_them(text, seconds):
    assert times.seconds_of("--time", text) == seconds


@pytest.mark.parametrize("option", ["--time", "--hold"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("90", "90 minutes to Slurm, 90 seconds to PBS"),
        ("1.5", "1.5 minutes to Slurm"),
        ("soon", "'soon' is not a time"),
        ("0:00", "'0:00' is not a time"),
        ("-5min", "is not a time"),
    ],
)
def test_wrong_times(tmp_path, option, text, said):
    """Nothing is submitted."""
    file = tmp_path / "grid.toml"
    file.write_text("[cluster.a]\nscheduler = 'slurm'\n")
    done = submit("-g", file, "-n", 4, "--dry-run", option, text, "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} {text}" in done.stderr
    assert said in done.stderr


def test_the_scripts_are_shown(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text(
        'meet = "gate.example:7400"\n[cluster.east]\nscheduler = "slurm"\n'
        '[cluster.west]\nscheduler = "pbs"\nhost = "w"\nbatch = ["-q big"]\n'
    )
    done = submit("-g", file, "-n", 4, "--dry-run", "--time", "30min", "x")
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --time=00:30:00" in done.stdout
    assert "#PBS -q big" in done.stdout
    assert done.stdout.count("--to gate.example:7400") == 2


def test_grid_keys():
    with pytest.raises(UsageError) as error:
        grids.parse('[cluster.a]\nscheduler = "slurn"\n', "g")
    assert "did you mean 'slurm'?" in str(error.value)
    assert json.dumps(grids.parse('[cluster.a]\nsetup = ["x"]\n', "g").cluster["a"].setup)


@pytest.mark.parametrize(
    ("full", "short", "named"),
    [
        ("login.site.example", "login", "login.site.example"),
        ("localhost", "vm", "vm"),
        ("localhost.localdomain", "localhost", "localhost"),
    ],
)
def test_where_jobs_come_to(full, short, named, monkeypatch, capsys):
    monkeypatch.setattr("socket.getfqdn", lambda: full)
    monkeypatch.setattr("socket.gethostname", lambda: short)
    assert commands._meeting_point(None) == (named, 0)
    assert ("--meet HOST[:PORT]" in capsys.readouterr().err) == (named == "localhost")


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("login1", ("login1", 0)),
        ("login1:7410", ("login1", 7410)),
        ("::1", ("::1", 0)),
        ("[::1]", ("::1", 0)),
        ("[::1]:7410", ("::1", 7410)),
    ],
)
def test_where_a_user_says_that_jobs_come_to(said, place):
    assert commands._meeting_point(said) == place


@pytest.mark.parametrize("said", ["login1:", "login1:port", ":7410", "login1:70000"])
def test_a_place_that_is_none(said):
    with pytest.raises(UsageError, match="not an address for jobs to connect to"):
        commands._meeting_point(said)


def test_who_looks_at_a_job_whose_process_is_gone_is_told(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    job = place.create("isthmus-1")
    job.file("out").write_text("so far\n")
    job.file("err").touch()
    job.note("state.json", {"state": "running"})
    with pytest.raises(RunError, match="isthmus-1 is lost: its process is gone") as raised:
        commands.attach("isthmus-1")
    assert "isthmus cancel isthmus-1" in str(raised.value)
    assert capfd.readouterr().out == "so far\n"
