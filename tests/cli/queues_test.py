"""Parts that dial in: keys, the door, what joiners do, and batch scripts as text."""

import asyncio
import contextlib
import json
import os
import re
import socket
import ssl
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import with_enough_time

from isthmus import grid as grids
from isthmus.errors import RunError, UsageError
from isthmus.queues import commands, joiner, keys, place, schedulers, scripts, submission, times
from isthmus.queues.door import Door, GatheringError, Guest, Policy

LONG = 240  # seconds: of whatever ends by itself


class JobKeys:
    """The keys of a job with clusters east and west."""

    def __init__(self) -> None:
        self.door = keys.make_key()
        self.parts = {name: keys.make_key() for name in ("east", "west")}
        self.lock = keys.Lock(self.door, self.parts)

    def file(self, folder: Path, cluster: str) -> Path:
        """A new one each time: who has come removes it."""
        made = folder / f"{cluster}-{len(list(folder.glob('*.pem')))}.pem"
        return keys.write_private(made, self.parts[cluster].of_part(self.door))


@pytest.fixture(scope="module")
def key():
    return JobKeys()


class Meeting:
    """A door for clusters east and west, in a loop of its own in a thread."""

    def __init__(self, key: JobKeys, policy: Policy, over: dict[str, str]) -> None:
        self.said: list[str] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.result: object = None
        self.here = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(key, policy, over))
        self._thread.start()

    def _run(self, key: JobKeys, policy: Policy, over: dict[str, str]) -> None:
        async def ask(cluster: str) -> str:
            return over.get(cluster, "")

        def say(sentence: str) -> None:
            self.said.append(sentence)
            self.here.set()

        async def gather() -> None:
            door = Door(["east", "west"], key.lock, policy, say, ask)
            await door.open(self.listening)
            try:
                arrivals = await door.gather()
                self.result = sorted(arrivals)
                for arrival in arrivals.values():
                    arrival.close()
            except GatheringError as error:
                self.result = error.sentence
            door.close()

        asyncio.run(gather())

    def end(self) -> object:
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        return self.result


@pytest.fixture
def meet(key):
    made = []

    def start(hold=None, wait=None, **over):
        made.append(Meeting(key, Policy(hold, wait), over))
        return made[-1]

    yield start
    for meeting in made:
        meeting.end()


def fake_isthmusd(folder: Path) -> Path:
    """Repeats what it is told, until its input ends."""
    program = folder / "isthmusd"
    program.write_text("#!/bin/sh\nexec cat\n")
    program.chmod(0o755)
    return program


def join(meeting, key, folder, cluster, *more):
    return join_with(meeting.port, key.file(folder, cluster), folder, "--cluster", cluster, *more)


