"""Writes the entries of collectives: all forms of a function (plain, non-blocking, persistent, and
each with large counts) from one row of a table. An entry finds the grid communicator and hands its
arguments to a function of isthmus::face::forms, or else calls the native library. Types and names
of parameters come from mpi.h; a persistent entry keeps the arguments that starts will need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from native_table import BANNER
from prototypes import Function, Parameter


@dataclass(frozen=True)
class Side:
    """The data that a process sends, or receives: how many blocks (where there are arrays), and
    when the arguments count at all. C++ expressions over the parameters, `found` (the communicator)
    and, of neighbourhoods, `neighbors`."""

    blocks: str = "found->size"
    when: str = ""

    def blocks_now(self) -> str:
        return f"{self.when} ? {self.blocks} : 0" if self.when else self.blocks


@dataclass(frozen=True)
class Row:
    form: str  # the function of isthmus::face::forms
    sent: Side = Side()
    received: Side = Side()
    finder: str = "spanning"  # of the grid communicator


def neighborhood(form: str) -> Row:
    return Row(form, Side("neighbors.destinations.size()"), Side("neighbors.sources.size()"))


AT_ROOT = Side(when="is_root(*found, root)")
TO_ROOT = Side(when="sendbuf != MPI_IN_PLACE && is_remote_to(*found, root)")
FROM_ROOT = Side(when="recvbuf != MPI_IN_PLACE && is_remote_to(*found, root)")
WITH_ROOT = Side(when="has_part(*found, root)")
UNLESS_SENT_IN_PLACE = Side(when="sendbuf != MPI_IN_PLACE")

TABLE = {
    "Barrier": Row("barrier"),
    "Bcast": Row("bcast", received=WITH_ROOT),
    "Gather": Row("gather_even", TO_ROOT, AT_ROOT),
    "Gatherv": Row("gather_placed", TO_ROOT, AT_ROOT),
    "Scatter": Row("scatter_even", AT_ROOT, FROM_ROOT),
    "Scatterv": Row("scatter_placed", AT_ROOT, FROM_ROOT),
    "Allgather": Row("allgather_even", UNLESS_SENT_IN_PLACE),
    "Allgatherv": Row("allgather_placed", UNLESS_SENT_IN_PLACE),
    "Alltoall": Row("alltoall_even", UNLESS_SENT_IN_PLACE),
    "Alltoallv": Row("alltoall_placed", UNLESS_SENT_IN_PLACE),
    "Alltoallw": Row("alltoall_typed", UNLESS_SENT_IN_PLACE),
    "Reduce": Row("reduce", received=WITH_ROOT, finder="reducing"),
    "Allreduce": Row("allreduce", finder="reducing"),
    "Reduce_scatter": Row(
        "reduce_scatter_placed", received=Side("own_group(*found).size()"), finder="reducing"
    ),
    "Reduce_scatter_block": Row("reduce_scatter_even", finder="reducing"),
    "Scan": Row("scan", finder="reducing"),
    "Exscan": Row("exscan", finder="reducing"),
    "Neighbor_allgather": neighborhood("neighbor_allgather_even"),
    "Neighbor_allgatherv": neighborhood("neighbor_allgather_placed"),
    "Neighbor_alltoall": neighborhood("neighbor_alltoall_even"),
    "Neighbor_alltoallv": neighborhood("neighbor_alltoall_placed"),
    "Neighbor_alltoallw": neighborhood("neighbor_alltoall_typed"),
}


def forms_of(name: str) -> list[str]:
    """The functions that a row stands for, whether or not a library has them."""
    plain = [name, f"I{name[0].lower()}{name[1:]}", f"{name}_init"]
    return [*plain, *(f"{form}_c" for form in plain)]


ROWS = {form: row for name, row in TABLE.items() for form in forms_of(name)}


def entries() -> dict[str, str]:
    """As sources.entries: member -> note."""
    return dict.fromkeys(ROWS, "")


def persistent(function: Function) -> bool:
    return function.member.removesuffix("_c").endswith("_init")


def is_array(p: Parameter) -> bool:
    return bool(p.array) or (p.type.endswith("*") and "void" not in p.type)


def by_side(function: Function, row: Row) -> Iterator[tuple[Parameter, Side]]:
    """The parameters of a form (not the communicator, info and request). Parameters after memory
    that is only read are sent, the rest received."""
    side = row.received
    for p in function.parameters:
        if p.type in ("MPI_Comm", "MPI_Info", "MPI_Request *"):
            continue
        if p.type in ("const void *", "void *"):
            side = row.sent if p.type.startswith("const") else row.received
        yield p, side


def keeping(function: Function, row: Row) -> Iterator[tuple[str, str]]:
    """For each argument of a persistent entry: what its starts capture, and what they then give."""
    counts = ""  # the first array of a side
    for p, side in by_side(function, row):
        counts = counts if is_array(p) else ""
        when = f", {side.when}" if side.when else ""
        if p.type == "MPI_Op":
            keeper = f"KeptOperation({p.name}{when})"
        elif p.type == "MPI_Datatype" and not p.array:
            keeper = f"KeptDatatype({p.name}{when})"
        elif "MPI_Datatype" in p.type:
            keeper = f"KeptDatatypes({p.name}, {counts}, {side.blocks_now()})"
        elif is_array(p):
            keeper = f"Copied({p.name}, {side.blocks_now()})"
            counts = counts or p.name
        else:
            yield "", p.name
            continue
        yield f", {p.name} = {keeper}", f"{p.name}.get()"


def native_call(function: Function) -> str:
    names = ", ".join(p.name for p in function.parameters)
    if function.parameters[-1].type == "MPI_Request *":
        return f"native.{function.member}({names})"
    return f"parked(native.{function.member}, {names})"


def head(function: Function) -> str:
    parameters = ", ".join(p.declaration() for p in function.parameters)
    return f"ISTHMUS_MPI({function.member})({parameters}) {{\n"


def entry(function: Function, row: Row) -> str:
    """A blocking or non-blocking entry: calls the form at once."""
    arguments = "".join(f"{p.name}, " for p, _ in by_side(function, row))
    request = "".join(f", {p.name}" for p in function.parameters if p.type == "MPI_Request *")
    return (
        f"{head(function)}"
        f"  if (const auto found = {row.finder}(comm)) {{\n"
        f'    return forms::{row.form}({arguments}{{found, "{function.mpi_name}"{request}}});\n'
        f"  }}\n"
        f"  return {native_call(function)};\n"
        f"}}\n"
    )


def persistent_entry(function: Function, row: Row) -> str:
    kept = list(keeping(function, row))
    captures = "".join(capture for capture, _ in kept)
    arguments = "".join(f"{argument}, " for _, argument in kept)
    neighbors = ""
    if "neighbors" in captures:
        neighbors = "    const Neighbors neighbors = neighbors_of(*found);\n"
    return (
        f"{head(function)}"
        f"  const auto found = {row.finder}(comm);\n"
        f"  if (!found) return {native_call(function)};\n"
        f'  return shielded(comm, "{function.mpi_name}", [&] {{\n'
        f"{neighbors}"
        f'    return init_collective({{found, "{function.mpi_name}"}}, request,\n'
        f"        [={captures}](const Call& call) {{\n"
        f"          return forms::{row.form}({arguments}call);\n"
        f"        }});\n"
        f"  }});\n"
        f"}}\n"
    )


def source(declared: Iterable[Function], kept: bool) -> str:
    """The entries of the functions that an mpi.h declares: the persistent ones, or the others."""
    make = persistent_entry if kept else entry
    text = "\n".join(
        make(f, ROWS[f.member]) for f in declared if f.member in ROWS and persistent(f) == kept
    )
    return f"""{BANNER}
#include "mpi/coll/coll_checks.hpp"
#include "mpi/coll/coll_persistent.hpp"
#include "mpi/coll/collective_forms.hpp"
#include "mpi/comm/inter.hpp"
#include "mpi/native/entry.hpp"
#include "mpi/process/shield.hpp"
#include "mpi/request/native_progress.hpp"
#include "mpi/topology/neighbor_forms.hpp"
#include "mpi/topology/neighbors.hpp"

namespace isthmus::face {{

{text}
}}  // namespace isthmus::face
"""
