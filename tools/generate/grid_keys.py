"""The keys of the grid file: types and limits from the models, meanings from docs/grid.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from isthmus.base.quantities import Duration, Rate, Size
from isthmus.grid.gridmodels import model_of
from isthmus.grid.gridtables import Grid

PAGE = Path(__file__).resolve().parents[2] / "docs/grid.md"
_QUANTITIES = {
    Duration: 'time, as in "12 ms"',
    Rate: 'rate, as in "10 Gbit/s"',
    Size: 'size, as in "2 MiB"',
}
_PLAIN = {str: "string", bool: "true or false", int: "whole number", float: "number"}


@dataclass(frozen=True)
class Key:
    table: str  # as its section of docs/grid.md has it; empty for keys before all tables
    name: str
    type: str
    meaning: str  # Markdown
    default: str  # Markdown; empty if there is none


def all_keys() -> list[Key]:
    """All keys, in the order of the page. Keys of models without a row are missing here."""
    types = dict(_of_models())
    rows = _of_page(PAGE.read_text())
    return [Key(t, n, types[t, n], *rest) for (t, n), rest in rows.items() if (t, n) in types]


def differences() -> list[str]:
    """Keys that only the models or only the page has."""
    models, page = dict(_of_models()), _of_page(PAGE.read_text())
    return [
        f"{key[1]} of {key[0] or 'the file'}: only in {'docs/grid.md' if key in page else 'models'}"
        for key in sorted(models.keys() ^ page.keys())
    ]


def _of_models() -> Iterator[tuple[tuple[str, str], str]]:
    for name, field in model_of(Grid).model_fields.items():
        table, of_table = table_of(field.annotation, BaseModel)
        if table is None:
            yield ("", name), type_of(field.annotation, field.metadata)
            continue
        title = f"[{name}.NAME]" if of_table is dict else f"[[{name}]]"
        for key, inner in table.model_fields.items():
            yield (title, key), type_of(inner.annotation, inner.metadata)


def table_of(annotation: Any, kind: type) -> tuple[Any, Any]:
    """The model of a key that stands for tables of a kind, else None; and what holds them: dict
    if they have names."""
    last = (get_args(annotation) or (annotation,))[-1]
    is_table = isinstance(last, type) and issubclass(last, kind)
    return (last if is_table else None), get_origin(annotation)


def type_of(annotation: Any, metadata: list[Any] | None = None) -> str:
    """The type in words, with its limits."""
    limits = list(metadata or [])
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return type_of(inner[0], [*limits, *_unfolded(inner[1:])])
    if origin in (Union, UnionType):
        return type_of(next(one for one in inner if one is not type(None)), limits)
    if origin is Literal:
        return " or ".join(f'"{value}"' for value in inner)
    if origin is dict:
        return "table"
    if origin in (list, tuple):
        return f"array of {_plural(type_of(inner[0]))}" if origin is list else "string or array"
    if annotation in _QUANTITIES:
        return _QUANTITIES[annotation]
    return _PLAIN[annotation] + _range(limits)


def _plural(words: str) -> str:
    return words if words.startswith("array") else f"{words}s"


def _unfolded(metadata: tuple[Any, ...]) -> list[Any]:
    return [limit for one in metadata for limit in getattr(one, "metadata", [one])]


def _range(limits: list[Any]) -> str:
    words = {}
    for limit in limits:
        for sign in ("ge", "gt", "le", "lt"):
            value = getattr(limit, sign, None)
            if value is not None:
                words[sign] = f"{value:,}" if isinstance(value, int) else f"{value:,.10g}"
    if "ge" in words and "le" in words:
        return f", {words['ge']} to {words['le']}"
    if "gt" in words and "le" in words:
        return f", more than {words['gt']}, up to {words['le']}"
    return f", at least {words['ge']}" if "ge" in words else ""


def _of_page(text: str) -> dict[tuple[str, str], tuple[str, str]]:
    """Meaning and default by table and key, in the order of the page."""
    found = {}
    table, inside = "", False
    for line in text.splitlines():
        if heading := re.match(r"## (.*)", line):
            table = heading[1].strip("`")
        cells = row(line)
        if not cells or cells[0].startswith("--"):
            inside = inside and bool(cells)
            continue
        if cells[0] == "key" and cells[1] == "meaning":
            inside = True
        elif inside:
            for name in re.findall(r"`(\w+)`", cells[0]):
                found[table, name] = (cells[1], cells[2])
    return found


def row(line: str) -> list[str]:
    """The cells of a line of a Markdown table; none for other lines."""
    if not line.startswith("|"):
        return []
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
