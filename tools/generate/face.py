"""Writes the generated sources of one face: native_table.{hpp,cpp}, guards.cpp, face_table.cpp,
the entries of collectives, files and messages, and what counts around calls (profile.cpp, its
table).

face.py --compiler c++ --include DIR --sources src/mpi --out DIR
"""

from __future__ import annotations

import argparse
from pathlib import Path

import collectives
import files
import forwards
import guards
import native_table
import profile_wrappers
import prototypes
import sources


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--include", action="append", required=True)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--extra", type=Path, help="prototypes that mpi.h may lack")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()

    declared = prototypes.parse(prototypes.preprocess(args.compiler, args.include))
    if not declared:
        raise SystemExit(f"no PMPI prototypes in the mpi.h of {args.include}")
    mechanical = {*collectives.entries(), *files.entries(), *forwards.entries()}
    generated = {f.member for f in declared} & mechanical
    face = guards.Face(
        declared=declared,
        extra=prototypes.parse(args.extra.read_text()) if args.extra else [],
        entries=set(sources.entries(args.sources)) | generated,
        native_ok=set(sources.native_ok()),
        reasons=sources.refusals(),
        refused_on_grid=sources.refused_on_grid(),
    )
    args.out.mkdir(parents=True, exist_ok=True)
    write_if_changed(args.out / "native_table.hpp", native_table.header(declared))
    write_if_changed(args.out / "native_table.cpp", native_table.source(declared))
    write_if_changed(args.out / "guards.cpp", guards.source(face))
    write_if_changed(args.out / "face_table.cpp", guards.table(face))
    write_if_changed(args.out / "collectives.cpp", collectives.source(declared, kept=False))
    write_if_changed(args.out / "collectives_init.cpp", collectives.source(declared, kept=True))
    write_if_changed(args.out / "files.cpp", files.source(declared))
    for name, text in forwards.files(declared).items():
        write_if_changed(args.out / name, text)
    write_if_changed(args.out / "profile.cpp", profile_wrappers.source(face))
    write_if_changed(args.out / "profile_table.cpp", profile_wrappers.table(face))


if __name__ == "__main__":
    main()
