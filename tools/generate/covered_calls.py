"""Prints docs/coverage.md: what each function of the MPI standard does on the grid, from the
sources of the face.

    covered_calls.py > docs/coverage.md
"""

from __future__ import annotations

from collections import Counter

import collectives
import files
import forwards
import sources
import standard
from prototypes import member_name
from standard import StandardFunction

HEAD = """# What works on the grid

Made by `tools/generate/covered_calls.py` from the sources; do not edit.

| | meaning |
|---|---|
| **grid** | works on communicators and groups that span clusters |
| local | has nothing to do with other processes, or only with the handle: native |
| refused | raises `MPI_ERR_UNSUPPORTED_OPERATION`, in all callers, on what spans clusters |

A communicator or group inside one cluster is the native library's own: every function works on it
as that library does. Errors go through the error handler of the object. For a file that is to be
opened it is that of `MPI_FILE_NULL`, which returns unless the program sets another. If it returns,
a line on standard error shows the first refusal of each function, as many programs do not look.
`_c` marks a function whose large-count form does the same, in libraries that have it.
"""

# The note of an entry that refuses, at least in part, begins with this.
REFUSED = "refused: "
# c2f and the like: the handle is native.
HANDLE_ONLY = ("_c2f", "_toint")


def classify(
    function: StandardFunction,
    entries: dict[str, str],
    native_ok: dict[str, str],
    refused: dict[str, str],
    refused_on_grid: dict[str, str],
    name: str | None = None,
) -> tuple[str, str]:
    """(state, note) of a function, or of its large-count form `name`."""
    name = name or function.name
    if (member := member_name(name)) in entries:
        note = entries[member] or entries.get(member.removesuffix("_c"), "")
        if note.startswith(REFUSED):
            return "refused", note.removeprefix(REFUSED)
        return "grid", note
    if name in refused_on_grid:
        return "refused", refused_on_grid[name]
    if name in native_ok:
        return "grid", native_ok[name]
    if function.inputs & {"COMMUNICATOR", "GROUP"} and not name.endswith(HANDLE_ONLY):
        return "refused", sources.reason(name, refused)
    return "local", ""


def table() -> list[tuple[str, str, str]]:
    """(name, state, note) rows."""
    entries = sources.entries() | collectives.entries() | files.entries() | forwards.entries()
    native_ok = sources.native_ok()
    refusals = sources.refusals(), sources.refused_on_grid()
    rows = []
    for function in standard.functions():
        state, note = classify(function, entries, native_ok, *refusals)
        label = function.name
        if function.large:
            large = f"{function.name}_c"
            large_state, large_note = classify(function, entries, native_ok, *refusals, large)
            if large_state == state:
                label += ", `_c`"
            else:
                rows.append((large, large_state, large_note))
        rows.append((label, state, note))
    return sorted(rows, key=lambda r: r[0].lower())


def page() -> str:
    rows = table()
    states = Counter(state for _, state, _ in rows)
    summary = ", ".join(f"{states[s]} {s}" for s in ("grid", "local", "refused"))
    lines = [HEAD, f"In numbers: {summary}.\n"]
    lines += ["| function | on the grid | note |", "|---|---|---|"]
    for name, state, note in rows:
        shown = "**grid**" if state == "grid" else state
        lines.append(f"| {name} | {shown} | {note} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(page(), end="")
