"""Writes the file of a profile from the reports of ranks and agents."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from isthmus.base import ranklist
from isthmus.base.anyjson import readable
from isthmus.base.errors import RunError, UsageError
from isthmus.place.placement import Part
from isthmus.place.plan import Plan
from isthmus.profile import model
from isthmus.profile.ranktold import Collective, RankTold, Row
from isthmus.profile.told import Told
from isthmus.run.stats import Stats

# Rows of collectives with a communicator of their own; further ones share a row without one.
_MOST_COMMUNICATORS = 4096


@dataclass(frozen=True)
class ProfileFile:
    """The file that the user named, and the parts of the command line that stand in it."""

    path: Path
    program: Sequence[Sequence[str]]
    command: Sequence[str]

    @classmethod
    def of_command_line(cls, path: Path, parts: Sequence[Part]) -> "ProfileFile":
        """UsageError if the run could not write the file at its end."""
        path = path.absolute()
        what = ""
        try:
            if path.is_dir():
                what = "it is a folder"
            elif not path.parent.is_dir():
                what = f"the folder {path.parent} does not exist"
        except (OSError, ValueError) as error:
            what = getattr(error, "strerror", None) or str(error)
        if what:
            raise UsageError(f"--profile {path}: {what}", "Name a file in an existing folder.")
        return cls(path, [part.argv for part in parts], ["isthmus", *sys.argv[1:]])

    def write(
        self, plan: Plan, stats: Stats, told: Told, status: int, say: Callable[[str], None]
    ) -> None:
        """RunError if it cannot be written."""
        if not told.ranks:
            say(f"no rank has reported its profile, so {self.path} is not written")
            return
        profile = self.of(plan, stats, told, status)
        try:
            self.path.write_text(profile.model_dump_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise RunError(f"cannot write the profile to {self.path}: {error.strerror}") from None
        if lacks := profile.lacks():
            say(f"the profile is incomplete: {lacks}")

    def of(self, plan: Plan, stats: Stats, told: Told, status: int) -> model.Profile:
        ranks = [told.ranks[rank] for rank in sorted(told.ranks)]
        clusters = clusters_of(plan, ranks)
        names = [cluster.name for cluster in clusters]
        homes = {rank.rank: names.index(rank.cluster) for rank in ranks}
        began = {
            rank: names.index(cluster.name)
            for cluster in plan.clusters
            for rank in cluster.block.world_ranks
        }
        communicators, collectives = merged(ranks, began | homes)
        return model.Profile(
            program=[list(map(readable, words)) for words in self.program],
            command=list(map(readable, self.command)),
            job=plan.job,
            status=status,
            seconds=max((rank.seconds for rank in ranks), default=0.0),
            size=max([plan.size, *(rank.rank + 1 for rank in ranks)]),
            missing=[rank for rank in range(plan.size) if rank not in told.ranks],
            grid=model.Wires(clusters=clusters, links=links_of(plan, stats)),
            ranks=[
                model.Rank(
                    rank=rank.rank,
                    cluster=homes[rank.rank],
                    host=rank.host,
                    seconds=rank.seconds,
                    mpi=rank.mpi,
                    wan=rank.wan,
                    calls=rank.calls,
                    lost=sum(row[1] for row in (*rank.pairs, *rank.windows) if row[0] < 0),
                )
                for rank in ranks
            ],
            pairs=list(_rows((rank.rank, rank.pairs) for rank in ranks)),
            communicators=communicators,
            collectives=collectives,
            windows=list(_rows((rank.rank, rank.windows) for rank in ranks)),
            files=[
                model.FilesOfRank(rank=rank.rank, **rank.files.model_dump())
                for rank in ranks
                if rank.files
            ],
        )


def clusters_of(plan: Plan, ranks: Sequence[RankTold]) -> list[model.Cluster]:
    """The clusters of the run, then those of processes that it spawned elsewhere."""
    planned = {cluster.name: cluster for cluster in plan.clusters}
    names = list(dict.fromkeys([*planned, *(rank.cluster for rank in ranks)]))
    return [
        model.Cluster(
            name=name,
            slots=planned[name].spec.slots if name in planned else None,
            ranks=max(
                sum(rank.cluster == name for rank in ranks),
                planned[name].block.size if name in planned else 0,
            ),
            world=ranklist.text(planned[name].block.world_ranks) if name in planned else "",
        )
        for name in names
    ]


def links_of(plan: Plan, stats: Stats) -> list[model.Link]:
    """A row for each pair of neighbouring clusters, and for each pair that gateways join."""
    clusters = {gateway.node: gateway.clusters for gateway in plan.gateways}
    measured: dict[tuple[int, int], model.Figures] = {}
    for (source, target), count in stats.links.items():
        for a in clusters.get(source, ()):
            for b in clusters.get(target, ()):
                figures = measured.setdefault((min(a, b), max(a, b)), model.Figures())
                rtts = filter(None, (figures.rtt, count.get("min_rtt")))
                figures.rtt = min(rtts, default=None)
                figures.rate = max(figures.rate or 0.0, count.get("best_rate") or 0.0) or None
    pairs = set(plan.pairs) | {pair for pair in measured if max(pair) < len(plan.clusters)}
    return [
        model.Link(
            between=pair,
            rtt=spec.rtt.seconds if (spec := plan.pairs.get(pair)) and spec.rtt else None,
            rate=spec.rate.bytes if spec and spec.rate else None,
            measured=measured.get(pair, model.Figures()),
            memory=pair in plan.shared,
        )
        for pair in sorted(pairs)
        if pair[0] != pair[1]
    ]


def _rows(told: Iterable[tuple[int, Sequence[Row]]]) -> Iterable[model.Pair]:
    for rank, rows in told:
        for to, messages, count, sizes in rows:
            yield rank, to, messages, count, sizes


def merged(
    ranks: Sequence[RankTold], homes: Mapping[int, int]
) -> tuple[list[model.Communicator], list[Collective]]:
    """Merges the members' views of the same communicator and function."""
    numbers: dict[str, int] = {}
    communicators: list[model.Communicator] = []
    sums: dict[tuple[str, int | None], Collective] = {}
    for rank in ranks:
        own: list[int | None] = []
        for members in rank.communicators:
            key = repr(members.ranks)
            if key not in numbers and len(communicators) < _MOST_COMMUNICATORS:
                numbers[key] = len(communicators)
                found = model.Communicator(size=members.size, ranks=members.ranks, clusters=0)
                found.clusters = len({homes[r] for r in found.members() if r in homes})
                communicators.append(found)
            own.append(numbers.get(key))
        for call in rank.collectives:
            inside = call.communicator is not None and call.communicator < len(own)
            which = own[call.communicator or 0] if inside else None
            _add(sums, which, call)
    return communicators, [sums[key] for key in sorted(sums, key=lambda k: (k[0], k[1] or 0))]


def _add(
    sums: dict[tuple[str, int | None], Collective], which: int | None, call: Collective
) -> None:
    if (call.function, which) not in sums:
        empty: dict[str, object] = {
            "communicator": which,
            "entered": 0,
            "bytes": 0,
            "sizes": {},
            "seconds": 0.0,
        }
        sums[call.function, which] = call.model_copy(update=empty)
    found = sums[call.function, which]
    found.entered += call.entered
    found.bytes += call.bytes
    found.seconds += call.seconds
    for size, count in call.sizes.items():
        found.sizes[size] = found.sizes.get(size, 0) + count
