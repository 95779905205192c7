"""`isthmus join` and `isthmus leave`: clusters join a run that goes on, and leave it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from isthmus.base import completing, tomltext
from isthmus.base.errors import RunError, UsageError
from isthmus.base.options import grid_file, grid_option
from isthmus.seeing import runs
from isthmus.seeing.commands import JobName
from isthmus.seeing.runs import GoneError

_MOST_TEXT = 256 << 10  # bytes of a grid file: its line has at most 1 MiB


def join(
    run: JobName = None,
    grid: Annotated[Path | None, grid_option("The file with the clusters that join.")] = None,
    cluster: Annotated[
        list[str] | None,
        typer.Option(
            "--cluster",
            metavar="NAME",
            help="Only this cluster of the file joins, with its links and gateways; may be "
            "repeated. The file may then be a whole grid file.",
            autocompletion=completing.clusters_of_file,
        ),
    ] = None,
) -> None:
    """Let a further cluster join a run that goes on, as a spare one.

    [bold]isthmus join -g more.toml[/bold]
      All clusters of more.toml join your only run on this host. The file has their \
    tables, and their links and gateways where they need any.

    [bold]isthmus join 5a42e7d1 -g grid.toml --cluster south[/bold]
      One cluster of a grid file joins the run with this name.

    The program places processes there by MPI_Comm_spawn with the info key 'cluster'. The cluster \
    is then the same as one of --spare, and has no processes before.

    Batch scripts use this command with --key and --to, to bring parts of submitted jobs to their \
    run. `isthmus join --key FILE --help` shows these options."""
    file = grid_file(None, grid)
    if not file:
        raise UsageError(
            "`isthmus join` needs a file with the clusters that join",
            "Name it by -g FILE, or by ISTHMUS_GRID.",
        )
    text = tomltext.read(file, "the grid file")
    if len(text.encode()) > _MOST_TEXT:
        raise UsageError(
            f"{file} has more than {_MOST_TEXT >> 10} KiB", "Join by a file for these clusters."
        )
    _tell(_asked(run, "join", text=text, name=str(file), clusters=cluster or []))


def leave(
    run: JobName = None,
    cluster: Annotated[
        str, typer.Option("--cluster", metavar="NAME", help="The cluster that leaves.")
    ] = "",
) -> None:
    """Let a spare cluster leave a run that goes on.

    [bold]isthmus leave --cluster south[/bold]
      No process can be spawned in cluster south any more.

    A spare cluster leaves if it has no gateways: no process has been spawned there, or all have \
    failed."""
    if not cluster:
        raise UsageError("`isthmus leave` needs the cluster that leaves", "Name it by --cluster.")
    _tell(_asked(run, "leave", cluster=cluster))


def _asked(run: str | None, what: str, **keys: object) -> dict[str, Any]:
    """The run's answer. IsthmusError if it refuses."""
    named = runs.find(run)
    if not named.about:  # stopped: it would read the question once it goes on
        raise runs.ended(named)
    try:
        with runs.connect(named) as line:
            answer = line.ask(what, **keys)
    except GoneError:
        raise runs.ended(named) from None
    if "said" not in answer and "status" not in answer:
        raise RunError(
            f"{named.job} does not know how clusters {what}", "It runs under an older Isthmus."
        )
    if why := answer.get("error"):
        kind = UsageError if answer.get("status") == UsageError.status else RunError
        raise kind(str(why), str(answer.get("remedy") or ""))
    return answer


def _tell(answer: dict[str, Any]) -> None:
    said: Sequence[object] = answer["said"]
    for line in said:
        print(line)
