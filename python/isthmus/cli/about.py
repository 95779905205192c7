"""The commands `version`, `help` and `completion`."""

from collections.abc import Callable
from enum import Enum
from typing import Annotated, Any

import typer
from typer import completion as completions

from isthmus.cli.entry import COMPLETE
from isthmus.version import VERSION, WIRE, build_text, commit


class Shell(str, Enum):
    """Shells with a completion script."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def version() -> None:
    """Show the version, the commit, and the number of the wire protocol."""
    print(f"isthmus {build_text(VERSION, commit(), WIRE)}")


def completion(shell: Shell) -> None:
    """Print a script that lets a shell complete isthmus's commands and options.

    Put one line into a file of your shell. For bash, into ~/.bashrc:
    [bold]eval "$(isthmus completion bash)"[/bold]. For zsh, the same with zsh into ~/.zshrc, after
    compinit. For fish, into ~/.config/fish/config.fish:
    [bold]isthmus completion fish | source[/bold]."""
    print(script_for(shell.value), end="")


def script_for(shell: str) -> str:
    script: str = completions.get_completion_script(  # type: ignore[attr-defined]
        prog_name="isthmus", complete_var=COMPLETE, shell=shell
    )
    return script.rstrip() + "\n"


def know_shells() -> None:
    """Call this before words are completed."""
    completions.completion_init()  # type: ignore[attr-defined]


def helper(app: Callable[..., Any]) -> Callable[..., None]:
    """The command `help` of an application."""

    def help_(
        command: Annotated[
            list[str] | None,
            typer.Argument(metavar="COMMAND", help="The command, such as 'lab run'."),
        ] = None,
    ) -> None:
        """Show the help of a command; the same as COMMAND --help."""
        app([*(command or []), "--help"], standalone_mode=False, prog_name="isthmus")

    return help_
