"""Writes the assembly of an entry stub: its exported names, their slots, and what it looks for.

stub.py src/preload/exports.txt ompi-4.1 > stub.S
"""

from __future__ import annotations

import sys
from pathlib import Path

import exports

# ABI -> sonames of the libraries that have it.
SONAMES = {
    "ompi": ["libmpi.so.40"],
    "mpich": ["libmpich.so.12", "libmpi.so.12"],
    "mpiabi": ["libmpi_abi.so.*"],
}


def assembly(abi: str, exported: set[str]) -> str:
    names = sorted(exported)
    entries = "\n".join(f"NAME({i}, {name})" for i, name in enumerate(names))
    texts = "\n".join(f'.Lname_{i}: .asciz "{name}"' for i, name in enumerate(names))
    pointers = "\n".join(f"  .quad .Lname_{i}" for i in range(len(names)))
    own = "\n".join(f"  .quad .Lentry_{i}" for i in range(len(names)))
    slots = "\n".join(f"  .quad .Llazy_{i}" for i in range(len(names)))
    others = [s for other in SONAMES for s in SONAMES[other] if other != abi]
    sonames = SONAMES[abi] + others
    soname_texts = "\n".join(f'.Lsoname_{i}: .asciz "{s}"' for i, s in enumerate(sonames))
    pointers_of = [f"  .quad .Lsoname_{i}" for i in range(len(sonames))]
    soname_pointers = "\n".join(pointers_of[: len(SONAMES[abi])])
    other_pointers = "\n".join(pointers_of[len(SONAMES[abi]) :])
    return f"""/* Made by tools/generate. Do not edit. */
#if defined(__x86_64__)
#include "entry_x86_64.h"
#elif defined(__aarch64__)
#include "entry_aarch64.h"
#elif defined(__s390x__)
#include "entry_s390x.h"
#else
#error "The entry stub is written for x86-64, AArch64 and s390x: add src/preload/entry_ARCH.h"
#endif

.text
RESOLVE
DLSYM
DLOPEN
{entries}

.section .rodata.str1.1, "aMS", %progbits, 1
{texts}
{soname_texts}
.globl isthmus_abi
.hidden isthmus_abi
isthmus_abi: .asciz "{abi}"

.section .rodata
.p2align 2
.globl isthmus_count
.hidden isthmus_count
isthmus_count: .long {len(names)}

.section .data.rel.ro, "aw", %progbits
.p2align 3
.globl isthmus_names
.hidden isthmus_names
isthmus_names:
{pointers}
.globl isthmus_entries
.hidden isthmus_entries
isthmus_entries:
{own}
.globl isthmus_sonames
.hidden isthmus_sonames
isthmus_sonames:
{soname_pointers}
  .quad 0
.globl isthmus_other_sonames
.hidden isthmus_other_sonames
isthmus_other_sonames:
{other_pointers}
  .quad 0

.data
.p2align 6
.globl isthmus_slots
.hidden isthmus_slots
isthmus_slots:
{slots}

.section .note.GNU-stack, "", %progbits
"""


def main() -> None:
    table, library = sys.argv[1:]
    names = exports.read(Path(table).read_text())[library]
    sys.stdout.write(assembly(library.split("-")[0], names))


if __name__ == "__main__":
    main()
