"""The base classes of all commands of `isthmus`."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from shutil import which
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from isthmus.base.errors import UsageError, did_you_mean, joined


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

    @staticmethod
    def in_own_words(name: str, rest: list[str]) -> list[str] | None:
        """An option of another launcher in words of this command; takes its values from `rest`.
        Returns None for other options. Raises UsageError if values are missing."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.ignore_unknown_options or ctx.resilient_parsing:
            plain: list[str] = super().parse_args(ctx, args)
            return plain
        words, errors = self._checked(ctx, args)
        try:
            parsed: list[str] = super().parse_args(ctx, list(words))
        except Exception as error:
            errors += self._wrong_values(ctx, words, error)
            if not errors:
                raise
            raise joined(errors) from None
        if errors:
            raise joined(errors)
        return parsed

    def _wrong_values(self, ctx: Any, words: list[str], error: Exception) -> list[UsageError]:
        """The errors of parsing the words, of which `error` is the first. The parser ends at each,
        so it is started again without the option."""
        errors = []
        kept = list(words)
        for _ in words:
            errors.append(_usage_error(ctx, kept, error))
            param = getattr(error, "param", None)
            shorter = _without(kept, _names(param)) if param is not None else kept
            if errors[-1] is None or shorter == kept:
                break
            kept = shorter
            try:
                super().parse_args(ctx, list(kept))
                break
            except Exception as another:
                error = another
        found = [one for one in errors if one is not None]
        return found if len(found) == len(errors) else []

    def _checked(self, ctx: Any, args: list[str]) -> tuple[list[str], list[UsageError]]:
        """The same words, with options by their main names, and an error for each option that the
        command does not have."""
        options = {name: param for param in self.get_params(ctx) for name in _names(param)}
        words: list[str] = []
        errors: list[UsageError] = []
        rest = list(args)
        while rest:
            word = rest.pop(0)
            if word == "--" or (not _is_option(word) and not ctx.allow_interspersed_args):
                return [*words, word, *rest], errors
            if not _is_option(word) or ("-n" in options and re.fullmatch(r"-n[0-9]+", word)):
                words.append(word)
                continue
            try:
                own_words = self.in_own_words(word, rest)
            except UsageError as error:
                errors.append(error)
                continue
            if own_words is not None:
                words += own_words
                continue
            given, equals, value = word.partition("=")
            name = given if given in options else self.aliases.get(given, given)
            if name not in options or (equals and len(given) == 2):
                errors.append(self._unknown(ctx, word, options))
                while rest and _may_be_value(rest):
                    rest.pop(0)
                continue
            if equals and not name.startswith("--"):
                words += [name, value]
            else:
                words.append(name + equals + value)
            if not equals and not getattr(options[name], "is_flag", False):
                words += rest[: options[name].nargs]
                rest = rest[options[name].nargs :]
        return words, errors

    def _unknown(self, ctx: Any, word: str, options: Mapping[str, Any]) -> UsageError:
        name, equals, value = word.partition("=")
        where = f"'{ctx.command_path}' has no option {name}"
        if equals and self.aliases.get(name, name) in options:
            return UsageError(f"{where}=", f"Write '{name} {value}'.")
        if advice := self.advice.get(name):
            return UsageError(where, advice)
        short, attached = word[:2], word[2:]
        if short != "--" and re.search(r"[^A-Za-z-]", attached):  # as in -N2
            if self._takes_value(short, options):
                return UsageError(where, f"Write '{short} {attached}'.")
            if advice := self.advice.get(short):
                return UsageError(where, advice)
        if len(name) > 2 and f"-{name}" in options:
            return UsageError(f"{where}; did you mean '-{name}'?")
        if re.fullmatch("-[a-zA-Z]{2,}", name) and all(
            f"-{letter}" in options for letter in name[1:]
        ):
            return UsageError(where, "Write each short option by itself, as in -a -b.")
        near = did_you_mean(name, options) if name.startswith("--") else ""
        return UsageError(f"{where}{near}", f"See: {ctx.command_path} --help")

    def _takes_value(self, name: str, options: Mapping[str, Any]) -> bool:
        param = options.get(self.aliases.get(name, name))
        return param is not None and not getattr(param, "is_flag", False)


def _names(param: Any) -> list[str]:
    option = getattr(param, "param_type_name", "") == "option"
    return [*param.opts, *param.secondary_opts] if option else []


def _is_option(word: str) -> bool:
    return len(word) > 1 and word.startswith("-")


def _may_be_value(rest: Sequence[str]) -> bool:
    """Whether the first word is a value of an unknown option. Otherwise it is taken for the
    program: it is the last word, or there is such a program."""
    word = rest[0]
    program = len(rest) == 1 or "/" in word or Path(word).is_file() or which(word) is not None
    return not (_is_option(word) or word == ":" or program)


def _without(words: list[str], names: list[str]) -> list[str]:
    """The words without these options and their values."""
    kept: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in names:
            rest = rest[1:]
        elif word.partition("=")[0] not in names and not (
            "-n" in names and re.fullmatch(r"-n[0-9]+", word)
        ):
            kept.append(word)
            if not _is_option(word):
                return kept + rest
    return kept


def _usage_error(ctx: Any, words: list[str], error: Exception) -> UsageError | None:
    """An error of the parser as ours; None for all others."""
    text = error.format_message() if hasattr(error, "format_message") else ""
    value = _value(words, _names(getattr(error, "param", None)))
    for pattern, plain in _PLAINER:
        text = re.sub(pattern, plain.replace("VALUE", f"{value!r}"), text)
    return UsageError(text, f"See: {ctx.command_path} --help") if text else None


# Words of click, and of pydantic, by which newer versions of typer check values.
_PLAINER = (
    (r"Got unexpected extra argument\S* \((.*)\)", r"too many words: \1"),
    (r"Input should be a valid number, .*", "VALUE is not a number"),
    (r"Input should be a valid integer, .*", "VALUE is not a whole number"),
    (r"Input should be greater than or equal to (\S+)", r"it must be at least \1"),
    (r"Input should be less than or equal to (\S+)", r"it must be at most \1"),
)


def _value(words: list[str], names: list[str]) -> str:
    """The last value of an option."""
    at = [number for number, word in enumerate(words[:-1]) if word in names]
    joint = [word.partition("=")[2] for word in words if word.partition("=")[0] in names]
    return words[at[-1] + 1] if at else joint[-1] if joint else ""


class CommandOfWords(Command):
    """Its last argument is a command line: options of that are not its own, with or without `--`.
    Its own options stand before."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:
            plain: list[str] = super().parse_args(ctx, args)
            return plain
        options = {name: param for param in self.get_params(ctx) for name in _names(param)}
        before = sum(getattr(p, "param_type_name", "") == "argument" for p in self.params) - 1
        rest = list(args)
        words: list[str] = []
        while rest and rest[0] != "--" and (before or _is_option(rest[0])):
            word = rest.pop(0)
            words.append(word)
            if not _is_option(word):
                before -= 1
            elif "=" not in word and not getattr(options.get(word), "is_flag", True):
                words += rest[:1]
                rest = rest[1:]
        rest = rest[1:] if rest[:1] == ["--"] else rest
        parsed: list[str] = super().parse_args(ctx, [*words, "--", *rest] if rest else words)
        return parsed


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
