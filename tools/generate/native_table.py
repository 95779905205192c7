"""Writes struct Native: one member per function that an mpi.h declares, and its loader."""

from __future__ import annotations

from prototypes import Function

BANNER = "// Made by tools/generate. Do not edit.\n"


def header(functions: list[Function]) -> str:
    names = {f.member for f in functions}
    lines = [
        BANNER,
        "#pragma once\n#include <mpi.h>\n",
        "/// 1 where this mpi.h has the large-count functions (MPI_Send_c ...).",
        f"#define ISTHMUS_LARGE_COUNT {int('Send_c' in names)}\n",
        "// Which functions this mpi.h has: #ifdef ISTHMUS_HAS_Isendrecv.",
        *(f"#define ISTHMUS_HAS_{f.member} 1" for f in functions),
        '#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored "-Wdeprecated-declarations"\n',
        "// An entry whose definition differs from the MPI prototype does not compile.",
        *(f'extern "C" decltype(::{f.symbol}) isthmus_{f.member};' for f in functions),
        "\nnamespace isthmus::face {\n",
        "struct Native {",
        *(f"  decltype(&::{f.symbol}) {f.member};" for f in functions),
        "};\n",
        "/// Fills a table from an open library: PMPI names first, else MPI names, else null.",
        "void load_native(Native& table, void* library);\n",
        "}  // namespace isthmus::face",
        "#pragma GCC diagnostic pop\n",
    ]
    return "\n".join(lines)


def source(functions: list[Function]) -> str:
    rows = "\n".join(f'    {{"{f.symbol}", offsetof(Native, {f.member})}},' for f in functions)
    return f"""{BANNER}
#include <dlfcn.h>

#include <cstddef>
#include <cstring>

#include "mpi/native/native.hpp"

namespace isthmus::face {{
namespace {{

struct Row {{
  const char* symbol;
  std::size_t offset;
}};
constexpr Row kRows[] = {{
{rows}
}};

}}  // namespace

void load_native(Native& table, void* library) {{
  for (const Row& row : kRows) {{
    void* function = dlsym(library, row.symbol);
    if (!function) function = dlsym(library, row.symbol + 1);
    std::memcpy(reinterpret_cast<char*>(&table) + row.offset, &function, sizeof function);
  }}
}}

}}  // namespace isthmus::face
"""
