"""The commands `isthmus lab ...`."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from isthmus.base import completing
from isthmus.base.commandline import Application, CommandOfWords
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.base.options import AsJson
from isthmus.base.tables import console
from isthmus.grid.gridkeys import expand_hosts
from isthmus_lab.lab import check as checks
from isthmus_lab.lab import (
    cpus,
    drawing,
    links,
    native,
    overrides,
    registry,
    supervise,
    surroundings,
    testbed,
)
from isthmus_lab.lab.links import LabId, model_of
from isthmus_lab.lab.network import Network, work_out
from isthmus_lab.lab.registry import Lab

lab_app = Application(
    name="lab",
    help="Emulate clusters and wide-area networks on this machine, to try grids and measure them.",
)

TestbedName = Annotated[
    str,
    typer.Argument(
        metavar="TESTBED",
        help="A shipped testbed, or the path of a testbed file.",
        autocompletion=completing.place("isthmus_lab.lab.testbed:shipped"),
    ),
]
Nodes = Annotated[
    int | None, typer.Option(metavar="N", help="Number of nodes at every site; overrides the file.")
]
Zippers = Annotated[
    int | None, typer.Option(metavar="N", help="Number of zipper nodes; overrides the file.")
]
Changes = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Change a key of the testbed file: tcp.buffer='208 KiB', wan.delay='20 ms', "
        "site.*.link=none. May be repeated.",
        show_default=False,
    ),
]
_REST = {"allow_interspersed_args": False}


def _network(
    name: str, nodes: int | None, zippers: int | None, changes: list[str] | None
) -> Network:
    short, model = testbed.load(name)
    model = overrides.changed(model, changes or [])
    return work_out(short, testbed.resized(model, nodes, zippers))


@completing.given
def _nodes(params: Mapping[str, Any]) -> list[str]:
    """Nodes of the testbed if the command line names one, otherwise of the lab."""
    if params.get("name"):
        return list(_network(params["name"], None, None, None).nodes)
    return list(model_of(registry.find(params.get("lab"))).nodes)


def _on(text: str) -> Any:
    """The option that names a node; `text` is its help."""
    return typer.Option(metavar="NODE", help=text, autocompletion=_nodes)


def _finish(status: int) -> None:
    raise typer.Exit(status)


@lab_app.command("list")
def list_() -> None:
    """List the shipped testbeds, and the labs that run."""
    out = console()
    table = Table("testbed", "what")
    for name in testbed.shipped():
        table.add_row(name, testbed.load(name)[1].description)
    out.print(table)
    running = [lab for lab in registry.sweep() if lab.facts()]
    if running:
        table = Table("running lab", "testbed", "links")
        for lab in running:
            network = model_of(lab)
            table.add_row(lab.id, network.name, " ".join(link.name for link in network.links))
        out.print(table)


@lab_app.command()
def show(
    name: TestbedName, nodes: Nodes = None, zippers: Zippers = None, changes: Changes = None
) -> None:
    """Draw a testbed in characters."""
    for line in drawing.draw(_network(name, nodes, zippers, changes)):
        print(line)


@lab_app.command()
def check(
    name: TestbedName,
    nodes: Nodes = None,
    zippers: Zippers = None,
    changes: Changes = None,
    seconds: Annotated[
        float, typer.Option(min=0, help="Seconds to measure each rate; 0: not at all.")
    ] = 1.0,
    every: Annotated[
        bool, typer.Option("--all", help="Show a line for every pair of nodes.")
    ] = False,
    json: AsJson = False,
) -> None:
    """Build a testbed, and compare its round trips, rates and connections with its file.

    The exit status is 1 if something differs from the file."""
    network = _network(name, nodes, zippers, changes)
    _finish(supervise.run_lab(network, lambda n, lab: checks.run(n, lab, seconds, every, json)))


@lab_app.command(cls=CommandOfWords)
def run(
    name: TestbedName,
    command: Annotated[list[str], typer.Argument(metavar="[--] COMMAND", show_default=False)],
    nodes: Nodes = None,
    zippers: Zippers = None,
    changes: Changes = None,
    on: Annotated[str | None, _on("Run the command on this node.")] = None,
) -> None:
    """Build a testbed, run a command in it, and take it down.

    [bold]isthmus lab run matsuda -- isthmus run -n 16 ./app[/bold]
      `isthmus run` finds the testbed's grid file through ISTHMUS_GRID."""
    network = _network(name, nodes, zippers, changes)
    _known_node(network, on)
    _finish(supervise.run_lab(network, lambda _, lab: _execute(lab, on, command)))


