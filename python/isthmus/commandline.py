"""The base classes of all commands of `isthmus`."""

import re
from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from isthmus.errors import UsageError, did_you_mean


def _flowing(text: str | None) -> str | None:
    """Joins the lines of paragraphs; indented lines, and lines that begin in bold, stay."""
    return text and re.sub(r"(?<=\S)\n(?![\n ]|\[bold\])", " ", text)


class _PlainHelp:
    """The help shows no type behind options that take no value, and breaks no line by itself."""

    def __init__(self, *args: Any, help: str | None = None, **settings: Any) -> None:
        super().__init__(*args, help=_flowing(help), **settings)  # type: ignore[call-arg]

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
        return params


class Group(_PlainHelp, TyperGroup):
    """A group of commands."""


class Command(_PlainHelp, TyperCommand):
    """Short options stand one by one: in `-host` click would find `-h`, and show the help. `-n4` is
    allowed, as with the native launchers."""

    aliases: Mapping[str, str] = {}  # other names of its options
    advice: Mapping[str, str] = {}  # for options that it does not have

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not (ctx.ignore_unknown_options or ctx.resilient_parsing):
            args = self._checked(ctx, args)
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def _checked(self, ctx: Any, args: list[str]) -> list[str]:
        """The same words, with options by their main names. UsageError names an option that the
        command does not have."""
        options = {name: param for param in self.get_params(ctx) for name in _names(param)}
        words: list[str] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--" or (not _is_option(word) and not ctx.allow_interspersed_args):
                return [*words, word, *rest]
            if not _is_option(word) or ("-n" in options and re.fullmatch(r"-n[0-9]+", word)):
                words.append(word)
                continue
            given, equals, value = word.partition("=")
            name = given if given in options else self.aliases.get(given, given)
            if name not in options or (equals and not given.startswith("--")):
                raise self._unknown(ctx, word, options)
            if equals and not name.startswith("--"):
                words += [name, value]
            else:
                words.append(name + equals + value)
            if not equals and not getattr(options[name], "is_flag", False):
                words += rest[: options[name].nargs]
                rest = rest[options[name].nargs :]
        return words

    def _unknown(self, ctx: Any, word: str, options: Mapping[str, Any]) -> UsageError:
        name, equals, value = word.partition("=")
        where = f"'{ctx.command_path}' has no option {name}"
        if equals and name in options:
            return UsageError(f"{where}=", f"Write '{name} {value}'.")
        if advice := self.advice.get(name):
            return UsageError(where, advice)
        if len(name) > 2 and f"-{name}" in options:
            return UsageError(f"{where}; did you mean '-{name}'?")
        if re.fullmatch("-[a-zA-Z]{2,}", name) and all(
            f"-{letter}" in options for letter in name[1:]
        ):
            return UsageError(where, "Write each short option by itself, as in -a -b.")
        near = did_you_mean(name, options) if name.startswith("--") else ""
        return UsageError(f"{where}{near}", f"See: {ctx.command_path} --help")


def _names(param: Any) -> list[str]:
    return [*param.opts, *param.secondary_opts] if param.param_type_name == "option" else []


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


class Application(typer.Typer):
    """An application with these commands. `isthmus completion` serves shells; typer's own options
    for that would write into the user's files."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            add_completion=False,
            rich_markup_mode="rich",
            pretty_exceptions_enable=False,
            **{"cls": Group, **settings},
        )

    def command(self, name: str | None = None, **settings: Any) -> Callable[..., Any]:
        return super().command(name, **{"cls": Command, **settings})
