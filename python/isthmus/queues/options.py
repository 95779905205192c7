"""The options of `isthmus submit`: those of `isthmus run`, and those for the queues."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import typer

_QUEUES = "Options for the queues"


@dataclass(frozen=True)
class SubmitOptions:
    """The options that `submit` has beside those of `run`."""

    time: str | None = None
    hold: str | None = None
    meet: str | None = None
    by_hand: bool = False


def of_queues(run: Callable[..., Any]) -> Callable[..., Any]:
    """The function that typer takes for `submit`. Its signature has all parameters of `run`, too.
    It returns SubmitOptions and what `run` returns."""

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
                help="The time that a cluster waits for others before it gives its nodes back and "
                "goes into its queue again: '20min', '00:20:00'. A number needs a unit. By "
                "default it waits until its own time ends.",
                rich_help_panel=_QUEUES,
            ),
        ] = None,
        meet: Annotated[
            str | None,
            typer.Option(
                "--meet",
                metavar="HOST[:PORT]",
                help="This host's address as the clusters' nodes reach it. Default: 'meet' in the "
                "grid file, else this host's name and any port.",
                rich_help_panel=_QUEUES,
            ),
        ] = None,
        by_hand: Annotated[
            bool,
            typer.Option(
                "--by-hand",
                help="Submit nothing, but print the commands for it, in case ssh needs a person.",
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
