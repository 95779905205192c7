"""Rank maps for `isthmus run --map`: the cluster of each world rank.

A line holds ranks and the name of a cluster, `0-3,8 lyon`; `#` begins a comment."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base import ranklist
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.grid.grid import ClusterSpec
from isthmus.pages import page

_NAMED = 5  # missing ranks in a message


@dataclass(frozen=True)
class RankMap:
    """`clusters[rank]` is the cluster of a rank; line `lines[rank]` of the file gives it. A map
    that is not from a file has no lines."""

    name: str
    clusters: tuple[str, ...]
    lines: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return len(self.clusters)

    def ranks(self) -> dict[str, list[int]]:
        """Ascending ranks by cluster; clusters in the order of their first ranks."""
        found: dict[str, list[int]] = {}
        for rank, cluster in enumerate(self.clusters):
            found.setdefault(cluster, []).append(rank)
        return found

    def check(self, clusters: Mapping[str, ClusterSpec]) -> None:
        """UsageError for clusters that the grid lacks, and for more ranks than slots."""
        for cluster, ranks in self.ranks().items():
            where = self._where(ranks[0])
            if cluster not in clusters:
                near = did_you_mean(cluster, clusters)
                raise UsageError(
                    f"{where}: the grid has no cluster '{cluster}'{near}; it has "
                    f"{listing(clusters)}"
                )
            slots = clusters[cluster].slots
            if slots is not None and len(ranks) > slots:
                raise UsageError(
                    f"{self._where(ranks[slots])}: cluster '{cluster}' has {slots} slots, but the "
                    f"map gives it {len(ranks)} ranks",
                    "Give it fewer ranks, or raise 'slots' of the cluster in the grid file.",
                )

    def _where(self, rank: int) -> str:
        return f"{self.name}:{self.lines[rank]}" if self.lines else self.name


def _remedy() -> str:
    return f"`isthmus map PROFILE -o FILE` writes a rank map; {page('map.md')} has the format."


def load(path: Path) -> RankMap:
    """UsageError names the file and the line."""
    try:
        return parse(path.read_text(encoding="utf-8-sig"), str(path))
    except OSError as error:
        raise UsageError(f"cannot read the rank map {path}: {error.strerror}", _remedy()) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: the rank map is not UTF-8 text", _remedy()) from None


def parse(text: str, name: str) -> RankMap:
    """As `load`, of text; `name` stands for the file in messages."""
    found: dict[int, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        where = f"{name}:{number}"
        if len(words) != 2:
            if line.startswith("{"):
                raise UsageError(
                    f"{name} is not a rank map",
                    f"If it is a profile, `isthmus map {name} -o MAP` makes a map from it.",
                )
            raise UsageError(
                f"{where}: '{line.strip()[:60]}' is not ranks and a cluster",
                "Write lines such as '0-3,8 lyon', without spaces between the ranks.",
            )
        try:
            ranks = ranklist.parse(words[0])
        except ValueError as error:
            raise UsageError(f"{where}: '{words[0]}' {error}") from None
        for rank in ranks:
            if rank in found:
                raise UsageError(
                    f"{where}: rank {rank} is also on line {found[rank][1]}",
                    "Name each rank once.",
                )
            found[rank] = words[1], number
    if not found:
        raise UsageError(f"{name}: the rank map has no ranks")
    size = max(found) + 1
    if missing := size - len(found):
        names = _first(rank for rank in range(size) if rank not in found)
        raise UsageError(
            f"{name}: the rank map goes to rank {size - 1} but has no line for "
            f"rank{'s' if missing > 1 else ''} {names}",
            "Give a cluster to each rank from 0 on.",
        )
    order = [found[rank] for rank in range(size)]
    return RankMap(name, tuple(c for c, _ in order), tuple(number for _, number in order))


def written(clusters: Sequence[str], comments: Iterable[str] = ()) -> str:
    """The text of a map in which rank r is in `clusters[r]`."""
    rows = RankMap("", tuple(clusters), ()).ranks()
    lines = [f"# {comment}" for comment in comments]
    return "\n".join([*lines, *(f"{ranklist.text(r)} {c}" for c, r in rows.items())]) + "\n"


def _first(ranks: Iterable[int]) -> str:
    some = [str(rank) for _, rank in zip(range(_NAMED + 1), ranks, strict=False)]
    return ", ".join(some[:_NAMED]) + (", ..." if len(some) > _NAMED else "")
