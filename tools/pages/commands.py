"""A page for each command, of the texts that --help shows."""

import re
from collections.abc import Iterator
from typing import Any

import commandhelp
import typer

from isthmus.base import later
from isthmus.cli.cli import app


def pages() -> dict[str, str]:
    """The list of commands, and a page for each."""
    main = typer.main.get_command(app)
    made = {"commands.md": _index(main)}
    for name, command in commandhelp.commands(main):
        made[f"commands/{name}.md"] = "\n".join(_page(f"isthmus {name}", command, 1)) + "\n"
    return made


def _index(main: Any) -> str:
    lines = ["# Commands", "", *prose(main.help), ""]
    for group, names in later.GROUPS.items():
        lines += [f"## {group}", "", "| command | |", "|---|---|"]
        for name in names:
            summary = commandhelp.summary(main.get_command(None, name))
            lines.append(f"| [`isthmus {name}`](commands/{name}.md) | {_cell(summary)} |")
        lines.append("")
    lines.append("On each cluster `isthmusd` does the work. Its own page is isthmusd(8).")
    return "\n".join(lines) + "\n"


def _page(path: str, command: Any, level: int) -> Iterator[str]:
    yield f"{'#' * level} isthmus{path.removeprefix('isthmus')}"
    yield ""
    yield f"    {commandhelp.usage(path, command)}"
    yield ""
    yield from prose(command.help or "")
    for title, params in commandhelp.panels(command).items():
        yield from ["", f"**{title}**", "", "| option | meaning |", "|---|---|"]
        for param in params:
            yield f"| {_names(param)} | {_cell(param.help or '')} |"
    yield ""
    if command.epilog:
        yield from prose(command.epilog)
    for name, sub in commandhelp.commands(command):
        yield ""
        yield from _page(f"{path} {name}", sub, level + 1)


def _names(param: Any) -> str:
    value = commandhelp.value_of(param)
    if param.param_type_name == "argument":
        return f"`{value}`"
    names = (f"`{name} {value}`" if value else f"`{name}`" for name in param.opts)
    return ", ".join(names).replace("|", "\\|")


def _cell(text: str) -> str:
    return _marked(" ".join(text.split())).replace("|", "\\|")


def _marked(text: str) -> str:
    """Bold as rich marks it, and characters that Markdown would take for itself."""
    text = re.sub(r"([*_<])", r"\\\1", text.replace("\\", "\\\\"))
    return text.replace("[bold]", "**").replace("[/bold]", "**")


def prose(text: str) -> Iterator[str]:
    """Paragraphs. Lines in bold with an indented line behind them are examples with their
    meaning."""
    for paragraph in re.split(r"\n\s*\n", text.strip()):
        for line in paragraph.splitlines():
            example = re.fullmatch(r"\[bold\](.*)\[/bold\]", line)
            if example:
                yield f"`{example[1]}`"
            elif line.startswith("  "):
                yield f":   {_marked(line.strip())}"
            else:
                yield _marked(line)
        yield ""
