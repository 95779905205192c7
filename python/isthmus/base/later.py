"""Commands whose modules are imported only when needed. Importing all takes half a second, of which
`isthmus run` needs a third (2026-11)."""

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from isthmus.base.commandline import Application, Command, Group
from isthmus.base.errors import UsageError

# All commands by the groups of the help, in its order.
GROUPS = {
    "Run": ("run", "join", "leave"),
    "Queues": ("submit", "jobs", "attach", "cancel"),
    "Look": ("ps", "top", "profile", "trace"),
    "Prepare": ("grid", "doctor", "tune", "map", "install", "config"),
    "Lab": ("lab", "bench"),
    "Help": ("help", "version", "completion"),
}
_OTHERS = "Other packages"
# The place of each: a function, or an application of several commands.
COMMANDS = {
    "join": "isthmus.seeing.newcomers:join",
    "leave": "isthmus.seeing.newcomers:leave",
    "jobs": "isthmus.queues.listed:jobs",
    "attach": "isthmus.queues.commands:attach",
    "cancel": "isthmus.queues.commands:cancel",
    "doctor": "isthmus.doctor.commands:doctor",
    "tune": "isthmus.tune.commands:tune",
    "grid": "isthmus.cli.gridcommand:grid",
    "map": "isthmus.mapping.commands:map_ranks",
    "profile": "isthmus.profile.commands:profile_app",
    "ps": "isthmus.seeing.commands:ps",
    "top": "isthmus.seeing.commands:top",
    "trace": "isthmus.cli.tracecommand:trace",
    "install": "isthmus.cli.installcommand:install",
    "config": "isthmus.cli.config:config",
}
# The list of commands shows these lines about those above. It does not import the commands, which
# takes a quarter of a second (2026-11). Each line is the first paragraph of the command's own help.
SUMMARIES = {
    "join": "Let a further cluster join a run that goes on, as a spare one.",
    "leave": "Let a spare cluster leave a run that goes on.",
    "jobs": "List the jobs that were submitted from here, and what they wait for.",
    "attach": "Show the output of a submitted job as it comes. Ctrl-C leaves the job alone.",
    "cancel": "Cancel a submitted job: all its parts, queued or running.",
    "doctor": "Check the clusters and links of a grid, and print how to fix what is wrong.",
    "tune": "Measure the networks of a grid once, so that the best collective algorithms are "
    "chosen.",
    "grid": "Check a grid file without contacting any host, or print a sample.",
    "map": "Place ranks on clusters so that little traffic crosses between clusters.",
    "profile": "Show what a program sends to whom, from a file of `isthmus run --profile`.",
    "ps": "List your runs on this host, or the ranks of one: cluster, host, process, program.",
    "top": "Watch a run: its links, its clusters, and what its ranks wait for.",
    "trace": "Print the records of a run's processes under ISTHMUS_TRACE, merged by time.",
    "install": "Copy the parts that a cluster needs to other hosts, and check that they run there.",
    "config": "Print compiler flags and folders for programs that ask for the topology of the "
    "grid.",
    "lab": "Emulate clusters and wide-area networks on this machine, to try grids and measure "
    "them.",
    "bench": "Compare Isthmus with plain TCP and native MPIs on the same wires.",
}
# Commands that another package has, and its name.
ELSEWHERE = {"lab": "isthmus-lab", "bench": "isthmus-lab"}


def fetch(place: str) -> Any:
    """What stands at "MODULE:NAME"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


@cache
def offered() -> dict[str, str]:
    """The commands that other installed packages offer, with their places. Commands of isthmus
    itself start without this search, which takes 20 ms (2026-11)."""
    from importlib.metadata import entry_points  # noqa: PLC0415  for the same reason

    return {point.name: point.value for point in entry_points(group="isthmus.commands")}


def load(name: str, place: str) -> Any:
    """The command of that name, as typer makes it."""
    found = fetch(place)
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = Application()
    alone.command(name)(found)
    return get_command(alone)


class LaterGroup(Group):
    """Has the commands that were added to it, those of COMMANDS, and those of other packages if
    `offers` is set. All are in the order of GROUPS."""

    offers = True
    _listing = False  # only names and summaries are wanted

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self._listing = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._listing = False

    def list_commands(self, ctx: Any) -> list[str]:
        theirs = offered() if self.offers else {}
        known = {*self.commands, *COMMANDS, *theirs}
        ours = [name for names in GROUPS.values() for name in names if name in known]
        return ours + sorted({*theirs}.difference(ours))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if self._listing and cmd_name in SUMMARIES and cmd_name not in self.commands:
            return self._grouped(Command(cmd_name, help=SUMMARIES[cmd_name]))
        if cmd_name not in self.commands:
            if place := COMMANDS.get(cmd_name) or offered().get(cmd_name):
                self.add_command(load(cmd_name, place), cmd_name)
            elif cmd_name in ELSEWHERE and not (ctx and ctx.resilient_parsing):
                package = ELSEWHERE[cmd_name]
                raise UsageError(f"'{cmd_name}' is in the package {package}: pip install {package}")
        found: Any = super().get_command(ctx, cmd_name)
        return self._grouped(found) if found is not None else None

    @staticmethod
    def _grouped(command: Any) -> Any:
        panels = (group for group, names in GROUPS.items() if command.name in names)
        command.rich_help_panel = next(panels, _OTHERS)
        return command
