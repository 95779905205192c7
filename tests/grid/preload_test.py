"""The entry stub alone is preloaded into programs that are not part of a grid, and changes nothing.
Tools that wrap MPI_X over PMPI_X keep working in any symbol order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import mpis
import pytest
from running import ran

LIBDIR = Path(os.environ.get("ISTHMUS_LIBDIR") or Path(sys.prefix) / "lib" / "isthmus")
STUBS = {
    "openmpi4": "ompi-4.1",
    "mpich4": "mpich-4.0",
    "openmpi5": "ompi-5.0",
    "mpich5": "mpich-5.0",
    "mpiabi5": "mpiabi-5.0",
    "intel2021": "mpich-5.0",
}
TESTED = [mpis.ALL[name] for name in mpis.TESTED]
EVERY_MPI = pytest.mark.parametrize("mpi", TESTED, ids=lambda mpi: mpi.name)
NATIVE = Path(__file__).parent / "preload" / "native.c"
TRACED = Path(__file__).parent / "preload" / "traced.c"
TOOL = Path(__file__).parent / "preload" / "tool.c"


def stub(mpi: mpis.Mpi) -> Path:
    path = LIBDIR / f"libisthmus-{STUBS[mpi.name]}.so"
    assert path.exists(), f"{path} is missing: make build"
    return path


def start(
    command: list[object], preload: list[Path], **environment: str
) -> subprocess.CompletedProcess[str]:
    """The preload is for the program alone, not for mpirun: env sets it."""
    words = [str(c) for c in command]
    at = words.index("--")
    setting = "LD_PRELOAD=" + ":".join(map(str, preload))
    words[at : at + 1] = ["env", setting]
    extra = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    }
    return ran(words, env=os.environ | extra | environment)


def lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted(x.rstrip() for x in done.stdout.splitlines() if x.strip())


@EVERY_MPI
def test_without_a_grid_a_program_is_as_without_the_stub(mpi: mpis.Mpi, programs: Path) -> None:
    program = mpi.build(NATIVE, programs)
    command = [mpi.mpirun, "-n", 2, "--", program]
    under_stub = lines(start(command, [stub(mpi)]))
    assert under_stub == lines(start(command, []))
    assert under_stub == [
        f"rank {r} of 2 sum 1 wrong 0 constructor 0 time 1 isthmus 0" for r in range(2)
    ]


def fortran_cases() -> list[tuple[str, Path]]:
    """Each program with each library that can run it: `not natively: NAME` in its head says which
    cannot."""
    return [
        (name, source)
        for source in sorted((mpis.PROGRAMS / "fortran").glob("*.f90"))
        for name in ("openmpi4", "mpich4")
        if f"not natively: {name}" not in source.read_text()[:500]
    ]


@pytest.mark.parametrize(("name", "source"), fortran_cases(), ids=str)
def test_fortran_without_a_grid(name: str, source: Path, programs: Path) -> None:
    mpi = mpis.ALL[name]
    program = mpi.build(source, programs)
    command = [mpi.mpirun, "-n", 2, "--", program]
    assert lines(start(command, [stub(mpi)])) == lines(start(command, []))


@pytest.mark.parametrize("name", ["openmpi5", "mpich5"])
def test_mpi4py_without_a_grid(name: str) -> None:
    mpi = mpis.ALL[name]
    library = Path(str(mpi.python)).parents[1] / "lib"
    library /= "libmpi.so.40" if name == "openmpi5" else "libmpi.so.12"
    # A line in one write, or those of two ranks may mix.
    line = r"f'{c.rank} {c.size} {c.allreduce(1)}\n'"
    code = f"import os; from mpi4py import MPI; c = MPI.COMM_WORLD; os.write(1, {line}.encode())"
    command = [mpi.mpirun, "-n", 2, "--", mpi.python, "-c", code]
    done = start(command, [stub(mpi)], ISTHMUS_LIBMPI=str(library))
    assert lines(done) == ["0 2 2", "1 2 2"]


def compile_library(folder: Path, name: str, text: str) -> Path:
    source, out = folder / f"{name}.c", folder / f"{name}.so"
    source.write_text(text)
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", out], check=True)
    return out


@pytest.mark.parametrize("name", sorted({*STUBS.values()}))
@pytest.mark.parametrize("state", ["whole", "cut", "garbage", "absent"])
def test_what_the_library_lacks_is_not_there(name: str, state: str, tmp_path: Path) -> None:
    """Programs with weak references, as mpi4py, find the functions that they would find natively.
    If the library cannot be read, they find those of the stub."""
    asks = """
    extern int MPI_Barrier(void) __attribute__((weak));
    extern int MPI_Ibarrier(void) __attribute__((weak));
    extern int PMPI_Ibarrier(void) __attribute__((weak));
    int has(void) {
      return (MPI_Barrier != 0) + 2 * (MPI_Ibarrier != 0) + 4 * (PMPI_Ibarrier != 0);
    }
    """
    extension = compile_library(tmp_path, "asks", asks)
    library = compile_library(tmp_path, "lacks", "int MPI_Barrier(void) { return 0; }")
    if state == "cut":
        library.write_bytes(library.read_bytes()[:40])
    elif state == "garbage":
        library.write_bytes(library.read_bytes()[:64] + bytes(range(256)) * 64)
    elif state == "absent":
        library.unlink()
    done = ran(
        [sys.executable, "-c", f"import ctypes; print(ctypes.CDLL({str(extension)!r}).has())"],
        env=os.environ
        | {"LD_PRELOAD": str(LIBDIR / f"libisthmus-{name}.so"), "ISTHMUS_LIBMPI": str(library)},
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "1\n" if state == "whole" else "7\n"), done.stderr


def build_tool(mpi: mpis.Mpi, folder: Path) -> Path:
    out = folder / "libtool.so"
    subprocess.run([mpi.cc, "-shared", "-fPIC", TOOL, "-o", out], check=True)
    return out


TRACE = ["received 42", "tool after", "tool before", "tool begins"]


@EVERY_MPI
@pytest.mark.parametrize("order", ["before", "after"])
def test_a_preloaded_tool(mpi: mpis.Mpi, order: str, programs: Path, tmp_path: Path) -> None:
    tool = build_tool(mpi, tmp_path)
    preload = [tool, stub(mpi)] if order == "before" else [stub(mpi), tool]
    command = [mpi.mpirun, "-n", 1, "--", mpi.build(TRACED, programs)]
    assert lines(start(command, preload)) == TRACE


@EVERY_MPI
def test_a_tool_linked_into_the_program(mpi: mpis.Mpi, tmp_path: Path) -> None:
    tool = build_tool(mpi, tmp_path)
    program = tmp_path / "traced"
    rpath = f"-Wl,-rpath,{tmp_path}"
    subprocess.run([mpi.cc, TRACED, tool, rpath, "-o", program], check=True)
    for library in (stub(mpi), LIBDIR / "libisthmus-psets.so"):
        assert lines(start([mpi.mpirun, "-n", 1, "--", program], [library])) == TRACE


@EVERY_MPI
def test_a_tool_in_the_program_itself(mpi: mpis.Mpi, tmp_path: Path) -> None:
    program = tmp_path / "traced"
    subprocess.run([mpi.cc, TRACED, TOOL, "-o", program], check=True)
    assert lines(start([mpi.mpirun, "-n", 1, "--", program], [stub(mpi)])) == TRACE


@pytest.mark.parametrize("name", sorted({*STUBS.values()}))
def test_programs_without_mpi_do_not_notice(name: str) -> None:
    done = start(["--", "sh", "-c", "echo fine"], [LIBDIR / f"libisthmus-{name}.so"])
    assert lines(done) == ["fine"]
    assert done.stderr == ""


def test_a_call_without_a_library_ends_with_a_sentence() -> None:
    code = "import ctypes; ctypes.CDLL(None).MPI_Init(None, None)"
    done = start(["--", sys.executable, "-c", code], [LIBDIR / "libisthmus-ompi-4.1.so"])
    assert done.returncode == 1
    assert "has loaded no MPI library" in done.stderr
