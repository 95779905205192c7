"""Reads TOML that people write. Errors have line, column and a hint for the usual mistakes."""

import codecs
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError, joined

_AT = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)")
_KEY = r"\s*(?P<key>[A-Za-z0-9_.'\"-]+)\s*"


def loads(text: str) -> dict[str, Any]:
    """Raises ValueError. The parser takes 3 ms (2026-11), and a run may have no grid file."""
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415
    else:
        import tomli as tomllib  # noqa: PLC0415
    tables: dict[str, Any] = tomllib.loads(text)
    return tables


def read(path: Path, what: str) -> str:
    """The text of a file. UsageError; `what` names the file, such as "the grid file"."""
    try:
        return path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark first
    except OSError as error:
        missing = f"cannot read {what} {path}: {error.strerror}"
        absent = isinstance(error, FileNotFoundError)
        raise UsageError(missing, _remedy(path) if absent else "") from None
    except UnicodeDecodeError:
        data = path.read_bytes()
    if data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise UsageError(f"{path}: {what} is UTF-16 text", "Save it as UTF-8.") from None
    wrong = [number for number, line in enumerate(data.split(b"\n"), 1) if not _is_utf8(line)]
    lines = ", ".join(map(str, wrong[:3])) + (", ..." if len(wrong) > 3 else "")
    raise UsageError(
        f"{path}:{wrong[0]}: {what} is not UTF-8 text (line {lines})", "Save it as UTF-8."
    ) from None


def _remedy(path: Path) -> str:
    """For a file that does not exist."""
    with suppress(OSError):
        names = [file.name for file in path.parent.glob("*.toml")]
        from difflib import get_close_matches  # noqa: PLC0415  (seldom needed)

        near = get_close_matches(path.name, names, n=1) or (names if len(names) == 1 else [])
        if near:
            return f"There is: {path.with_name(near[0])}"
    return "Check the name and the folder."


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def parse(text: str, name: str) -> dict[str, Any]:
    """The tables of a text. UsageError has the errors of all lines; `name` stands for the file.

    The parser ends at its first error. So its line is emptied, and the rest is read again, as long
    as that cannot cause further errors."""
    lines = text.splitlines()
    errors: list[UsageError] = []
    while True:
        try:
            tables = loads("\n".join(lines) + "\n")
        except ValueError as error:
            number, found = _error(lines, str(error), name)
            errors.append(found)
            wrong = lines[number - 1] if 0 < number <= len(lines) else "["
            lines[number - 1 : number] = [""]
            if not re.match(_KEY + "[=:]", wrong) or _opens(wrong):
                break
        else:
            break
    if errors:
        raise joined(errors)
    return tables


def _opens(line: str) -> bool:
    """Whether a value may go on in the next line."""
    value = re.split("[=:]", line, maxsplit=1)[-1].strip()
    return value.startswith(("[", "{", "'''", '"""'))


def _error(lines: list[str], said: str, name: str) -> tuple[int, UsageError]:
    """The line of an error, and the error in words."""
    found = _AT.fullmatch(said)
    what = found[1] if found else said
    number, column = _unclosed_quote(lines)
    if found and found[2]:
        number, column = int(found[2]), int(found[3])
    line = lines[number - 1] if 0 < number <= len(lines) else ""
    if what.startswith("Unclosed array") or _in_open_array(lines, number):
        number = _start_of_value(lines, number)
        line, column = lines[number - 1], len(lines[number - 1]) + 1
        sentence, remedy = "an array has no ']'", 'Write: KEY = ["a", "b"]'
    else:
        sentence, remedy = _in_words(line, what, column)
    return number, UsageError(f"{name}:{number}:{column}: {sentence}", remedy)


def _unclosed_quote(lines: list[str]) -> tuple[int, int]:
    """The place of a text without a closing quote, for errors at the end of the file."""
    for number, line in enumerate(lines, 1):
        value = line.partition("=")[2].strip()
        quote = re.match("\"{3}|'{3}|[\"']", value)
        if quote and "".join(lines[number - 1 :]).count(quote[0]) % 2:
            return number, len(line) + 1
    return len(lines), 1


def _in_open_array(lines: list[str], number: int) -> bool:
    """Whether the line is a table's header or a key, but an array is open above it."""
    start = _start_of_value(lines, number)
    value = lines[start - 1].partition("=")[2] if 0 < start < number else ""
    inner = "".join(lines[start - 1 : number - 1]).partition("=")[2]
    return value.strip().startswith("[") and inner.count("[") > inner.count("]")


