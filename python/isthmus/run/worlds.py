"""The world as each agent learns it: clusters, gateways, and the links of its own gateways
(docs/control.md, `link`)."""

from collections.abc import Mapping, Sequence

from isthmus.base import ranklist
from isthmus.grid import services
from isthmus.grid.routes import GatewayLink
from isthmus.place.placement import Block
from isthmus.place.plan import AgentPlan, GatewayPlan, Plan, link_json, link_settings
from isthmus.run.agent import Message
from isthmus.run.nearness import Nearness


class Worlds:
    """For one run, once its agents have said hello and their gateways listen."""

    def __init__(self, plan: Plan, near: Nearness, machines: Mapping[int, Message]) -> None:
        """`machines`: by cluster, the known `machine` of the agent of its ranks."""
        self._plan = plan
        self._near = near
        self._machines = machines

    def links(self, spec: AgentPlan) -> dict[str, object]:
        own = [gateway.node for gateway in spec.gateways]
        said: dict[str, object] = {
            "world": self.world(spec),
            "links": self.links_of(spec, self._plan.links),
            "routes": [
                {
                    "node": node,
                    "next": {str(k): v for k, v in self._plan.tables[node].next.items()},
                }
                for node in own
            ],
        }
        if self._plan.beside:
            said["beside"] = self._plan.beside.json()
        return said

    def links_of(self, spec: AgentPlan, links: Sequence[GatewayLink]) -> list[dict[str, object]]:
        """The links that the agent's gateways open."""
        own = [gateway.node for gateway in spec.gateways]
        return [
            link_json(
                link,
                [f"service:{at}" for at in services.of_link(link)]
                or self._near.addresses(
                    link.target,
                    spec,
                    link.at,
                    (link.source, link.target) in self._plan.by_memory,
                ),
            )
            for link in links
            if link.source in own
        ]

    def world(self, spec: AgentPlan) -> Message:
        """The world as the agent's cluster sees it; only its own gateways have all their
        addresses."""
        return {
            "clusters": [
                {
                    "name": cluster.name,
                    "size": cluster.block.size,
                    "arch": self._machines[i].get("arch"),
                    "byteorder": self._machines[i].get("byteorder"),
                    "long_double": self._machines[i].get("long_double"),
                    "net": cluster.spec.net,
                    "encrypt": cluster.spec.encrypt,
                }
                | _ranks(cluster.block)
                for i, cluster in enumerate(self._plan.clusters)
            ],
            "gateways": [
                self._gateway(g, spec) for g in self._plan.gateways if g.node in self._plan.tables
            ],
            "direct": [
                {"between": pair, "tcp": tcp, "shm": shm, **link_settings(link)}
                for pair, link in self._plan.pairs.items()
                for tcp, shm in [(link.reach == "direct", pair in self._plan.shared)]
                if tcp or shm
            ],
            "links": [
                {"between": pair, "rate": said["rate"], "rtt": said["rtt"]}
                for pair, link in self._plan.pairs.items()
                for said in [link_settings(link)]
                if said["rate"] or said["rtt"]
            ],
            "named": [
                {
                    "name": link.spec.name,
                    "between": link.pair,
                    "direct": link.spec.reach == "direct",
                    "gateways": link.gateways,
                }
                for link in self._plan.named
            ],
            "channels": [channel.json() for channel in self._plan.channels],
        }

    def _gateway(self, gateway: GatewayPlan, spec: AgentPlan) -> dict[str, object]:
        of_world = range(len(self._plan.clusters))
        hops = self._plan.tables[gateway.node].hops
        own = spec.cluster in gateway.clusters
        came_later = gateway.clusters[0] >= len(self._plan.clusters + self._plan.forwarding)
        return {
            "node": gateway.node,
            "clusters": [cluster for cluster in gateway.clusters if cluster in of_world],
            "addresses": self._near.addresses(gateway.node, spec, spec.cluster) if own else [],
            "hops": [hops[cluster] for cluster in of_world],
            "name": self._plan.places[gateway.clusters[0]].name,
        } | ({"late": True} if came_later else {})


def _ranks(block: Block) -> dict[str, str]:
    """The ranks of a map; a world without a map omits them."""
    return {} if block.ranks is None else {"ranks": ranklist.text(block.ranks)}
