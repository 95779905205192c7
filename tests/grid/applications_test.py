"""Real programs and libraries, installed from the distribution and never rebuilt, over two
clusters; with --all-libraries over one and over eight as well."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import mpis
import pytest

INPUTS = mpis.ROOT / "tests" / "applications"
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
PYTHON = "/usr/bin/python3"  # which finds the distribution's packages
INTERPRETERS = [PYTHON, *mpis.pythons().values()]


@dataclass(frozen=True)
class Clusters:
    """`ranks` over `number` clusters of this host."""

    number: int
    ranks: int

    def words(self, folder: Path) -> list[str]:
        if self.number == 1:
            return ["--on", "west", "-n", str(self.ranks)]
        grid = folder / "grid.toml"
        grid.write_text("".join(f"[cluster.c{i}]\n" for i in range(self.number)))
        return ["-g", str(grid), "-n", str(self.ranks)]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "clusters" in metafunc.fixturenames:
        counts = [(2, 4)]
        if metafunc.config.getoption("--all-libraries"):
            counts += [(1, 3), (2, 5), (8, 8), (8, 16)]
        chosen = [pytest.param(Clusters(*of), id=f"{of[0]}x{of[1]}") for of in counts]
        metafunc.parametrize("clusters", chosen)


def native(ranks: int, *command: object, cwd: Path) -> str:
    """The program's output under Open MPI's own launcher."""
    return subprocess.run(
        ["mpirun.openmpi", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        + [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
        cwd=cwd,
        env=os.environ | AS_ROOT,
    ).stdout


def check_prints_the_same(isthmus, clusters: Clusters, tmp_path: Path, *command: object) -> None:
    grid = isthmus.well("run", *clusters.words(tmp_path), *command, timeout=570, cwd=tmp_path)
    assert grid.stdout
    assert grid.stdout == native(clusters.ranks, *command, cwd=tmp_path)


def thermodynamics(output: str) -> list[str]:
    """The rows of LAMMPS's table of thermodynamic output."""
    table = re.search(r"^Step Temp.*\n((?:\s*\d+ .*\n)+)", output, re.MULTILINE)
    assert table, f"no thermodynamic output in:\n{output[-2000:]}"
    return table.group(1).splitlines()


@pytest.mark.parametrize("ranks", [2, 4])
def test_lammps_prints_what_it_prints_natively(isthmus, ranks, tmp_path):
    command = ["lmp", "-in", INPUTS / "in.melt", "-log", "none"]
    grid = isthmus.well("run", "-n", ranks, *command, timeout=300, cwd=tmp_path)
    expected = native(ranks, *command, cwd=tmp_path)
    assert thermodynamics(grid.stdout) == thermodynamics(expected)


@pytest.fixture
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linear algebra takes all cores of the host in every rank otherwise."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")


@pytest.mark.usefixtures("one_thread")
def test_hpcc_passes_its_own_checks(isthmus, tmp_path):
    shutil.copy(INPUTS / "hpccinf.txt", tmp_path)
    done = isthmus("run", "-n", 4, "hpcc", timeout=570, cwd=tmp_path)
    report = (tmp_path / "hpccoutf.txt").read_text() if done.returncode == 0 else ""
    assert done.returncode == 0, done.stderr
    assert "Success=1" in report
    assert "FAILED" not in report
    errors = re.findall(r"Found (\d+) errors in", report)
    assert errors
    assert set(errors) == {"0"}
    failed = re.findall(r"(\d+) tests completed and failed residual checks", report)
    assert failed
    assert set(failed) == {"0"}


NETPIPE = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}  # one source, a package for each MPI


@pytest.mark.parametrize("how", ["-i", "-i -a", "-i -S"])  # plain, receives posted before, Ssend
@pytest.mark.parametrize(
    ("east", "west"),
    [("openmpi", "openmpi"), ("mpich", "mpich"), ("openmpi", "mpich"), ("mpich", "openmpi")],
)
def test_netpipe_finds_what_it_sent(isthmus, tmp_path, east, west, how):
    words = [*how.split(), "-n", "3", "-u", str(4 << 20), "-o", tmp_path / "np.out"]
    command = mpis.on(east=(1, NETPIPE[east], *words), west=(1, NETPIPE[west], *words))
    done = isthmus.well("run", *command, timeout=300, cwd=tmp_path)
    said = done.stdout + done.stderr
    sizes = re.findall(r"^ *\d+: +(\d+) bytes +3 times --> +(.+)$", said, re.MULTILINE)
    assert {outcome.strip() for _, outcome in sizes} == {"Integrity check passed"}
    assert max(int(size) for size, _ in sizes) > 3 << 20