def join_with(port, file, folder, *more):
    words = ["--key", str(file), "--to", f"127.0.0.1:{port}", "--isthmusd", fake_isthmusd(folder)]
    return subprocess.Popen(
        [sys.executable, joiner.__file__, *words, *more],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_all_come(meet, key, tmp_path):
    meeting = meet()
    parts = [join(meeting, key, tmp_path, name) for name in ("east", "west")]
    assert meeting.end() == ["east", "west"]
    for part in parts:
        assert part.communicate(timeout=LONG)[1].count("\n") <= 1
        assert part.returncode == 0
    assert len(meeting.said) == 2
    assert not list(tmp_path.glob("*.pem")), "keys that open nothing any more"


def test_nobody_is_told_to_wait_for_nobody(key):
    """All have come while schedulers were asked."""
    told = []

    class Told:
        async def tell(self, **message):
            told.append(message)

    async def runs(cluster: str) -> str:
        return ""

    door = Door(["east"], key.lock, Policy(None, None), told.append, runs)
    door.guests["east"] = Guest(Told(), {}, 0.0)
    asyncio.run(door._ask())
    assert told == []


def test_the_key_of_another_job_is_refused(meet, key, tmp_path):
    """Even where it knows the door."""
    stranger = keys.write_private(tmp_path / "other.pem", keys.make_key().of_part(key.door))

    def run(seconds):
        meeting = meet(wait=seconds)
        part = join_with(meeting.port, stranger, tmp_path, "--reach", "0")
        return part.communicate(timeout=LONG)[1], part.returncode, meeting.end()

    said, status, ended = with_enough_time(run, lambda got: "key" in got[0] or "gone" in got[0], 3)
    assert status == 1
    assert "does not take this key: TLS: " in said or "gone away" in said
    assert " s, clusters east and west not there yet, and --wait allows no more" in ended


def test_a_key_opens_as_its_own_cluster_alone(meet, key, tmp_path):
    def run(seconds):
        file = key.file(tmp_path, "east")
        part = join_with(meet(wait=seconds).port, file, tmp_path, "--cluster", "west")
        return part.communicate(timeout=LONG)[1], part.returncode, file.exists()

    said, status, kept = with_enough_time(run, lambda got: "its own" in got[0], 3)
    assert "this is the key of cluster east; cluster west has its own" in said
    assert (status, kept) == (1, True)


def test_a_key_says_which_cluster_it_is_of(meet, key, tmp_path):
    meeting = meet()
    parts = [join_with(meeting.port, key.file(tmp_path, n), tmp_path) for n in ("east", "west")]
    assert meeting.end() == ["east", "west"]
    for part in parts:
        part.communicate(timeout=LONG)


def test_the_key_of_a_part_makes_no_orchestrator(key, tmp_path, capsys):
    """A thief who poses as the orchestrator hears nothing, and starts nothing."""
    context = keys.server_context(key.parts["east"])
    heard = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def pretend():
            plain, _ = server.accept()
            with contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as tls:
                tls.sendall(b'{"op": "go"}\n')
                heard.append(tls.recv(1))

        thread = threading.Thread(target=pretend)
        thread.start()
        to = f"127.0.0.1:{server.getsockname()[1]}"
        words = ["--key", str(key.file(tmp_path, "west")), "--to", to]
        assert joiner.main([*words, "--isthmusd", str(fake_isthmusd(tmp_path))]) == 1
        thread.join(LONG)
    assert f"{to} is not the orchestrator of this job" in capsys.readouterr().err
    assert heard in ([], [b""])


def test_what_a_part_gets_has_no_key_of_the_door(key):
    secret = key.door.text[: key.door.text.index("-----END PRIVATE KEY-----")]
    body = secret.splitlines()[1]
    assert body not in key.parts["east"].of_part(key.door)
    assert key.parts["east"].of_part(key.door).count("PRIVATE KEY-----") == 2


def test_who_comes_once_the_job_has_begun_is_told(key):
    async def runs(cluster: str) -> str:
        return ""

    async def gather() -> str:
        door = Door(["east"], key.lock, Policy(None, None), lambda said: None, runs)
        door.guests["east"] = Guest(Mute(), {}, 0.0)
        await door.gather()
        return door._refusal("east", {"op": "join"})

    assert asyncio.run(gather()) == "the job has begun already"


class Mute:
    async def tell(self, **message):
        pass


@pytest.mark.parametrize("seconds", [2 * 3600, 15 * 365 * 86400, -3 * 365 * 86400])
def test_clocks_may_differ(seconds, tmp_path, monkeypatch):
    """Certificates are made by a clock that is far ahead of those that look at them, or behind."""
    source, library = tmp_path / "clock.c", tmp_path / "clock.so"
    source.write_text(
        "#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
        "time_t time(time_t* into) {\n  struct timespec now;\n"
        "  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);\n"
        f"  now.tv_sec += {seconds};\n  if (into) *into = now.tv_sec;\n  return now.tv_sec;\n}}\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("LD_PRELOAD", str(library))
        made = JobKeys()
    trusting = ssl.create_default_context(cadata=made.door.certificate)
    with pytest.raises(ssl.SSLCertVerificationError, match=r"not yet valid|expired"):
        handshake(made.lock.context, trusting)  # else this test says nothing
    meeting = Meeting(made, Policy(wait=LONG), {})
    parts = [join(meeting, made, tmp_path, name) for name in ("east", "west")]
    assert meeting.end() == ["east", "west"]
    for part in parts:
        assert part.communicate(timeout=LONG)[1].count("\n") <= 1


def handshake(server: ssl.SSLContext, client: ssl.SSLContext) -> None:
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    client.check_hostname = False
    ends = [
        client.wrap_bio(to_client, to_server),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in [*ends, *ends]:
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()


def test_what_does_not_speak_tls_is_told_by_openssls_reason(key, tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            plain, _ = server.accept()
            with plain:
                plain.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                with contextlib.suppress(OSError):
                    plain.recv(1 << 16)

        thread = threading.Thread(target=answer)
        thread.start()
        to = f"127.0.0.1:{server.getsockname()[1]}"
        words = ["--key", str(key.file(tmp_path, "east")), "--to", to]
        assert joiner.main([*words, "--isthmusd", str(fake_isthmusd(tmp_path))]) == 1
        thread.join(LONG)
    assert f"TLS with {to} failed: wrong version number" in capsys.readouterr().err


def test_others_must_not_read_the_key(key, tmp_path, capsys):
    file = key.file(tmp_path, "east")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    file.chmod(0o644)
    assert joiner.main(["--key", str(file), "--to", "127.0.0.1:1"]) == 1
    assert f"chmod 600 {file}" in capsys.readouterr().err


def test_a_key_is_written_through_nothing_that_stands_there(tmp_path):
    link = tmp_path / "key.pem"
    link.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        keys.write_private(link, "secret")
    assert not (tmp_path / "elsewhere").exists()


def test_nobody_comes_twice(meet, key, tmp_path):
    def run(seconds):
        meeting = meet(wait=seconds)
        first = join(meeting, key, tmp_path, "east")
        meeting.here.wait(seconds)
        second = join(meeting, key, tmp_path, "east")
        return [part.communicate(timeout=LONG)[1] for part in (first, second)]

    first, second = with_enough_time(run, lambda said: "already" in said[1], 5)
    assert "cluster east is there already" in second
    assert re.search(r"the job has ended: after \d+ s, cluster west not there yet", first)


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
    done = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    command = schedulers.command(scheduler.state, id="12")
    assert "12" in command
    assert "{{" not in command


@pytest.mark.parametrize(
    ("shell", "line", "said"), [("bash", "false", 1), ("sh", "exit 3", 3), ("sh", "true", None)]
)
def test_a_setup_that_fails_is_the_end_of_a_script(tmp_path, shell, line, said):
    """None: it goes on, here to a joiner that is not there."""
    words = part(setup=["true", line], folder=str(tmp_path), wdir="/")
    script = scripts.text(words, schedulers.KNOWN["slurm"])
    done = subprocess.run([shell], input=script, text=True, capture_output=True, check=False)
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


def submit(*words):
    return subprocess.run(
        [sys.executable, "-m", "isthmus", "submit", *map(str, words)],
        capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False,
    )  # fmt: skip


def test_a_cluster_without_a_queue(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_text('[cluster.east]\nscheduler = "slurm"\n[cluster.west]\n')
    done = submit("-g", file, "-n", 4, "x")
    assert done.returncode == 2
    assert "cluster 'west': the grid file names no 'scheduler'" in done.stderr


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


SCHEDULER = """#!/bin/sh
#ISTHMUS submit = {submit}
#ISTHMUS identifier = ^(\\d+)
#ISTHMUS cancel = :
{{command}}
"""


def queues_of(folder, **submits):
    """A grid of clusters on this host, each with a queue by that command."""
    text = 'meet = "127.0.0.1"\n'
    for name, command in submits.items():
        (folder / name).write_text(SCHEDULER.format(submit=command))
        text += f'[cluster.{name}]\nscheduler = "{folder / name}"\n'
    (folder / "grid.toml").write_text(text)
    return folder / "grid.toml"


def private_keys(folder):
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {f.name: n for f in files if (n := f.read_text().count("BEGIN PRIVATE KEY"))}


@pytest.mark.parametrize("by_hand", [False, True])
def test_keys_go_with_their_job(tmp_path, monkeypatch, by_hand):
    monkeypatch.setenv("ISTHMUS_JOBS", str(tmp_path / "jobs"))
    grid = queues_of(tmp_path, east="echo 1", west="echo 2")
    words = ["--by-hand"] if by_hand else []
    done = submit("-g", grid, *words, "-n", 2, "true")
    assert done.returncode == 0, done.stderr
    ending = "submit" if by_hand else "pem"
    try:
        assert private_keys(tmp_path) == {f"east.{ending}": 1, f"west.{ending}": 1}
        for file in (tmp_path / "jobs").rglob(f"*.{ending}"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
    finally:
        (job,) = (tmp_path / "jobs").iterdir()
        commands.cancel(job.name)
    assert private_keys(tmp_path) == {}


def test_a_queue_that_takes_no_job_keeps_no_key(tmp_path):
    queue = replace(schedulers.KNOWN["pbs"], submit="sh -c 'exit 3'")
    there = submission.Part("east", None, queue, str(tmp_path / "there"))
    bundle = there.bundle("true", "BEGIN PRIVATE KEY")
    done = subprocess.run(["sh"], input=bundle, text=True, check=False)
    assert done.returncode == 3
    assert (tmp_path / "there" / "east.sh").exists()
    assert private_keys(tmp_path) == {}


def test_what_may_be_left_of_a_lost_job_is_removed_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_JOBS", str(tmp_path / "jobs"))
    job = place.create("isthmus-1")
    there = tmp_path / "there"
    there.mkdir()
    keys.write_private(there / "east.pem", "BEGIN PRIVATE KEY")
    queue = replace(schedulers.KNOWN["pbs"], cancel="")
    part = submission.Part("east", None, queue, str(there), identifier="1")
    job.note("job.json", {"parts": [part.facts()]})
    job.note("state.json", {"state": "waiting"})
    os.utime(job.folder, (0, 0))
    assert list(place.every()) == []
    assert not job.folder.exists()
    assert private_keys(tmp_path) == {}


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
    with pytest.raises(UsageError, match="no place where jobs can come to"):
        commands._meeting_point(said)


def test_who_looks_at_a_job_whose_process_is_gone_is_told(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("ISTHMUS_JOBS", str(tmp_path))
    job = place.create("isthmus-1")
    job.file("out").write_text("so far\n")
    job.file("err").touch()
    job.note("state.json", {"state": "running"})
    with pytest.raises(RunError, match="isthmus-1 is lost: its process is gone") as raised:
        commands.attach("isthmus-1")
    assert "isthmus cancel isthmus-1" in str(raised.value)
    assert capfd.readouterr().out == "so far\n"
