"""Some libraries look for names in their own dependencies first (RTLD_DEEPBIND), as all that Julia
and MATLAB open do. Their calls of MPI come to Isthmus, and they keep the rest."""

from __future__ import annotations

from pathlib import Path

import mpis
import pytest

SOURCE = Path(__file__).with_name("opened_deep.c")


@pytest.fixture(params=["openmpi4", "mpich4"])
def opened(request, tmp_path: Path) -> tuple[str, Path, Path]:
    """The library's family, the program, and the library that it opens."""
    mpi = mpis.ALL[request.param]
    shared = ["-shared", "-fPIC"]
    beside = mpis.compile_to(tmp_path / "libbeside.so", "cc", *shared, "-DBESIDE", SOURCE)
    needs = [beside, f"-Wl,-rpath,{tmp_path}"]
    library = mpis.compile_to(
        tmp_path / "libopened.so", mpi.cc, *shared, "-DLIBRARY", SOURCE, *needs
    )
    program = mpis.compile_to(tmp_path / "opens", "cc", "-rdynamic", SOURCE, "-ldl")
    return mpi.name.rstrip("4"), program, library


@pytest.mark.parametrize(
    ("how", "twin"), [("deep", "beside"), ("local", "program")], ids=["deep", "local"]
)
def test_by_path(isthmus, opened, how: str, twin: str) -> None:
    family, program, library = opened
    done = isthmus("run", "--mpi", family, "-n", 4, program, library, how)
    expected = [f"{rank} of 4, sum 4, {twin}" for rank in range(4)]
    assert (done.returncode, sorted(done.stdout.splitlines())) == (0, expected), done.stderr


def test_by_name(isthmus, opened) -> None:
    family, program, library = opened
    words = ["-x", f"LD_LIBRARY_PATH={library.parent}", program, library.name, "deep"]
    done = isthmus("run", "--mpi", family, "-n", 4, *words)
    lines = sorted(line.rpartition(",")[0] for line in done.stdout.splitlines())
    assert (done.returncode, lines) == (0, [f"{r} of 4, sum 4" for r in range(4)]), done.stderr


def test_by_python(isthmus, opened) -> None:
    family, _, library = opened
    code = f"import ctypes; ctypes.CDLL({str(library)!r}, mode=8 | 2).work()"  # RTLD_DEEPBIND, NOW
    done = isthmus("run", "--mpi", family, "-n", 2, "python3", "-c", code)
    lines = sorted(line.rpartition(",")[0] for line in done.stdout.splitlines())
    assert (done.returncode, lines) == (0, [f"{r} of 2, sum 2" for r in range(2)]), done.stderr
