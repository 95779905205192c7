"""The command `isthmus map`."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base import ranklist
from isthmus.base.errors import UsageError, listing
from isthmus.base.options import grid_option
from isthmus.base.units import format_bytes
from isthmus.grid import allocation
from isthmus.grid import grid as grids
from isthmus.mapping import sizes, traffic, wires
from isthmus.mapping.assign import assign
from isthmus.mapping.refine import Assignment
from isthmus.mapping.traffic import Pair, Traffic, Volume
from isthmus.mapping.wires import Wires
from isthmus.place import rankmap
from isthmus.run.whereabouts import ranks_text
from isthmus.tune import store
from isthmus.tune.figures import PairFigures


def map_ranks(
    profile: Annotated[
        Path,
        typer.Argument(
            metavar="PROFILE",
            help="The file that [bold]isthmus run --profile[/bold] wrote; or CSV: lines under a "
            "header 'from,to,messages,bytes', or a square of bytes.",
            show_default=False,
        ),
    ],
    file: Annotated[
        Path | None,
        grid_option(
            "The grid file. Default: the file that ISTHMUS_GRID names, else two clusters on "
            "this host, 'east' and 'west'.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Write the rank map to this file, for [bold]isthmus run --map[/bold]. Default: "
            "print it.",
        ),
    ] = None,
    need: Annotated[
        list[str] | None,
        typer.Option(
            "--need",
            metavar="TAG=RANKS",
            help="Put these ranks only on clusters that have the tag in the grid file, as in "
            "gpu=0-3,8. May be repeated.",
        ),
    ] = None,
) -> None:
    """Place ranks on clusters so that little traffic crosses between clusters.

    [bold]isthmus run --profile app.json -g grid.toml -n 64 ./app[/bold]
    [bold]isthmus map -g grid.toml app.json -o app.map[/bold]
    [bold]isthmus run --map app.map -g grid.toml ./app[/bold]"""
    path = file or os.environ.get("ISTHMUS_GRID")
    grid = grids.load(Path(path)) if path else allocation.without_file(os.environ)
    found = traffic.load(profile)
    tuned = store.read(Path(path)) if path else store.Stored()
    if tuned.trouble:
        print(f"isthmus: {tuned.trouble}", file=sys.stderr)
    mapped = Mapped.of(found, grid, _needs(need or [], grid, found.size), tuned.pairs)
    comments = [f"{found.size} rank{'s' * (found.size != 1)} of {profile}", *mapped.table()]
    if found.missing:
        what = (
            f"the messages of {ranks_text(found.missing)} are unknown, so these figures lack them"
        )
        comments.insert(1, what)
        if output is None:  # else the comments are printed
            print(f"isthmus: {profile}: {what}", file=sys.stderr)
    text = rankmap.written(mapped.names(mapped.after), comments)
    if output is None:
        print(text, end="")
        return
    try:
        output.write_text(text)
    except OSError as error:
        raise UsageError(
            f"cannot write {output}: {error.strerror}",
            "Name a file in a folder where you may write.",
        ) from None
    print("\n".join(comments))


@dataclass(frozen=True)
class Mapped:
    """The clusters of ranks without a map, and with it, by index."""

    grid: grids.Grid
    pairs: Mapping[Pair, Volume]
    wires: Wires
    before: Sequence[int]
    after: Sequence[int]

    @staticmethod
    def of(
        found: Traffic,
        grid: grids.Grid,
        needs: "Sequence[frozenset[int]] | None",
        measured: Iterable[PairFigures] = (),
    ) -> "Mapped":
        names = list(grid.cluster)
        between = wires.of_grid(grid, measured)
        before = sizes.given(grid, found.size)
        capacity = sizes.capacity(grid, before)
        pairs = found.with_collectives(max(capacity))
        try:
            after = assign(pairs, before, capacity, between, needs)
        except ValueError as error:
            raise UsageError(
                f"{error}: {', '.join(names)}",
                "Use --need for fewer ranks, or give more clusters the tag.",
            ) from None
        return Mapped(grid, pairs, between, before, after)

    def names(self, part: Sequence[int]) -> list[str]:
        clusters = list(self.grid.cluster)
        return [clusters[cluster] for cluster in part]

    def table(self) -> list[str]:
        """The traffic between clusters, before and after."""
        rows = [
            ("", "messages", "bytes", "time"),
            *(
                self._row(what, part)
                for what, part in (("before", self.before), ("after", self.after))
            ),
        ]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        return [
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
                ]
            )
            for row in rows
        ]

    def _row(self, what: str, part: Sequence[int]) -> tuple[str, str, str, str]:
        crossing = [v for (a, b), v in self.pairs.items() if part[a] != part[b]]
        total = sum(crossing, Volume())
        seconds = Assignment(part, self.pairs, self.wires).cost
        return what, f"{total.messages:.0f}", format_bytes(round(total.bytes)), f"{seconds:.3g} s"


def _needs(texts: Sequence[str], grid: grids.Grid, size: int) -> Sequence[frozenset[int]] | None:
    """The clusters that each rank may use; None: all."""
    if not texts:
        return None
    allowed = [frozenset(range(len(grid.cluster)))] * size
    for text in texts:
        tag, equals, ranks = text.partition("=")
        with_tag = frozenset(i for i, spec in enumerate(grid.cluster.values()) if tag in spec.tags)
        if not equals:
            raise UsageError(
                f"--need {text}: it is not a tag with ranks", "Write TAG=RANKS, as in gpu=0-3,8."
            )
        if not with_tag:
            known = sorted({tag for spec in grid.cluster.values() for tag in spec.tags})
            raise UsageError(
                f"--need {text}: no cluster has the tag '{tag}'",
                f"Known tags are {listing(known)}."
                if known
                else "Give 'tags' to clusters in the grid file.",
            )
        try:
            for rank in ranklist.parse(ranks):
                if rank >= size:
                    raise ValueError(f"has rank {rank}, but there are only {size}")
                allowed[rank] &= with_tag
                if not allowed[rank]:
                    raise ValueError(f"leaves rank {rank} no cluster")
        except ValueError as error:
            raise UsageError(f"--need {text}: '{ranks}' {error}") from None
    return allowed
