"""The options of `isthmus submit`: those of `isthmus run`, and of the queues."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

_QUEUES = "Options for the queues"


@dataclass(frozen=True)
class SubmitOptions:
    """What `submit` has besides the options of `run`."""

    time: str | None = None
    hold: str | None = None
    meet: str | None = None
    by_hand: bool = False


def of_queues(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function that typer takes for `submit`, by its signature, which has all parameters of
    `run` too. It gives SubmitOptions and what `run` gives."""

    def submit(
        time: Annotated[
            str | None,
            typer.Option(
                "--time",
                metavar="TIME",
                help="Ask every cluster's queue for this time: '90min', '12h', '02:00:00' (hours "
                "first), '1-12:00:00' (days first). A number needs a unit.",
                rich_help_panel=_QUEUES,
            ),
        ] = None,
        hold: Annotated[
            str | None,
            typer.Option(
                "--hold",
                metavar="TIME",
                help="A cluster that has waited this long for others gives its nodes back, and "
                "goes into its queue again: '20min', '00:20:00'. A number needs a unit. Without "
                "--hold, it waits as long as its own time lasts.",
                rich_help_panel=_QUEUES,
            ),
        ] = None,
        meet: Annotated[
            str | None,
            typer.Option(
                "--meet",
                metavar="HOST[:PORT]",
                help="How the clusters' nodes reach this host. Without it: 'meet' in the grid "
                "file, else this host's name and any port.",
                rich_help_panel=_QUEUES,
            ),
        ] = None,
        by_hand: Annotated[
            bool,
            typer.Option(
                "--by-hand",
                help="Submit nothing; print the commands that do, for where ssh needs a person.",
                rich_help_panel=_QUEUES,
            ),
        ] = False,
        **given: Any,
    ) -> Any:
        return SubmitOptions(time, hold, meet, by_hand), run(**given)

    own = list(inspect.signature(submit).parameters.values())[:-1]
    of_run = list(inspect.signature(run).parameters.values())
    submit.__signature__ = inspect.Signature([*of_run, *own])  # type: ignore[attr-defined]
    submit.__annotations__ = {**run.__annotations__, **submit.__annotations__}
    return submit
