"""JSON whose strings may hold any bytes, as arguments, names of files and variables do.

In Python, a byte that is not UTF-8 is a lone surrogate (PEP 383), as in `sys.argv`. In the text,
which is UTF-8, it is two characters: U+0000 and the one whose number is the byte. Arguments, names
and variables never hold U+0000 themselves. The agents' end is src/core/base/any_json.hpp.
"""

import codecs
import json
import re
from typing import Any


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    lone = error.object[error.start : error.end]
    return "".join(f"\\u0000\\u{ord(each) & 0xFF:04x}" for each in lone), error.end


codecs.register_error("isthmus.base.anyjson", _escape)


def dumps(value: Any) -> bytes:
    """One line, without its end."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.encode(errors="isthmus.base.anyjson")


def loads(line: bytes) -> Any:
    """ValueError or RecursionError if it is not JSON."""
    value = json.loads(line)
    return _unescaped(value) if b"\\u0000" in line else value


def readable(text: str) -> str:
    """For JSON from other writers: U+FFFD replaces bytes that are not UTF-8."""
    return text.encode(errors="surrogateescape").decode(errors="replace")


def _unescaped(value: Any) -> Any:
    if isinstance(value, str):
        return re.sub("\0([\x80-\xff])", lambda found: chr(0xDC00 + ord(found[1])), value)
    if isinstance(value, list):
        return [_unescaped(each) for each in value]
    if isinstance(value, dict):
        return {_unescaped(name): _unescaped(each) for name, each in value.items()}
    return value
