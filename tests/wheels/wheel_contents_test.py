"""The wheels have all parts, and need only an old C library."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from running import ran
from wheels import HERE, ROOT, unpacked, wheel_of

_MiB = 2**20
# The C library and its dynamic linker.
_SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux-(x86-64|aarch64))\.so\.\d+")
# Variables of the MPI library that the program has loaded.
_OF_MPI = re.compile(r"(ompi_|mpi_|MPI|PMPI|mpiabi_)\w*")
_OF_OUR_OPENSSL = "OPENSSL_BESIDE_FACES"
_PARTS = [
    "bin/isthmus",
    "bin/isthmusd",
    *(f"lib/isthmus/libisthmus-face-{abi}.so" for abi in ("ompi", "mpich", "mpiabi")),
    *(
        f"lib/isthmus/libisthmus-{stub}.so"
        for stub in ("ompi-4.1", "ompi-5.0", "mpich-4.0", "mpich-5.0", "mpiabi-5.0", "psets")
    ),
    "lib/isthmus/libisthmus-openssl.so",
    "include/isthmus/isthmus.h",
    "share/man/man1/isthmus.1",
    *(
        f"share/doc/isthmus/notices/{library}"
        for library in (
            "Apache-2.0",
            "compiler-rt",
            "libasio-dev",
            "libc++",
            "libc++abi",
            "libcli11-dev",
            "libfmt-dev",
            "libspdlog-dev",
            "libssl-dev",
            "libunwind",
            "libzstd-dev",
            "nlohmann-json3-dev",
        )
    ),
]
AARCH64 = "manylinux_2_28_aarch64"


def compiled_wheels() -> list[str]:
    """The wheel for this host must be in dist, the other one may be."""
    other = AARCH64 if HERE != AARCH64 else "manylinux_2_28_x86_64"
    return [HERE] + [other for _ in (ROOT / "dist").glob(f"isthmus-*-{other}.whl")]


@pytest.fixture(scope="module", params=compiled_wheels())
def tag(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def binaries(tag: str, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    prefix = unpacked(tag, tmp_path_factory.mktemp("contents"))
    found = [path for path in prefix.rglob("*") if path.is_file() and is_elf(path)]
    assert len(found) >= 10
    return found


def is_elf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def readelf(option: str, path: Path) -> str:
    command = ["readelf", "-W", option, path]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_all_parts_are_there(tag: str) -> None:
    with zipfile.ZipFile(wheel_of(tag)) as archive:
        names = archive.namelist()
        packages = {name.partition("/")[0] for name in names}
    assert [
        part for part in _PARTS if not any(n.endswith(f".data/data/{part}") for n in names)
    ] == []
    assert not any(name.endswith((".a", ".o", ".pyc")) for name in names)
    assert {re.sub(r"-.*\.", "-.", name) for name in packages} == {
        "isthmus", "isthmus-.data", "isthmus-.dist-info",
    }  # fmt: skip


def test_size(tag: str) -> None:
    assert wheel_of(tag).stat().st_size <= 15 * _MiB


def test_auditwheel(tag: str) -> None:
    command = [ROOT / ".venv/wheels/bin/auditwheel", "show", wheel_of(tag)]
    done = ran(command)
    said = " ".join(done.stdout.split())
    assert done.returncode == 0, done.stderr
    (minor,) = re.findall(r'consistent with the following platform tag: "manylinux_2_(\d+)_', said)
    assert int(minor) <= 28, said
    assert "external shared libraries are required" not in said


def test_only_the_system_is_needed(binaries: list[Path]) -> None:
    for path in binaries:
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", path))
        foreign = [name for name in needed if not _SYSTEM.fullmatch(name)]
        assert foreign in ([], ["libisthmus-openssl.so"]), path.name
        searched = re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", readelf("-d", path))
        places = [place for found in searched for place in found.split(":")]
        assert all(place.startswith("$ORIGIN") for place in places), (path.name, places)
        if foreign:
            found = [Path(place.replace("$ORIGIN", str(path.parent))) for place in places]
            assert any((place / foreign[0]).is_file() for place in found), path.name


def test_symbols_are_of_an_old_glibc(binaries: list[Path]) -> None:
    """Debian's static libraries are made for a newer one. A function that the old one lacks would
    be a symbol without a version here, and fail when it is called."""
    for path in binaries:
        undefined = [
            words[7]
            for line in readelf("--dyn-syms", path).splitlines()
            if len(words := line.split()) >= 8 and words[6] == "UND" and words[4] != "WEAK"
        ]
        versions = {name.partition("@")[2].strip("@") for name in undefined} - {""}
        versions -= {_OF_OUR_OPENSSL}
        assert {v.partition("_")[0] for v in versions} <= {"GLIBC"}, (path.name, versions)
        numbers = [tuple(map(int, v.removeprefix("GLIBC_").split("."))) for v in versions]
        assert max(numbers) <= (2, 28), path.name
        bare = [name for name in undefined if "@" not in name and not _OF_MPI.fullmatch(name)]
        assert bare == [], path.name


def test_stripped(binaries: list[Path]) -> None:
    for path in binaries:
        sections = readelf("-S", path)
        assert ".symtab" not in sections, path.name
        assert ".debug_info" not in sections, path.name


def test_a_face_shows_one_symbol(binaries: list[Path]) -> None:
    for face in (path for path in binaries if "-face-" in path.name):
        shown = [
            words[7]
            for line in readelf("--dyn-syms", face).splitlines()
            if len(words := line.split()) >= 8 and words[6].isdigit()
        ]
        assert shown == ["isthmus_face_open"], face.name


def test_the_launcher_alone_has_nothing_compiled(tmp_path: Path) -> None:
    prefix = unpacked("any", tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file() and is_elf(path)] == []
    assert (prefix / "bin/isthmus").is_file()
    assert (prefix / "include/isthmus/isthmus.h").is_file()
    assert wheel_of("any").stat().st_size <= _MiB
