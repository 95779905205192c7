"""Changes to a testbed file from the command line: `--set wan.delay='20 ms'`."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus_lab.lab import testbed as testbeds
from isthmus_lab.lab.testbed import Testbed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def changed(testbed: Testbed, changes: Sequence[str]) -> Testbed:
    """The testbed with KEY=VALUE texts applied in their order.

    A key is written as in the file, with dots: `tcp.buffer`, `site.a.link`. `*` stands for every
    name or number; in lists it may be left out (`wan.delay`). A value is TOML, but texts may lack
    their quotes; `none` removes the key from the file."""
    for change in changes:
        key, equals, value = change.partition("=")
        path = key.strip().split(".")
        if not equals or not all(path):
            raise UsageError(
                f"--set {change}: not a KEY=VALUE of a testbed file",
                "For example: --set tcp.buffer='208 KiB' --set wan.delay='20 ms'",
            )
        data = testbed.model_dump(mode="json", exclude_defaults=True)
        for table in _tables(data, path[:-1], change):
            if value.strip() == "none":
                table.pop(path[-1], None)
            else:
                table[path[-1]] = _value(value.strip())
        testbed = testbeds.validated(data, "", f"--set {change}")
    return testbed


def _tables(data: dict[str, Any], path: list[str], change: str) -> Iterator[dict[str, Any]]:
    """The tables for a key without its last word."""
    if not path:
        yield data
        return
    word, rest = path[0], path[1:]
    if word == "tcp":
        data.setdefault(word, {})
    if word == "*":
        inner = list(data.values())
    elif word in data:
        inner = [data[word]]
    else:
        known = [key for key, value in data.items() if isinstance(value, (dict, list))]
        near = did_you_mean(word, known)
        raise UsageError(
            f"--set {change}: the testbed has no '{word}' here{near}; it has {listing(known)}"
        )
    for item in inner:
        if isinstance(item, list):
            tables, rest = _chosen(item, rest, change)
        else:
            tables = [item]
        for table in tables:
            if not isinstance(table, dict):
                raise UsageError(f"--set {change}: '{word}' is not a table of a testbed file")
            yield from _tables(table, rest, change)


def _chosen(items: list[Any], path: list[str], change: str) -> tuple[list[Any], list[str]]:
    """Members of a list and the rest of the key: by number, or all."""
    if not path or not re.fullmatch(r"\*|[0-9]+", path[0]):
        return items, path
    if path[0] == "*":
        return items, path[1:]
    if int(path[0]) >= len(items):
        raise UsageError(f"--set {change}: the list ends at {len(items) - 1}, counted from 0")
    return [items[int(path[0])]], path[1:]


def _value(text: str) -> object:
    if text in ("yes", "no"):
        return text == "yes"
    if found := re.fullmatch(r"([0-9.]+) ?%", text):
        return float(found[1]) / 100
    try:
        return tomllib.loads(f"x = {text}")["x"]
    except tomllib.TOMLDecodeError:
        return text