def scalapack(mpi: str) -> Path:
    """The folder of its own tests, built for that MPI, and of their inputs."""
    return Path("/usr/lib/x86_64-linux-gnu/scalapack") / f"{mpi}-tests"


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(
    ("east", "west", "name"),
    [
        ("openmpi", "openmpi", "xdhrd"),
        ("mpich", "mpich", "xdinv"),
        ("openmpi", "mpich", "xdlu"),
        ("openmpi", "mpich", "xdhrd"),
    ],
)
def test_scalapack_passes_its_own_checks(isthmus, east: str, west: str, name: str) -> None:
    command = mpis.on(east=(2, scalapack(east) / name), west=(2, scalapack(west) / name))
    done = isthmus.well("run", *command, timeout=300, cwd=scalapack(east))
    ran = re.search(r"Finished +(\d+) tests", done.stdout)
    assert ran, done.stdout
    counts = re.findall(r"(\d+) tests completed and (\w+) residual checks", done.stdout)
    assert counts == [(ran[1], "passed"), ("0", "failed")]


@pytest.mark.usefixtures("one_thread")
def test_nwchem_by_windows_of_global_arrays(isthmus, clusters: Clusters, tmp_path: Path) -> None:
    def results(output: str) -> list[float]:
        """The energy, then the atoms' coordinates and gradients."""
        energy = re.findall(r"Total DFT energy = +(\S+)", output)
        atoms = re.findall(r"^ +\d [OH] ((?: +-?\d+\.\d+){6})$", output, re.MULTILINE)
        assert (len(energy), len(atoms)) == (1, 3), output
        return [float(word) for word in " ".join(energy + atoms).split()]

    folders = [tmp_path / "grid", tmp_path / "native"]
    for folder in folders:
        folder.mkdir()
    command = ["nwchem.openmpi", INPUTS / "water.nw"]
    done = isthmus.well("run", *clusters.words(tmp_path), *command, timeout=570, cwd=folders[0])
    # Ranks take tasks as they come, and sum in that order.
    expected = results(native(clusters.ranks, *command, cwd=folders[1]))
    assert results(done.stdout) == pytest.approx(expected, abs=1e-8)


@pytest.mark.usefixtures("one_thread")
def test_preconditioners_of_petsc(isthmus, clusters: Clusters, tmp_path: Path) -> None:
    check_prints_the_same(isthmus, clusters, tmp_path, PYTHON, INPUTS / "petsc_solve.py")


@pytest.mark.usefixtures("one_thread")
def test_poisson_with_dolfinx(isthmus, clusters: Clusters, tmp_path: Path, monkeypatch) -> None:
    """Rank 0 compiles the forms, for all others."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    check_prints_the_same(isthmus, clusters, tmp_path, PYTHON, INPUTS / "dolfinx_poisson.py")


def test_boost_mpi(isthmus, clusters: Clusters, programs: Path, tmp_path: Path) -> None:
    source, program = INPUTS / "boost_mpi.cpp", programs / "boost_mpi"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        boost = ("-lboost_mpi", "-lboost_serialization")
        mpis.compile_to(program, "mpicxx.openmpi", source, *boost)
    check_prints_the_same(isthmus, clusters, tmp_path, program)


# Two builds of NetCDF: what reaches HDF5, and what reaches PnetCDF.
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
NETCDF = {
    "hdf5": [f"-I{LIBRARIES}/netcdf/mpi/include", "-lnetcdf_mpi"],
    "cdf5": [f"-I{LIBRARIES}/netcdf/pnetcdf/include", "-lnetcdf_pnetcdf"],
}


def built(programs: Path, name: str, compiler: list[str], *options: str) -> Path:
    """A program of tests/applications, compiled if its source is newer."""
    (source,) = INPUTS.glob(f"{name.partition('-')[0]}.[cf]*")
    program = programs / name
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        mpis.compile_to(program, *compiler, "-O1", source, *options)
    return program


def check_file_is_the_same(isthmus, tmp_path: Path, *command: object) -> Path:
    """The program gets its file as its first argument. The file is byte for byte that of a native
    run, though the second cluster does not see the first one's folder. Returns the file."""
    ranks = 4
    folders = [tmp_path / "native", tmp_path / "grid"]
    for folder in folders:
        folder.mkdir()
    files = [folder / "file" for folder in folders]
    program, *others = command
    at = next((i for i, word in enumerate(others) if word == "FILE"), len(others))
    on = [[program, *others[:at], file, *others[at + 1 :]] for file in files]
    expected = native(ranks, *on[0], cwd=tmp_path)
    elsewhere = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none "{folders[1]}" && exec "$@"']
    words = mpis.on(east=(2, *on[1]), west=(2, *elsewhere, "sh", *on[1]))
    grid = isthmus.well("run", *words, timeout=300, cwd=tmp_path)
    assert grid.stdout == expected
    assert files[1].read_bytes() == files[0].read_bytes()
    assert list(folders[1].iterdir()) == [files[1]]
    return files[1]


