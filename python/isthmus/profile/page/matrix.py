"""The matrix of bytes between ranks as SVG, with the names of clusters. The ranks of a cluster
stand together, and several share a cell if there are many."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from isthmus.base.units import format_bytes
from isthmus.profile.model import Profile
from isthmus.run.whereabouts import ranks_text
from isthmus.webpage.markup import Html, html

_MOST_CELLS = 48  # a side, and one more for each cluster
_LEFT, _TOP, _SIDE, _RIGHT = 80.0, 72.0, 246.0, 34.0
_LONGEST = 11  # letters of a name
_FAINTEST, _STRONGEST = 0.12, 0.55  # text on it stays readable
_ROOM_FOR_TEXT = 41.0
_ROOM_FOR_NAME = 12.0


@dataclass(frozen=True)
class _Cell:
    cluster: int  # -1: unknown
    ranks: list[int]


def matrix(profile: Profile) -> Html:
    cells = _cells(profile)
    sums = _sums(profile, cells)
    side = _SIDE / len(cells)
    most = max((count for _, count in sums.values()), default=0)
    least = min((count for _, count in sums.values() if count), default=0)
    names = [each.name for each in profile.grid.clusters]
    parts = [
        '<svg class="matrix" role="img" '
        f'viewBox="0 0 {_LEFT + _SIDE + _RIGHT:g} {_TOP + _SIDE + 4:g}" '
        'aria-label="Bytes from rank to rank. The table below has the sums by clusters.">',
        f'<text x="{_LEFT - 8:g}" y="{_TOP - 8:g}" text-anchor="end">from \\ to</text>',
    ]
    for (row, column), (messages, count) in sorted(sums.items()):
        x, y = _LEFT + column * side, _TOP + row * side
        source, target = (_words(cells[index], names) for index in (row, column))
        words = f"{source} to {target}: {messages} messages, {format_bytes(count)}"
        parts.append(
            f'<rect class="cell" x="{x:.2f}" y="{y:.2f}" width="{side:.2f}" height="{side:.2f}" '
            f'fill-opacity="{_strength(count, least, most):.2f}">'
            f"<title>{html(words)}</title></rect>"
        )
        if side >= _ROOM_FOR_TEXT:
            parts.append(
                f'<text class="inside" x="{x + side / 2:.2f}" y="{y + side / 2 + 3.5:.2f}" '
                f'text-anchor="middle">{_short(count)}</text>'
            )
    parts += _edges(cells, names, side)
    return Html("\n".join([*parts, "</svg>"]))


def _cells(profile: Profile) -> list[_Cell]:
    home = profile.cluster_of()
    step = -(-profile.size // _MOST_CELLS)
    found = []
    for cluster in [*range(len(profile.grid.clusters)), -1]:
        ranks = [rank for rank in range(profile.size) if home.get(rank, -1) == cluster]
        found += [_Cell(cluster, ranks[at : at + step]) for at in range(0, len(ranks), step)]
    return found


def _sums(profile: Profile, cells: list[_Cell]) -> dict[tuple[int, int], tuple[int, int]]:
    """Messages and bytes by row and column."""
    at = {rank: index for index, cell in enumerate(cells) for rank in cell.ranks}
    sums: dict[tuple[int, int], tuple[int, int]] = {}
    for source, target, messages, count, _ in (*profile.pairs, *profile.windows):
        if source in at and target in at:
            old = sums.get((at[source], at[target]), (0, 0))
            sums[at[source], at[target]] = old[0] + messages, old[1] + count
    return sums


def _strength(count: int, least: int, most: int) -> float:
    """The logarithm decides, as traffic differs by orders of magnitude."""
    if count <= 0 or most <= least:
        return _STRONGEST if count else _FAINTEST
    return _FAINTEST + (_STRONGEST - _FAINTEST) * log(count / least) / log(most / least)


def _edges(cells: list[_Cell], names: list[str], side: float) -> Iterator[str]:
    """Frames and names of clusters."""
    yield (f'<rect class="frame" x="{_LEFT:g}" y="{_TOP:g}" width="{_SIDE:g}" height="{_SIDE:g}"/>')
    begin, named = 0, -_ROOM_FOR_NAME
    for end in range(1, len(cells) + 1):
        if end < len(cells) and cells[end].cluster == cells[begin].cluster:
            continue
        if end < len(cells):
            at = end * side
            yield f'<path class="edge" d="M{_LEFT:g} {_TOP + at:.2f}h{_SIDE:g}"/>'
            yield f'<path class="edge" d="M{_LEFT + at:.2f} {_TOP:g}v{_SIDE:g}"/>'
        middle = (begin + end) / 2 * side
        if middle - named >= _ROOM_FOR_NAME:
            named = middle
            name = _name(cells[begin].cluster, names)
            title = f"<title>{html(name)}</title>"
            short = html(name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "\u2026")
            y = _TOP + middle + 4
            yield f'<text x="{_LEFT - 6:g}" y="{y:.2f}" text-anchor="end">{title}{short}</text>'
            x = _LEFT + middle
            turn = f"translate({x + 3:.2f} {_TOP - 6:g}) rotate(-55)"
            yield f'<text transform="{turn}">{title}{short}</text>'
        begin = end


def _name(cluster: int, names: list[str]) -> str:
    return names[cluster] if cluster >= 0 else "unknown"


def _words(cell: _Cell, names: list[str]) -> str:
    return f"{ranks_text(cell.ranks)} ({_name(cell.cluster, names)})"


def _short(count: int) -> str:
    number, unit = format_bytes(count).split()
    return f"{float(number):.3g} {unit}"
