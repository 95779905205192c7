"""The MPI functions that an mpi.h declares, with the types of their parameters."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, replace

SKIP_CXX = ["-DOMPI_SKIP_MPICXX=1", "-DMPICH_SKIP_MPICXX=1"]


@dataclass(frozen=True)
class Parameter:
    type: str  # e.g. "MPI_Comm", "const int *"; "..." for a variable part
    name: str
    array: str  # "", "[]" or "[][3]"

    def declaration(self) -> str:
        return "..." if self.type == "..." else f"{self.type} {self.name}{self.array}"


@dataclass(frozen=True)
class Function:
    symbol: str  # the profiling name, e.g. "PMPI_Send", "PMPIX_Comm_agree"
    returns: str
    parameters: tuple[Parameter, ...]

    @property
    def member(self) -> str:
        """Its name in struct Native: Send, X_Comm_agree."""
        return member_name(self.mpi_name)

    @property
    def mpi_name(self) -> str:
        return self.symbol[1:]

    def pointer(self) -> str:
        """The type of a pointer to it."""
        types = [p.type + (" *" if p.array in ("[]",) else "") for p in self.parameters]
        return f"{self.returns} (*)({', '.join(types)})"

    def variadic(self) -> bool:
        return any(p.type == "..." for p in self.parameters)


def member_name(mpi_name: str) -> str:
    return mpi_name.removeprefix("MPI_").replace("MPIX_", "X_", 1)


def preprocess(compiler: str, include: list[str]) -> str:
    """The text of mpi.h as the compiler sees it."""
    command = [compiler, "-E", "-P", "-x", "c++", *SKIP_CXX, *(f"-I{i}" for i in include), "-"]
    done = subprocess.run(
        command, input="#include <mpi.h>\n", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"cannot preprocess mpi.h ({' '.join(command)}):\n{done.stderr}")
    return done.stdout


def parse(text: str) -> list[Function]:
    """Every PMPI prototype in preprocessed text, sorted by name. One whose parameters have no names
    there (files in MPICH 4.0) has those of its MPI prototype."""
    text = _without_attributes(text)
    found: dict[str, Function] = {}
    public: dict[str, tuple[Parameter, ...]] = {}
    pattern = re.compile(r"([A-Za-z_][\w\s\*]*?)\b(P?MPIX?_[A-Z]\w*)\s*\(([^;{]*)\)\s*;")
    for returns, symbol, parameters in pattern.findall(text):
        if symbol.startswith("P"):
            found[symbol] = Function(symbol, _returns(returns), _parameters(parameters))
        else:
            public[symbol] = _parameters(parameters)
    return [_named(found[name], public.get(name[1:], ())) for name in sorted(found)]


def _named(function: Function, others: tuple[Parameter, ...]) -> Function:
    unnamed = [p.name == f"a{i}" for i, p in enumerate(function.parameters)]
    if not any(unnamed) or len(others) != len(function.parameters):
        return function
    names = zip(function.parameters, others, strict=True)
    return replace(function, parameters=tuple(replace(p, name=other.name) for p, other in names))


def _returns(text: str) -> str:
    return " ".join(w for w in text.split() if w not in ("extern", "static", "inline"))


def _without_attributes(text: str) -> str:
    out: list[str] = []
    at = 0
    for match in re.finditer(r"__attribute__\s*\(", text):
        if match.start() < at:
            continue
        out.append(text[at : match.start()])
        depth, at = 1, match.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(text[at], 0)
            at += 1
    return "".join([*out, text[at:]])


def _parameters(text: str) -> tuple[Parameter, ...]:
    pieces = [" ".join(p.split()) for p in text.split(",")]
    if pieces in ([""], ["void"]):
        return ()
    return tuple(_parameter(p, i) for i, p in enumerate(pieces))


def _parameter(text: str, index: int) -> Parameter:
    if text == "...":
        return Parameter("...", "", "")
    array = "".join(re.findall(r"\[[^\]]*\]", text)).replace(" ", "")
    text = re.sub(r"\s*\[[^\]]*\]", "", text).strip()
    match = re.fullmatch(r"(.*?[\s\*])(\w+)", text)
    known = match and not re.fullmatch(r"(const\s+|unsigned\s+)?", match.group(1))
    if not known or match.group(2) in ("int", "char", "double"):
        return Parameter(text, f"a{index}", array)
    kind = re.sub(r"\s*\*\s*", " *", match.group(1)).replace("* *", "**").strip()
    return Parameter(kind, match.group(2), array)
