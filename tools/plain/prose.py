"""Finds the sentences in a file: comments, docstrings, messages, and pages in Markdown."""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pages import links
from plain.rules import FEWEST_WORDS

KINDS = (".md", ".py", ".c", ".h", ".cpp", ".hpp", ".f90")
_MESSAGE_WORDS = 6  # strings with fewer are labels
_END = re.compile(r"(?<=[.:;?!])\s+(?=[A-Z`'\"(])")
_C = re.compile(
    r'(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)|(?P<string>"(?:[^"\\\n]|\\.)*")|\'(?:[^\'\\\n]|\\.)*\'',
    re.DOTALL,
)


@dataclass(frozen=True)
class Sentence:
    line: int  # of its block
    text: str


def sentences(name: str, text: str) -> Iterator[Sentence]:
    """All sentences of a file, by the kind of its name."""
    kind = "." + name.rpartition(".")[2]
    if kind == ".md":
        blocks = _of_markdown(text)
    elif kind == ".py":
        blocks = _of_python(text, messages="/tests/" not in f"/{name}")
    elif kind == ".f90":
        blocks = _joined(_comment_lines(text, "!"))
    else:
        blocks = _of_c(text, messages="_test." not in name and not name.startswith("tests/"))
    for line, block in blocks:
        if re.search(r"copyright|licen[cs]e|SPDX|coverage:|NOLINT", block, re.IGNORECASE):
            continue
        for one in _END.split(re.sub(r"\s+", " ", block).strip()):
            if len(one.split()) >= FEWEST_WORDS:
                yield Sentence(line, one)


def _of_markdown(text: str) -> Iterator[tuple[int, str]]:
    for hidden in (r"<!-- plain: off -->.*?<!-- plain: on -->", r"<!--.*?-->"):
        text = re.sub(hidden, lambda found: "\n" * found[0].count("\n"), text, flags=re.DOTALL)
    for first, code, piece in links.pieces(text):
        if code:
            continue
        start, lines = first, list[str]()
        for number, line in enumerate([*piece.splitlines(), ""], first):
            begins = re.match(r"\s*(?:[-*]|\d+\.) |#+ |\||$", line)
            if begins and lines:
                yield start, " ".join(lines)
                lines = []
            if line.startswith("|"):
                yield from ((number, cell) for cell in line.strip("|").split("|"))
            elif line.strip() and not line.startswith("#"):
                start = start if lines else number
                lines.append(re.sub(r"^\s*(?:[-*]|\d+\.) ", "", line))


def _of_python(text: str, *, messages: bool) -> Iterator[tuple[int, str]]:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    comments = [
        (token.start[0], token.string.lstrip("#! "))
        for token in tokens
        if token.type == tokenize.COMMENT
    ]
    yield from _joined(comments)
    tree = ast.parse(text)
    docs = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node)
            if doc:
                docs.add(id(node.body[0].value))
                for paragraph in re.split(r"\n\s*\n", doc):
                    yield node.body[0].lineno, paragraph
    for node in ast.walk(tree) if messages else ():
        if isinstance(node, ast.JoinedStr):
            said = "".join(
                str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values
            )
            docs.update(id(part) for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            said = node.value if id(node) not in docs else ""
        else:
            continue
        for paragraph in re.split(r"\n\s*\n", said):
            if _is_message(paragraph):
                yield node.lineno, paragraph


def _of_c(text: str, *, messages: bool) -> Iterator[tuple[int, str]]:
    comments: list[tuple[int, str]] = []
    said = list[str]()
    start = last = 0
    for found in _C.finditer(text):
        line = text.count("\n", 0, found.start()) + 1 if found.lastgroup else 0
        if found.lastgroup == "line":
            said_here = found[0].lstrip("/!< ")
            begins = text.rfind("\n", 0, found.start()) + 1
            if text[begins : found.start()].strip():  # behind code
                yield line, said_here
            else:
                comments.append((line, said_here))
        elif found.lastgroup == "block":
            yield line, re.sub(r"\n\s*\*", "\n", found[0].strip("/*"))
        elif found.lastgroup == "string" and messages:
            if said and text[last : found.start()].strip():
                yield from _message(start, said)
                said = []
            start = start if said else line
            said.append(found[0][1:-1].replace("\\n", " "))
            last = found.end()
    yield from _message(start, said)
    yield from _joined(comments)


def _message(line: int, parts: list[str]) -> Iterator[tuple[int, str]]:
    if _is_message("".join(parts)):
        yield line, "".join(parts)


def _is_message(text: str) -> bool:
    return len(text.split()) >= _MESSAGE_WORDS and bool(re.match(r"['\"`{]?[A-Za-z]+[ ']", text))


def _comment_lines(text: str, mark: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip().startswith(mark):
            yield number, line.strip().lstrip(f"{mark}<> ")


def _joined(comments: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Comments on lines that follow each other are one block. An empty one ends it."""
    start = last = 0
    lines = list[str]()
    for number, text in comments:
        if lines and (number != last + 1 or not text.strip()):
            yield start, " ".join(lines)
            lines = []
        start = start if lines else number
        last = number
        if text.strip():
            lines.append(text)
    if lines:
        yield start, " ".join(lines)
