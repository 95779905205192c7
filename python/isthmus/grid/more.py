"""Clusters that join a run which goes on: the tables of a file, checked against the run's grid."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from isthmus.base import tomltext
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.grid import grid as grids
from isthmus.grid import gridnames, gridsense, routes
from isthmus.grid.complaints import Complaint, Complaints
from isthmus.grid.gridtables import Grid, LinkSpec

_TABLES = ("cluster", "gateway", "link")


@dataclass(frozen=True)
class More:
    """`grid` is that of the run, with the clusters of these names."""

    grid: Grid
    names: list[str]


def parse(
    text: str,
    name: str,
    base: Grid,
    running: Sequence[str],
    wanted: Sequence[str] = (),
    *,
    survives: bool = False,
) -> More:
    """Reads the clusters of a file, with their links and gateways. `name` stands for the file in
    messages, `base` is the grid of the run, and `running` are its clusters with gateways. If some
    are `wanted`, the file may be a whole grid file, whose other tables are ignored. `survives`: the
    run goes on without clusters that fail. UsageError as of `grids.load`."""
    wrong = Complaints(text, name)
    own = grids.model(tomltext.parse(text, name), wrong)
    if own is None:
        raise wrong.error()
    wrong.doubt()
    for word in wanted:
        if word not in own.cluster:
            near = did_you_mean(word, own.cluster)
            has = listing(own.cluster) or "none"
            raise UsageError(f"--cluster {word}: {name} has no such cluster{near}; it has {has}")
    names = list(dict.fromkeys(wanted or own.cluster))
    if not names:
        wrong.add(("cluster",), "is missing: name the cluster that joins by [cluster.NAME]")
    wrong.extend(_of_tables(own, base, names, survives=survives))
    if not wanted:
        wrong.extend(_of_others(own, names))
    wrong.check()
    known = {**base.cluster, **{one: own.cluster[one] for one in names}}
    picked = _picked(own, names, {*own.cluster} - {*known})
    wrong.extend(picked.placed(_of_picked(picked.grid, names, known)))
    wrong.extend(
        picked.placed(gridnames.troubles(picked.grid.model_copy(update={"cluster": known})))
    )
    wrong.check()
    links = [*base.link, *picked.grid.link]
    if own.link and not base.link:  # until now, each two are linked
        links = [LinkSpec(between=[*pair]) for pair in combinations(base.cluster, 2)] + links
    gateways = [*base.gateway, *picked.grid.gateway]
    whole = base.model_copy(update={"cluster": known, "link": links, "gateway": gateways})
    wrong.extend(picked.placed(gridsense.troubles(picked.grid, whole)))
    wrong.extend(_of_ways(whole, names, running))
    wrong.check()
    return More(grids.entered(whole), names)


def without(grid: Grid, name: str) -> Grid:
    """The grid without a cluster, its links and the gateways that serve it alone."""
    return grid.model_copy(
        update={
            "cluster": {one: spec for one, spec in grid.cluster.items() if one != name},
            "link": [link for link in grid.link if name not in link.between],
            "gateway": [spec for spec in grid.gateway if spec.serves != [name]],
        }
    )


@dataclass(frozen=True)
class _Picked:
    """Some tables of a file. `at` has the places of links and gateways there."""

    grid: Grid
    at: Mapping[str, Sequence[int]]

    def placed(self, complaints: Iterator[Complaint]) -> Iterator[Complaint]:
        """The same complaints, about the whole file."""
        for key, what in complaints:
            places = self.at.get(str(key[0]))
            if places is not None and len(key) > 1 and isinstance(key[1], int):
                yield (key[0], places[key[1]], *key[2:]), what
            else:
                yield key, what


def _picked(own: Grid, names: Collection[str], others: Collection[str]) -> _Picked:
    """The clusters of these names, their gateways, and their links but for those to `others`."""
    at = {
        "link": [
            i
            for i, link in enumerate(own.link)
            if {*link.between} & {*names} and not {*link.between} & {*others}
        ],
        "gateway": [i for i, spec in enumerate(own.gateway) if {*spec.serves} & {*names}],
    }
    picked = Grid(
        cluster={name: own.cluster[name] for name in names},
        link=[own.link[i] for i in at["link"]],
        gateway=[own.gateway[i] for i in at["gateway"]],
    )
    return _Picked(picked, at)


def _of_tables(
    own: Grid, base: Grid, names: Sequence[str], *, survives: bool
) -> Iterator[Complaint]:
    for name in names:
        if name in base.cluster:
            yield ("cluster", name), "is the name of a cluster or relay that the run has already"
        elif own.cluster[name].may_leave and not survives:
            what = "needs a run that goes on without clusters that fail; start it with --survive"
            yield ("cluster", name, "may_leave"), what
    for index, gateway in enumerate(own.gateway):
        if not gateway.serves:
            yield ("gateway", index, "cluster"), "is missing; name the cluster that joins"


def _of_others(own: Grid, names: Sequence[str]) -> Iterator[Complaint]:
    """Tables of a file for joining that do not belong to the clusters which join."""
    for key in sorted(own.model_fields_set.difference(_TABLES)):
        what = "cannot change while the run goes on; remove it"
        yield (key,), f"{what}, or name the clusters that join by --cluster"
    for index, link in enumerate(own.link):
        if not {*link.between} & {*names}:
            what = f"names none of the clusters that join: {listing(names)}"
            yield ("link", index, "between"), what
    for index, gateway in enumerate(own.gateway):
        if gateway.serves and not {*gateway.serves} & {*names}:
            what = "is not for one of the clusters that join; others get no more gateways"
            yield ("gateway", index, "clusters" if gateway.clusters else "cluster"), what


def _of_picked(picked: Grid, names: Sequence[str], known: Collection[str]) -> Iterator[Complaint]:
    for index, link in enumerate(picked.link):
        if link.reach == "ssh":
            what = "is 'ssh', which is not for a cluster that joins; use a [[gateway]] or a relay"
            yield ("link", index, "reach"), what
    for index, gateway in enumerate(picked.gateway):
        if len(gateway.serves) > 1 and {*gateway.serves} <= {*known}:
            what = "names several clusters; a gateway of a cluster that joins serves it alone"
            yield ("gateway", index, "clusters"), what


def _of_ways(whole: Grid, names: Sequence[str], running: Sequence[str]) -> Iterator[Complaint]:
    for name in names:
        ends = [*(one for one in running if one != name), name]
        if not any(len(ends) - 1 in pair for pair in routes.neighbours(ends, whole.link)):
            what = f"has no link to a cluster that runs: {listing(ends[:-1])}"
            yield ("cluster", name), f"{what}; add a [[link]] between the two"
