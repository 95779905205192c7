"""Errors of files in their home reach all processes that they concern, by MPI's classes and with
the system's words. The other hosts do not even see the folder."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check_killed

SOURCE = Path(__file__).with_name("files.c")


def run(
    grid: Grid,
    folder: Path,
    library: str,
    mount: str,
    *words: str,
    name: str = "file",
    before: str = "",
):
    """One process in the home, where `folder` is mounted by `mount`, started with the words
    `before` it; two elsewhere, where it is empty."""
    program = grid.folder / "files"
    subprocess.run([COMPILERS[library], SOURCE, "-o", program], check=True)
    folder.mkdir()

    def part(cluster: str, ranks: int, how: str, before: str = "") -> list[object]:
        script = f'mount -t tmpfs {how} none "{folder}" && {before} exec "$@"'
        command = [program, folder / name, *words]
        return ["--on", cluster, "-n", ranks, "unshare", "-m", "sh", "-c", script, "sh", *command]

    return grid.run(*part("east", 1, mount, before), ":", *part("west", 2, ""))


def told(output: str, call: str) -> dict[int, tuple[str, str]]:
    """Each rank's report of a call: class and sentence."""
    found = re.findall(rf"^{call}: rank (\d): (\w+): (.*)$", output, re.MULTILINE)
    return {int(rank): (name, text) for rank, name, text in found}


@pytest.fixture(params=["ompi", "mpich"])
def library(request) -> str:
    return request.param


def test_nothing_wrong(grid: Grid, tmp_path: Path, library: str) -> None:
    done = run(grid, tmp_path / "data", library, "")
    assert done.returncode == 0, done.stderr
    for call in ("open", "write", "sync", "read", "close"):
        assert told(done.stdout, call) == dict.fromkeys(range(3), ("success", ""))


def test_the_disk_is_full(grid: Grid, tmp_path: Path, library: str) -> None:
    """The disk has room for half of their data."""
    done = run(grid, tmp_path / "data", library, "-o size=1536k")
    assert done.returncode == 0, done.stderr
    failed = [text for name, text in told(done.stdout, "write").values() if name == "NO_SPACE"]
    assert failed, done.stdout
    assert all("No space left on device" in text for text in failed), failed
    assert all(f"{tmp_path}/data/file" in text for text in failed), failed
    wrote = {rank for rank, (name, _) in told(done.stdout, "write").items() if name == "success"}
    assert wrote <= told(done.stdout, "read").keys()


@pytest.mark.parametrize(
    ("mount", "name", "kind", "words"),
    [
        ("-o ro", "file", "READ_ONLY", "Read-only file system"),
        ("", "none/file", "NO_SUCH_FILE", "No such file or directory"),
        ("", "", "BAD_FILE", "Is a directory"),
        ("", "x" * 300, "BAD_FILE", "File name too long"),
    ],
)
def test_it_cannot_be_opened(grid: Grid, tmp_path: Path, mount, name, kind, words) -> None:
    done = run(grid, tmp_path / "data", "mpich", mount, name=name)
    assert done.returncode == 0, done.stderr
    opened = told(done.stdout, "open")
    assert opened.keys() == {0, 1, 2}
    for rank, (class_, text) in opened.items():
        assert class_ == kind, (rank, text)
        assert words in text


def test_the_process_that_serves_it_is_killed(grid: Grid, tmp_path: Path, library: str) -> None:
    done = run(grid, tmp_path / "data", library, "", "kill")
    check_killed(done, signal.SIGKILL, "east", library)
    assert 'rank 0 (cluster "east")' in done.stderr
    assert told(done.stdout, "close") == {}


def test_the_disk_is_full_while_writes_follow_each_other(grid: Grid, tmp_path: Path) -> None:
    """A process without an error has all its bytes in the file."""
    done = run(grid, tmp_path / "data", "mpich", "-o size=1536k", "stream")
    assert done.returncode == 0, done.stderr
    wrote, synced = told(done.stdout, "write"), told(done.stdout, "sync")
    kinds = {name for name, _ in [*wrote.values(), *synced.values()]}
    assert kinds <= {"success", "NO_SPACE"}, done.stdout
    assert "NO_SPACE" in kinds, done.stdout
    well = {r for r in wrote if wrote[r][0] == "success" and synced[r][0] == "success"}
    assert well <= told(done.stdout, "read").keys(), done.stdout


QUOTA = """
#define _GNU_SOURCE
#include <errno.h>
#include <unistd.h>
ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  if (at >= 1 << 20) { errno = EDQUOT; return -1; }
  return pwritev2(file, &(struct iovec){(void*)data, size}, 1, at, 0);
}
ssize_t pwrite64(int, const void*, size_t, off_t) __attribute__((alias("pwrite")));
"""


def test_the_quota_is_used_up(grid: Grid, tmp_path: Path) -> None:
    """As the system tells it of a file system with quotas."""
    library = tmp_path / "quota.so"
    command = ["cc", "-shared", "-fPIC", "-include", "sys/uio.h", "-x", "c", "-", "-o", library]
    subprocess.run(command, input=QUOTA, text=True, check=True)
    preload = f'LD_PRELOAD="{library} $LD_PRELOAD"'  # the stub binds what is before it
    done = run(grid, tmp_path / "data", "mpich", "", before=f"export {preload};")
    assert done.returncode == 0, done.stderr
    kinds = {rank: name for rank, (name, _) in told(done.stdout, "write").items()}
    assert kinds == {0: "success", 1: "QUOTA", 2: "QUOTA"}
    assert "Disk quota exceeded" in done.stdout


def test_it_may_not_be_written(grid: Grid, tmp_path: Path) -> None:
    """The user has no right to do so: root without the capability."""
    before = f'touch "{tmp_path}/data/file" && chmod 0 "{tmp_path}/data/file" && set -- setpriv '
    before += '--bounding-set=-dac_override,-dac_read_search "$@" &&'
    done = run(grid, tmp_path / "data", "mpich", "", before=before)
    assert done.returncode == 0, done.stderr
    opened = told(done.stdout, "open")
    assert {name for name, _ in opened.values()} == {"ACCESS"}
    assert all("Permission denied" in text for _, text in opened.values())


def test_it_vanishes(grid: Grid, tmp_path: Path) -> None:
    done = run(grid, tmp_path / "data", "mpich", "", "remove")
    assert done.returncode == 0, done.stderr
    synced = told(done.stdout, "sync")
    assert {name for name, _ in synced.values()} == {"NO_SUCH_FILE"}
    assert all("which somebody has removed" in text for _, text in synced.values())


def test_a_writer_is_killed(grid: Grid, tmp_path: Path, library: str) -> None:
    done = run(grid, tmp_path / "data", library, "", "writer")
    check_killed(done, signal.SIGKILL, "west", library)
    assert told(done.stdout, "close") == {}
