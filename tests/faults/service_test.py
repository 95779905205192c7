"""A relay that is a service: the jobs of several users at once, and what it refuses."""

import asyncio
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from callers import Flood, during, pairs
from doors.strangers import by_challenge
from faulty import MARK, Grid, check, ends_well, says
from running import ran
from services import Service, found_isthmusd

from isthmus.base.errors import RunError
from isthmus.meeting import calls


@pytest.fixture
def service(grid: Grid, tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "service").mkdir()
    made = Service(found_isthmusd(), tmp_path / "service", {**os.environ, MARK: grid.mark})
    yield made
    made.close()


@pytest.mark.parametrize("exchange", ["ompi"], indirect=True)
def test_three_users_at_once(grid: Grid, service: Service, exchange):
    users = ["alice", "bob", "carol"]
    running = []
    for user in users:
        file = grid.folder / f"{user}.toml"
        file.write_text(service.grid(service.user(user)))
        running.append(grid.start("-g", file, "-n", 4, exchange))
    for job in running:
        out, err = job.communicate(timeout=240)
        assert (job.returncode, out) == (0, "4 ranks, 0 bytes wrong\n"), err
    for user in users:
        assert service.said("job", user=user)
        service.wait_for(lambda user=user: service.said("job ended", user=user))
        service.wait_for(lambda user=user: service.of("bytes_total", user) > 8e6)  # four messages
        service.wait_for(lambda user=user: service.of("connections", user) == 0)


def test_keys_that_are_not_taken(grid: Grid, service: Service):
    """A revoked key, a wrong secret, an unknown user: each error names the key."""
    key = service.user("alice")
    name = re.search(r'id = "(\S+)"', key.read_text())[1]
    wrong = grid.folder / "wrong.key"
    wrong.write_text(re.sub(r'secret = "..', 'secret = "00', key.read_text()))
    nobody = grid.folder / "nobody.key"
    nobody.write_text(key.read_text().replace(name, "mallory-1"))
    for file, words in (
        (wrong, f"the service {service.at} does not take the key {name}"),
        (nobody, f"the service {service.at} does not take the key mallory-1"),
    ):
        file.chmod(0o600)
        grid.write(service.grid(file))
        check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 1, words)
    service.key("revoke", "alice")
    assert "revoked" in service.key("list").stdout
    grid.write(service.grid(key))
    done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
    check(done, 1, f"the key {name} of user alice was revoked on ")
    assert service.said("refused", key=name, why="was revoked")
    key.chmod(0o644)
    check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), None, "others may read the key")


def test_something_else_listens_there(grid: Grid, service: Service):
    key = service.user("alice")
    with socket.create_server(("127.0.0.1", 0)) as door:
        at = f"127.0.0.1:{door.getsockname()[1]}"

        def greet() -> None:
            greeted = []  # a connection that is closed might lose what it was sent
            with suppress(OSError):
                while True:
                    greeted.append(door.accept()[0])
                    greeted[-1].sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n")

        threading.Thread(target=greet, daemon=True).start()
        words = f"the service {at} does not answer as Isthmus does: something else listens there"
        grid.write(service.grid(key).replace(service.at, at))
        check(grid.run("-g", "grid.toml", "-n", 2, "hostname"), 1, words)
        called = calls.call(calls.Service(at, "alice/job", b"secret"), calls.LAUNCHER)
        with pytest.raises(RunError, match=words):
            asyncio.run(called)


