"""The options of `isthmus run`. Each is defined once: a field of PartOptions is an option.

`-n`, `--on`, `-x`, `--wdir` and `--mpi` belong to their part. All others belong to the run, and
stand in the first part. This module does without typer, since quickrun.py reads most command lines.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_type_hints

_THIS_PART, _WHOLE_RUN = "Options for each part", "Options for the whole run"


class Option:
    """An option as help and shells show it. `least` and `most` are limits of a number;
    `completion` names a function of completing.py."""

    def __init__(self, *names: str, **settings: Any) -> None:
        self.names = names
        self.metavar: str | None = settings.pop("metavar", None)
        self.help: str = settings.pop("help")
        self.panel: str | None = settings.pop("panel", _WHOLE_RUN)
        self.least: float | None = settings.pop("least", None)
        self.most: float | None = settings.pop("most", None)
        self.completion: str | None = settings.pop("completion", None)
        assert not settings, settings


@dataclass(frozen=True)
class PartOptions:
    """One part as it was typed."""

    argv: Annotated[
        list[str],
        Option(
            metavar="PROGRAM",
            help="The program that the ranks run, and its arguments.",
            panel=None,
        ),
    ]
    n: Annotated[
        int | None,
        Option(
            "-n",
            "-np",
            least=1,
            most=1 << 24,
            metavar="N",
            help="Ranks of this part. Default: all slots of the grid, or one rank for each "
            "cluster.",
            panel=_THIS_PART,
        ),
    ] = None
    on: Annotated[
        str | None,
        Option(
            metavar="CLUSTER",
            help="Put this part on one cluster of the grid.",
            completion="clusters",
            panel=_THIS_PART,
        ),
    ] = None
    exports: Annotated[
        list[str],
        Option(
            "-x",
            metavar="NAME[=VALUE]",
            help="Set an environment variable for the ranks. Without a value, the variable is "
            "copied from your shell. May be repeated.",
            panel=_THIS_PART,
        ),
    ] = field(default_factory=list)
    wdir: Annotated[
        str | None,
        Option(
            metavar="DIR",
            help="Working directory of the ranks. Default: this directory, or the home directory "
            "on hosts that lack it.",
            panel=_THIS_PART,
        ),
    ] = None
    mpi: Annotated[
        str | None,
        Option(
            metavar="MPI",
            help="The MPI of a program that does not show it itself, such as a script: 'openmpi', "
            "'mpich', or the folder where it is installed. Overrides 'mpi' of the cluster.",
            panel=_THIS_PART,
        ),
    ] = None
    grid: Annotated[
        Path | None,
        Option(
            "-g",
            "--grid",
            metavar="FILE",
            help="The grid file (TOML). Default: the file that ISTHMUS_GRID names, else the "
            "groups of the heterogeneous Slurm job around this command, else two clusters on "
            "this host, 'east' and 'west'.",
        ),
    ] = None
    export: Annotated[
        list[str],
        Option(
            metavar="[ALL,]NAME[=VALUE],...",
            help="As -x, for the ranks of all parts. A value with a comma stands in single quotes "
            "of its own. ALL adds nothing: ranks have the environment of their cluster's host "
            "anyway.",
        ),
    ] = field(default_factory=list)
    host: Annotated[
        str | None,
        Option(
            "-H",
            "--host",
            metavar="HOST[:N],...",
            help="Run on these hosts, without a grid file. Each is a cluster of its own. Your ssh "
            "reaches it; messages between them go through gateways. N is the number of its slots. "
            "For one cluster of several hosts, use 'hosts' in a grid file.",
        ),
    ] = None
    hostfile: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="As -H, with a host in each line: 'lyon', 'lyon:4' or 'lyon slots=4'.",
        ),
    ] = None
    bind_to: Annotated[
        str | None,
        Option(
            metavar="WHAT",
            help="Ask the native launcher of each cluster to bind ranks: 'hwthread', 'core', "
            "'numa', 'socket' or 'none'. Default: the launcher decides. It binds nothing if "
            "clusters share a host, or if there are more ranks than cores.",
            completion="bind_to",
        ),
    ] = None
    map_by: Annotated[
        str | None,
        Option(
            metavar="WHAT",
            help="Ask the native launcher of each cluster to place its ranks in turns over each "
            "'core', 'socket' or 'node', or by 'slot': it fills one node after the other.",
            completion="map_by",
        ),
    ] = None
    ppn: Annotated[
        int | None,
        Option(
            least=1,
            most=1 << 24,
            metavar="N",
            help="Ask the native launcher of each cluster to put at most N ranks on each node.",
        ),
    ] = None
    oversubscribe: Annotated[
        bool,
        Option(
            help="Allow more ranks than slots and cores. The ranks of clusters with too few slots "
            "are shared out in proportion to them.",
        ),
    ] = False
    map: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Put each world rank on the cluster that a rank map gives. A map has lines such "
            "as '0-3,8 lyon'; [bold]isthmus map[/bold] writes one. Without a map, the ranks of a "
            "cluster follow each other.",
        ),
    ] = None
    timeout: Annotated[
        float | None,
        Option(
            least=0.001,
            metavar="SECONDS",
            help="End the run after this number of seconds, with exit status 124.",
        ),
    ] = None
    wait: Annotated[
        str | None,
        Option(
            metavar="TIME",
            help="End the run, with exit status 124, if some ranks have not called MPI_Init this "
            "long after their start: '20min', '2h'; a number alone counts seconds. Default: "
            "'wait' of a cluster in the grid file, else no limit.",
        ),
    ] = None
    tag_output: Annotated[
        bool,
        Option(
            help="Begin each line of output with the world rank, as in '[3] '. Native launchers "
            "may mix lines longer than 4 KB with others; --output keeps them whole.",
        ),
    ] = False
    output: Annotated[
        str | None,
        Option(
            "-o",
            "--output",
            metavar="FILE.%r",
            help="Write each rank's standard output to a file of its own, on its host. Standard "
            "error goes there too, unless --error is given. %r is the world rank, %h the host, "
            "%j the run's name.",
        ),
    ] = None
    error: Annotated[
        str | None,
        Option(
            "-e",
            "--error",
            metavar="FILE.%r",
            help="Write each rank's standard error to a file of its own, as --output does.",
        ),
    ] = None
    show_ranks: Annotated[
        bool,
        Option(
            help="Show host and process id of each rank as it starts, for a debugger (on standard "
            "error).",
        ),
    ] = False
    dry_run: Annotated[
        bool,
        Option(help="Print what would be started where, and start nothing."),
    ] = False
    stats: Annotated[
        bool,
        Option(
            help="At the end, show the traffic of each link, the traffic that bypassed the "
            "gateways, the processor time of the gateways, and the collective algorithms that "
            "were chosen (on standard error).",
        ),
    ] = False
    profile: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Count the messages between all ranks, inside clusters too, and the time in MPI. "
            "Write the counts to a file here, for 'isthmus profile show'.",
        ),
    ] = None
    reorder: Annotated[
        bool,
        Option(
            help="Allow MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create(_adjacent) to "
            "renumber processes where the program passes reorder = 1. Then fewer neighbours are in "
            "different clusters. Without it, processes keep their ranks.",
        ),
    ] = False
    reproducible: Annotated[
        bool,
        Option(
            help="Combine values in one order over ranks in MPI_Reduce, MPI_Allreduce, MPI_Scan, "
            "MPI_Exscan and MPI_Reduce_scatter(_block). Then sums of the same values have the same "
            "bits, whatever clusters and MPI libraries the ranks are in.",
        ),
    ] = False
    survive: Annotated[
        bool,
        Option(
            help="Go on without clusters that fail. A cluster fails when one of its ranks dies, or "
            "when the others do not reach it. Calls that need it end with errors. If this command "
            "is killed, they go on without it. The keys 'survive' and 'may_leave' of a grid file "
            "do the same.",
        ),
    ] = False
    min_clusters: Annotated[
        int | None,
        Option(
            least=1,
            most=1 << 24,
            metavar="N",
            help="End a run with --survive when fewer than N clusters are left. Default: 1.",
        ),
    ] = None
    spare: Annotated[
        str | None,
        Option(
            metavar="NAME[,NAME...]",
            help="Start no ranks in these clusters. MPI_Comm_spawn starts processes there, with "
            "the info key 'cluster'. The key 'spare' of a cluster in a grid file does the same.",
        ),
    ] = None
    guests: Annotated[
        bool,
        Option(
            help="Allow MPI_Open_port and MPI_Comm_connect to reach other runs, even if this run "
            "uses one cluster only. Without it, such a run is a native job.",
        ),
    ] = False
    guests_at: Annotated[
        str | None,
        Option(
            metavar="HOST[:PORT]",
            help="Accept connections from runs on other hosts. HOST is this host's name as they "
            "see it, or the host of a relay in the grid file.",
        ),
    ] = None
    metrics: Annotated[
        str | None,
        Option(
            metavar="[ADDRESS:]PORT",
            help="While the program runs, serve the counters of the links to Prometheus. The "
            "address is http://ADDRESS:PORT/metrics on the host of the first cluster's agent; "
            "each further agent takes the next port. ADDRESS is 127.0.0.1 by default. Port 0 "
            "takes any free port; -v shows it.",
        ),
    ] = None
    trace: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Write a timeline of the run for Perfetto (ui.perfetto.dev). It shows MPI calls "
            "that reach other clusters, phases of collectives, messages and links, on one clock. "
            "The file is compressed if its name ends in .gz.",
        ),
    ] = None
    trace_size: Annotated[
        str | None,
        Option(
            metavar="SIZE",
            help="Memory for --trace in each rank, from 4KiB to 256MiB. When it is full, the "
            "oldest events are dropped. Default: 4MiB, for 65,536 events.",
        ),
    ] = None
    stage: Annotated[
        list[str],
        Option(
            metavar="FILE",
            help="Copy a file, such as the program, to clusters that lack it or have another "
            "version. It keeps its place below the working directory of the ranks, or its "
            "absolute path. May be repeated.",
        ),
    ] = field(default_factory=list)
    verbose: Annotated[
        bool,
        Option(
            "-v",
            "--verbose",
            help="Show each step (on standard error).",
        ),
    ] = False


@cache
def described() -> dict[str, tuple[Any, Option]]:
    """The type and the option of each field of PartOptions. The program has an option without
    names."""
    hints = get_type_hints(PartOptions, include_extras=True)
    found = {}
    for name, hint in hints.items():
        (option,) = hint.__metadata__
        if not option.names and name != "argv":
            option.names = (f"--{name.replace('_', '-')}",)
        found[name] = (hint.__origin__, option)
    return found


def of_the_run() -> Iterator[str]:
    """The fields for the whole run."""
    return (name for name, (_, option) in described().items() if option.panel == _WHOLE_RUN)
