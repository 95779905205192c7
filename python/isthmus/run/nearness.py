"""The places of clusters and gateways by their agents' words, and how they reach each other."""

from collections.abc import Sequence

from isthmus.grid.addresses import reachable
from isthmus.grid.grid import LinkSpec
from isthmus.grid.reach import names_of
from isthmus.grid.routes import GatewayLink
from isthmus.place.plan import AgentPlan, Plan, memory_wanted, names_no_network
from isthmus.run.agent import Agent


class Nearness:
    """For the agents of one run; callers fill in what the agents say."""

    def __init__(self, plan: Plan, agents: Sequence[tuple[AgentPlan, Agent]]) -> None:
        self._plan = plan
        self._agents = agents
        self.here: set[int] = set()  # clusters whose ranks all run beside their agent
        self.listening: dict[int, list[str]] = {}  # gateway -> addresses as the agent said them
        self.doors: dict[str | None, str] = {}  # by host: the address of the launcher's relay
        self.memory: dict[int, object] = {}  # cluster -> `memory` of the agent of its ranks

    def share_memory(self, a: int, b: int, link: LinkSpec) -> bool:
        """Whether all ranks of both clusters are on one host, so that they need no gateway."""
        return link.reach is None and {a, b} <= self.here and self._same_place(a, b)

    def _same_place(self, a: int, b: int) -> bool:
        """Whether the agents of both clusters are on one host, and share its memory."""
        return bool(self.memory.get(a)) and self.memory.get(a) == self.memory.get(b)

    def by_memory(self, link: GatewayLink, spec: AgentPlan) -> bool:
        """Whether the gateways of a link are on one host, and may share its memory. They do not if
        the grid file describes a network between them: then the user wants that network."""
        home = next(g.agent for g in self._plan.gateways if g.node == link.target)
        there = self._agents[home][1].memory
        return (
            memory_wanted()
            and names_no_network(link)
            and bool(there)
            and there == next(agent.memory for own, agent in self._agents if own is spec)
        )

    def addresses(
        self, node: int, seen_by: AgentPlan, cluster: int, by_memory: bool = False
    ) -> list[str]:
        """The addresses of a gateway as one of that cluster, best first."""
        gateway = next(g for g in self._plan.gateways if g.node == node)
        home, agent = self._agents[gateway.agent]
        local = [a for a in self.listening[node] if a.startswith("unix:")]
        tcp = [a for a in self.listening[node] if not a.startswith("unix:")]
        place = gateway.place(cluster)
        if place.listen.startswith("unix:"):  # the launcher's relay
            return [self.doors.get(seen_by.host, place.listen)]
        hosts = [agent.host]
        if seen_by.cluster not in gateway.clusters:
            hosts[:0] = names_of(home.host)
        elif len(gateway.clusters) > 1:
            hosts += names_of(home.host)
        # The agent lists addresses in the order in which they were requested.
        at = gateway.listen.index(place.listen)
        listening = tcp[at : at + 1]
        # A link between gateways uses a socket only within one agent: links are measured and paced
        # as TCP.
        ranks_here = (
            seen_by.has_ranks
            and cluster == seen_by.cluster
            and bool(agent.memory)
            and agent.memory == self.memory.get(cluster)
        )
        beside = by_memory or home is seen_by or ranks_here
        return [*(local if beside else []), *reachable(place, listening, hosts)]
