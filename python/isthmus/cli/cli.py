"""The command `isthmus`."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from isthmus.base import later
from isthmus.base.commandline import Application
from isthmus.base.errors import EXIT_USAGE, UsageError, all_errors, joined
from isthmus.base.later import COMMANDS, ELSEWHERE, LaterGroup, fetch
from isthmus.cli import about, habits, helptext, nested
from isthmus.cli.entry import COMPLETE, guarded
from isthmus.cli.runcommand import RunCommand, SubmitCommand, run
from isthmus.job.argv import RunOptions, combine, split_parts
from isthmus.place.partoptions import PartOptions
from isthmus.queues.options import SubmitOptions, of_queues

app = Application(cls=LaterGroup, context_settings={"help_option_names": ["-h", "--help"]})


def _show_version(wanted: bool) -> None:
    if wanted:
        about.version()
        raise typer.Exit


@app.callback(help=helptext.MAIN, epilog=helptext.MAIN_END)
def isthmus(
    version: Annotated[
        bool,
        typer.Option(
            "-V",
            "--version",
            is_eager=True,
            callback=_show_version,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    pass


app.command(
    "run",
    cls=RunCommand,
    help=helptext.RUN,
    epilog=helptext.RUN_END,
    short_help="Run an MPI program as one world over the clusters of a grid.",
    options_metavar="[OPTION]...",
    context_settings={"allow_interspersed_args": False},
)(run)
app.command(
    "submit",
    cls=SubmitCommand,
    help=helptext.SUBMIT,
    short_help="Submit a job to the queues of its clusters; it runs once all have started.",
    options_metavar="[OPTION]...",
    context_settings={"allow_interspersed_args": False},
)(of_queues(run))


app.command("help")(about.helper(app))
app.command()(about.version)
app.command()(about.completion)

_GROUPS = (*ELSEWHERE, "profile")
_Parsed = TypeVar("_Parsed")
_NAMES = {"run", "submit", "help", "version", "completion", *COMMANDS, *ELSEWHERE}


def _is_command(word: str) -> bool:
    return word in _NAMES or (not word.startswith("-") and word in later.offered())


def _parsed(command: str, words: Sequence[str], kind: type[_Parsed]) -> _Parsed:
    """Parses a command's words. Raises typer's errors, and Exit after --help."""
    parsed = app([command, *words], standalone_mode=False, prog_name="isthmus")
    if not isinstance(parsed, kind):
        raise typer.Exit
    return parsed


def parse_run(words: Sequence[str]) -> RunOptions:
    """Parses the words after `isthmus run`. Raises typer's errors, and UsageError."""
    return combine(_each([("run", part, PartOptions) for part in split_parts(words)]))


def parse_submit(words: Sequence[str]) -> tuple[RunOptions, SubmitOptions]:
    """Parses the words after `isthmus submit`; the first part has the options for the queues."""
    first, *others = split_parts(words)
    (options, part), *parts = _each(
        [("submit", first, tuple), *(("run", more, PartOptions) for more in others)]
    )
    return combine([part, *parts]), options


def _each(parts: Sequence[tuple[str, Sequence[str], type[Any]]]) -> list[Any]:
    """UsageError has the errors of all parts."""
    parsed: list[Any] = []
    if len(parts) > 1 and (empty := [n for n, (_, words, _) in enumerate(parts, 1) if not words]):
        raise UsageError(
            f"part {empty[0]} of the command line, between two ':' or at an end, has no program",
            "Remove the ':', or add a program.",
        )

    def parse(part: tuple[str, Sequence[str], type[Any]]) -> None:
        parsed.append(_parsed(*part))

    if errors := all_errors(partial(parse, part) for part in parts):
        raise joined(errors)
    return parsed


def _check_command(words: Sequence[str]) -> None:
    """UsageError if the words look like a command line of `isthmus run` without its name."""
    first = words[0]
    if first in ("-h", "--help", "-V", "--version") or _is_command(first):
        return
    if first.startswith("-"):
        name = re.sub(r"^-n[0-9]+$", "-n", first.partition("=")[0])
        what = "an option of isthmus"
        known = (habits.ALIASES, habits.ADVICE, habits.OF_VARIABLES, _options_of_run())
        meant = any(name in names for names in known)
    else:
        what = "a command of isthmus"
        meant = "/" in first or shutil.which(first) is not None or Path(first).is_file()
    if meant:
        raise UsageError(
            f"'{first}' is not {what}; did you mean `isthmus run {shlex.join(words)}`?",
            "See: isthmus --help",
        )


def _is_part(words: Sequence[str]) -> bool:
    """Whether they bring a part of a submitted job to its run (queues/joiner.py)."""
    return any(word.partition("=")[0] in ("--key", "--to") for word in words)


def _options_of_run() -> set[str]:
    group: Any = typer.main.get_command(app)
    return {name for param in group.commands["run"].params for name in param.opts}


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit status. A mistake of the user ends in a sentence, not in a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    if COMPLETE in os.environ:
        about.know_shells()
    elif not words or words in [[group] for group in _GROUPS]:
        words.append("--help")
    return guarded(partial(_command, words))


def _command(words: list[str]) -> int:
    try:
        if COMPLETE not in os.environ:
            _check_command(words)
        if words[:1] == ["run"]:
            nested.check(os.environ)
            return int(fetch("isthmus.job.execution:run")(parse_run(words[1:])))
        if words[:1] == ["submit"]:
            return int(fetch("isthmus.queues.commands:submit")(*parse_submit(words[1:])))
        if words[:1] == ["join"] and _is_part(words[1:]):
            return int(fetch("isthmus.queues.commands:join")(words[1:]))
        status = app(words, standalone_mode=False, prog_name="isthmus")
        return status if isinstance(status, int) else 0
    except typer.Exit:
        return 0
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        if not error.format_message():  # no words at all: the help has been shown
            return EXIT_USAGE
        print(f"isthmus: {error.format_message()}", file=sys.stderr)
        known = words[:1] if words and _is_command(words[0]) else []
        path = getattr(getattr(error, "ctx", None), "command_path", "")
        print(f"  See: {path or ' '.join(['isthmus', *known])} --help", file=sys.stderr)
        return EXIT_USAGE
