"""Keys of submitted jobs: what each opens, who gets it, and when it is removed."""

import asyncio
import contextlib
import os
import re
import socket
import ssl
import stat
import subprocess
import threading
from dataclasses import replace

import pytest
from parts import LONG, JobKeys, Meeting, fake_isthmusd, join, join_with, submit
from waiting import with_enough_time

from isthmus.doors import keys
from isthmus.queues import commands, joiner, place, schedulers, submission
from isthmus.queues.door import Awaited, Door, Guest, Policy


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
        door = Door(Awaited(["east"]), key.lock, Policy(None, None), lambda said: None, runs)
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
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
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


def test_a_part_that_runs_reads_whole_files(tmp_path):
    """Clusters with one home share the folder. The later one replaces the files."""
    folder = tmp_path / "there"
    queue = replace(schedulers.KNOWN["pbs"], submit="echo 1")

    def put(cluster):
        bundle = submission.Part(cluster, None, queue, str(folder)).bundle("true", "KEY")
        subprocess.run(["sh"], input=bundle, text=True, check=True)

    put("east")
    with (folder / "join.py").open() as code, (folder / "isthmusd.path").open() as path:
        before = os.fstat(code.fileno()).st_ino, os.fstat(path.fileno()).st_ino
        put("west")
        after = (folder / "join.py").stat().st_ino, (folder / "isthmusd.path").stat().st_ino
        assert not set(before) & set(after)
    names = {
        "join.py",
        "partline.py",
        "isthmusd.path",
        "east.sh",
        "east.pem",
        "west.sh",
        "west.pem",
    }
    assert {file.name for file in folder.iterdir()} == names
    assert stat.S_IMODE((folder / "west.pem").stat().st_mode) == 0o600


def test_what_may_be_left_of_a_lost_job_is_removed_with_it(tmp_path, monkeypatch):
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
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
