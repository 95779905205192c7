"""The measured programs: kernels of our own, and those of the command line."""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from isthmus.base.errors import RunError, UsageError, did_you_mean, listing
from isthmus.measuring.program import prepare
from isthmus_lab.bench.app.options import CLASSES, Options

KERNEL_FOLDER = Path(__file__).with_name("kernels")
KERNELS = ("ep", "is", "mg", "ft", "lu", "bt", "sp", "cg")  # CG waits longest for the wide area
_TIME, _VERIFIED = r"^time: ([0-9.]+) s$", r"^verified: yes$"

# The class of each kernel in a quick run: some seconds of computing on two cores.
QUICK_CLASS = {"ep": "A"}
_SMALL_CLASS = "S"


@dataclass(frozen=True)
class Where:
    """Where a program starts. `names` are those by which --program may mean this MPI, the narrowest
    first; `mpicc` and `host` are for compiling there."""

    names: tuple[str, ...]
    mpicc: str
    host: str | None = None


@dataclass(frozen=True)
class Program:
    """`time` finds the seconds in its output; if None, the time until its end counts. Its output
    must contain `require`."""

    name: str
    time: str | None
    require: str | None

    def words(self, where: Where, n: int) -> list[str]:
        """Its command for this number of ranks. RunError if there is none."""
        raise NotImplementedError


@dataclass(frozen=True)
class Kernel(Program):
    """A kernel of our own, compiled where it runs on first use."""

    source: Path
    klass: str

    def words(self, where: Where, n: int) -> list[str]:
        return [prepare(where.mpicc, where.host, self.source), self.klass]


@dataclass(frozen=True)
class Given(Program):
    """A program of the command line: `commands` by the text before the `=`, or by "" for every
    MPI."""

    commands: Mapping[str, str]
    klass: str

    def words(self, where: Where, n: int) -> list[str]:
        found = next(
            (self.commands[name] for name in (*where.names, "") if name in self.commands), ""
        )
        if not found:
            raise RunError(
                f"no --program is for {where.names[0]}",
                f"Give --program '{where.names[0]}=COMMAND'.",
            )
        return shlex.split(found.format(name=self.name, n=n, **{"class": self.klass}))


def kernel(name: str, klass: str) -> Kernel:
    return Kernel(f"{name}.{klass}", _TIME, _VERIFIED, KERNEL_FOLDER / f"{name}.c", klass)


def quick_name(name: str) -> str:
    """The name of a kernel in a quick run, with its class."""
    return f"{name}.{QUICK_CLASS.get(name, _SMALL_CLASS)}"


def chosen(options: Options) -> list[Program]:
    """UsageError for an unknown program, kernel or class."""
    if options.programs:
        return _given(options)
    for text, flag in ((options.time, "--time"), (options.require, "--require")):
        if text is not None:
            raise UsageError(f"{flag} needs --program; kernels report their time and verdict")
    if options.names:
        raise UsageError("--name needs --program: it replaces {name} there")
    names = [
        name
        for name in KERNELS
        if not options.kernels or any(fnmatch(name, pattern) for pattern in options.kernels)
    ]
    if not names:
        raise UsageError(
            f"--kernel {' '.join(options.kernels)}: unknown kernel; kernels are {listing(KERNELS)}"
        )
    return [kernel(name, options.klass or QUICK_CLASS.get(name, _SMALL_CLASS)) for name in names]


def _given(options: Options) -> list[Program]:
    if options.kernels:
        raise UsageError("--kernel and --program exclude each other")
    if options.time is not None and _regular(options.time, "--time").groups < 1:
        raise UsageError(
            f"--time {options.time}: the expression has no group for the seconds",
            r"For example: --time 'Time in seconds = *([0-9.]+)'",
        )
    if options.require is not None:
        _regular(options.require, "--require")
    commands: dict[str, str] = {}
    for text in options.programs:
        mpi, command = _parted(text)
        if mpi in commands:
            raise UsageError(f"--program {text}: another --program is for {mpi or 'every MPI'}")
        commands[mpi] = command
        _check(command)
    names = options.names or (_name_of(next(iter(commands.values()))),)
    return [Given(name, options.time, options.require, commands, options.klass) for name in names]


def check_names(options: Options, known: Sequence[str]) -> None:
    """UsageError if a program is for an unknown MPI or cluster."""
    for text in options.programs:
        mpi, _ = _parted(text)
        if mpi and mpi not in known:
            raise UsageError(
                f"--program {text}: there is no MPI or cluster '{mpi}'{did_you_mean(mpi, known)}; "
                f"known are {listing(known)}",
                "A command that begins with a variable is written 'env NAME=VALUE COMMAND'.",
            )


def _parted(text: str) -> tuple[str, str]:
    """The MPI or cluster, "" for all; and the command."""
    found = re.fullmatch(r"([^\s={]+)=(.+)", text, flags=re.DOTALL)
    return (found[1], found[2]) if found else ("", text)


def _check(command: str) -> None:
    try:
        words = shlex.split(command.format(name="x", n=1, **{"class": "S"}))
    except (ValueError, KeyError, IndexError):
        words = []
    if not words:
        raise UsageError(
            f"--program {command}: not a valid command",
            "Write words as in a shell; {name}, {n} and {class} are replaced, {{ is a brace.",
        )


def _name_of(command: str) -> str:
    """The name of the program, if no --name is given."""
    return Path(shlex.split(command)[0]).name.partition(".")[0].replace("{", "").replace("}", "")


def _regular(text: str, flag: str) -> "re.Pattern[str]":
    try:
        return re.compile(text, re.MULTILINE)
    except re.error as error:
        raise UsageError(f"{flag} {text}: not a regular expression: {error}") from None


def check_class(klass: str) -> str:
    if klass and klass not in CLASSES:
        raise UsageError(f"--class {klass}: classes are {listing(CLASSES)}")
    return klass
