"""The means to make processes of another run guests in this run's world: numbers for them, and
junctions between gateways of both runs."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from isthmus.base.errors import RunError
from isthmus.base.limits import Limits
from isthmus.grid.grid import ClusterSpec
from isthmus.grid.reach import names_of
from isthmus.meeting.ways import reachable_beside
from isthmus.place.placement import Block, Part
from isthmus.place.plan import ClusterPlan, GatewayPlan
from isthmus.run.agent import Message
from isthmus.run.growing import Growing
from isthmus.run.members import Member, Members
from isthmus.run.spawnplan import Growth

# Numbers of the ends of junctions; gateways of a grid never reach them.
_FIRST_END = 0xC000_0000
_ENDS = 0x1FFF_0000
_MOST_GUESTS = 1 << 24


@dataclass(frozen=True)
class Junction:
    """As the listening end describes it to the other end, whose number is `self`."""

    number: int
    peer: int
    name: str
    secret: str
    connect: list[str]

    def json(self) -> dict[str, object]:
        return {
            "self": self.number,
            "peer": self.peer,
            "name": self.name,
            "secret": self.secret,
            "connect": self.connect,
        }


class Guests:
    """For one other run."""

    def __init__(
        self, run: str, growing: Growing, members: Members, limits: Limits, host: str
    ) -> None:
        """`host`: how others reach this host if the grid file does not say; may be empty."""
        self.run = run
        self._host = host
        self._growing = growing
        self._members = members
        self._limits = limits
        self._blocks: list[tuple[int, int, int]] = []  # first there, first here, size

    def node(self, there: int) -> int:
        """Our number of a process, from its number in its own run. RunError if it is unknown."""
        for first, here, size in self._blocks:
            if first <= there < first + size:
                return here + there - first
        raise RunError(f"the run {self.run} has not announced a process {there}")

    async def admit(self, clusters: object, like: int) -> None:
        """Admits the new ones among the clusters that the other run announces."""
        async with self._growing.turn:
            told = [_read(entry) for entry in clusters] if isinstance(clusters, list) else []
            known = {first for first, _, _ in self._blocks}
            growths = []
            index, first = self._growing.index, self._growing.size
            for entry in told:
                if entry["first"] in known:
                    continue
                size = entry["size"]
                if first + size > _MOST_GUESTS:
                    raise RunError(f"the run {self.run} has more processes than can be guests here")
                name = f"{entry['name']}@{self.run}"
                cluster = ClusterPlan(name, ClusterSpec(), Block(name, first, [(size, Part([]))]))
                part = self._growing.parts
                growth = Growth(index, like, cluster, part, self.run, entry["first"], entry)
                growths.append(growth)
                self._blocks.append((entry["first"], first, size))
                index, first = index + 1, first + size
            if growths:
                await self._growing.grow(growths)

    # -- junctions ---------------------------------------------------------------------------

    def gateways(self, cluster: int) -> list[tuple[Member, GatewayPlan]]:
        """The gateways that the cluster's processes use."""
        return [
            (member, gateway)
            for member in self._members
            for gateway in member.plan.gateways
            if cluster in gateway.clusters and not member.lost
        ]

    async def listen(
        self, cluster: int, others: int, services: Sequence[Message] = ()
    ) -> list[Junction]:
        """Opens enough junctions that each gateway of either end has one; services call them as
        well."""
        here = self.gateways(cluster)
        if not here:
            raise RunError("the cluster has no gateway")
        made = []
        async with self._growing.turn:
            for number in range(max(len(here), others)):
                member, gateway = here[number % len(here)]
                end = _FIRST_END + 2 * secrets.randbelow(_ENDS // 2)
                name = f"junction-{secrets.token_hex(4)}"
                secret = secrets.token_hex(32)
                answer = await member.agent.request(
                    "junction",
                    "junction",
                    self._limits.configure,
                    node=gateway.node,
                    run=self.run,
                    self=end,
                    peer=end + 1,
                    name=name,
                    secret=secret,
                    services=list(services),
                    patience=self._growing.plan.patience,
                )
                at = self._addresses(answer.get("addresses"), member, gateway, cluster)
                made.append(Junction(end + 1, end, name, secret, at))
        return made

    async def connect(
        self, cluster: int, junctions: Sequence[Message], services: Sequence[Message] = ()
    ) -> None:
        """Connects to all junctions of the other end. RunError if one cannot be reached, not even
        by a service."""
        here = self.gateways(cluster)
        if not here:
            raise RunError("the cluster has no gateway")
        async with self._growing.turn:
            for number, junction in enumerate(junctions):
                member, gateway = here[number % len(here)]
                keys = {key: junction.get(key) for key in ("self", "peer", "name", "secret")}
                await member.agent.request(
                    "junction",
                    "junction",
                    self._limits.link,
                    node=gateway.node,
                    run=self.run,
                    connect=junction.get("connect"),
                    services=list(services),
                    patience=self._growing.plan.patience,
                    **keys,
                )

    def _addresses(
        self, told: object, member: Member, gateway: GatewayPlan, cluster: int
    ) -> list[str]:
        """The addresses at which a gateway of any host may reach the junction, the best first."""
        remote = member.plan.host
        names = names_of(remote) if remote else [self._host]
        hosts = [*names, member.agent.host]
        local = told if isinstance(told, list) else []
        found = [a for a in local if isinstance(a, str) and a.startswith("unix:")]
        return [*found, *reachable_beside(gateway.place(cluster), told, hosts)]

    async def part(self, sentence: str) -> None:
        """The other run is gone."""
        for member in self._members:
            if member.plan.gateways and not member.lost:
                await member.agent.send("part", run=self.run, message=sentence)


def _read(entry: object) -> dict[str, Any]:
    """A cluster that another run announces. RunError if it is malformed."""
    if isinstance(entry, dict):
        first, size, name = entry.get("first"), entry.get("size"), entry.get("name")
        number = type(first) is int and type(size) is int and first >= 0 and 0 < size < _MOST_GUESTS
        if number and isinstance(name, str) and len(name) <= 200:
            keys = ("arch", "byteorder", "long_double")
            texts = {key: str(entry.get(key) or "")[:40] for key in keys}
            return {"name": name, "first": first, "size": size, **texts}
    raise RunError("the other run has announced a malformed cluster")
