"""The errors that a model finds in a grid file, in words."""

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from isthmus.base.errors import did_you_mean, listing
from isthmus.grid.complaints import Complaint
from isthmus.grid.gridtables import (
    ChannelSpec,
    ClusterSpec,
    GatewaySpec,
    Grid,
    InnerSpec,
    LinkSpec,
    NetworkSpec,
    RelaySpec,
    SharedSpec,
    Table,
)
from isthmus.grid.gridtext import Path

if TYPE_CHECKING:
    from pydantic import ValidationError

_TABLES: dict[str, type[Table]] = {
    "grid": InnerSpec,
    "cluster": ClusterSpec,
    "network": NetworkSpec,
    "gateway": GatewaySpec,
    "link": LinkSpec,
    "relay": RelaySpec,
    "shared": SharedSpec,
    "channel": ChannelSpec,
}


# Keys whose values have units.
_UNITS = {
    **dict.fromkeys(("delay", "jitter", "rtt"), "20 ms"),
    **dict.fromkeys(("wait", "patience"), "10 min"),
    **dict.fromkeys(("rate", "link"), "1 Gbit/s"),
    **dict.fromkeys(("queue", "buffer"), "2 MB"),
}


def complaints(error: "ValidationError", data: Any) -> list[Complaint]:
    """All errors. A misspelt key is not also shown as missing."""
    found = [(_key_path(data, each["loc"]), each) for each in error.errors()]
    unknown = [key for key, each in found if each["type"] == "extra_forbidden"]

    def misspelt(key: Path) -> bool:
        words = [str(other[-1]) for other in unknown if other[:-1] == key[:-1]]
        return any(did_you_mean(word, [str(key[-1])]) for word in words)

    told = [(k, e) for k, e in found if not (e["type"] == "missing" and misspelt(k))]
    return [(key, _explain(dict(each), key)) for key, each in told]


def without(data: dict[str, Any], keys: Sequence[Path]) -> dict[str, Any]:
    """The data without these keys. Whole tables stay."""
    rest = copy.deepcopy(data)
    for key in keys:
        table: Any = rest
        if len(key) < 3:
            continue
        for step in key[:2]:
            table = table[step]
        table.pop(key[2], None)
    return rest


def _key_path(data: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The path without the steps that pydantic adds for unions and keys of mappings."""
    path: list[int | str] = []
    for step in loc:
        if isinstance(data, (dict, list)):
            path.append(step)
            try:
                data = data[step]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                data = None
    return tuple(path)


def _explain(error: dict[str, Any], loc: tuple[int | str, ...]) -> str:
    model = _TABLES.get(str(loc[0]), Grid) if len(loc) > 1 else Grid
    return explain(error, loc, list(model.model_fields), "a grid file")


def explain(
    error: dict[str, Any], loc: tuple[int | str, ...], known: Sequence[str], file: str
) -> str:
    """An error of pydantic in words. `known` are the keys of the table, `file` is its kind."""
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        near = did_you_mean(str(loc[-1]), known)
        return f"is not a key of {file}{near}; allowed here: {listing(known)}"
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = error["ctx"].get("ge", error["ctx"].get("le"))
        word = "least" if kind == "greater_than_equal" else "most"
        return f"must be at {word} {limit}; it is {value}"
    if kind == "greater_than":
        return f"must be more than {error['ctx']['gt']:g}; it is {value}"
    if kind == "string_too_short":
        return "must not be empty"
    if kind == "literal_error":
        return f"must be {error['ctx']['expected']}; it is {value!r}"
    wanted = {
        "string_type": "a string",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "list_type": "an array",
        "dict_type": "a table",
        "model_type": "a table",
    }.get(kind)
    if wanted is None:
        return str(error["msg"])
    if kind == "list_type" and len(loc) == 1:
        wanted = f"written [[{loc[0]}]], once for each {loc[0]}"
    if kind == "dict_type" and len(loc) == 1 and isinstance(value, list):
        return f"needs names: write [{loc[0]}.NAME], once for each {loc[0]}"
    if wanted == "a table" and len(loc) == 2 and isinstance(value, list):
        name = f"{loc[0]}.{loc[1]}"
        return f"is written [[{name}]]; write [{name}], with one pair of brackets"
    with_unit = loc[-1] in _UNITS and loc[0] != "channel"
    if wanted == "a string" and isinstance(value, (int, float)) and with_unit:
        wanted = f"a string with a unit, such as '{_UNITS[str(loc[-1])]}'"
    return f"must be {wanted}; it is {_toml_type(value)}"


def _toml_type(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string '{value}'"
    return "an array" if isinstance(value, list) else "a table"
