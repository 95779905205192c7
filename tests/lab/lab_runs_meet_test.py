"""Runs of two sites that only dial out, which meet at a relay or a service between them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import grids
import mpis
import pytest
from labs import StandingLab
from waiting import eventually

WALLS = [*("--set", "site.a.firewall=outgoing"), *("--set", "site.c.firewall=outgoing")]
MEETING = mpis.ROOT / "tests" / "grid" / "meeting"
AT = "10.2.255.1"  # b0
RELAY = f'[[relay]]\nhost = "b0"\naddress = "{AT}:{{port}}"\n'
SERVICE = f'[[relay]]\nservice = "{AT}:7500"\nkey = "{{key}}"\n'
ISTHMUS = [sys.executable, "-m", "isthmus"]


@pytest.fixture
def lab(standing) -> StandingLab:
    return standing("chain", "--nodes", 1, *WALLS)


class Runs:
    """One site opens a port and the other connects to it, each with a grid file of its own."""

    def __init__(self, lab: StandingLab, folder: Path) -> None:
        self.lab = lab
        self.folder = folder
        self.patience = "60 s"
        self.apart: dict[str, Path] = {}  # where runs of a site are found, by launchers of it alone
        self.port, self.up, self.bell = (folder / name for name in ("port", "up", "bell"))

    def start(
        self, site: str, mpi: str, relay: str, program: str, *words: object
    ) -> subprocess.Popen[str]:
        grid = self.folder / f"{site}.toml"
        grid.write_text(
            f'patience = "{self.patience}"\n'
            f'[cluster.{site}]\nhost = "{site}0"\nhosts = "{site}1"\n{relay}'
        )
        built = mpis.ALL[mpi].build(MEETING / program, grids.BUILT)
        where: list[object] = ["--"]
        if site in self.apart:
            where = ["--on", f"{site}0", "--", "env", f"ISTHMUS_HOME={self.apart[site]}"]
        guests = ["--guests-at", AT] if site == "a" and self.apart else ["--guests"]
        return self.lab.labs.start(
            "exec", "--lab", self.lab.id, *where, *ISTHMUS, "run", *guests, "--timeout", 200,
            "-g", grid, "-n", 2, built, *words,
        )  # fmt: skip

    def opener(self, relay: str = "", program: str = "runs.c", *words: object):
        return self.start("a", "openmpi4", relay, program, "accept", self.port, *words)

    def client(self, relay: str = "", program: str = "runs.c", *words: object):
        return self.start("c", "mpich4", relay, program, "connect", self.port, *words)

    def talk(self, opener: str, client: str) -> list[subprocess.Popen[str]]:
        """Both, which talk until `bell` is there."""
        both = [
            self.opener(opener, "runs_long.c", self.up, self.bell),
            self.client(client, "runs_long.c"),
        ]
        eventually(
            lambda: self.up.exists() or any(run.poll() is not None for run in both),
            "two runs that talk",
            90,
        )
        assert self.up.exists(), [run.communicate() for run in both if run.poll() is not None]
        return both


@pytest.fixture
def runs(lab: StandingLab, tmp_path: Path) -> Runs:
    return Runs(lab, tmp_path)


def kill(lab: StandingLab, command: str, by: signal.Signals = signal.SIGKILL) -> None:
    """All processes of the lab with such a command line."""
    for line in lab.labs.left:
        number, _, words = line.partition(": ")
        if re.search(command, words):
            with suppress(ProcessLookupError):
                os.kill(int(number), by)


def passed(run: subprocess.Popen[str], what: str) -> None:
    out, errors = run.communicate(timeout=240)
    assert (run.returncode, out) == (0, f"{what}: passed\n"), errors


@pytest.mark.parametrize("whose", ["the opener's", "the client's", "both's"])
def test_they_meet_at_a_relay_of_a_grid_file(runs: Runs, whose: str):
    opener = RELAY.format(port=7500) if whose != "the client's" else ""
    client = RELAY.format(port=7510) if whose != "the opener's" else ""
    both = runs.opener(opener), runs.client(client)
    passed(both[1], "connect")
    passed(both[0], "accept")


@pytest.fixture
def apart(runs: Runs) -> Iterator[Runs]:
    """Launchers stand on hosts of their sites, and do not see each other."""
    with TemporaryDirectory(prefix="i-") as a, TemporaryDirectory(prefix="i-") as c:
        runs.apart = {"a": Path(a), "c": Path(c)}
        yield runs


@pytest.mark.parametrize("how", ["relay", "service"])
def test_launchers_that_only_dial_out_meet_there_too(
    apart: Runs, how: str, request: pytest.FixtureRequest
):
    relay = RELAY.format(port=7500)
    if how == "service":
        relay = SERVICE.format(key=request.getfixturevalue("service").user("alice"))
    both = apart.opener(relay), apart.client()
    passed(both[1], "connect")
    passed(both[0], "accept")


def test_guests_that_come_by_a_service_that_is_not_there(apart: Runs, service: Service):
    relay = SERVICE.format(key=service.user("alice"))
    service.kill()
    _, errors = apart.opener(relay).communicate(timeout=240)
    assert f"guests cannot come by {AT}:7500: the service {AT}:7500 cannot be reached" in errors


def test_without_a_relay_a_sentence_says_what_is_missing(runs: Runs):
    opener = runs.opener()
    client = runs.client()
    _, errors = client.communicate(timeout=240)
    assert client.returncode != 0
    assert "cannot be dialled" in errors
    assert "neither grid file has a [[relay]] where both could meet" in errors
    kill(runs.lab, r"^\S+ -m isthmus run .* accept ", signal.SIGTERM)
    assert opener.wait(timeout=240) == 128 + signal.SIGTERM


class Service:
    """`isthmusd serve` on b0."""

    def __init__(self, lab: StandingLab, folder: Path) -> None:
        from isthmus.install import find_isthmusd  # noqa: PLC0415

        self.isthmusd = str(find_isthmusd())
        self.lab = lab
        self.keys, self.audit = folder / "keys", folder / "audit"
        self.config = folder / "service.toml"
        self.config.write_text(
            f'listen = ["{AT}:7500"]\nkeys = "{self.keys}"\naudit = "{self.audit}"\n'
        )
        self.start()

    def start(self) -> None:
        words = ("exec", "--lab", self.lab.id, "--on", "b0", "--", self.isthmusd, "serve")
        self.process = self.lab.labs.start(*words, "--config", self.config)
        said = self.process.stderr.readline()
        assert "listens at" in said, said

    def key(self, *words: object) -> None:
        subprocess.run([self.isthmusd, "key", *words, "--keys", self.keys], check=True, timeout=20)

    def user(self, name: str) -> Path:
        file = self.config.parent / f"{name}.key"
        self.key("add", name, "--out", file)
        return file

    def events(self, event: str) -> list[dict[str, object]]:
        lines = self.audit.read_text().splitlines() if self.audit.exists() else []
        return [each for each in map(json.loads, lines) if each["event"] == event]

    def kill(self) -> None:
        """At once, with the processes that serve its users."""
        kill(self.lab, r"isthmusd serve")
        kill(self.lab, r"isthmusd service-user|^service-user")
        self.process.communicate(timeout=30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()


@pytest.fixture
def service(lab: StandingLab, tmp_path: Path) -> Iterator[Service]:
    made = Service(lab, tmp_path)
    yield made
    made.close()


@pytest.mark.parametrize("whose", ["the opener's", "the client's", "both's"])
def test_they_meet_at_a_service(runs: Runs, service: Service, whose: str):
    """One of the two has a key for it, or each has one of its own."""
    opener = SERVICE.format(key=service.user("alice")) if whose != "the client's" else ""
    client = SERVICE.format(key=service.user("bob")) if whose != "the opener's" else ""
    both = runs.opener(opener), runs.client(client)
    passed(both[1], "connect")
    passed(both[0], "accept")
    of = {str(event["job"]) for event in service.events("job")}
    assert all(re.fullmatch(r"isthmus-[0-9a-f]+\.guests", job) for job in of), of
    assert len(of) == (2 if whose == "both's" else 1)
    eventually(
        lambda: len(service.events("job ended")) == len(of), "the end of the jobs at the service"
    )


def test_a_service_that_is_killed_and_comes_back_loses_nothing(runs: Runs, service: Service):
    both = runs.talk(SERVICE.format(key=service.user("alice")), "")
    service.kill()
    runs.bell.touch()
    service.start()
    passed(both[1], "connect")
    passed(both[0], "accept")


def test_a_key_that_is_not_taken_is_told(runs: Runs, service: Service):
    key = service.user("alice")
    service.key("revoke", "alice")
    opener = runs.opener(SERVICE.format(key=key))
    client = runs.client(SERVICE.format(key=key))
    _, errors = client.communicate(timeout=240)
    assert client.returncode != 0
    assert f"the service {AT}:7500 says: the key alice-" in errors
    assert "of user alice was revoked on" in errors
    kill(runs.lab, r"^\S+ -m isthmus run .* accept ", signal.SIGTERM)
    assert opener.wait(timeout=240) == 128 + signal.SIGTERM


def test_a_relay_that_is_killed_and_comes_back_loses_nothing(runs: Runs):
    """Its user starts it again, and guests use the same address."""
    both = runs.talk(RELAY.format(port=7500), "")
    kill(runs.lab, r"isthmusd gateway")
    runs.bell.touch()
    passed(both[1], "connect")
    passed(both[0], "accept")
