"""The place of a benchmark: this host alone, a lab, or the clusters of a grid file."""

import os
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from isthmus.base.errors import RunError, UsageError, did_you_mean, listing
from isthmus.grid import grid as grids
from isthmus.grid.addresses import split_address
from isthmus.grid.grid import Grid
from isthmus.grid.gridwriting import without_programs
from isthmus.measuring.ends import End
from isthmus.run.command import host_behind
from isthmus_lab.lab import kernel
from isthmus_lab.lab.network import Network, work_out
from isthmus_lab.lab.registry import Lab
from isthmus_lab.lab.testbed import Testbed

LOOPBACK = "loopback"
UNTUNED = 212_992  # bytes: the ceiling of socket buffers in a kernel as it comes


@dataclass
class Place:
    """`open` says whether plain TCP gets from one end to the other. If both ends are in one
    cluster, `beside` is another one, to make a grid; a rank of it stands by."""

    name: str
    grid: Grid
    ends: tuple[End, End]
    pairs: int = 1
    open: bool = True
    beside: End | None = None
    lab: Lab | None = None
    network: Network | None = None
    _ceiling: int | None = field(default=None, repr=False)

    @property
    def parts(self) -> list[tuple[End, int]]:
        """The clusters with the number of their ranks, in order."""
        if self.beside is not None:
            return [(self.ends[0], 2 * self.pairs), (self.beside, 1)]
        return [(end, self.pairs) for end in self.ends]

    def set_ceiling(self, ceiling: int | None) -> None:
        """The largest socket buffer on the lab's hosts; None: the testbed's own."""
        if self.lab is None or self.network is None or ceiling == self._ceiling:
            return
        for node in self.network.nodes:
            with kernel.inside(self.lab.namespace(node)):
                for name, sizes in self.network.tcp_memory(ceiling).items():
                    Path(f"/proc/sys/net/ipv4/{name}").write_text(sizes)
        self._ceiling = ceiling


def loopback() -> Place:
    ends = tuple(End(name, None, "127.0.0.1") for name in ("east", "west"))
    return Place(LOOPBACK, grids.two_halves(), (ends[0], ends[1]))


def inside_lab(
    testbed: str | None = None, within: str | None = None, between: str | None = None
) -> Place:
    """The lab around this process. Each end is the first node of a site: of the first two, or of
    those that `between` names ("a,b"). If nodes of the two sites reach each other only over zipper
    nodes, all nodes take part. If `within`, the ends are the first two nodes of that site."""
    lab = Lab(Path(os.environ["ISTHMUS_LAB"]))
    facts = lab.facts()
    if "model" not in facts:
        raise RunError(f"lab {lab.id} is being built or taken down")
    network = work_out(str(facts["testbed"]), Testbed.model_validate(facts["model"]))
    sites = list(network.segments)
    if len(sites) < 2:
        raise UsageError(f"testbed {network.name} has one site, but two are needed")
    if within is not None:
        return _one_site(lab, network, within)
    sites = _two(between, sites, f"testbed {network.name}") if between else sites[:2]
    first = [network.of_site(site, "node") for site in sites]
    a, b = first[0][0], first[1][0]
    ends = tuple(
        End(site, nodes[0].name, nodes[0].name, mpi=network.segments[site].mpi)
        for site, nodes in zip(sites, first, strict=False)
    )
    reached = network.path(a, b) is not None
    pairs = 1 if reached else min(len(nodes) for nodes in first)
    grid = grids.load(lab.grid)
    return Place(
        testbed or network.name, grid, (ends[0], ends[1]), pairs, reached, lab=lab, network=network
    )


def check_within(site: str, testbed: str, sites: Collection[str]) -> None:
    """UsageError if a pair inside that site cannot be measured."""
    if site not in sites:
        near = did_you_mean(site, sites)
        raise UsageError(
            f"--within {site}: testbed {testbed} has no such site{near}; it has {listing(sites)}"
        )
    if len(sites) < 2:
        raise UsageError(
            f"--within {site}: a rank of another site must stand by, but there is none"
        )


def _one_site(lab: Lab, network: Network, site: str) -> Place:
    check_within(site, network.name, network.segments)
    nodes = network.of_site(site, "node")
    if len(nodes) < 2:
        raise UsageError(f"--within {site}: two nodes are needed, but the site has one")
    mpi = network.segments[site].mpi
    first, second = (End(site, node.name, node.name, mpi=mpi) for node in nodes[:2])
    other = next(name for name in network.segments if name != site)
    node = network.of_site(other, "node")[0].name
    beside = End(other, node, node, mpi=network.segments[other].mpi)
    name = f"{network.name}-inside-{site}"
    grid = grids.load(lab.grid)
    return Place(name, grid, (first, second), beside=beside, lab=lab, network=network)


def of_grid(path: Path, between: str | None) -> Place:
    """The first two clusters of a grid file, or the two that are named ("a,b")."""
    grid = without_programs(grids.load(path))
    names = list(grid.cluster)
    wanted = _two(between, names, str(path))
    return Place(path.stem, grid, (_end(grid, wanted[0]), _end(grid, wanted[1])))


def _two(between: str | None, names: list[str], where: str) -> list[str]:
    wanted = between.split(",") if between else names[:2]
    for name in wanted:
        if name not in names:
            near = did_you_mean(name, names)
            raise UsageError(f"--between: {where} has no cluster '{name}'{near}: {listing(names)}")
    if len(wanted) != 2 or wanted[0] == wanted[1]:
        raise UsageError(
            f"two clusters are needed; {'--between names' if between else f'{where} has'} "
            f"{listing(wanted)}"
        )
    return wanted


def end_of(place: Place, cluster: str) -> End:
    """Any cluster of the place's grid, even one that is not an end."""
    for end in place.ends:
        if end.cluster == cluster:
            return end
    if place.network is not None:
        node = place.network.of_site(cluster, "node")[0].name
        return End(cluster, node, node, mpi=place.network.segments[cluster].mpi)
    return _end(place.grid, cluster)


def _end(grid: Grid, cluster: str) -> End:
    spec = grid.cluster[cluster]
    gateway = next((g for g in grid.gateway if cluster in g.serves), None)
    host = (gateway and gateway.host) or spec.host
    address, port = "", 0
    if gateway and gateway.address:
        given = gateway.address[min(gateway.serves.index(cluster), len(gateway.address) - 1)]
        address, text = split_address(given)
        address, port = address.strip("[]"), int(text)
    if not address:
        address = host_behind(host) if host else "127.0.0.1"
    return End(cluster, host, address, port, spec.prefix, spec.host, spec.mpi)
