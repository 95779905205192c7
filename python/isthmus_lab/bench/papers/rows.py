"""The papers item by item, and what Isthmus has of each; docs/papers.md is made from it."""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from isthmus_lab.bench.papers.shelf import RECIPES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

STATES = ("yes", "otherwise", "partly", "no")
_FILE = Path(__file__).with_name("rows.toml")


@dataclass(frozen=True)
class Row:
    """`where` is where Isthmus has it, or why it does not."""

    name: str
    item: str
    state: str
    where: str


@dataclass(frozen=True)
class Rows:
    """The rows of one paper."""

    title: str
    rows: tuple[Row, ...]


def read() -> list[Rows]:
    """ValueError for a malformed row."""
    found = []
    for paper in tomllib.loads(_FILE.read_text())["paper"]:
        rows = [_row(f"{paper['letter']}{i}", row) for i, row in enumerate(paper["rows"], 1)]
        found.append(Rows(paper["title"], tuple(rows)))
    return found


def _row(name: str, values: list[str]) -> Row:
    item, state, where = values
    if state not in STATES:
        raise ValueError(f"row {name}: '{state}' is not one of {', '.join(STATES)}")
    return Row(name, item, state, where)


def markdown() -> str:
    """The whole of docs/papers.md."""
    papers = read()
    counts = Counter(row.state for paper in papers for row in paper.rows)
    number = sum(counts.values())
    told = ", ".join(f"{counts[state]} {state}" for state in STATES)
    lines = [
        "<!-- Made by `isthmus bench papers --rows` of python/isthmus_lab/bench/papers. -->",
        "# The papers",
        "",
        "Isthmus builds on four papers. Their figures and tables are measured by",
        "",
        "    isthmus bench papers --list",
        "    isthmus bench papers hablot-fig4 --figures figures/",
        "    isthmus bench papers --all --quick",
        "",
        "mostly in separate labs, and printed beside the papers' numbers. `--quick` takes the",
        "smallest run that shows a figure. The exit status is 1 if a figure or a contestant could",
        "not be measured, or if other programs kept the machine too busy to judge a number.",
        "",
        "| name | figure | shows |",
        "|---|---|---|",
        *(f"| `{one.name}` | {one.paper.title}: {one.figure} | {one.about} |" for one in RECIPES),
        "",
        f"The papers have {number} items. Isthmus has them so: {told}. *Otherwise* means the same",
        "result by other means.",
    ]
    for paper in papers:
        lines += [
            "",
            f"## {paper.title}",
            "",
            "| | item | | where, or why not |",
            "|---|---|---|---|",
        ]
        lines += [f"| {row.name} | {row.item} | {row.state} | {row.where} |" for row in paper.rows]
    return "\n".join(lines) + "\n"
