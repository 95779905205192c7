"""Jobs and users that share a host: none meets what another has there, or has left there."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import mpis
import pytest
from marks import MARK, marked_processes, nothing_is_left
from running import Running
from waiting import eventually

SOURCE = Path(__file__).parent / "host" / "objects.c"
LIBRARIES = ["openmpi4", "mpich4"]
ME: list[str] = []
NOBODY = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
# As a killed process could leave the semaphore of Open MPI's files over /dev/null.
LEAVE_LOCKED = (
    "import ctypes, os; libc = ctypes.CDLL(None); libc.sem_open.restype = ctypes.c_void_p; "
    "assert libc.sem_open(b'/OMPIO_null', os.O_CREAT, 0o644, 0)"
)

Start = Callable[..., Running]


@pytest.fixture
def mark() -> Iterator[str]:
    text = uuid.uuid4().hex
    yield text
    nothing_is_left(text)


@pytest.fixture
def folder() -> Iterator[Path]:
    """All users may write there; pytest's own are its user's alone. Sockets want a short path."""
    with tempfile.TemporaryDirectory(prefix="isthmus-test-") as name:
        Path(name).chmod(0o777)
        yield Path(name)


@pytest.fixture
def start(mark: str, folder: Path) -> Start:
    """start(before, program, ...): a run of four ranks over two clusters."""

    def begin(before: list[str], program: Path, *words: object, **more: str) -> Running:
        run = [sys.executable, "-m", "isthmus", "run", "--timeout", "100", "-n", "4"]
        env = {
            MARK: mark,
            "HOME": str(folder),
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }
        return Running(
            [*before, *run, str(program), *map(str, words)],
            env=os.environ | env | more,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return begin


@pytest.fixture(params=["one user", "two users"])
def other(request: pytest.FixtureRequest) -> list[str]:
    """Words before a command that make it the other user's."""
    if request.param == "one user":
        return ME
    if os.geteuid() != 0:
        pytest.skip("only root can play another user")
    return NOBODY


def ends_well(run: Running) -> None:
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, out + err


def namespace(script: str) -> list[str]:
    """Runs a command in file systems of its own, which `script` mounts."""
    enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    return [*enter, "sh", "-c", f'{script} && exec "$@"', "sh"]


@pytest.mark.parametrize("library", LIBRARIES)
def test_two_jobs_at_a_time(start: Start, folder: Path, programs, library, other):
    program = mpis.ALL[library].build(SOURCE, programs)
    for name in ("mine", "theirs"):
        (folder / name).mkdir()
        (folder / name).chmod(0o777)
    with (
        start(ME, program, folder / "mine", 40) as mine,
        start(other, program, folder / "theirs", 40) as theirs,
    ):
        ends_well(mine)
        ends_well(theirs)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_job_after_one_that_was_killed(
    start: Start, folder: Path, mark, programs, library, other
):
    program = mpis.ALL[library].build(SOURCE, programs)

    def ranks() -> list[int]:
        lines = (line.split(": ", 1) for line in marked_processes(mark))
        return [int(pid) for pid, command in lines if command.startswith(str(program))]

    with start(ME, program, folder, 1, "hold") as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "held\n"
        eventually(lambda: len(ranks()) == 4, "four ranks")
        for pid in ranks():
            with contextlib.suppress(ProcessLookupError):  # the launcher ends the others, too
                os.kill(pid, signal.SIGKILL)
        killed.communicate(timeout=120)
        assert killed.returncode != 0
    (folder / "theirs").mkdir()
    (folder / "theirs").chmod(0o777)
    with start(other, program, folder / "theirs", 1) as after:
        ends_well(after)


@pytest.mark.parametrize("library", ["openmpi4", "openmpi5"])
def test_a_semaphore_that_was_left_locked(start: Start, folder: Path, programs, library):
    program = mpis.ALL[library].build(SOURCE, programs)
    leave = f'mount -t tmpfs none /dev/shm && "{sys.executable}" -c "{LEAVE_LOCKED}"'
    with start(namespace(leave), program, folder, 1) as run:
        ends_well(run)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_full_folder_for_temporary_files(start: Start, folder: Path, programs, library):
    """It becomes full after all ranks have joined, because native launchers write there before."""
    program = mpis.ALL[library].build(SOURCE, programs)
    small = folder / "small"
    small.mkdir()
    mount = f'mount -t tmpfs -o size=64m none "{small}"'
    places = {"TMPDIR": str(small), "XDG_RUNTIME_DIR": str(small)}
    with start(namespace(mount), program, folder, 1, small, **places) as run:
        ends_well(run)