@lab_app.command()
def shell(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="TESTBED",
            help="The testbed. Default: a lab that runs already.",
            autocompletion=completing.place("isthmus_lab.lab.testbed:shipped"),
        ),
    ] = None,
    nodes: Nodes = None,
    zippers: Zippers = None,
    changes: Changes = None,
    on: Annotated[str | None, _on("The shell of this node.")] = None,
    lab: LabId = None,
) -> None:
    """Open a shell in a new lab, or in one that runs."""
    words = [os.environ.get("SHELL") or "/bin/sh"]
    if name is not None:
        network = _network(name, nodes, zippers, changes)
        _known_node(network, on)
        _finish(supervise.run_lab(network, lambda _, made: _execute(made, on, words)))
    if nodes is not None or zippers is not None or changes:
        raise UsageError("--nodes, --zippers and --set are for a new lab: name its testbed")
    found = registry.find(lab, to_change=True)
    _known_node(model_of(found), on)
    _finish(_join(found, on, words))


@lab_app.command("exec", cls=CommandOfWords)
def exec_(
    command: Annotated[list[str], typer.Argument(metavar="[--] COMMAND", show_default=False)],
    on: Annotated[str | None, _on("Run it on this node, instead of beside all nodes.")] = None,
    lab: LabId = None,
) -> None:
    """Run a command in a lab that runs already."""
    found = registry.find(lab, to_change=True)
    _known_node(model_of(found), on)
    _finish(_join(found, on, command))


def _known_node(network: Network, node: str | None) -> None:
    if node is not None and node not in network.nodes:
        near = did_you_mean(node, network.nodes)
        raise UsageError(
            f"--on {node}: the testbed has no such node{near}; it has {listing(network.nodes)}"
        )


def _execute(lab: Lab, node: str | None, command: list[str]) -> int:
    words = command[1:] if command[:1] == ["--"] else command
    if not words:
        raise UsageError("no command is given", "Write: isthmus lab run TESTBED -- COMMAND")
    if node is not None:
        words = surroundings.enter_command(lab, node, *words)
    return surroundings.become(lab, words)


def _join(lab: Lab, node: str | None, words: list[str]) -> int:
    """Runs a command in a lab that was started elsewhere."""
    if node is not None:
        words = surroundings.enter_command(lab, node, *words)
    if os.environ.get("ISTHMUS_LAB") == str(lab.folder):
        return surroundings.become(lab, words)
    spaces = ["--mount", "--pid", "--net"]
    if os.geteuid() != 0:
        spaces = ["--user", "--preserve-credentials", *spaces]
    command = ["nsenter", "--target", str(lab.init()), *spaces, "--", *words]
    done = subprocess.run(
        command,
        env=surroundings.environment(lab),
        preexec_fn=lambda: cpus.join(lab.cpus),
        check=False,
    )
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


lab_app.command()(links.cut)
lab_app.command()(links.restore)
lab_app.command("set")(links.set_)
lab_app.command()(links.stats)
lab_app.command()(links.traffic)


@lab_app.command(context_settings=_REST)
def mpirun(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM", show_default=False)],
    mpi: Annotated[
        str,
        typer.Option(metavar="MPI", help="openmpi, mpich, or the folder where it is installed."),
    ],
    n: Annotated[int | None, typer.Option("-n", "-np", min=1, metavar="N")] = None,
    interleave: Annotated[
        bool,
        typer.Option(
            "--interleave", help="Give ranks to the sites in turn, instead of site after site."
        ),
    ] = False,
    hosts: Annotated[
        str | None,
        typer.Option(metavar="HOSTS", help="Use only these nodes, such as 'a[1-4],b[1-4]'."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the command.")] = False,
) -> None:
    """Run a program inside a lab under one native MPI over all sites, without Isthmus.

    Settings of that MPI come from its environment variables (OMPI_MCA_..., MPIR_CVAR_..., UCX_...).

    [bold]isthmus lab run matsuda -- isthmus lab mpirun --mpi openmpi -n 16 ./app[/bold]"""
    inside = os.environ.get("ISTHMUS_LAB")
    if not inside:
        raise UsageError(
            "`isthmus lab mpirun` works only inside a lab",
            "Write: isthmus lab run TESTBED -- isthmus lab mpirun ...",
        )
    lab = Lab(Path(inside))
    network = model_of(lab)
    words = program[1:] if program[:1] == ["--"] else program
    on = _hosts(hosts) if hosts else []
    job = native.native_job(network, mpi, n, words, interleave, on)
    if dry_run:
        print(" ".join(job.command))
        return
    for name, value in job.env.items():
        os.environ.setdefault(name, value)
    frontend = native.frontend(network, on)
    sys.stdout.flush()
    # All nodes see the working directory, but entering a node's mount namespace may leave it.
    words = ["/bin/sh", "-c", 'cd "$0" && exec "$@"', str(Path.cwd()), *job.command]
    _finish(surroundings.become(lab, surroundings.enter_command(lab, frontend, *words)))


def _hosts(text: str) -> list[str]:
    try:
        return expand_hosts(text)
    except ValueError as error:
        raise UsageError(f"--hosts {text}: {error}") from None
