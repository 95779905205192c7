"""Fresh environments with one of the wheels of dist/ each."""

from __future__ import annotations

import os
import re
import subprocess
import uuid
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import AS_ROOT, Sshd
from marks import MARK, nothing_is_left
from running import ran
from wheels import HERE, Isthmus, wheel_of

_COMPILERS = re.compile(
    r"(.*-)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cpp|ld|as|ar|make|ninja|cmake)([.-].*)?"
)


@pytest.fixture(scope="session")
def no_compilers(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH with the programs of this system except what compiles."""
    folder = tmp_path_factory.mktemp("programs")
    for program in (*Path("/usr/bin").iterdir(), *Path("/bin").iterdir()):
        link = folder / program.name
        if not _COMPILERS.fullmatch(program.name) and not link.is_symlink():
            link.symlink_to(program)
    return str(folder)


def environment(wheel: Path, folder: Path) -> Path:
    """A fresh environment with the wheel, as pip makes it anywhere."""
    venv.create(folder, with_pip=True)
    command = [folder / "bin" / "pip", "install", "-q", "--only-binary", ":all:", wheel]
    done = ran(command, timeout=500)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(wheel_of(HERE), tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="session")
def launcher_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return environment(wheel_of("any"), tmp_path_factory.mktemp("launcher"))


@pytest.fixture
def command(tmp_path: Path, no_compilers: str) -> Iterator[Isthmus]:
    """command(ENVIRONMENT, WORD...) runs its `isthmus`, outside the checkout."""
    mark = uuid.uuid4().hex
    keep = {k: v for k, v in os.environ.items() if k in ("HOME", "USER", "LC_ALL", "TMPDIR")}

    def run(where: Path, *words: object, **more: str) -> subprocess.CompletedProcess[str]:
        path = f"{where}/bin:{no_compilers}"
        return ran(
            [where / "bin" / "isthmus", *words],
            env={**keep, **AS_ROOT, MARK: mark, "PATH": path, **more},
            cwd=tmp_path,
        )

    yield run
    nothing_is_left(mark)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home folder on the hosts of `sshd`."""
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def sshd(tmp_path: Path, home: Path) -> Iterator[Sshd]:
    (tmp_path / "sshd").mkdir()
    with Sshd(tmp_path / "sshd", f"SetEnv HOME={home}\n") as made:
        yield made
