"""Manual pages, made from the texts of --help. Each command has a page; that of a group has its
commands."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from isthmus.version import VERSION

_INDENT = re.compile(r"^ {2,}")


def pages(app: typer.Typer) -> dict[str, str]:
    """The pages by name, such as "isthmus-run.1"."""
    main = typer.main.get_command(app)
    made = {"isthmus.1": _page("isthmus", main)}
    for name, command in _commands(main):
        made[f"isthmus-{name}.1"] = _page(f"isthmus {name}", command)
    return made


def _commands(command: Any) -> list[tuple[str, Any]]:
    if not hasattr(command, "list_commands"):
        return []
    found = [(name, command.get_command(None, name)) for name in command.list_commands(None)]
    return [(name, sub) for name, sub in found if not sub.hidden]


def _page(path: str, command: Any) -> str:
    name = path.replace(" ", "-")
    lines = [
        f'.TH "{name.upper()}" "1" "" "isthmus {VERSION}" "Isthmus"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(_summary(command))}",
        ".SH SYNOPSIS",
        *_synopsis(path, command),
        ".SH DESCRIPTION",
        *_prose(command.help or ""),
        *_options(command, ".SH"),
    ]
    subs = _commands(command)
    if subs and " " not in path:
        lines.append(".SH COMMANDS")
        for sub, what in subs:
            lines += [".TP", f"\\fB{_text(f'{path}-{sub}')}\\fP(1)", _text(_summary(what))]
    elif subs:
        lines.append(".SH COMMANDS")
        for sub, what in subs:
            lines += [f".SS {_text(f'{path} {sub}')}", *_synopsis(f"{path} {sub}", what), ".PP"]
            lines += [*_prose(what.help or ""), *_options(what, "")]
    if command.epilog:
        lines += [".SH NOTES", *_prose(command.epilog)]
    lines += [".SH SEE ALSO", _see_also(path, [sub for sub, _ in subs])]
    return "\n".join(lines) + "\n"


def _summary(command: Any) -> str:
    text = re.sub(r"\[/?\w+\]", "", command.short_help or command.help or "")
    return re.split(r"\n\s*\n", text.strip())[0].replace("\n", " ").rstrip(".")


def _see_also(path: str, subs: list[str]) -> str:
    names = [f"isthmus-{sub}" for sub in subs] if path == "isthmus" else ["isthmus"]
    return ", ".join(f"\\fB{_text(name)}\\fP(1)" for name in names)


def _synopsis(path: str, command: Any) -> Iterator[str]:
    words = [getattr(command, "options_metavar", None) or "[OPTION]..."]
    for param in _params(command, "argument"):
        name = param.metavar or param.name.upper()
        words.append(name if param.required else f"[{name}]")
    if _commands(command):
        words.append("COMMAND [ARGUMENT]...")
    yield f"\\fB{_text(path)}\\fP {_text(' '.join(words))}"


def _params(command: Any, kind: str) -> list[Any]:
    found = [param for param in command.params if param.param_type_name == kind]
    return [param for param in found if not getattr(param, "hidden", False)]


def _options(command: Any, heading: str) -> Iterator[str]:
    """Arguments with help, then options by the panels of --help."""
    arguments = [param for param in _params(command, "argument") if getattr(param, "help", None)]
    panels: dict[str, list[Any]] = {"Arguments": arguments} if arguments else {}
    for param in _params(command, "option"):
        panels.setdefault(getattr(param, "rich_help_panel", None) or "Options", []).append(param)
    for title, params in panels.items():
        if heading:
            yield f"{heading} {_text(title.upper())}"
        for param in params:
            yield ".TP"
            yield _names(param)
            yield from _prose(param.help or "")


def _names(param: Any) -> str:
    if param.param_type_name == "argument":
        return f"\\fI{_text(param.metavar or param.name.upper())}\\fP"
    value = "" if param.is_flag else f" \\fI{_text(param.metavar or 'VALUE')}\\fP"
    names = ", ".join(f"\\fB{_text(name)}\\fP" for name in param.opts)
    return f"{names}{value}"


def _prose(text: str) -> Iterator[str]:
    """Paragraphs; indented lines stand for themselves below what they belong to."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        for line in paragraph.splitlines():
            if _INDENT.match(line):
                yield ".RS 4"
                yield _text(line.strip())
                yield ".RE"
            else:
                yield _text(line)


def _text(text: str) -> str:
    """In roff; bold as rich marks it."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    text = text.replace("[bold]", "\\fB").replace("[/bold]", "\\fP")
    return f"\\&{text}" if text.startswith((".", "'")) else text
