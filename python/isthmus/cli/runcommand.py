"""The function that typer takes for `isthmus run`, and its words from other launchers."""

import inspect
from dataclasses import MISSING, fields
from typing import Annotated, Any

import typer

from isthmus.base import completing
from isthmus.base.commandline import Command
from isthmus.cli import habits
from isthmus.place.partoptions import Option, PartOptions, described


class RunCommand(Command):
    aliases = habits.ALIASES
    advice = habits.ADVICE
    in_own_words = staticmethod(habits.in_own_words)


class SubmitCommand(RunCommand):
    advice = habits.ADVICE_OF_SUBMIT


def run(**given: Any) -> PartOptions:
    """Its signature has a parameter for each field."""
    return PartOptions(**{name: value for name, value in given.items() if value is not None})


def annotations() -> dict[str, Any]:
    """The fields of PartOptions with their options, as typer reads them."""
    return {
        name: Annotated[kind, _argument(option) if name == "argv" else _option(option)]
        for name, (kind, option) in described().items()
    }


def _argument(option: Option) -> Any:
    return typer.Argument(metavar=option.metavar, help=option.help, show_default=False)


def _option(option: Option) -> Any:
    completion = getattr(completing, option.completion) if option.completion else None
    return typer.Option(
        *option.names,
        min=option.least,
        max=option.most,
        metavar=option.metavar,
        help=option.help,
        rich_help_panel=option.panel,
        autocompletion=completion,
    )


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
