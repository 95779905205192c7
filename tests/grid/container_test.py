"""Every rank in a container of podman's, which sees nothing of the project but what is bound."""

from __future__ import annotations

import resource
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import mpis
import pytest
from waiting import eventually, with_enough_time

PROJECT = Path(__file__).resolve().parents[2]
SOURCE = """\
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank, size, sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  printf("%d of %d: %d, %s\\n", rank, size, sum,
         access("/run/.containerenv", F_OK) == 0 ? "contained" : "free");
  fflush(stdout);
  if (argc > 2 && rank == atoi(argv[2])) exit(7);
  if (argc > 1 && !strcmp(argv[1], "hang")) sleep(600);
  MPI_Finalize();
  return 0;
}
"""
# The wrapper of docs/containers.md, with this host's root in the place of an image.
BOUND = '-v "$ISTHMUS_LIBDIR:$ISTHMUS_LIBDIR:ro"'
WRAPPER = """\
#!/bin/bash
if [ "$PMI_FD" ]; then
  exec 3<&"$PMI_FD"
  export PMI_FD=3
fi
exec {podman} run --rm --env-host --net=host --ipc=host --pid=host \\
  ${{PMI_FD:+--preserve-fds=1}} {bound} -v /tmp:/tmp -v "$PWD:$PWD" -w "$PWD" {image} "$@"
"""


@pytest.fixture(scope="module")
def podman() -> Iterator[tuple[str, str]]:
    """The command, and the options for its image."""
    folder = tempfile.mkdtemp(prefix="isthmus-podman-")
    command = shlex.join(
        ["podman", "--root", f"{folder}/root", "--runroot", f"{folder}/run", "--runtime", "runc"]
    )
    limit = min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], 1024)  # without the right to raise
    hidden = f"--mount type=tmpfs,destination={PROJECT},notmpcopyup"
    image = f"--ulimit nofile={limit}:{limit} --ulimit nproc=4096:4096 {hidden} --rootfs /:O"
    tried = subprocess.run(
        f"{command} run --rm --net=host --pid=host {image} true",
        shell=True, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    if tried.returncode:
        pytest.skip(f"podman starts no container on this host: {tried.stderr}")
    yield command, image
    subprocess.run(f"{command} rm --all --force", shell=True, timeout=240, check=True)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    folder = tmp_path_factory.mktemp("contained")
    return cache(lambda library: mpis.ALL[library].build_text(SOURCE, folder / library))


@pytest.fixture
def parts(podman, built, tmp_path: Path) -> Callable[..., list[object]]:
    """The words that run it on two clusters of different libraries, two ranks each."""

    def words(*arguments: object, bound: str = BOUND) -> list[object]:
        command, image = podman
        wrapper = tmp_path / "in-container"
        wrapper.write_text(WRAPPER.format(podman=command, bound=bound, image=image))
        wrapper.chmod(0o755)
        of_both = ["-n", 2, "--wdir", tmp_path, "--mpi"]
        east = ["--on", "east", *of_both, "openmpi", wrapper, built("openmpi4")]
        west = ["--on", "west", *of_both, "mpich", wrapper, built("mpich4")]
        return [*east, *arguments, ":", *west, *arguments]

    return words


def none_runs(podman: tuple[str, str]) -> None:
    """No container runs once podman has seen their ends. A killed podman has not seen them, as on a
    slow machine; this call looks for itself."""

    def names() -> str:
        return subprocess.run(
            f"{podman[0]} ps -q --sync",
            shell=True, capture_output=True, text=True, timeout=240, check=True,
        ).stdout  # fmt: skip

    eventually(lambda: not names(), "no container runs")


@pytest.mark.parametrize("reach", ["", "gateway"])
def test_one_world(isthmus, parts, monkeypatch, reach):
    monkeypatch.setenv("ISTHMUS_REACH", reach)
    done = isthmus.well("run", *parts())
    assert sorted(done.stdout.splitlines()) == [f"{rank} of 4: 6, contained" for rank in range(4)]


def test_the_status_is_the_ranks(isthmus, podman, parts, monkeypatch):
    monkeypatch.setenv("ISTHMUS_GRACE", "60")  # podman may take its time to tell of the end
    done = isthmus("run", *parts("hang", 1))
    assert done.returncode == 7, done.stderr
    assert 'rank 1 (cluster "east") ended without MPI_Finalize, with status 7' in done.stderr
    none_runs(podman)


def test_a_run_that_is_ended_ends_its_containers(isthmus, podman, parts):
    done = with_enough_time(
        lambda seconds: isthmus("run", "--timeout", seconds, *parts("hang")),
        lambda done: done.stdout.count("\n") == 4,
        12,
    )
    assert done.returncode == 124, done.stderr
    assert len(done.stdout.splitlines()) == 4
    none_runs(podman)


def test_a_library_that_is_not_bound(isthmus, podman, parts):
    done = isthmus("run", *parts("hang", bound=""))
    assert done.returncode == 1, done.stderr
    assert "Bind that folder into the container" in done.stderr
    none_runs(podman)
