"""Writes a guard for each function that names a communicator or group and that no source of the
face defines: native objects pass to the native library, grid objects raise an MPI error."""

from __future__ import annotations

import sources
from native_table import BANNER
from prototypes import Function, Parameter

# Handles that can stand for a grid object, and how the guard asks.
CHECKS = {
    "MPI_Comm": ("find_comm({})", "a communicator"),
    "MPI_Group": ("is_grid_group({})", "a group"),
}
# Functions that take their handle by address as input.
BY_ADDRESS = ("_free", "_disconnect")


def checked(function: Function) -> list[tuple[Parameter, str, str]]:
    """The parameters that may bring a grid object in: (parameter, handle expression, type)."""
    found = []
    for p in function.parameters:
        if p.array:
            continue
        if p.type in CHECKS:
            found.append((p, p.name, p.type))
        elif p.type.removesuffix(" *") in CHECKS and function.member.endswith(BY_ADDRESS):
            found.append((p, f"*{p.name}", p.type.removesuffix(" *")))
    return found


def needs_guard(function: Function, entries: set[str], native_ok: set[str]) -> bool:
    if function.member in entries or function.mpi_name in native_ok or function.variadic():
        return False
    return function.returns == "int" and bool(checked(function))


def guard(function: Function, reasons: dict[str, str]) -> str:
    name = function.mpi_name
    why = sources.reason(name, reasons)
    lines = []
    inputs = checked(function)
    for p, handle, kind in inputs:
        check, words = CHECKS[kind]
        test = check.format(handle)
        if handle.startswith("*"):
            test = f"{p.name} && {test}"
        comm = handle if kind == "MPI_Comm" else "kNoObject"
        sentence = f"{words} that spans clusters cannot be used here"
        sentence += f": {why}" if why else ""
        lines.append(
            f'  if (depth == 0 && {test})\n    return unsupported({comm}, "{name}", "{sentence}");'
        )
    parameters = ", ".join(p.declaration() for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    body = "\n".join(lines)
    return (
        f'extern "C" int isthmus_{function.member}({parameters}) {{\n{body}\n'
        f"  return native.{function.member}({arguments});\n}}\n"
    )


def source(
    functions: list[Function], entries: set[str], native_ok: set[str], reasons: dict[str, str]
) -> str:
    guards = [guard(f, reasons) for f in functions if needs_guard(f, entries, native_ok)]
    return f"""{BANNER}
#include "mpi/comm.hpp"
#include "mpi/entry.hpp"
#include "mpi/error.hpp"
#include "mpi/group.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
using namespace isthmus::face;

namespace {{
/// Whose error handler hears of errors on groups: MPI-4 section 9.3 says MPI_COMM_SELF, earlier
/// versions MPI_COMM_WORLD.
const MPI_Comm kNoObject = MPI_VERSION >= 4 ? MPI_COMM_SELF : MPI_COMM_WORLD;
}}  // namespace

{chr(10).join(guards)}"""


def table(functions: list[Function], entries: set[str], native_ok: set[str]) -> str:
    """The functions of the face by MPI name, for the stub."""
    ours = [f for f in functions if f.member in entries or needs_guard(f, entries, native_ok)]
    rows = "\n".join(
        f'    {{"{f.mpi_name}", reinterpret_cast<void*>(&isthmus_{f.member})}},' for f in ours
    )
    return f"""{BANNER}
#include "mpi/face.hpp"
#include "mpi/native.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace isthmus::face {{

const FaceFunction kFaceFunctions[] = {{
{rows}
    {{nullptr, nullptr}},
}};

}}  // namespace isthmus::face
"""
