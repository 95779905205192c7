"""Compiles the program of the storm with the MPI libraries."""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import thresholds

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests" / "grid")]

import mpis  # noqa: E402

SOURCES = Path(__file__).parent / "program"
FLAGS = ("-O1", "-g1", "-Wall", "-Wextra", "-pthread")
# The C++ bindings that old headers have need a library of their own.
FLAGS_OF_HEADERS = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")


def write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Tests side by side want the same program: one builds it, the others wait for it."""
    with (folder / "building").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def program(library: str) -> Path:
    """The program, built with this library; only what has changed is compiled."""
    folder = ROOT / "build" / "tests" / library / "storm"
    folder.mkdir(parents=True, exist_ok=True)
    with only_one(folder):
        return built(folder, mpis.ALL[library].cc)


def built(folder: Path, compiler: str) -> Path:
    write_if_new(folder / "thresholds.hpp", thresholds.header(thresholds.thresholds()))
    newest = max(path.stat().st_mtime for path in (*SOURCES.glob("*.hpp"), *folder.glob("*.hpp")))
    flags = ("-std=c++20", *FLAGS, *FLAGS_OF_HEADERS, "-I", SOURCES, "-I", folder)

    # The common header is parsed once: that halves the time (2026-11).
    common = folder / "common.hpp.gch"
    if not common.exists() or common.stat().st_mtime < newest:
        header = SOURCES / "common.hpp"
        mpis.compile_to(common, compiler, "-c", "-x", "c++-header", *flags, header)

    def compiled(source: Path) -> Path:
        out = folder / f"{source.stem}.o"
        if not out.exists() or out.stat().st_mtime < max(newest, source.stat().st_mtime):
            include = ("-include", folder / "common.hpp")
            mpis.compile_to(out, compiler, "-c", "-x", "c++", *flags, *include, source)
        return out

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sorted(SOURCES.glob("*.cpp"))))
    made = folder / "storm"
    if not made.exists() or made.stat().st_mtime < max(path.stat().st_mtime for path in objects):
        mpis.compile_to(made, compiler, *objects, "-pthread", "-lstdc++")
    return made
