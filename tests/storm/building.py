"""Compiles the program of the storm with the MPI libraries."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import thresholds

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests" / "grid"))

import mpis  # noqa: E402

SOURCES = Path(__file__).parent / "program"
FLAGS = ("-x", "c++", "-std=c++20", "-O1", "-g", "-Wall", "-Wextra", "-pthread")
# The C++ bindings that old headers have need a library of their own.
FLAGS_OF_HEADERS = ("-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX")


def write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def program(library: str) -> Path:
    """The program, built with this library; only what has changed is compiled."""
    folder = ROOT / "build" / "tests" / library / "storm"
    folder.mkdir(parents=True, exist_ok=True)
    write_if_new(folder / "thresholds.hpp", thresholds.header(thresholds.thresholds()))
    compiler = mpis.ALL[library].cc
    newest = max(path.stat().st_mtime for path in (*SOURCES.glob("*.hpp"), *folder.glob("*.hpp")))

    def compiled(source: Path) -> Path:
        out = folder / f"{source.stem}.o"
        if not out.exists() or out.stat().st_mtime < max(newest, source.stat().st_mtime):
            includes = ("-I", SOURCES, "-I", folder)
            mpis.compile_to(out, compiler, *FLAGS, *FLAGS_OF_HEADERS, *includes, "-c", source)
        return out

    with ThreadPoolExecutor(2) as pool:
        objects = list(pool.map(compiled, sorted(SOURCES.glob("*.cpp"))))
    made = folder / "storm"
    if not made.exists() or made.stat().st_mtime < max(path.stat().st_mtime for path in objects):
        mpis.compile_to(made, compiler, *objects, "-pthread", "-lstdc++")
    return made
