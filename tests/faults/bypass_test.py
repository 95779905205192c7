"""Ranks whose MPI calls do not come through Isthmus: each cluster would compute the whole job."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from faulty import Grid, check

# The program would wait for ever: what ends the run is that somebody looks.
HANG = ("hang", -1)


def script(folder: Path, text: str) -> Path:
    path = folder / "start.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def at_home(mpi: str, grid: Grid) -> list[str]:
    """A grid whose native launchers are those of `mpi`, also for scripts."""
    launch = shutil.which({"ompi": "mpirun.openmpi", "mpich": "mpirun.mpich"}[mpi])
    grid.write("".join(f"[cluster.{c}]\nlaunch = '{launch}'\n" for c in ("east", "west")))
    return ["-g", "grid.toml"]


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
@pytest.mark.parametrize("options", [[], ["--tag-output"]], ids=["", "tagged"])
def test_preload_dropped(grid: Grid, program, tmp_path, mpi, options):
    start = script(tmp_path, 'LD_PRELOAD= "$@"')
    done = grid.run(*at_home(mpi, grid), *options, "-n", 4, start, program(mpi), *HANG)
    check(done, 1, "isthmus: rank ", 'cluster "', f"faults.{mpi}", "LD_PRELOAD", "libisthmus-")


def test_preload_dropped_in_one_rank(grid: Grid, program, tmp_path):
    start = script(tmp_path, '[ "$PMI_RANK" = 1 ] && LD_PRELOAD=\nexec "$@"')
    command = [start, program("mpich"), *HANG]
    done = grid.run(
        *at_home("mpich", grid),
        *("--on", "east", "-n", 2, program("mpich"), *HANG, ":", "--on", "west", "-n", 2, *command),
    )
    check(done, 1, 'isthmus: rank 3 (cluster "west")', "faults.mpich", "LD_PRELOAD")


def test_environment_emptied(grid: Grid, program, tmp_path):
    start = script(tmp_path, 'exec env -u LD_PRELOAD -u ISTHMUS_WORLD "$@"')
    done = grid.run(*at_home("mpich", grid), "-n", 2, start, program("mpich"), *HANG)
    check(done, 1, "faults.mpich", "ISTHMUS_*", "environment")


def test_a_container_without_the_library(grid: Grid, program, tmp_path):
    inside = script(tmp_path, 'mount -t tmpfs none "$ISTHMUS_LIBDIR" && exec "$@"')
    enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
    command = [*enter, inside, program("mpich"), *HANG]
    done = grid.run(*at_home("mpich", grid), "-n", 2, *command)
    check(done, 1, "faults.mpich", "does not see", "container")


def test_static_mpi_behind_a_script(grid: Grid, tmp_path):
    source = tmp_path / "static.c"
    # What a libmpi.a leaves in a program, as far as anybody can see.
    source.write_text(
        "#include <unistd.h>\nint MPIR_Process;\nint MPI_Init(void) { return pause(); }\n"
        "int main(void) { return MPI_Init(); }\n"
    )
    subprocess.run(["cc", "-static", str(source), "-o", str(tmp_path / "static")], check=True)
    start = script(tmp_path, 'exec "$@"')
    done = grid.run("-n", 2, start, tmp_path / "static")
    check(done, 1, "static", "statically linked")


def test_another_kind_of_library(grid: Grid, program, tmp_path):
    source = tmp_path / "other.c"
    source.write_text(
        "#include <dlfcn.h>\n#include <unistd.h>\nint main(void) {\n"
        '  return dlopen("libmpich.so.12", RTLD_NOW) ? pause() : 2;\n}\n'
    )
    subprocess.run(["cc", str(source), "-o", str(tmp_path / "other")], check=True)
    done = grid.run(*at_home("ompi", grid), "-n", 2, tmp_path / "other")
    check(done, 1, "other", "libmpich.so.12", "another kind of MPI")


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_a_wrapper_may_take_its_time(grid: Grid, program, tmp_path, mpi):
    """And may start what has no preload, and jobs of another launcher that live for long."""
    helper = shutil.which("mpirun.mpich" if mpi == "ompi" else "mpirun.openmpi")
    other = program("mpich" if mpi == "ompi" else "ompi")
    start = script(
        tmp_path,
        "LD_PRELOAD= sleep 2\n"
        f"env -u LD_PRELOAD {other} no-init || exit 3\n"
        f"LD_PRELOAD= {helper} --version > /dev/null || exit 4\n"
        'exec "$@"',
    )
    done = grid.run(*at_home(mpi, grid), "-n", 2, start, program(mpi), "fine")
    assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr
