"""Manual pages made of the project's pages in Markdown."""

import re
from collections.abc import Iterator, Sequence

from commandhelp import roff
from grid_keys import row

from isthmus.version import VERSION

_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")


def page(name: str, part: int, summary: str, text: str, see: Sequence[str]) -> str:
    """The manual page `name`(`part`) of a page in Markdown. Its title becomes no heading."""
    lines = [
        f'.TH "{name.upper()}" "{part}" "" "isthmus {VERSION}" "Isthmus"',
        ".SH NAME",
        f"{roff(name)} \\- {roff(summary)}",
        ".SH DESCRIPTION",
        *_body(text),
        ".SH SEE ALSO",
        ", ".join(f"\\fB{roff(other.split('(')[0])}\\fP({other.split('(')[1]}" for other in see),
    ]
    return "\n".join(lines) + "\n"


def _body(text: str) -> Iterator[str]:
    for block in _blocks(text):
        first = block[0]
        if first.startswith("# "):
            continue
        if heading := re.match(r"(##+) (.*)", first):
            title = heading[2] if "`" in heading[2] or len(heading[1]) > 2 else heading[2].upper()
            yield f"{'.SH' if len(heading[1]) == 2 else '.SS'} {_inline(title)}"
        elif first.startswith("```"):
            yield from _example(block[1:-1])
        elif first.startswith("    "):
            yield from _example([line[4:] for line in block])
        elif first.startswith("|"):
            yield from _table(block)
        elif re.match(r"[-*] ", first):
            yield from _list(block)
        else:
            yield ".PP"
            yield _inline(" ".join(block))


def _blocks(text: str) -> Iterator[list[str]]:
    """Paragraphs, tables and examples. Empty lines stay inside of fences."""
    block: list[str] = []
    fenced = False
    for line in [*re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL).splitlines(), ""]:
        fence = line.startswith("```")
        if block and not fenced and (not line.strip() or fence):
            yield block
            block = []
        if fence:
            fenced = not fenced
        if line.strip() or fenced:
            block.append(line)


def _example(lines: Sequence[str]) -> Iterator[str]:
    yield from [".PP", ".RS 4", ".EX", *map(roff, lines), ".EE", ".RE"]


def _list(block: Sequence[str]) -> Iterator[str]:
    items: list[str] = []
    for line in block:
        if item := re.match(r"[-*] (.*)", line):
            items.append(item[1])
        else:
            items[-1] += f" {line.strip()}"
    for item in items:
        yield from ['.IP "\\(bu" 2', _inline(item)]


def _table(block: Sequence[str]) -> Iterator[str]:
    """A term for each row. A column "default" is named."""
    head, *rows = [row(line) for line in block]
    for cells in rows:
        if cells[0].startswith("--"):
            continue
        yield from [".TP", _inline(cells[0]) or "\\&"]
        said = [
            f"Default: {cell}" if title == "default" else cell
            for title, cell in zip(head[1:], cells[1:], strict=True)
            if cell
        ]
        yield _inline(". ".join(text.rstrip(".") for text in said) + "." if said else "")


def _inline(text: str) -> str:
    """Code and bold in bold, emphasis in italics; links as their text."""
    text = _LINK.sub(r"\1", text)
    parts = re.split(r"(`[^`]+`|\*\*[^*]+\*\*|\*\w[^*]*\*)", text)
    whole = "".join(
        _marked(part) if number % 2 else _plain(part) for number, part in enumerate(parts)
    )
    return f"\\&{whole}" if whole.startswith((".", "'")) else whole


def _marked(text: str) -> str:
    if text.startswith("`"):
        return f"\\fB{_plain(text[1:-1])}\\fP"
    font = "B" if text.startswith("**") else "I"
    return f"\\f{font}{_plain(text.strip('*'))}\\fP"


def _plain(text: str) -> str:
    return roff(text).removeprefix("\\&")
