"""The number of the wire protocol changes with the definitions of frames and control messages.

`wire_history.txt` has a line for each number: the number, and a hash of the definitions. A failing
test says what to do."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from isthmus.version import WIRE

ROOT = Path(__file__).parents[2]
HISTORY = ROOT / "src/core/wire/wire_history.txt"
# Functions that write bodies of frames, and those that read a control message of the launcher.
ENCODERS = (
    "src/core/wire/wire.cpp",
    "src/core/wire/message_body.cpp",
    "src/net/control/control_body.cpp",
    "src/net/endpoint/invite.cpp",
    "src/net/control/share_body.cpp",
    "src/file/protocol.cpp",
)
REQUESTS = "src/daemon/control/requests.cpp"
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def source(path: str) -> str:
    return _COMMENT.sub("", (ROOT / path).read_text())


def functions(path: str, name: str) -> Iterator[str]:
    """The functions at the left margin whose name has this pattern, without layout."""
    for found in re.finditer(
        rf"^[\w:<>&* ]*\b(?:{name})\(.*?^}}", source(path), re.DOTALL | re.MULTILINE
    ):
        yield re.sub(r"\s+", " ", found[0])


def enumerators(path: str, name: str) -> Iterator[str]:
    (body,) = re.findall(rf"enum (?:class )?{name} [^{{]*\{{(.*?)\}}", source(path), re.DOTALL)
    yield from sorted(re.findall(r"\w+ = \d+", body))


def definitions() -> dict[str, list[str]]:
    agent = [
        path
        for room in ("agent", "control", "host")
        for path in (ROOT / "src/daemon" / room).glob("*.cpp")
        if "_test" not in path.name
    ]
    sent = {key for path in agent for key in re.findall(r'\{"([a-z_-]+)",', path.read_text())}
    return {
        "frames": [
            *enumerators("src/core/wire/frame.hpp", "FrameKind"),
            *enumerators("src/core/wire/frame.hpp", "FrameFlag"),
            *re.findall(r"kMaxBody = [^;]*", source("src/core/wire/frame.hpp")),
            *re.findall(r"kHeaderSize = [^;]*", source("src/core/wire/wire.hpp")),
        ],
        "bodies": [text for path in ENCODERS for text in functions(path, r"encode\w*|write_\w+")],
        "requests": [
            f"{text.split('(')[0].split()[-1]}: {key}"
            for text in functions(REQUESTS, r"read_\w+")
            for key in re.findall(r'"(\w+)"', text)
        ],
        "answers": sorted(sent),
    }


def digest() -> str:
    return hashlib.sha256(repr(definitions()).encode()).hexdigest()[:16]


def history() -> list[tuple[int, str]]:
    lines = [line.partition("#")[0].split() for line in HISTORY.read_text().splitlines()]
    return [(int(line[0]), line[1]) for line in lines if line]


def number_of(path: str, pattern: str) -> int:
    (found,) = re.findall(pattern, (ROOT / path).read_text())
    return int(found)


def test_the_definitions_are_found():
    found = definitions()
    assert {"Hello = 1", "Control = 32", "kReturned = 1"} <= {*found["frames"]}
    assert any("encode_hello" in text for text in found["bodies"])
    assert any("encode_control" in text for text in found["bodies"])
    assert {"read_configure: wire", "read_spawn: first", "read_argv: argv"} <= {*found["requests"]}
    assert {"op", "version", "wire", "gateways"} <= {*found["answers"]}


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("src/core/wire/wire.hpp", r"kProtocolVersion = (\d+);"),
        ("python/isthmus/version.py", r"\nWIRE = (\d+)\n"),
        ("docs/protocol.md", r"\| version \| the number of the protocol: (\d+)\."),
    ],
)
def test_code_and_page_have_the_latest_number(path, pattern):
    latest = history()[-1][0]
    assert number_of(path, pattern) == latest
    assert latest == WIRE


def test_each_number_has_definitions_of_its_own():
    numbers = [number for number, _ in history()]
    assert numbers == sorted(set(numbers))
    assert len({text for _, text in history()}) == len(numbers)


def test_changed_definitions_have_a_new_number():
    number, known = history()[-1]
    found = digest()
    assert found == known, (
        f"The definitions of frames or control messages have changed, but the wire protocol still "
        f"has number {number}. If builds of before and after cannot run together: write "
        f"{number + 1} in src/core/wire/wire.hpp, python/isthmus/version.py and docs/protocol.md, "
        f"and add the line '{number + 1} {found}' to {HISTORY.relative_to(ROOT)}. If they can, as "
        f"when a key is added that old builds ignore: replace the last hash there by {found}."
    )
