import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from faulty import AS_ROOT, COMPILERS, Grid, Sshd, wrapped
from waiting import eventually

from isthmus.base.errors import RunError
from isthmus.install import find_isthmusd


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with bin/isthmusd, the real one."""
    try:
        real = find_isthmusd()
    except RunError as error:
        pytest.fail(str(error))
    home = tmp_path_factory.mktemp("prefix")
    return wrapped(home, f'exec "{real}" "$@"')


@pytest.fixture
def grid(tmp_path: Path, prefix: Path) -> Iterator[Grid]:
    python = str(Path(__file__).parents[2] / "python")
    environment = {**os.environ, **AS_ROOT, "ISTHMUS_PREFIX": str(prefix), "PYTHONPATH": python}
    environment.setdefault("ISTHMUS_REACH", "gateway")  # they are what fails here
    made = Grid(tmp_path, environment)
    yield made
    made.check_nothing_is_left()


@pytest.fixture
def place(grid: Grid) -> Iterator[Path]:
    """The only folder in which the run may put sockets and other files of its own."""
    with tempfile.TemporaryDirectory(prefix="left-", dir="/tmp") as folder:
        (Path(folder) / "runs").mkdir(mode=0o700)
        grid.environment |= dict.fromkeys(("XDG_RUNTIME_DIR", "TMPDIR", "ISTHMUS_HOME"), folder)
        yield Path(folder)
        left = [*Path(folder).glob("isthmus-*"), *Path(folder).glob("runs/isthmus-*")]
        eventually(lambda: not any(path.exists() for path in left), f"that {left} go")


Compile = Callable[..., Path]


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """program("ompi") is faults.c compiled with that MPI."""
    folder = tmp_path_factory.mktemp("programs")

    def build(mpi: str, *options: str) -> Path:
        target = folder / f"faults.{mpi}"
        if not target.exists():
            source = Path(__file__).with_name("faults.c")
            command = [COMPILERS[mpi], "-O1", str(source), "-o", str(target), *options]
            subprocess.run(command, check=True, capture_output=True)
        return target

    return build


@pytest.fixture(params=["ompi", "mpich"])
def exchange(request, tmp_path: Path) -> Path:
    target = tmp_path / "exchange"
    source = Path(__file__).with_name("exchange.c")
    command = [COMPILERS[request.param], "-O1", str(source), "-o", str(target)]
    subprocess.run(command, check=True, capture_output=True)
    return target


@pytest.fixture(scope="session")
def sshd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sshd]:
    with Sshd(tmp_path_factory.mktemp("sshd")) as made:
        yield made


@pytest.fixture
def remote(grid: Grid, sshd: Sshd) -> Grid:
    """A grid whose ssh knows the hosts of `sshd`."""
    grid.environment["ISTHMUS_SSH"] = sshd.ssh
    return grid
