"""Commands whose modules are imported only when needed. Importing all takes half a second, of which
`isthmus run` needs a third (2026-11)."""

from functools import cache
from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from isthmus.commandline import Application, Group
from isthmus.errors import UsageError

# All commands by the groups of the help, in its order.
GROUPS = {
    "Run": ("run",),
    "Queues": ("submit", "jobs", "attach", "cancel", "join"),
    "Look": ("ps", "top", "profile", "trace"),
    "Prepare": ("grid", "doctor", "tune", "map", "install", "config"),
    "Lab": ("lab", "bench"),
    "Help": ("help", "version", "completion"),
}
_OTHERS = "Other packages"
# The place of each: a function, or an application of several commands.
COMMANDS = {
    "jobs": "isthmus.queues.commands:jobs",
    "attach": "isthmus.queues.commands:attach",
    "cancel": "isthmus.queues.commands:cancel",
    "doctor": "isthmus.doctor.commands:doctor",
    "tune": "isthmus.tune.commands:tune",
    "grid": "isthmus.gridcommand:grid",
    "map": "isthmus.mapping.commands:map_ranks",
    "profile": "isthmus.profile.commands:profile_app",
    "ps": "isthmus.seeing.commands:ps",
    "top": "isthmus.seeing.commands:top",
    "trace": "isthmus.tracecommand:trace",
    "install": "isthmus.installcommand:install",
    "config": "isthmus.config:config",
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

    def list_commands(self, ctx: Any) -> list[str]:
        theirs = offered() if self.offers else {}
        known = {*self.commands, *COMMANDS, *theirs}
        ours = [name for names in GROUPS.values() for name in names if name in known]
        return ours + sorted({*theirs}.difference(ours))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands:
            if place := COMMANDS.get(cmd_name) or offered().get(cmd_name):
                self.add_command(load(cmd_name, place), cmd_name)
            elif cmd_name in ELSEWHERE and not (ctx and ctx.resilient_parsing):
                package = ELSEWHERE[cmd_name]
                raise UsageError(f"'{cmd_name}' is in the package {package}: pip install {package}")
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            panels = (group for group, names in GROUPS.items() if cmd_name in names)
            found.rich_help_panel = next(panels, _OTHERS)
        return found
