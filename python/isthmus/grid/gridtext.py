"""Finds the line of a key in a grid file, for messages. The TOML parser does not tell it."""

import re

Path = tuple[int | str, ...]

_HEADER = r"\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?"
_KEY = (
    r"\s*((?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')(?:\s*\.\s*"
    r"(?:[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'))*)\s*="
)
_WORD = r"[A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*'"


def _words(dotted: str) -> Path:
    return tuple(word.strip("\"'") for word in re.findall(_WORD, dotted))


def _lines(text: str) -> list[tuple[Path, int]]:
    """Each header and key with its line. Multi-line values may add harmless entries."""
    found: list[tuple[Path, int]] = []
    table: Path = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.fullmatch(_HEADER, line):
            table = _words(header[2])
            if header[1] == "[[" and len(table) == 1:
                name = str(table[0])
                counts[name] = counts.get(name, -1) + 1
                table = (name, counts[name])
            found.append((table, number))
        elif key := re.match(_KEY, line):
            found.append(((*table, *_words(key[1])), number))
    return found


def line_of(text: str, path: Path) -> int | None:
    """The line of the key, else of the nearest table around it that is written out."""
    lines = _lines(text)
    while path:
        for found, number in lines:
            if found[: len(path)] == path:
                return number
        path = path[:-1]
    return None


def written(path: Path) -> str:
    """`cluster.east.host`, `link[0].between`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text
