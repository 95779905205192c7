"""Clusters that a running world takes in: their gateways, and the links to those that run."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from isthmus.base.errors import RunError
from isthmus.grid import networks, routes
from isthmus.grid.addresses import is_fixed, places_of
from isthmus.grid.grid import GatewaySpec
from isthmus.place.placement import Block
from isthmus.place.plan import AgentPlan, ClusterPlan, GatewayPlan, Plan, pairs_of


@dataclass
class Extension:
    """`place` is the index of its cluster in Plan.places. `growths` are the clusters of the world
    there, by index."""

    place: int
    cluster: ClusterPlan
    agents: list[AgentPlan]
    gateways: list[GatewayPlan]
    links: list[routes.GatewayLink]
    growths: list[int] = field(default_factory=list)
    again: bool = False  # its cluster was there before, and has failed
    told: bool = False  # to the user, that it has come

    @property
    def nodes(self) -> list[int]:
        return [gateway.node for gateway in self.gateways]


class Extensions:
    """The extensions of a run that have not failed."""

    def __init__(self) -> None:
        self._all: list[Extension] = []

    def add(self, extension: Extension) -> None:
        self._all.append(extension)

    def drop(self, extension: Extension) -> None:
        self._all.remove(extension)

    def __iter__(self) -> Iterator[Extension]:
        return iter([*self._all])

    def at(self, place: int) -> Extension | None:
        return next((one for one in self._all if one.place == place), None)

    def named(self, name: str) -> Extension | None:
        return next((one for one in self._all if one.cluster.name == name), None)


def extend(
    plan: Plan, spare: ClusterPlan, living: Collection[int], served: Sequence[Sequence[int]]
) -> Extension:
    """Adds a cluster of the grid file to the plan, as one that only forwards. Its gateways have new
    nodes. `living` are the nodes of gateways that run, and `served` those of each cluster of the
    world. RunError if no chain of links joins it to one of these; the plan is then as before."""
    name = spare.name
    made = _gateways(plan, spare)
    before = [*plan.clusters, *plan.grown]
    made.again = any(one.name.partition("/")[0] == name for one in before)
    order = _order(plan, name, living)
    names = [name if at is None else plan.places[at].name for at in order]
    new = order.index(None)
    specs = [*plan.grid.gateway, *networks.bridges(plan.grid)]
    pairs = {p: s for p, s in pairs_of(plan.grid, names, specs).items() if new in p}
    nodes = [
        made.nodes
        if at is None
        else [g.node for g in plan.gateways if g.node in living and at in g.clusters]
        for at in order
    ]
    host_of = {g.node: g.agent for g in [*plan.gateways, *made.gateways]}
    for link in routes.shared(routes.gateway_links(pairs, nodes), host_of):
        at = order[link.at]
        made.links.append(replace(link, at=made.place if at is None else at))
    if not made.links:
        raise RunError(f"no link of the grid file joins cluster {name} to one that runs")
    for link in made.links:
        source = next((g for g in made.gateways if g.node == link.source), None)
        if source and link.spec.reach == "ssh":
            agent = made.agents[source.agent - len(plan.agents)]
            agent.door = plan.door if agent.host else None
    plan.extended.append(made.cluster)
    plan.agents += made.agents
    plan.gateways += made.gateways
    plan.links += made.links
    tables = _tables(plan, [*living, *made.nodes], served)
    for node in made.nodes:
        found = tables[node]
        hops = {cluster: found.hops.get(cluster, 0) for cluster in range(len(served))}
        plan.tables[node] = routes.Table(found.next, hops)
        if missing := [
            i for i, own in enumerate(served) if {*own} & {*living} and i not in found.hops
        ]:
            _undo(plan, made)
            raise RunError(
                f"no chain of links joins cluster {name} to cluster {plan.cluster_name(missing[0])}"
            )
    return made


def _undo(plan: Plan, made: Extension) -> None:
    """Takes what `extend` has just added out of the plan."""
    for node in made.nodes:
        plan.tables.pop(node, None)
    del plan.agents[len(plan.agents) - len(made.agents) :]
    del plan.gateways[len(plan.gateways) - len(made.gateways) :]
    del plan.links[len(plan.links) - len(made.links) :]
    plan.extended.pop()


def ways_to(
    plan: Plan, nodes: Sequence[int], living: Collection[int]
) -> Mapping[int, routes.Table]:
    """For each living gateway, the next ones on a way to `nodes`, which count as cluster 0."""
    return _tables(plan, living, [nodes])


def _tables(
    plan: Plan, living: Collection[int], served: Sequence[Sequence[int]]
) -> dict[int, routes.Table]:
    links = [link for link in plan.links if {link.source, link.target} <= {*living}]
    ends = [[node for node in own if node in living] for own in served]
    return routes.tables(len(ends), [*ends, [*living]], links)


def _gateways(plan: Plan, spare: ClusterPlan) -> Extension:
    """The gateways of the grid file that serve this cluster alone, or one beside its agent."""
    place = len(plan.places)
    specs = [spec for spec in plan.grid.gateway if spec.serves == [spare.name]]
    agents: dict[tuple[str | None, bool], AgentPlan] = {}  # by host, and whether they dial in
    gateways: list[GatewayPlan] = []
    first = max((g.node for g in plan.gateways), default=routes.FIRST_GATEWAY - 1) + 1
    for spec in chain.from_iterable(
        [one] * one.threads for one in specs or [GatewaySpec(cluster=spare.name)]
    ):
        joins = plan.joining and not spec.host and not is_fixed(spec)
        host = None if joins else spec.host or spare.spec.host
        new = AgentPlan(place, host, spare.spec.prefix, False, joins)
        agent = agents.setdefault((host, joins), new)
        gateway = GatewayPlan(
            node=first + len(gateways),
            clusters=(place,),
            agent=len(plan.agents) + [*agents].index((host, joins)),
            places=places_of(spec, [spare.name], plan.listen),
        )
        agent.gateways.append(gateway)
        gateways.append(gateway)
    return Extension(
        place, replace(spare, block=Block(spare.name)), [*agents.values()], gateways, []
    )


def _order(plan: Plan, name: str, living: Collection[int]) -> list[int | None]:
    """The places that run, by index, and None for the new one. It stands where a cluster of its
    name stood, or before the relays: the gateways of the first connect to those of the others."""
    serving = {at for g in plan.gateways if g.node in living for at in g.clusters}
    order: list[int | None] = []
    for at, place in enumerate(plan.places):
        new = place.name == name or (place.name in plan.relays and None not in order)
        if new and None not in order:
            order.append(None)
        if at in serving and place.name != name:
            order.append(at)
    return order if None in order else [*order, None]
