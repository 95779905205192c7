import json
import os
import sys
from pathlib import Path

import pytest
from parts import JobKeys, Meeting
from running import ran, shell_script

from isthmus.queues.door import Policy
from isthmus.version import VERSION, WIRE

FAKE = Path(__file__).with_name("fake_agent.py")


class FakeInstall:
    """A folder with a bin/isthmusd that is a fake agent playing `scenario`."""

    def __init__(self, home: Path, scenario: dict) -> None:
        self.home = home
        (home / "bin").mkdir(parents=True)
        self.play(scenario)
        shell_script(home / "bin" / "isthmusd", f'exec "{sys.executable}" "{FAKE}" "{home}"')

    def play(self, scenario: dict) -> None:
        """It counts from the next start on."""
        scenario["hello"] = {"version": VERSION, "wire": WIRE, **scenario.get("hello", {})}
        (self.home / "scenario.json").write_text(json.dumps(scenario))

    @property
    def heard(self) -> list[dict]:
        """The messages that the last one has got so far."""
        log = self.home / "heard.jsonl"
        return list(map(json.loads, log.read_text().splitlines())) if log.exists() else []

    @property
    def pid(self) -> int:
        return int((self.home / "pid").read_text())

    def told(self, op: str) -> dict:
        return next(message for message in self.heard if message["op"] == op)


class FakeGrid:
    """Clusters 'east' and 'west' (or as given), each with a fake agent of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.installs: dict[str, FakeInstall] = {}
        self.file = folder / "grid.toml"
        self.extra = ""

    def cluster(self, name: str, lines: str = "", **scenario) -> FakeInstall:
        install = FakeInstall(self.folder / name, scenario)
        self.installs[name] = install
        with self.file.open("a") as out:
            print(f'[cluster.{name}]\nprefix = "{install.home}"\n{lines}', file=out)
        return install

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "isthmus", "run", "-g", str(self.file), *words]

    def run(self, *words: str, stdin: str = "", env: dict | None = None, timeout: float = 240):
        with self.file.open("a") as out:
            print(self.extra, file=out)
        self.extra = ""
        return ran(
            self.command(*words),
            input=stdin,
            timeout=timeout,
            env={**os.environ, "ISTHMUS_GRACE": "0.5", **(env or {})},
        )


@pytest.fixture
def grid(tmp_path: Path) -> FakeGrid:
    return FakeGrid(tmp_path)


@pytest.fixture
def pair(grid: FakeGrid):
    """A function that makes east and west from two scenarios."""

    def make(east: dict | None = None, west: dict | None = None) -> FakeGrid:
        grid.cluster("east", **(east or {}))
        grid.cluster("west", **(west or {}))
        return grid

    return make


@pytest.fixture(scope="module")
def key():
    return JobKeys()


@pytest.fixture
def meet(key):
    made = []

    def start(hold=None, wait=None, **over):
        made.append(Meeting(key, Policy(hold, wait), over))
        return made[-1]

    yield start
    for meeting in made:
        meeting.end()