def _start_of_value(lines: list[str], number: int) -> int:
    """The nearest line above that begins an array."""
    for at in range(min(number, len(lines)) - 1, -1, -1):
        if re.match(_KEY + r"=\s*\[", lines[at]):
            return at + 1
    return number


def _in_words(line: str, what: str, column: int) -> tuple[str, str]:
    """The error of the line, and the line to write."""
    at = line[column - 1 :]
    pair = re.match(_KEY + r"(?P<sign>=|:|$)\s*(?P<value>.*)", line)
    if re.match(r"\s*[{]", line) or re.match(r"\s*(---|- )", line):
        return (
            "this is not TOML",
            "Write tables such as [NAME], and KEY = VALUE in the lines below them.",
        )
    value = pair["value"] if pair else at
    if curly := re.match("[\u2018-\u201f\u00ab\u00bb]", value):
        return f"{curly[0]} is not a quote of TOML", 'Write plain quotes: "text"'
    if space := re.match("\\s*[\u00a0\u2000-\u200b\u202f\u3000]", at):
        return f"there is a special space (U+{ord(space[0][-1]):04X})", "Write a plain space."
    if re.match(r"\s*\[", line):
        return _of_header(line, what)
    if what == "Cannot overwrite a value" and pair:
        return f"'{pair['key']}' is here for the second time", "Keep one of the two lines."
    if not pair:
        shown = re.sub(r"[\x00-\x1f\x7f]", "?", line.strip())
        return f"'{shown}' is not a key with a value", "Write: KEY = VALUE"
    return _of_value(pair["key"], pair["sign"], pair["value"], what, at)


def _of_header(line: str, what: str) -> tuple[str, str]:
    name = line.strip().strip("[]")
    if "twice" in what or "Cannot" in what:
        return f"the table [{name}] is here for the second time", "Keep one of the two."
    if re.search(r"[^\w.'\"\s-]|\w\s+\w", name):
        return f"'{name}' is not a name of a table", "Names have letters, digits, '-' and '_'."
    closing = "]]" if line.strip().startswith("[[") else "]"
    opening = "[" * len(closing)
    return "the header of a table has no end", f"Write: {opening}{name}{closing}"


def _of_value(key: str, sign: str, value: str, what: str, at: str) -> tuple[str, str]:
    if sign == ":" and not value:
        return "this is not TOML", f"Write: [{key}], and KEY = VALUE in the lines below it"
    if sign == ":":
        return f"':' stands behind '{key}'", f"Write '=': {key} = {_quoted(value) or 'VALUE'}"
    if sign != "=" or not value or value.startswith("#"):
        return f"'{key}' has no value", f"Write: {key} = VALUE"
    if value.startswith("="):
        return f"'{key}' has two '='", f"Write: {key} = {value.lstrip('= ')}"
    if value[:1] in "\"'" and re.match("Illegal|Found invalid|Unterminated|Expected [\"']+$", what):
        return "a text has no closing quote", f"Write: {key} = {value.partition(' #')[0]}{value[0]}"
    if value[:1] == '"' and "\\" in value:
        plain = value.strip().strip('"')
        return "'\\' has a meaning of its own between these quotes", f"Write: {key} = '{plain}'"
    if re.match(r"(true|false)\b", value, re.IGNORECASE) and "Invalid value" in what:
        return f"'{value}' is not a value of TOML", f"Write: {key} = {value.lower()}"
    if re.match(r"[+-]?0\d", value):
        return "a number begins with 0", f"Write: {key} = {value.lstrip('+-0') or 0}"
    if value.startswith("{"):
        return (
            "a table in braces must be on one line",
            f'Write: {key} = {{ A = "1", B = "2" }}, or a table of its own',
        )
    if what.startswith("Expected newline"):
        rest = at.strip()
        if rest.startswith(("//", ";")):
            return f"'{rest}' follows the value", "Remove it. A comment begins with '#'."
        if not re.match(r"[\"'\[]", value):
            return f"{value} is text without quotes", f"Write: {key} = {_quoted(value)}"
        return f"'{rest}' follows the value", "Write each key on a line of its own."
    if re.match(r"[\w~/.$@*%+-]", value):
        return f"{value} is text without quotes", f"Write: {key} = {_quoted(value)}"
    return f"'{value}' is not a value of TOML", f'Write: {key} = "text", {key} = 3 or {key} = true'


def _quoted(value: str) -> str:
    """The value as TOML wants it."""
    value = value.partition(" #")[0].strip().rstrip(",;")
    plain = re.fullmatch(r"[+-]?\d+(\.\d+)?|true|false|\".*\"|'.*'|\[.*\]|", value)
    return value if plain else f'"{value}"'
