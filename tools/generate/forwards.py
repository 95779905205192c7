"""Writes the entries that hand all their arguments and their name to one function, in both counts.
The source of that function includes these files at its end. Types and names of parameters come from
mpi.h, and functions that it lacks have no entry."""

from __future__ import annotations

from collections.abc import Iterable

from native_table import BANNER
from prototypes import Function

MODES = {"": "Standard", "s": "Synchronous", "b": "Buffered", "r": "Ready"}


def sends(name: str, function: str) -> dict[str, str]:
    """A row for each mode: `name` has a place for its letter."""
    return {
        name.format(letter).capitalize(): f"{function}<Mode::{mode}>"
        for letter, mode in MODES.items()
    }


def same(*names: str) -> dict[str, str]:
    """Entries that have the names of their functions."""
    return {name: name.lower() for name in names}


# File -> entry -> the C++ function, which is a template over the type of counts.
TABLE = {
    "send": sends("{}send", "send") | sends("i{}send", "isend"),
    "recv": {"Recv": "receive", "Irecv": "ireceive"},
    "bsend": same(
        "Buffer_attach", "Buffer_detach", "Comm_attach_buffer", "Comm_detach_buffer",
        "Session_attach_buffer", "Session_detach_buffer",
    ),
    "packing": same("Pack", "Unpack"),
    "persistent": sends("{}send_init", "send_init") | same("Recv_init"),
    "mprobe": same("Mrecv", "Imrecv"),
    "sendrecv": same("Sendrecv", "Sendrecv_replace", "Isendrecv", "Isendrecv_replace"),
    "communicate": {
        f"{letter}{name}".capitalize(): name
        for name in ("put", "get", "accumulate", "get_accumulate")
        for letter in ("", "r")
    },
    "make": {
        "Win_create": "create",
        "Win_allocate": "allocate",
        "Win_allocate_shared": "allocate_shared",
        "Win_shared_query": "shared_query",
    },
}  # fmt: skip
NOTES = {
    "Pack": "for clusters whose processors differ: in their common format",
    "Unpack": "for clusters whose processors differ: from their common format",
    "Win_allocate_shared": "over clusters the members share no memory: MPI_ERR_RMA_SHARED",
    "Win_shared_query": "where this process has no memory of that one's mapped, as in another "
    "cluster: size 0",
}


def entries() -> dict[str, str]:
    """As sources.entries: member -> note."""
    names = [name for rows in TABLE.values() for name in rows]
    return {f"{name}{count}": NOTES.get(name, "") for name in names for count in ("", "_c")}


def entry(function: Function, target: str) -> str:
    parameters = ", ".join(p.declaration() for p in function.parameters)
    arguments = ", ".join(p.name for p in function.parameters)
    return (
        f"ISTHMUS_MPI({function.member})({parameters}) {{\n"
        f'  return {target}({arguments}, "{function.mpi_name}");\n'
        f"}}\n"
    )


def files(declared: Iterable[Function]) -> dict[str, str]:
    """Name of a file -> its text."""
    known = list(declared)
    return {
        f"{name}_entries.inc": BANNER
        + "".join(
            entry(f, rows[f.member.removesuffix("_c")])
            for f in known
            if f.member.removesuffix("_c") in rows
        )
        for name, rows in TABLE.items()
    }
