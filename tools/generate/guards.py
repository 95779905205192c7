"""Writes a guard for each function that names a communicator or group and that no source of the
face defines. Native objects pass to the native library, and grid objects raise an MPI error. While
a call that may wait for other processes (those of windows and files too) is in the native library,
the thread counts as parked (src/mpi/request/native_progress.hpp)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

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
# Functions that the stub finds beside MPI functions, by name: src/mpi/topology/clusters.cpp.
TOPOLOGY = tuple(
    f"isthmus_topology_{name}"
    for name in (
        "change",
        "changes",
        "channel_comm",
        "channel_comm_f",
        "channel_name",
        "channels",
        "cluster_comm",
        "cluster_comm_f",
        "cluster_name",
        "cluster_of",
        "cluster_size",
        "clusters",
        "link",
    )
)
# The same: src/mpi/making/surviving_asked.cpp. All but the first are there for Fortran, too.
_SURVIVAL = (
    "ack_failed",
    "agree",
    "failure_ack",
    "failure_get_acked",
    "get_failed",
    "iagree",
    "is_revoked",
    "ishrink",
    "revoke",
    "shrink",
)
SURVIVAL = (
    "isthmus_survival_error",
    "isthmus_survival_possible",
    *(f"isthmus_survival_{name}{kind}" for name in _SURVIVAL for kind in ("", "_f")),
)
# Calls of Open MPI's Fortran layer that the stub takes over: src/mpi/topology/fortran.cpp,
# src/mpi/making/comm_idup.cpp.
FORTRAN = (
    "isthmus_fortran_collective",
    "isthmus_fortran_comm_idup",
    "isthmus_fortran_comm_idup_with_info",
)
# Stubs ask these on behalf of every Fortran layer: src/mpi/comm/attributes.cpp,
# src/mpi/rma/attributes.cpp.
ASKED_FOR_FORTRAN = ("isthmus_fortran_comm_attribute", "isthmus_fortran_win_attribute")
# The question of MPICH's stub when UCX is to close its connections: src/mpi/making/join.cpp.
OF_UCX = ("isthmus_has_left",)
# Handles that the processes of a call share if it may wait for others. LOCAL are calls that only
# look at the handle, or at objects that belong to it.
SHARED = ("MPI_Comm", "MPI_Win", "MPI_File", "MPI_Message", "MPI_Session")
LOCAL = re.compile(
    r"_(get_\w+|set_(name|attr|errhandler)|call_errhandler|delete_attr|c2f|f2c|toint|fromint"
    r"|(create|free)_keyval|create_errhandler|test_inter)(_c)?$"
)


@dataclass
class Face:
    """The parts of a face."""

    declared: list[Function]  # in its mpi.h: members of struct Native
    extra: list[Function] = field(default_factory=list)  # known by name alone
    entries: set[str] = field(default_factory=set)  # members that the sources define
    native_ok: set[str] = field(default_factory=set)
    reasons: dict[str, str] = field(default_factory=dict)
    refused_on_grid: dict[str, str] = field(default_factory=dict)  # whatever their arguments

    def functions(self) -> list[Function]:
        """All it knows, in the order of their names."""
        known = {f.mpi_name: f for f in [*self.extra, *self.declared]}
        return [known[name] for name in sorted(known)]

    def guarded(self, function: Function) -> bool:
        if function.member in self.entries or function.mpi_name in self.native_ok:
            return False
        if function.mpi_name in self.refused_on_grid:
            return True
        if function.returns != "int" or function.variadic():
            return False
        return bool(checked(function)) or may_wait(function)


def may_wait(function: Function) -> bool:
    """Whether the call may wait for other processes."""
    if LOCAL.search(function.mpi_name):
        return False
    return any(p.type.removesuffix(" *") in SHARED for p in function.parameters)


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


def guard(function: Function, face: Face, declared: bool = True) -> str:
    name = function.mpi_name
    why = sources.reason(name, face.reasons)
    lines = []
    if always := face.refused_on_grid.get(name):
        lines.append(
            "  if (depth == 0 && grid())\n"
            f'    return unsupported(MPI_COMM_NULL, "{name}", "{always}");'
        )
    for p, handle, kind in checked(function):
        check, words = CHECKS[kind]
        test = check.format(handle)
        if handle.startswith("*"):
            test = f"{p.name} && {test}"
        comm = handle if kind == "MPI_Comm" else "MPI_COMM_NULL"
        sentence = f"{words} that spans clusters cannot be used here"
        sentence += f": {why}" if why else ""
        lines.append(
            f'  if (depth == 0 && {test})\n    return unsupported({comm}, "{name}", "{sentence}");'
        )
    parameters = ", ".join(p.declaration() for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    called = f"native.{function.member}"
    if not declared:
        lines.append(f'  static void* const f = native_function("{function.symbol}");')
        called = f"reinterpret_cast<{function.pointer()}>(f)"
    if may_wait(function):
        lines.append(f"  return parked({called}, {arguments});")
    else:
        lines.append(f"  return {called}({arguments});")
    body = "\n".join(lines)
    return f'extern "C" int isthmus_{function.member}({parameters}) {{\n{body}\n}}\n'


def source(face: Face) -> str:
    declared = {f.mpi_name for f in face.declared}
    guards = [guard(f, face, f.mpi_name in declared) for f in face.functions() if face.guarded(f)]
    return f"""{BANNER}
#include "mpi/comm/comm.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/error.hpp"
#include "mpi/native/face.hpp"
#include "mpi/process/grid.hpp"
#include "mpi/comm/group.hpp"
#include "mpi/request/native_progress.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
using namespace isthmus::face;

{chr(10).join(guards)}"""


def table(face: Face) -> str:
    """All functions that the face knows by MPI name, for the stub; null for those that are
    native. The other functions come last, because small letters sort last."""
    declared = {f.mpi_name for f in face.declared}
    rows, declarations = [], []
    for f in face.functions():
        ours = face.guarded(f) or f.member in face.entries
        if ours and f.mpi_name not in declared:
            declarations.append(f'extern "C" int isthmus_{f.member}();')
        value = f"reinterpret_cast<void*>(&isthmus_{f.member})" if ours else "nullptr"
        rows.append(f'    {{"{f.mpi_name}", {value}}},')
    for name in sorted((*FORTRAN, *ASKED_FOR_FORTRAN, *OF_UCX, *SURVIVAL, *TOPOLOGY)):
        declarations.append(f'extern "C" void {name}();')
        row = f'    {{"{name}", reinterpret_cast<void*>(&{name})}},'
        rows += ["#ifdef OPEN_MPI", row, "#endif"] if name in FORTRAN else [row]
    return f"""{BANNER}
#include "mpi/native/face.hpp"
#include "mpi/native/native.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
{chr(10).join(declarations)}

namespace isthmus::face {{

const FaceFunction kFaceFunctions[] = {{
{chr(10).join(rows)}
    {{nullptr, nullptr}},
}};

}}  // namespace isthmus::face
"""
