"""The options of `isthmus run`. Each is defined once: a field of PartOptions is an option.

`-n`, `--on`, `-x`, `--wdir` and `--mpi` belong to their part. All others belong to the run, and
stand in the first part.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from isthmus import completing
from isthmus.options import grid_option

_THIS_PART, _WHOLE_RUN = "Options for each part", "Options for the whole run"


@dataclass(frozen=True)
class PartOptions:
    """One part as it was typed."""

    argv: Annotated[
        list[str],
        typer.Argument(
            metavar="PROGRAM",
            help="The program that the ranks run, and its arguments.",
            show_default=False,
        ),
    ]
    n: Annotated[
        int | None,
        typer.Option(
            "-n",
            "-np",
            min=1,
            max=1 << 24,
            metavar="N",
            help="Ranks of this part. Default: all slots of the grid, or one rank for each "
            "cluster.",
            rich_help_panel=_THIS_PART,
        ),
    ] = None
    on: Annotated[
        str | None,
        typer.Option(
            metavar="CLUSTER",
            help="Put this part on one cluster of the grid.",
            autocompletion=completing.clusters,
            rich_help_panel=_THIS_PART,
        ),
    ] = None
    exports: Annotated[
        list[str],
        typer.Option(
            "-x",
            metavar="NAME[=VALUE]",
            help="Set an environment variable for the ranks. Without a value, the variable is "
            "copied from your shell. May be repeated.",
            rich_help_panel=_THIS_PART,
        ),
    ] = field(default_factory=list)
    wdir: Annotated[
        str | None,
        typer.Option(
            metavar="DIR",
            help="Working directory of the ranks. Default: this directory, or the home directory "
            "on hosts that lack it.",
            rich_help_panel=_THIS_PART,
        ),
    ] = None
    mpi: Annotated[
        str | None,
        typer.Option(
            metavar="MPI",
            help="The MPI of a program that does not show it itself, such as a script: 'openmpi', "
            "'mpich', or the folder where it is installed. Overrides 'mpi' of the cluster.",
            rich_help_panel=_THIS_PART,
        ),
    ] = None
    grid: Annotated[
        Path | None,
        grid_option(
            "The grid file (TOML). Default: the file that ISTHMUS_GRID names, else the "
            "groups of the heterogeneous Slurm job around this command, else two clusters on "
            "this host, 'east' and 'west'.",
            _WHOLE_RUN,
        ),
    ] = None
    host: Annotated[
        str | None,
        typer.Option(
            "-H",
            "--host",
            metavar="HOST[:N],...",
            help="Run on these hosts, without a grid file. Each is a cluster of its own. Your ssh "
            "reaches it; messages between them go through gateways. N is the number of its slots. "
            "For one cluster of several hosts, use 'hosts' in a grid file.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    hostfile: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="As -H, with a host in each line: 'lyon', 'lyon:4' or 'lyon slots=4'.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    bind_to: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Ask the native launcher of each cluster to bind ranks: 'core', 'socket' or "
            "'none'. Default: the launcher decides. It binds nothing if clusters share a host, or "
            "if there are more ranks than cores.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    map_by: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Ask the native launcher of each cluster to place its ranks in turns over each "
            "'core', 'socket' or 'node'.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    map: Annotated[
        Path | None,
        typer.Option(
            "--map",
            metavar="FILE",
            help="Put each world rank on the cluster that a rank map gives. A map has lines such "
            "as '0-3,8 lyon'; [bold]isthmus map[/bold] writes one. Without a map, the ranks of a "
            "cluster follow each other.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    timeout: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            metavar="SECONDS",
            help="End the run after this number of seconds, with exit status 124.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    wait: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="End the run, with exit status 124, if some ranks have not called MPI_Init this "
            "long after their start: '20min', '2h'; a number alone counts seconds. Default: "
            "'wait' of a cluster in the grid file, else no limit.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    tag_output: Annotated[
        bool,
        typer.Option(
            "--tag-output",
            help="Begin each line of output with the world rank, as in '[3] '. Native launchers "
            "may mix lines longer than 4 KB with others; --output keeps them whole.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.%r",
            help="Write each rank's standard output to a file of its own, on its host. Standard "
            "error goes there too, unless --error is given. %r is the world rank, %h the host, "
            "%j the run's name.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    error: Annotated[
        str | None,
        typer.Option(
            "-e",
            "--error",
            metavar="FILE.%r",
            help="Write each rank's standard error to a file of its own, as --output does.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    show_ranks: Annotated[
        bool,
        typer.Option(
            "--show-ranks",
            help="Show host and process id of each rank as it starts, for a debugger (on standard "
            "error).",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print what would be started where, and start nothing.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    stats: Annotated[
        bool,
        typer.Option(
            "--stats",
            help="At the end, show the traffic of each link, the traffic that bypassed the "
            "gateways, the processor time of the gateways, and the collective algorithms that "
            "were chosen (on standard error).",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    profile: Annotated[
        Path | None,
        typer.Option(
            "--profile",
            metavar="FILE",
            help="Count the messages between all ranks, inside clusters too, and the time in MPI. "
            "Write the counts to a file here, for 'isthmus profile show'.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    reorder: Annotated[
        bool,
        typer.Option(
            "--reorder",
            help="Allow MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create(_adjacent) to "
            "renumber processes where the program passes reorder = 1. Then fewer neighbours are in "
            "different clusters. Without it, processes keep their ranks.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    guests: Annotated[
        bool,
        typer.Option(
            "--guests",
            help="Allow MPI_Open_port and MPI_Comm_connect to reach other runs, even if this run "
            "uses one cluster only. Without it, such a run is a native job.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False
    guests_at: Annotated[
        str | None,
        typer.Option(
            "--guests-at",
            metavar="HOST[:PORT]",
            help="Accept connections from runs on other hosts. HOST is this host's name as they "
            "see it, or the host of a relay in the grid file.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    metrics: Annotated[
        str | None,
        typer.Option(
            "--metrics",
            metavar="[ADDRESS:]PORT",
            help="While the program runs, serve the counters of the links to Prometheus. The "
            "address is http://ADDRESS:PORT/metrics on the host of the first cluster's agent; "
            "each further agent takes the next port. ADDRESS is 127.0.0.1 by default. Port 0 "
            "takes any free port; -v shows it.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Write a timeline of the run for Perfetto (ui.perfetto.dev). It shows MPI calls "
            "that reach other clusters, phases of collectives, messages and links, on one clock. "
            "The file is compressed if its name ends in .gz.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    trace_size: Annotated[
        str | None,
        typer.Option(
            "--trace-size",
            metavar="SIZE",
            help="Memory for --trace in each rank, from 4KiB to 256MiB. When it is full, the "
            "oldest events are dropped. Default: 4MiB, for 65,536 events.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = None
    stage: Annotated[
        list[str],
        typer.Option(
            "--stage",
            metavar="FILE",
            help="Copy a file, such as the program, to clusters that lack it or have another "
            "version. It keeps its place below the working directory of the ranks, or its "
            "absolute path. May be repeated.",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = field(default_factory=list)
    verbose: Annotated[
        bool,
        typer.Option(
            "-v",
            "--verbose",
            help="Show each step (on standard error).",
            rich_help_panel=_WHOLE_RUN,
        ),
    ] = False


def annotations() -> dict[str, Any]:
    """The fields of PartOptions with their options, as typer reads them."""
    return get_type_hints(PartOptions, include_extras=True)


def of_the_run() -> Iterator[str]:
    """The fields for the whole run."""
    hints = annotations()
    for one in fields(PartOptions):
        (option,) = hints[one.name].__metadata__
        if option.rich_help_panel == _WHOLE_RUN:
            yield one.name
