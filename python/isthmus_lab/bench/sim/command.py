"""The command `isthmus bench sim`."""

import time
from functools import partial
from typing import Annotated

import typer

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.base.units import parse_size
from isthmus.measuring.ends import find_program
from isthmus_lab.bench import common
from isthmus_lab.bench.output import Output
from isthmus_lab.bench.sim import figures, report
from isthmus_lab.bench.sim.play import SimTask, TooMuchError, algorithms, simulate
from isthmus_lab.bench.sim.results import SimRun

# A cluster of today (2026-11): 10 Gbit/s for each node and between clusters, 1,000 km apart.
NETWORK = (
    "wan-latency=5ms,wan-rate=10G,link-rate=10G,link-latency=5us,message-cost=5us,stream-cost=1us"
)
COLLECTIVES = ("barrier", "bcast", "allreduce", "allgather", "alltoall")
_SIZES = {"": (8, 65536, 1 << 20), "blocks": (8, 4096)}
_BLOCKS = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
_MOST_RANKS = 1 << 20


def sim(
    clusters: Annotated[str, typer.Option(metavar="C,...", help="Numbers of clusters.")] = "2,10",
    ranks: Annotated[
        str, typer.Option(metavar="P,...", help="Numbers of ranks, for all clusters together.")
    ] = "1024,10240",
    collective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Simulate this collective. Default: {listing(COLLECTIVES)}. May be repeated.",
        ),
    ] = None,
    size: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SIZE",
            help="Size of the message, or of one rank's block, such as '64 KiB'. May be repeated.",
        ),
    ] = None,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Also simulate this algorithm (NAME:PARAMETER=VALUE), or 'all'. May be repeated.",
        ),
    ] = None,
    network: Annotated[
        str,
        typer.Option(metavar="KEY=VALUE,...", help="The network, as in ISTHMUS_NETWORK."),
    ] = NETWORK,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="S", help="Limit for one simulation.")
    ] = 600,
    json_file: common.JsonOption = None,
    figures_folder: common.FiguresOption = None,
    html_file: common.HtmlOption = None,
) -> None:
    """Simulate collectives on clusters that you do not have: the same algorithms, in simulated
    time.

    [bold]isthmus bench sim --clusters 10 --ranks 10240 --collective bcast --algorithm all[/bold]
      The time of the chosen algorithm with 10,240 ranks, and of all others.

    No message is sent: a model stands for links, the wide area and the time of software."""
    begin = time.monotonic()
    out = Output(json_file, html_file, figures_folder)
    program = find_program("isthmus-sim")
    known = algorithms(program)
    kinds = _known(collective or COLLECTIVES, known)
    tasks = [
        SimTask(kind, one, of, number, network, wish)
        for of in _numbers("--clusters", clusters, 1000)
        for number in _numbers("--ranks", ranks, _MOST_RANKS)
        for kind in kinds
        for one in _sizes(kind, size)
        for wish in _wishes(kind, algorithm or [], known)
    ]
    found: list[SimRun] = []
    left: list[str] = []
    for task in tasks:
        common.say(
            " ".join([*task.words()[:2], *task.words()[2:8], task.algorithm]).replace("--", "")
        )
        try:
            found.append(simulate(program, task, timeout))
        except TooMuchError as error:
            left.append(str(error))
    report.tables(found, out.sheet)
    for sentence in left:
        out.sheet.print(f"not simulated: {sentence}")
    out.sheet.print(f"It took {time.monotonic() - begin:.0f} s.")
    runs = [run.model_dump() for run in found]
    out.write("simulated", {"runs": runs, "left": left}, draw=partial(figures.draw, found))
    raise typer.Exit(0 if found else 1)


def _numbers(flag: str, text: str, most: int) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdigit() and 1 <= int(word) <= most for word in words):
        raise UsageError(f"{flag} {text}: must be numbers from 1 to {most}, such as 2,10")
    return list(dict.fromkeys(int(word) for word in words))


def _known(kinds: list[str] | tuple[str, ...], known: dict[str, list[str]]) -> list[str]:
    for kind in kinds:
        if kind not in known:
            near = did_you_mean(kind, known)
            raise UsageError(
                f"--collective {kind}: cannot be simulated{near}; collectives are {listing(known)}"
            )
    return list(dict.fromkeys(kinds))


def _sizes(kind: str, asked: list[str] | None) -> list[int]:
    if kind == "barrier":
        return [0]
    if not asked:
        return list(_SIZES["blocks" if kind in _BLOCKS else ""])
    try:
        return [parse_size(text) for text in asked]
    except ValueError as error:
        raise UsageError(f"--size: {error}") from None


def _wishes(kind: str, asked: list[str], known: dict[str, list[str]]) -> list[str]:
    """The chosen algorithm, and those that are asked for."""
    if "all" in asked:
        return ["", *known[kind]]
    every = {name for names in known.values() for name in names}
    for wish in asked:
        if wish.partition(":")[0] not in every:
            near = did_you_mean(wish, every)
            raise UsageError(f"--algorithm {wish}: unknown algorithm{near}")
    return ["", *(wish for wish in asked if wish.partition(":")[0] in known[kind])]
