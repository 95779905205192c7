"""Traffic, as agents count it."""

import contextlib
from collections.abc import Collection, Set
from dataclasses import dataclass, field
from typing import Any

from isthmus.base.errors import IsthmusError
from isthmus.run.members import Members

_DIRECT = ("conduits", "ucx", "messages", "bytes", "wire_bytes", "streams", "lost_bytes")
_NEAR = ("processes", "ucx", "memory", "plain", "messages", "bytes", "wire_bytes")


@dataclass
class Stats:
    """What crossed: by pair of gateways; by pair of clusters, from process to process; by gateway
    and pair of clusters that it serves, from one to the other; and what each gateway has sent to
    the processes of a cluster of its own. `cpu` is by the gateways of one process, in seconds."""

    links: dict[tuple[int, int], dict[str, float]] = field(default_factory=dict)
    direct: dict[tuple[int, int], dict[str, float]] = field(default_factory=dict)
    crossings: dict[tuple[int, int, int], dict[str, float]] = field(default_factory=dict)
    near: dict[tuple[int, int], dict[str, int]] = field(default_factory=dict)
    cpu: dict[tuple[int, ...], float] = field(default_factory=dict)

    async def collect(self, members: Members, limit: float) -> None:
        """Asks all gateways that are left; each has `limit` seconds to answer."""
        for member in members:
            if member.lost or not member.plan.gateways:
                continue
            # The run reports its own outcome; this is not the place for another.
            with contextlib.suppress(IsthmusError):
                answer = await member.agent.request("stats", "stats", limit)
                own = {gateway.node for gateway in member.plan.gateways}
                self.add(answer, member.plan.cluster, own)

    def add(self, answer: dict[str, Any], cluster: int, gateways: Set[int]) -> None:
        """Adds a `stats` message from an agent of that cluster with those gateways. Each direction
        of a link counts as the gateway that sent it says."""
        for link in answer.get("links") or []:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                key = int(link["from"]), int(link["to"])
                if key not in self.links or key[0] in gateways:
                    self.links[key] = {k: v for k, v in link.items() if k not in ("from", "to")}
        for count in answer.get("direct") or []:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                ends = int(count.get("from", cluster)), int(count["to"])
                sums = self.direct.setdefault(ends, {})
                for name in _DIRECT:
                    sums[name] = sums.get(name, 0) + int(count.get(name) or 0)
        for count in answer.get("near") or []:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                key2 = int(count["node"]), int(count["cluster"])
                self.near[key2] = {k: int(count[k]) for k in _NEAR}
        with contextlib.suppress(KeyError, TypeError, ValueError):
            self.cpu[tuple(sorted(gateways))] = float(answer["cpu"])
        for count in answer.get("crossings") or []:
            with contextlib.suppress(KeyError, TypeError, ValueError):
                key3 = int(count["node"]), int(count["from"]), int(count["to"])
                self.crossings[key3] = {
                    k: int(count[k]) for k in ("messages", "bytes", "wire_bytes")
                }

    def forwarded(self, gateways: Collection[int]) -> float:
        """Bytes of the program that these gateways have sent on, to others and to processes."""
        links = sum(
            count.get("bytes", 0) for key, count in self.links.items() if key[0] in gateways
        )
        return links + sum(count["bytes"] for key, count in self.near.items() if key[0] in gateways)
