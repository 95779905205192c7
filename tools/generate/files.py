"""Writes the entries that read and write files. They name the place in every way, are alone or
collective, and blocking, non-blocking or split, each with large counts. An entry finds the grid
file and hands its arguments to src/mpi/file/transfer.hpp, or else calls the native library. Types
and names of parameters come from mpi.h."""

from __future__ import annotations

import re
from collections.abc import Iterable

from native_table import BANNER
from prototypes import Function

NAME = re.compile(
    r"File_(?P<at_once>i?)(?P<direction>read|write)"
    r"(?P<place>_at|_shared|_ordered|)(?P<all>_all|)(?P<split>_begin|_end|)(_c)?$"
)
PLACES = {"_at": "Explicit", "_shared": "Shared", "_ordered": "Ordered", "": "Individual"}


def entries() -> dict[str, str]:
    """As sources.entries: member -> note."""
    found = {}
    for direction in ("read", "write"):
        for place in PLACES:
            alls = ("", "_all") if place in ("", "_at") else ("",)
            for together in alls:
                name = f"{direction}{place}{together}"
                forms = [f"File_{name}"]
                if place != "_ordered":
                    forms.append(f"File_i{name}")
                if together or place == "_ordered":
                    forms += [f"File_{name}_begin", f"File_{name}_end"]
                for form in forms:
                    found[form] = ""
                    if not form.endswith("_end"):
                        found[f"{form}_c"] = ""
    return found


def entry(function: Function) -> str:
    match = NAME.match(function.member)
    assert match is not None, function.member
    parameters = ", ".join(p.declaration() for p in function.parameters)
    names = [p.name for p in function.parameters]
    direction = "Write" if match["direction"] == "write" else "Read"
    collective = "true" if match["all"] or match["place"] == "_ordered" else "false"
    way = (
        f"{{Direction::{direction}, Place::{PLACES[match['place']]}, {collective}, "
        f'"{function.mpi_name}"}}'
    )
    buffer = names[2] if match["place"] == "_at" and match["split"] != "_end" else names[1]
    buffer = f"const_cast<void*>(static_cast<const void*>({buffer}))"
    native = f"parked(native.{function.member}, {', '.join(names)})"
    if match["split"] == "_end":
        call = f"end_split(found, {way}, {buffer}, {names[-1]})"
    else:
        offset = names[1] if match["place"] == "_at" else "0"
        last = names if match["split"] else names[:-1]
        count, datatype = last[-2], last[-1]
        memory = f"{{{buffer}, {count}, {datatype}}}"
        if match["split"]:
            call = f"begin_split(found, {way}, {offset}, {memory})"
        elif match["at_once"]:
            call = f"transfer_at_once(found, {way}, {offset}, {memory}, {names[-1]})"
            native = f"native.{function.member}({', '.join(names)})"
        else:
            call = f"transfer(found, {way}, {offset}, {memory}, {names[-1]})"
    return (
        f"ISTHMUS_MPI({function.member})({parameters}) {{\n"
        f"  if (const auto found = grid_file({names[0]})) {{\n"
        f"    return {call};\n"
        f"  }}\n"
        f"  return {native};\n"
        f"}}\n"
    )


def source(declared: Iterable[Function]) -> str:
    known = entries()
    text = "\n".join(entry(f) for f in declared if f.member in known)
    return f"""{BANNER}
#include "mpi/file/grid_file.hpp"
#include "mpi/file/transfer.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/request/native_progress.hpp"

namespace isthmus::face {{

{text}
}}  // namespace isthmus::face
"""
