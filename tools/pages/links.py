"""Links of the project's pages: where they lead, and whether something is there."""

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Pages outside docs/, by the names that they have in the site.
OUTSIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "CONTRIBUTING.md",
    "CHANGELOG.md": "CHANGELOG.md",
    "SECURITY.md": "SECURITY.md",
}
# Pages that `make docs` makes; no file of the repository has their text.
MADE = ("commands.md", "grid-keys.md", "messages.md", "testbeds.md")
INDEXES = ("decisions", "measured")  # folders of docs/ whose lists of pages are made
_LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^()\s]+)\)")
_FENCE = re.compile(r"^ *(```|~~~)")
_CODE = re.compile(r"(`+[^`]*`+)")


@dataclass(frozen=True)
class Link:
    line: int
    target: str  # a path of the repository, or of a page that is made
    anchor: str


def pages() -> list[str]:
    """The pages with files, as paths of the repository."""
    found = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").rglob("*.md"))]
    return [*OUTSIDE, *found]


def slug(heading: str) -> str:
    """The anchor of a heading, by the rule of GitHub."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.replace("`", "").strip().lower()).replace(" ", "-")


def anchors(text: str) -> set[str]:
    """All anchors of a page. Equal headings are numbered."""
    found: dict[str, int] = {}
    names = set()
    prose = "".join(piece for _, code, piece in pieces(text) if not code)
    for heading in re.findall(r"^#{1,6} (.+)$", prose, re.MULTILINE):
        name = slug(heading)
        count = found.get(name, 0)
        found[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def pieces(text: str) -> Iterator[tuple[int, bool, str]]:
    """The text in pieces of whole lines: the first line's number, whether it is code, the piece."""
    inside = code = False
    blank = True
    start, lines = 1, list[str]()
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        fence = bool(_FENCE.match(line))
        indented = line.startswith("    ") and (blank or code) and not inside
        now = inside or fence or indented
        if now != code and lines:
            yield start, code, "".join(lines)
            start, lines = number, []
        lines.append(line)
        inside ^= fence
        code, blank = now, not line.strip()
    yield start, code, "".join(lines)


def links(page: str, text: str) -> Iterator[Link]:
    """The links of a page to other files of the repository."""
    for first, code, piece in pieces(text):
        if code:
            continue
        plain = re.sub(r"`[^`]*`", lambda found: re.sub(r"\S", "x", found[0]), piece)
        for found in _LINK.finditer(plain):
            if not re.match(r"[a-z]+:", found[2]):
                line = first + plain[: found.start()].count("\n")
                yield Link(line, *resolved(page, found[2]))


def resolved(page: str, target: str) -> tuple[str, str]:
    """The path of the repository and the anchor that a link means."""
    path, _, anchor = target.partition("#")
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    return whole, anchor


def place(page: str) -> str:
    """The path in the site of a file of the repository."""
    if page in OUTSIDE:
        return OUTSIDE[page]
    inside = page.removeprefix("docs/")
    return f"{inside}/index.md" if inside in INDEXES else inside


def for_site(page: str, text: str) -> str:
    """The text of a page for the site: links lead to the site's pages, and the bare names of pages
    become links. A link to a folder of sources becomes plain text."""
    here = posixpath.dirname(place(page))

    def link(found: re.Match[str]) -> str:
        if re.match(r"[a-z]+:|#", found[2]):
            return found[0]
        target, anchor = resolved(page, found[2])
        if (ROOT / target).is_dir() and target.removeprefix("docs/") not in INDEXES:
            return found[1][1:-1]
        path = posixpath.relpath(place(target), here or ".")
        return f"{found[1]}({path}{'#' + anchor if anchor else ''})"

    def name(found: re.Match[str]) -> str:
        if not (ROOT / found[0]).is_file():
            return found[0]
        return f"[{found[1]}]({posixpath.relpath(found[1], here or '.')})"

    def changed(piece: str) -> str:
        named = re.compile(r"(?<![\w/(\[])docs/([a-z-]+\.md)")
        return _outside_code(_LINK.sub(link, piece), lambda part: named.sub(name, part))

    return "".join(piece if code else changed(piece) for _, code, piece in pieces(text))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    parts = _CODE.split(text)
    return "".join(part if number % 2 else change(part) for number, part in enumerate(parts))
