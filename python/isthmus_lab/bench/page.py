"""The page of a benchmark: what it printed, and its figures."""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Template
from typing import Any

from rich.console import Console
from rich.table import Table

from isthmus.webpage import frame
from isthmus.webpage.markup import Html, html, paragraphs, table
from isthmus_lab.bench.verdicts import Verdict


class Sheet(Console):
    """A console that keeps what is printed on it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.kept: list[Table | str] = []

    def print(self, *objects: Any, **settings: Any) -> None:
        self.kept += objects
        super().print(*objects, **settings)


def vectors(pictures: Sequence[Path]) -> list[Path]:
    """The page shows these drawings."""
    return [path for path in pictures if path.suffix == ".svg"]


def document(
    title: str,
    known: Mapping[str, Any],
    kept: Sequence[Table | str],
    verdicts: Sequence[Verdict],
    pictures: Sequence[Path] | None,
) -> str:
    """`known` are the facts of common.py. `pictures` are SVG files, or None without matplotlib."""
    run = f"Measured on {known['host']}, Linux {known['kernel']}, at {known['when']}."
    body = Template(Path(__file__).with_name("page.html").read_text(encoding="utf-8")).substitute(
        title=html(title),
        run=paragraphs([run]),
        verdict=paragraphs([_verdict(verdicts)]),
        results="\n".join(map(_shown, kept)),
        figures="\n".join(_figures(pictures)),
        version=html(known["isthmus"]),
    )
    return frame.framed(title, body)


def _verdict(verdicts: Sequence[Verdict]) -> str:
    missed = sum(not verdict.well for verdict in verdicts)
    if not verdicts:
        return "Isthmus has no limits for this measurement."
    if missed:
        return f"{missed} of {len(verdicts)} limits are missed, or were not measured."
    return "All limits are reached."


def _shown(one: Table | str) -> Html:
    if not isinstance(one, Table):
        return paragraphs([one])
    columns = [[str(cell) for cell in column.cells] for column in one.columns]
    rows = zip(*columns, strict=True)
    return table(
        str(one.title or ""),
        [column.header for column in one.columns],
        [_row(cells, str(row.style or "")) for cells, row in zip(rows, one.rows, strict=True)],
        [i for i, column in enumerate(one.columns[1:]) if column.justify == "left"],
    )


def _row(cells: Sequence[str], style: str) -> list[str]:
    first, *others = cells
    return [Html(f'<strong class="missed">{html(first)}</strong>') if style else first, *others]


def _figures(pictures: Sequence[Path] | None) -> Iterator[str]:
    if pictures is None:
        yield "<p>They need matplotlib, which is not installed here.</p>"
    elif not pictures:
        yield "<p>There are none for this measurement.</p>"
    for path in pictures or ():
        name = html(f"{path.stem.replace('-', ' ')}. The tables have the numbers.")
        data = b64encode(path.read_bytes()).decode()
        yield (
            f'<figure><img class="picture" alt="{name}" '
            f'src="data:image/svg+xml;base64,{data}"></figure>'
        )
