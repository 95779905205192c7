"""Reads the command line of `isthmus run` without typer, which takes half of the time in which a
run starts (2026-11). A command line that asks for help, or has errors, is left to typer."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError
from isthmus.cli import habits
from isthmus.job.argv import split_parts
from isthmus.place.partoptions import Option, PartOptions, described

_KINDS: dict[Any, Callable[[str], Any]] = {
    int | None: int,
    float | None: float,
    str | None: str,
    Path | None: Path,
    list[str]: str,
}


def parts(words: Sequence[str]) -> list[PartOptions] | None:
    """The parts after `isthmus run`. Returns None if typer must read them."""
    found = [_part(part) for part in split_parts(words)]
    whole = [part for part in found if part is not None]
    return whole if len(whole) == len(found) else None


def _part(words: list[str]) -> PartOptions | None:
    by_name = {name: field for field, (_, option) in described().items() for name in option.names}
    given: dict[str, Any] = {}
    rest = list(words)
    while rest and rest[0].startswith("-") and rest[0] not in ("-", "--"):
        word = rest.pop(0)
        try:
            own_words = habits.in_own_words(word, rest)
        except UsageError:
            return None
        if own_words is not None:
            rest = own_words + rest
            continue
        name, equals, value = word.partition("=")
        if joint := re.fullmatch(r"-n([0-9]+)", name):
            name, equals, value = "-n", "=", joint[1]
        elif equals and not name.startswith("--"):
            return None
        field = by_name.get(habits.ALIASES.get(name, name))
        if field is None:
            return None
        kind, option = described()[field]
        if kind is bool:
            if equals:
                return None
            given[field] = True
            continue
        if not equals:
            if not rest:
                return None
            value = rest.pop(0)
        read = _read(kind, option, value)
        if read is None:
            return None
        given[field] = [*given.get(field, []), read] if kind == list[str] else read
    if rest[:1] == ["--"]:
        rest.pop(0)
    return PartOptions(argv=rest, **given) if rest else None


def _read(kind: Any, option: Option, text: str) -> Any:
    """The value. A wrong one gives None."""
    try:
        value = _KINDS[kind](text)
    except ValueError:
        return None
    if isinstance(value, (int, float)):
        low = option.least is None or value >= option.least
        return value if low and (option.most is None or value <= option.most) else None
    return value
