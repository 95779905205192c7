"""A table whose rows stay whole on a narrow terminal: it leaves out columns."""

from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_PADDING = 2
_GAP = _PADDING + 1  # with the box's own between two columns
_LEAST = 16  # characters of the column that shrinks


class Rows:
    """Columns by their names. In a narrow terminal columns of `spare` are left out, from its first.
    Before that, one column shrinks: `cropped` to one line, or `wrapped` to several."""

    def __init__(
        self,
        columns: Sequence[str],
        *,
        right: Sequence[str] = (),
        spare: Sequence[str] = (),
        cropped: str = "",
        wrapped: str = "",
    ) -> None:
        self._columns = columns
        self._right = right
        self._spare = spare
        self._cropped = cropped
        self._wrapped = wrapped
        self._rows: list[tuple[str, ...]] = []

    def add(self, *cells: str) -> None:
        self._rows.append(cells)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        kept = self._kept(options.max_width)
        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, _PADDING, 0, 0), show_edge=False
        )
        for i in kept:
            name = self._columns[i]
            table.add_column(
                name,
                justify="right" if name in self._right else "left",
                no_wrap=not self._gives_way(name),
                overflow="fold",
            )
        for row in self._rows:
            table.add_row(*(self._cell(i, row[i]) for i in kept))
        yield table

    def _kept(self, width: int) -> list[int]:
        kept = [i for i in range(len(self._columns)) if self._columns[i] or self._width(i)]
        for name in self._spare:
            if sum(self._width(i) + _GAP for i in kept) <= width:
                break
            kept.remove(self._columns.index(name))
        return kept

    def _width(self, i: int) -> int:
        """The width that a column needs."""
        longest = max(len(text) for text in (self._columns[i], *(row[i] for row in self._rows)))
        return min(longest, _LEAST) if self._gives_way(self._columns[i]) else longest

    def _gives_way(self, name: str) -> bool:
        return name != "" and name in (self._cropped, self._wrapped)

    def _cell(self, i: int, text: str) -> Text:
        crop = self._columns[i] == self._cropped
        return Text(text, no_wrap=True, overflow="ellipsis") if crop else Text(text)
