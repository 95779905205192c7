"""Ranks whose MPI calls do not come through Isthmus: each cluster would compute the whole job."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import COMPILERS, Grid, check, wrapped
from running import shell_script

from isthmus.install import find_isthmusd

# The program would wait forever: what ends the run is that somebody looks.
HANG = ("hang", -1)


def script(folder: Path, text: str) -> Path:
    return shell_script(folder / "start.sh", text)


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


@pytest.mark.parametrize("option", ["-g", "-s"], ids=["", "stripped"])
def test_static_mpi_behind_a_script(grid: Grid, tmp_path, option):
    source = tmp_path / "static.c"
    # The visible traces of a libmpi.a in a program.
    source.write_text(
        '#include <unistd.h>\nint MPIR_Process;\nconst char* name = "MPI_COMM_WORLD";\n'
        "int MPI_Init(void) { return pause(); }\nint main(void) { return MPI_Init(); }\n"
    )
    target = tmp_path / "static"
    subprocess.run(["cc", "-static", option, str(source), "-o", str(target)], check=True)
    start = script(tmp_path, 'exec "$@"')
    done = grid.run("-n", 2, start, target)
    check(done, 1, "static", "statically linked")
    done = grid.run("-n", 2, target)
    check(done, 1, "static", "statically linked")


USER = 54321  # of no account


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that other users can read."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives programs more rights")
@pytest.mark.parametrize("rights", ["capabilities", "set-user-ID", "set-group-ID"])
@pytest.mark.parametrize("behind", ["directly", "a script"])
def test_a_program_with_more_rights(grid: Grid, program, open_folder, rights, behind) -> None:
    app = open_folder / "app"
    shutil.copy(program("mpich"), app)
    app.chmod({"capabilities": 0o755, "set-user-ID": 0o4755, "set-group-ID": 0o2755}[rights])
    if rights == "capabilities":
        subprocess.run(["/usr/sbin/setcap", "cap_sys_nice+ep", app], check=True)
    command = [app, *HANG]
    if behind == "a script":  # which does not name it
        command = [script(open_folder, 'exec "$@"'), *command]
    # The agents, and so the ranks, are another user's.
    to_user = f"setpriv --reuid={USER} --regid={USER} --clear-groups"
    prefix = wrapped(open_folder / "prefix", f'HOME=/tmp exec {to_user} "{find_isthmusd()}" "$@"')
    launch = shutil.which("mpirun.mpich")
    keys = f"launch = '{launch}'\nprefix = '{prefix}'\n"
    grid.write("".join(f"[cluster.{c}]\n{keys}" for c in ("east", "west")))
    done = grid.run("-g", "grid.toml", "-n", 2, "--wdir", open_folder, *command)
    assert done.returncode != 0
    assert "/app' on " in done.stderr, done.stderr
    assert f"{rights}, so the dynamic linker ignores LD_PRELOAD" in done.stderr, done.stderr
    # As its owner it runs with no more rights than anybody's programs.
    done = grid.run(*at_home("mpich", grid), "-n", 2, app, "fine")
    assert (done.returncode, done.stdout) == (0, "up 2\n"), done.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs programs as another user")
def test_a_wrapper_that_changes_the_user(grid: Grid, program, open_folder) -> None:
    """As su and sudo do: the environment is another, and the program no child of its launcher."""
    app = open_folder / "app"
    shutil.copy(program("mpich"), app)
    change = f"setpriv --reuid={USER} --regid={USER} --clear-groups env -i HOME=/tmp PATH=/usr/bin"
    start = script(open_folder, f'{change} "$@"\nexit $?')
    done = grid.run(*at_home("mpich", grid), "-n", 2, "--wdir", open_folder, start, app, *HANG)
    check(done, 1, f'"{app}"', "another user", "sudo")


OPENED = Path(__file__).with_name("opened.c")


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory):
    """opened("ompi") is a program that opens a library, and a library that begins with that MPI."""
    folder = tmp_path_factory.mktemp("opened")

    def build(mpi: str) -> tuple[Path, Path]:
        program, library = folder / "opens", folder / f"libopened-{mpi}.so"
        subprocess.run(["cc", OPENED, "-o", program], check=True)
        options = ["-DLIBRARY", "-shared", "-fPIC"]
        subprocess.run([COMPILERS[mpi], *options, OPENED, "-o", library], check=True)
        return program, library

    return build


def test_another_kind_of_library(grid: Grid, opened) -> None:
    program, library = opened("mpich")
    done = grid.run(*at_home("ompi", grid), "-n", 2, program, library, "plain", "lasts")
    check(done, 1, "isthmus: ", "kind")


def test_a_namespace_of_its_own(grid: Grid, opened) -> None:
    done = grid.run(*at_home("mpich", grid), "-n", 2, *opened("mpich"), "apart", "lasts")
    check(done, 1, "isthmus: rank ", "dlmopen")


@pytest.mark.parametrize("how", ["plain", "apart"])
@pytest.mark.parametrize("preload", [True, False])
def test_who_has_mpi_and_never_begins_is_let_be(grid: Grid, opened, tmp_path, how, preload) -> None:
    start = script(tmp_path, 'exec "$@"' if preload else 'LD_PRELOAD= exec "$@"')
    command = [start, *opened("mpich"), how, "never"]
    done = grid.run(*at_home("mpich", grid), "-n", 2, *command)
    assert sorted(done.stdout.splitlines()) == ["never"] * 2, done.stderr
    assert "without Isthmus" not in done.stderr


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