def test_hdf5_with_h5py(isthmus, tmp_path: Path) -> None:
    check_file_is_the_same(isthmus, tmp_path, PYTHON, INPUTS / "h5py_parallel.py", "FILE")


@pytest.mark.parametrize("kind", ["atom", "xyz"])
def test_dumps_of_lammps(isthmus, tmp_path: Path, kind: str) -> None:
    """Its package MPIIO: all ranks write one file, binary or text."""
    words = ["-screen", "none", "-log", "none", "-in", INPUTS / "in.mpiio", "-var", "kind", kind]
    check_file_is_the_same(isthmus, tmp_path, "lmp", *words, "-var", "file", "FILE")


def test_pnetcdf(isthmus, programs: Path, tmp_path: Path) -> None:
    """Its independent accesses open the file on MPI_COMM_SELF."""
    program = built(programs, "pnetcdf_records", ["mpicc.openmpi"], "-lpnetcdf")
    file = check_file_is_the_same(isthmus, tmp_path, program, "FILE")
    subprocess.run(["ncvalidator", "-q", file], check=True, timeout=240)
    compare = ["ncmpidiff", "-q", file, tmp_path / "native" / "file"]
    isthmus.well("run", "-n", 4, *compare)


@pytest.mark.parametrize("kind", list(NETCDF))
def test_parallel_netcdf(isthmus, programs: Path, tmp_path: Path, kind: str) -> None:
    program = built(programs, f"netcdf_parallel-{kind}", ["mpicc.openmpi"], *NETCDF[kind])
    check_file_is_the_same(isthmus, tmp_path, program, "FILE", kind)


@pytest.mark.parametrize(
    ("east", "west"), [("openmpi", "mpich"), ("mpich", "mpich"), ("openmpi", "openmpi")]
)
def test_coarrays(isthmus, programs: Path, east: str, west: str, monkeypatch) -> None:
    """OpenCoarrays, whose builds for two MPI libraries are images of one program. The sums are
    those of four images, natively with MPICH."""
    monkeypatch.setenv("UCX_LOG_LEVEL", "error")  # it leaves messages unreceived, natively too
    one, other = (built(programs, f"coarrays-{mpi}", [f"caf.{mpi}"]) for mpi in (east, west))
    done = isthmus.well("run", *mpis.on(east=(2, one), west=(2, other)))
    assert done.stdout == "coarrays 1000.000000 200 100040\nends 100040\n"


def test_boost_mpi_in_python(isthmus, clusters: Clusters, tmp_path: Path) -> None:
    check_prints_the_same(isthmus, clusters, tmp_path, PYTHON, INPUTS / "boost_mpi.py")


@pytest.mark.parametrize("python", INTERPRETERS)
@pytest.mark.parametrize("kind", ["pool", "comm"])
def test_pools_of_mpi4py(isthmus, clusters: Clusters, tmp_path: Path, python: str, kind) -> None:
    module = ["-m", "mpi4py.futures"] if kind == "pool" else []
    words = [*clusters.words(tmp_path), python, *module, INPUTS / "futures.py", kind]
    done = isthmus.well("run", *words, timeout=300)
    assert "pi 3.141612998642\n" in done.stdout
    assert "lists [0, 1, 50000]\n" in done.stdout
    assert "failures ['no 0', 'no 1', 'no 2', 'no 3', 'no 4']\n" in done.stdout
    everyone = range(clusters.ranks)
    workers = list(everyone[1:] if kind == "pool" else everyone[:-1])
    assert f"workers {workers}\n" in done.stdout
