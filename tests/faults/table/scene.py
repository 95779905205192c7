"""One run of the traffic in a lab, with its fault. It runs inside the lab. Every process and every
file below /tmp belongs to the lab there, so anything left behind shows."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import queued

ROUND = re.compile(r"round (\d+)")
LIMIT = 150.0  # seconds, for a run that has to end
WORDS = Callable[[str], bool]


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    except OSError:
        return ""


def host_of(pid: int) -> str:
    """The name of the lab's host that the process is on."""
    with contextlib.suppress(OSError):
        mine = Path(f"/proc/{pid}/ns/uts").stat().st_ino
        for name in (Path(os.environ["ISTHMUS_LAB"]) / "ns").glob("*.uts"):
            if name.stat().st_ino == mine:
                return name.stem
    return ""


def processes() -> dict[int, str]:
    """All of the lab, with their command lines."""
    found = ((int(p.name), command_of(int(p.name))) for p in Path("/proc").glob("[0-9]*"))
    return {pid: line for pid, line in found if line}


def is_run(line: str) -> bool:
    return " -m isthmus run" in line


# A command line shows the kind of a process. `program` is the traffic.
ROLES: dict[str, WORDS] = {
    "a rank": lambda line: bool(re.match(r"\S*/traffic .* spawn$", line)),
    "a spawned rank": lambda line: bool(re.match(r"\S*/traffic \S+ \S+$", line)),
    "isthmusd exec": lambda line: bool(re.match(r"\S*isthmusd exec ", line)),
    "the agent": lambda line: bool(re.match(r"\S*isthmusd agent", line)),
    "a gateway": lambda line: bool(re.match(r"\S*isthmusd gateway", line)),
    "the native launcher": lambda line: bool(re.match(r"\S*(mpirun|mpiexec)\S* ", line)),
    "a daemon of the native launcher": lambda line: bool(
        re.match(r"\S*(orted|hydra_pmi_proxy|prted)\"? ", line)
    ),
    "isthmus run": is_run,
    "the orchestrator": lambda line: " -m isthmus submit" in line,  # the command has ended
    "ssh to b0": lambda line: bool(re.match(r"ssh -F .* b0 ", line)),
    "sshd's session": lambda line: line.startswith("sshd: ") and "listener" not in line,
}


# Files that native libraries (and libfaketime) also leave if their jobs die without Isthmus.
NATIVES = re.compile(r"/((sem\.)?faketime_|ompi\.|hydra_|prte\.|pmix|vader_|mpich_shm)")
NATIVE = "the native library's own files"


@dataclass
class Seen:
    """The result of a row."""

    status: int | None = None
    seconds: float = 0.0  # from the fault to the end, or until rounds went on
    sentence: str = ""
    said: str = ""
    left: list[str] = field(default_factory=list)
    went_on: bool = False  # though it might have ended
    wrong: str = ""  # why the row is not as it should be

    def as_json(self) -> dict[str, object]:
        return {**self.__dict__}


