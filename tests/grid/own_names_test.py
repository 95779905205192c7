"""Programs whose functions have the names of functions that Isthmus uses from other libraries. The
dynamic linker finds the program's first, and Isthmus must not call them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import mpis
import pytest
from preload_test import LIBDIR

HERE = Path(__file__).parent / "own_names"
ENTRY = mpis.ROOT / "src" / "preload"
LIBRARIES = [mpis.ALL[name] for name in ("openmpi4", "mpich4")]
EACH = pytest.mark.parametrize("mpi", LIBRARIES, ids=lambda mpi: mpi.name)

# A program may replace these for all libraries of its process, or they bind the others
# (src/preload/bind.c).
SHARED = {
    *("malloc", "calloc", "realloc", "reallocarray", "free", "aligned_alloc", "memalign"),
    *("posix_memalign", "valloc", "pvalloc", "malloc_usable_size", "pthread_create"),
    *("dladdr1", "dlopen", "dlsym", "dlvsym"),
}


def used_names() -> list[str]:
    """All functions of other libraries that a stub or a face refers to, with their versions."""
    libraries = sorted(LIBDIR.glob("libisthmus-*.so"))
    assert libraries, f"{LIBDIR} has no libraries of Isthmus: make build"
    command = ["readelf", "--dyn-syms", "-W", *libraries]
    table = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r" FUNC .* UND (\w+)@", table)) - SHARED)


def assembly(names: list[str]) -> str:
    """The functions: each jumps to the one that it stands in front of (entry_x86_64.h)."""

    def each(line: str) -> str:
        return "\n".join(line.format(i=i, name=name) for i, name in enumerate(names))

    return f"""
#if defined(__x86_64__)
#include "entry_x86_64.h"
#else
#include "entry_aarch64.h"
#endif
.hidden names_count, own_names, own_functions, isthmus_slots
.globl names_count, own_names, own_functions, isthmus_slots
.text
RESOLVE
{each("NAME({i}, {name})")}
.section .rodata
.p2align 2
names_count: .long {len(names)}
{each('.Ltext_{i}: .asciz "{name}"')}
.data
.p2align 3
own_names:
{each(".quad .Ltext_{i}")}
own_functions:
{each(".quad .Lentry_{i}")}
isthmus_slots:
{each(".quad .Llazy_{i}")}
.section .note.GNU-stack, "", %progbits
"""


@EACH
def test_every_name(isthmus, mpi: mpis.Mpi, tmp_path: Path) -> None:
    names = used_names()
    assert {"sendmsg", "epoll_wait", "strlen"} <= set(names)
    table = tmp_path / "names.S"
    table.write_text(assembly(names))
    program = tmp_path / "own_names"
    sources = [HERE / "own_names.c", table]
    options = ["-rdynamic", "-fno-builtin", "-I", str(ENTRY)]
    mpis.compile_to(program, mpi.cc, *options, *sources)
    done = isthmus("run", "--timeout", 60, "-n", 4, program)
    assert (done.returncode, done.stdout) == (0, f"{len(names)} names, 0 of them called, 4 ranks\n")


@EACH
@pytest.mark.parametrize("name", ["sendmsg", "HMAC", "EVP_MD_CTX_new"])
def test_one_name(isthmus, mpi: mpis.Mpi, name: str, tmp_path: Path) -> None:
    program = tmp_path / "one_name"
    mpis.compile_to(program, mpi.cc, f"-DNAME={name}", "-rdynamic", HERE / "one_name.c")
    done = isthmus("run", "--timeout", 60, "-n", 2, program)
    assert (done.returncode, done.stdout) == (0, "2 of 2, called 0\n" * 2), done.stderr


@EACH
def test_what_is_preloaded_stays_in_front(isthmus, mpi: mpis.Mpi, tmp_path: Path) -> None:
    """Tools that look at calls of the C library see those of Isthmus, too."""
    tool = tmp_path / "libtool.so"
    source = tmp_path / "tool.c"
    source.write_text("""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int epoll_create1(int flags) {
  Dl_info caller;
  dladdr(__builtin_return_address(0), &caller);
  dprintf(2, "seen from %s\\n", caller.dli_fname);
  return ((int (*)(int))dlsym(RTLD_NEXT, "epoll_create1"))(flags);
}
""")
    mpis.compile_to(tool, "cc", "-shared", "-fPIC", source)
    program = tmp_path / "one_name"
    mpis.compile_to(program, mpi.cc, "-DNAME=sendmsg", HERE / "one_name.c")
    done = isthmus("run", "--timeout", 60, "-n", 2, "-x", f"LD_PRELOAD={tool}", program)
    assert (done.returncode, done.stdout) == (0, "2 of 2, called 0\n" * 2), done.stderr
    assert re.search(r"seen from .*/libisthmus-face-", done.stderr), done.stderr