def test_it_is_killed_and_comes_back(grid: Grid, service: Service, program):
    """Within the patience of the link nothing is lost."""
    grid.write(service.grid(service.user("alice")))
    bell = grid.folder / "bell"
    with grid.start("-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, bell) as running:
        says(running, "up 4\n")
        service.kill()
        service.configure()
        bell.touch()
        time.sleep(0.5)
        assert running.poll() is None
        service.start()
        _, err = running.communicate(timeout=240)
    assert running.returncode == 0, err


def test_sigterm_drains(grid: Grid, service: Service, program):
    """Jobs that are there go on; new ones are refused by a sentence."""
    grid.write(service.grid(service.user("alice")))
    bell = grid.folder / "bell"
    with grid.start("-g", "grid.toml", "-n", 2, program("mpich"), "fine", 0, bell) as running:
        says(running, "up 2\n")
        service.process.terminate()
        service.wait_for(lambda: service.said("drains"))
        done = grid.run("-g", "grid.toml", "-n", 2, "hostname")
        ends_well(running, bell)
    check(done, 1, "it is being shut down, and takes no new jobs")
    assert service.process.wait(240) == 0


def test_a_revoked_key_ends_what_is_there(grid: Grid, service: Service, program):
    grid.write("patience = '6 s'\n" + service.grid(service.user("alice")))
    with grid.start("-g", "grid.toml", "-n", 2, program("ompi"), "hang", -1) as running:
        says(running, "up 2\n")
        service.key("revoke", "alice")
        out, err = running.communicate(timeout=240)
    done = subprocess.CompletedProcess(running.args, running.returncode, out, err)
    check(done, 1, 'from the gateway of cluster "east"', "was revoked on")
    assert service.said("revoked", user="alice")


def knock(at: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", at), timeout=60) as end:
        end.sendall(data)
        heard = b""
        with suppress(ConnectionResetError):
            while piece := end.recv(4096):
                heard += piece
        return heard


def test_strangers_limits_and_reload(grid: Grid, service: Service, program):
    """Bytes that are not an opening get no answer; limits and allow-lists change by SIGHUP."""
    for data in (
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01" + os.urandom(300),
        b"ISTHMUS\n\x02\x04a/bc" + bytes(32),
        b"ISTHMUS\n\x01\x05../..x" + bytes(32),
    ):
        assert knock(service.port, data) == b""
    service.wait_for(lambda: service.said("refused", why="is not of Isthmus"))
    assert "isthmus_service_strangers_total 4" in service.metrics()
    key = service.user("alice")
    service.configure(connections=1)
    service.process.send_signal(signal.SIGHUP)
    service.wait_for(lambda: service.said("reloaded"))
    grid.write(service.grid(key))
    check(grid.run("-g", "grid.toml", "-n", 2, program("ompi")), 1, "as many as `connections`")
    service.configure(allow=["192.0.2.0/24"])
    service.process.send_signal(signal.SIGHUP)
    service.wait_for(lambda: len([e for e in service.events() if e["event"] == "reloaded"]) > 1)
    assert knock(service.port, b"") == b""
    service.wait_for(lambda: service.said("refused", why="`allow`"))
    assert 'isthmus_door_refused_total{door="service"} 5' in service.metrics()
    service.config.write_text("nonsense = 1\n")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for(lambda: service.said("not reloaded", why="nonsense"))
    assert service.process.poll() is None


def test_many_who_name_a_user_are_all_heard(service: Service):
    """Each gets a challenge, however few connections the user may have: none is lost."""
    service.configure(connections=16)
    service.process.send_signal(signal.SIGHUP)
    service.wait_for(lambda: service.said("reloaded"))
    name = re.search(r'id = "(\S+)"', service.user("alice").read_text())[1]
    opening = by_challenge(f"{name}/isthmus-1").named
    with ExitStack() as stack:
        strangers = []
        for _ in range(400):  # fewer than one address may have
            stranger = socket.create_connection(("127.0.0.1", service.port), timeout=60)
            strangers.append(stack.enter_context(stranger))
            stranger.sendall(opening)
        heard = [stranger.recv(33, socket.MSG_WAITALL) for stranger in strangers]
    assert [len(challenge) for challenge in heard] == 400 * [33]


def test_a_flood_takes_nothing_of_others_shares(service: Service):
    """One user has many connections, others knock at the port and say nothing; another user's one
    connection has as much as all of them."""
    service.configure(rate="20 MB/s")
    service.process.send_signal(signal.SIGHUP)
    service.wait_for(lambda: service.said("reloaded"))
    elsewhere = ("127.0.0.2", 0)
    silent = [
        socket.create_connection(("127.0.0.1", service.port), source_address=elsewhere)
        for _ in range(100)
    ]
    floods: list[Flood] = []
    try:
        for user, count in (("alice", 8), ("bob", 1)):
            floods.append(Flood(pairs(service.port, service.user(user), "job", count)))
        during(0.5, floods)  # what buffers take at first

        def fair() -> bool:  # as soon as the machine lets all of them be quick enough
            alice, bob = during(2, floods)
            return alice < 2 * bob < 4 * alice

        service.wait_for(fair)
    finally:
        for flood in floods:
            flood.stop()
        for end in silent:
            end.close()
    service.wait_for(lambda: service.of("throttled_seconds_total", "alice") > 0.1)
    service.wait_for(lambda: service.said("refused", why="it said too little"))


def test_a_key_has_limits_of_its_own(grid: Grid, service: Service, program):
    """Within its user's: a rate that leaves her other keys alone, and a number of connections."""
    first, second = service.user("alice"), service.folder / "second.key"
    service.key("add", "alice", "--out", second, "--rate", "4 MB/s", "--memory", "8 MiB")
    name = re.search(r'id = "(\S+)"', second.read_text())[1]
    assert "4000000 B/s  8388608 B of memory" in service.key("list").stdout
    floods: list[Flood] = []
    try:
        for key, job in ((first, "free"), (second, "slow")):
            floods.append(Flood(pairs(service.port, key, job, 2)))
        during(0.5, floods)  # what buffers take at first

        def apart() -> bool:
            free, slow = during(2, floods)
            return slow < 16e6 < 2 * free

        service.wait_for(apart)
        service.wait_for(lambda: service.of_key("throttled_seconds_total", "alice", name) > 0.1)
        assert service.of("throttled_seconds_total", "alice") == 0
        service.key("limit", name, "--rate", "400 MB/s")
        service.wait_for(lambda: during(0.5, floods[1:])[0] > 8e6)
    finally:
        for flood in floods:
            flood.stop()
    service.key("limit", name, "--connections", 1)
    grid.write(service.grid(second))
    done = grid.run("-g", "grid.toml", "-n", 2, program("ompi"))
    check(done, 1, f"the key {name} of user alice has 1 connection here, as many as its limit")
    assert service.said("refused", key=name, why="as many as its limit")
    service.wait_for(lambda: service.of_key("refused_total", "alice", name) > 0)
    grid.write(service.grid(first))
    assert grid.run("-g", "grid.toml", "-n", 2, program("ompi")).returncode == 0
    service.key("limit", name)
    grid.write(service.grid(second))
    assert grid.run("-g", "grid.toml", "-n", 2, program("ompi")).returncode == 0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("keys = 'k'\nrate = 'fast'\n", "rate must be such as"),
        ("keys = 'k'\nallow = ['everybody']\n", "not an address or a subnet"),
        ("listen = '127.0.0.1:0'\n", "keys is missing"),
        ("keys = 'k'\nlisten = '127.0.0.1'\n", "listen"),
    ],
)
def test_what_is_wrong_with_its_file(tmp_path: Path, text, words):
    file = tmp_path / "service.toml"
    file.write_text(text)
    done = ran([found_isthmusd(), "serve", "--config", file], timeout=60)
    assert done.returncode == 1
    assert f"isthmusd serve: {file}" in done.stderr
    assert words in done.stderr


def test_the_file_in_packaging_is_read(tmp_path: Path):
    """The first error is about a folder that is not here."""
    sample = Path(__file__).parents[2] / "packaging/systemd/service.toml"
    file = tmp_path / "service.toml"
    file.write_text(sample.read_text().replace("/var/log/isthmus/", f"{tmp_path}/none/"))
    done = ran([found_isthmusd(), "serve", "--config", file], timeout=60)
    assert f"the audit log {tmp_path}/none/audit.log cannot be written" in done.stderr


def test_keys_that_others_may_read(service: Service):
    """They are reported by name, and keep none of the others out."""
    service.user("alice")
    shutil.copy(next(service.keys.glob("*.json")), service.keys / "bob-1.json")
    (service.keys / "bob-1.json").chmod(0o644)
    service.wait_for(lambda: service.said("key not read", why="bob-1.json may be read by others"))
    assert "alice" in service.key("list").stdout
    service.key("revoke", "alice")
