"""The function that typer takes for `isthmus run`, and its words from other launchers."""

import inspect
from dataclasses import MISSING, fields
from typing import Any

from isthmus import habits
from isthmus.commandline import Command
from isthmus.partoptions import PartOptions, annotations


class RunCommand(Command):
    aliases = habits.ALIASES
    advice = habits.ADVICE


class SubmitCommand(RunCommand):
    advice = habits.ADVICE_OF_SUBMIT


def run(**given: Any) -> PartOptions:
    """Its signature has a parameter for each field."""
    return PartOptions(**{name: value for name, value in given.items() if value is not None})


def _parameters() -> list[inspect.Parameter]:
    hints = annotations()
    return [
        inspect.Parameter(
            one.name,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=_default(one),
            annotation=hints[one.name],
        )
        for one in fields(PartOptions)
    ]


def _default(field: Any) -> Any:
    if field.default is not MISSING:
        return field.default
    return inspect.Parameter.empty if field.default_factory is MISSING else None


run.__signature__ = inspect.Signature(_parameters())  # type: ignore[attr-defined]
run.__annotations__ = annotations()
