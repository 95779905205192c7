"""Commands whose modules are imported only when needed. Importing all takes half a second, of which
`isthmus run` needs a third (2026-11)."""

from importlib import import_module
from typing import Any

import typer
from typer.main import get_command

from isthmus.commandline import Application, Group

# All commands by the groups of the help, in its order.
GROUPS = {
    "Run": ("run",),
    "Queues": ("submit", "jobs", "attach", "cancel", "join"),
    "Look": ("ps", "top", "profile", "trace"),
    "Prepare": ("grid", "doctor", "tune", "map", "install", "config"),
    "Lab": ("lab", "bench"),
    "Help": ("help", "version", "completion"),
}
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
    "lab": "isthmus_lab.lab.commands:lab_app",
    "bench": "isthmus_lab.bench.commands:bench_app",
}


def fetch(place: str) -> Any:
    """What stands at "MODULE:NAME"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def load(name: str) -> Any:
    """The command of that name, as typer makes it."""
    found = fetch(COMMANDS[name])
    if isinstance(found, typer.Typer):
        return get_command(found)
    alone = Application()
    alone.command(name)(found)
    return get_command(alone)


class LaterGroup(Group):
    """Has the commands that were added to it and those of COMMANDS, all by GROUPS."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for names in GROUPS.values() for name in names]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.commands and cmd_name in COMMANDS:
            self.add_command(load(cmd_name), cmd_name)
        found: Any = super().get_command(ctx, cmd_name)
        if found is not None:
            found.rich_help_panel = next(g for g, names in GROUPS.items() if cmd_name in names)
        return found
