"""Manual pages, made from the texts of --help. Each command has a page; that of a group has its
commands."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from isthmus.version import VERSION

_INDENT = re.compile(r"^ {2,}")


def pages(app: typer.Typer) -> dict[str, str]:
    """The pages of isthmus's own commands by name, such as "isthmus-run.1"."""
    main: Any = typer.main.get_command(app)
    main.offers = False
    made = {"isthmus.1": _page("isthmus", main)}
    for name, command in commands(main):
        made |= page_of(name, command)
    return made


def page_of(name: str, command: Any) -> dict[str, str]:
    """The page of one command."""
    return {f"isthmus-{name}.1": _page(f"isthmus {name}", command)}


def commands(command: Any) -> list[tuple[str, Any]]:
    """The commands of a group by their names; none for other commands."""
    if not hasattr(command, "list_commands"):
        return []
    found = [(name, command.get_command(None, name)) for name in command.list_commands(None)]
    return [(name, sub) for name, sub in found if not sub.hidden]


def _page(path: str, command: Any) -> str:
    name = path.replace(" ", "-")
    lines = [
        f'.TH "{name.upper()}" "1" "" "isthmus {VERSION}" "Isthmus"',
        ".SH NAME",
        f"{roff(name)} \\- {roff(summary(command))}",
        ".SH SYNOPSIS",
        *_synopsis(path, command),
        ".SH DESCRIPTION",
        *_prose(command.help or ""),
        *_options(command, ".SH"),
    ]
    subs = commands(command)
    if subs and " " not in path:
        lines.append(".SH COMMANDS")
        for sub, what in subs:
            lines += [".TP", f"\\fB{roff(f'{path}-{sub}')}\\fP(1)", roff(summary(what))]
    elif subs:
        lines.append(".SH COMMANDS")
        for sub, what in subs:
            lines += [f".SS {roff(f'{path} {sub}')}", *_synopsis(f"{path} {sub}", what), ".PP"]
            lines += [*_prose(what.help or ""), *_options(what, "")]
    if command.epilog:
        lines += [".SH NOTES", *_prose(command.epilog)]
    lines += [".SH SEE ALSO", _see_also(path, [sub for sub, _ in subs])]
    return "\n".join(lines) + "\n"


def summary(command: Any) -> str:
    """The command's first sentence."""
    text = re.sub(r"\[/?\w+\]", "", command.short_help or command.help or "")
    return re.split(r"\n\s*\n", text.strip())[0].replace("\n", " ").rstrip(".")


def _see_also(path: str, subs: list[str]) -> str:
    names = [f"isthmus-{sub}" for sub in subs] if path == "isthmus" else ["isthmus"]
    pages = [(name, 1) for name in names] + [("isthmus-grid", 5), ("isthmus-environment", 7)]
    return ", ".join(f"\\fB{roff(name)}\\fP({part})" for name, part in pages)


def _synopsis(path: str, command: Any) -> Iterator[str]:
    words = usage(path, command).removeprefix(path).lstrip()
    yield f"\\fB{roff(path)}\\fP {roff(words)}"


def usage(path: str, command: Any) -> str:
    """The command with its options and arguments, in one line."""
    words = [path, getattr(command, "options_metavar", None) or "[OPTION]..."]
    for param in _params(command, "argument"):
        words.append(value_of(param) if param.required else f"[{value_of(param)}]")
    if commands(command):
        words.append("COMMAND [ARGUMENT]...")
    return " ".join(words)


def _params(command: Any, kind: str) -> list[Any]:
    found = [param for param in command.params if param.param_type_name == kind]
    return [param for param in found if not getattr(param, "hidden", False)]


def _options(command: Any, heading: str) -> Iterator[str]:
    for title, params in panels(command).items():
        if heading:
            yield f"{heading} {roff(title.upper())}"
        for param in params:
            yield ".TP"
            yield _names(param)
            yield from _prose(param.help or "")


def panels(command: Any) -> dict[str, list[Any]]:
    """Arguments with help, then options by the panels of --help."""
    arguments = [param for param in _params(command, "argument") if getattr(param, "help", None)]
    found: dict[str, list[Any]] = {"Arguments": arguments} if arguments else {}
    for param in _params(command, "option"):
        found.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    return found


def value_of(param: Any) -> str:
    """The word that stands for an argument, or for the value of an option; empty for a flag."""
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    return "" if param.is_flag else str(param.metavar or "VALUE")


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"\\fI{roff(value_of(param))}\\fP"
    value = f" \\fI{roff(value_of(param))}\\fP" if value_of(param) else ""
    names = ", ".join(f"\\fB{roff(name)}\\fP" for name in param.opts)
    return f"{names}{value}"


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; indented lines stand for themselves below what they belong to."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        for line in paragraph.splitlines():
            if _INDENT.match(line):
                yield ".RS 4"
                yield roff(line.strip())
                yield ".RE"
            else:
                yield roff(line)


def roff(text: str) -> str:
    """Text in roff; rich's marks for bold become roff's."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = text.replace("[bold]", "\\fB").replace("[/bold]", "\\fP")
    return f"\\&{text}" if text.startswith((".", "'")) else text