class Scene:
    def __init__(self, library: str, program: Path, folder: Path) -> None:
        self.library = library
        self.program = program
        self.folder = folder
        self.bell = folder / "bell"
        self.out, self.err = folder / "out", folder / "err"
        self.run: subprocess.Popen[bytes] | None = None
        self.shm_before: dict[str, set[str]] = {}
        self.lab = Path(os.environ["ISTHMUS_LAB"])
        self.data = folder / "disk" / "data"  # the traffic's file
        self.grid = ""  # a grid file's text, else the testbed's
        self.limits = ""  # shell commands before the run
        self.queued = False  # by `isthmus submit`
        self.env: dict[str, str] = {}
        self.groups: list[Path] = []  # control groups, to be removed
        self.others: list[subprocess.Popen[bytes]] = []  # beside the run

    # -- the run ------------------------------------------------------------------------------

    def start(self, *options: str) -> None:
        self.data.parent.mkdir(exist_ok=True)
        words = [*options, self.program, self.bell, self.data, "spawn"]
        self.before = set(processes())
        self.shm_before = self._shm()
        command = [sys.executable, "-m", "isthmus", "run", *map(str, words)]
        if self.queued:
            command = queued.submitting(self.lab, list(map(str, words[:-1])))
        self.run = subprocess.Popen(
            ["sh", "-c", f'{self.limits}exec "$@"', "sh", *command],
            stdin=subprocess.DEVNULL, stdout=self.out.open("wb"), stderr=self.err.open("wb"),
            env={**os.environ, **self.env},
        )  # fmt: skip

    def rounds(self) -> int:
        found = ROUND.findall(self.out.read_text(errors="replace"))
        return int(found[-1]) if found else -1

    def ended(self) -> bool:
        assert self.run
        return self.run.poll() is not None

    def until(self, condition: Callable[[], object], limit: float) -> bool:
        """Whether it came true before the run's end and the limit."""
        deadline = time.monotonic() + limit
        while not condition():
            if self.ended() or time.monotonic() > deadline:
                return bool(condition())
            time.sleep(0.05)
        return True

    def up(self) -> bool:
        return self.until(lambda: self.rounds() >= 5, 90)

    def goes_on(self, limit: float) -> bool:
        """Whether some more rounds come."""
        wanted = self.rounds() + 4
        return self.until(lambda: self.rounds() >= wanted, limit)

    def finish(self, limit: float = LIMIT) -> int | None:
        """Rings the bell; the status, or None for a run that does not end."""
        assert self.run
        self.bell.touch()
        return self.status(limit)

    def status(self, limit: float = LIMIT) -> int | None:
        assert self.run
        try:
            code = self.run.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        return 128 - code if code < 0 else code

    # -- beside it ----------------------------------------------------------------------------

    def beside(self, host: str, script: str) -> None:
        """Starts a shell on a host outside of the run."""
        command = [self.lab / "bin" / "enter", host, "sh", "-c", script]
        self.others.append(
            subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        )  # fmt: skip

    def _beside(self) -> set[int]:
        """The processes beside the run, with children."""
        found = {other.pid for other in self.others}
        for pid in sorted(processes()):  # parents have smaller numbers
            with contextlib.suppress(OSError):
                stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                if int(stat[1]) in found:
                    found.add(pid)
        return found

    def until_listening(self, host: str, port: int) -> None:
        deadline = time.monotonic() + 20
        look = ["nsenter", f"--net={self.lab}/ns/{host}.net", "ss", "-tlnH", f"sport = :{port}"]
        while not subprocess.run(look, capture_output=True, check=True).stdout:
            assert time.monotonic() < deadline, f"nothing listens at port {port} of {host}"
            time.sleep(0.05)

    # -- its processes ------------------------------------------------------------------------

    def find(self, role: str, host: str = "") -> list[int]:
        """Processes that the run has started, of that role and on that host."""
        is_one = ROLES[role]
        return sorted(
            pid
            for pid, line in processes().items()
            if pid not in self.before and is_one(line) and (not host or host_of(pid) == host)
        )

    def signal(self, role: str, number: signal.Signals, host: str = "") -> None:
        found = self.find(role, host)
        assert found, f"no process is {role} {host}"
        os.kill(found[0], number)

    def there(self) -> str:
        """The processes of a run that does not end, with what each waits in."""

        def line(pid: int, words: str) -> str:
            with contextlib.suppress(OSError):
                where = Path(f"/proc/{pid}/wchan").read_text()
                tasks = len(list(Path(f"/proc/{pid}/task").iterdir()))
                return f"{pid} on {host_of(pid)}, {tasks} threads, {where}: {words[:100]}\n"
            return ""

        mine = {os.getpid(), *self._beside(), *self.before}
        return "".join(line(*one) for one in sorted(processes().items()) if one[0] not in mine)

    # -- what is left -------------------------------------------------------------------------

    def _shm(self) -> dict[str, set[str]]:
        return {
            node.name: {f.name for f in node.iterdir()} for node in (self.lab / "shm").iterdir()
        }

    def left(self) -> list[str]:
        """Processes, files in /tmp, and what is in the shared memory of the hosts."""
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline:
            mine = {os.getpid(), *self._beside()}
            over = [line for pid, line in processes().items() if pid not in self.before | mine]
            if not over:
                break
            time.sleep(0.1)
        left = [f"process {line[:60]}" for line in over]
        files = {path for path in Path("/tmp").rglob("*") if not path.is_dir()}
        left += {str(Path(*path.parts[:3])) for path in files - {Path("/tmp/fill")}}
        for node, files in self._shm().items():
            left += [
                f"/dev/shm/{file} on {node}" for file in files - self.shm_before.get(node, set())
            ]
        return sorted({NATIVE if NATIVES.search(thing) else thing for thing in left})

    def clear(self) -> None:
        """Ends what a row has left, and what ran beside it."""
        for other in self.others:
            other.kill()
            other.wait()
        for pid in set(processes()) - self.before - {os.getpid()}:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for group in self.groups:
            self.until_empty(group)
            group.rmdir()

    @staticmethod
    def until_empty(group: Path) -> None:
        deadline = time.monotonic() + 10
        while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
