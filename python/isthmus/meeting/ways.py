"""Paths between gateways of two runs if no address leads there. They go by services of the grid
file, and by relays of it that the run has started. Such relays join connections as services do."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from isthmus.base.errors import IsthmusError, RunError
from isthmus.base.limits import Limits
from isthmus.grid import services
from isthmus.grid.addresses import ANY_HOST, Place, split_address
from isthmus.grid.reach import names_of
from isthmus.meeting.calls import Service
from isthmus.meeting.door import guests_of
from isthmus.place.plan import GatewayPlan
from isthmus.run.agent import Agent, Message
from isthmus.run.growing import Growing
from isthmus.run.members import Member, Members

_KEY = "relay"  # the name of the key of a run's own relay
_MOST = 32  # from another run
_FORMS = {"at": r"[!-~]{1,200}", "name": r"[!-~]{3,255}", "secret": r"(?:[0-9a-f]{2}){1,64}"}


@dataclass(frozen=True)
class _Opened:
    """The place at a relay of this run where guests come."""

    member: Member
    node: int
    secret: bytes
    addresses: list[str]


@dataclass
class Ways:
    """`services` in the form of a `junction`; `troubles` say why others are missing."""

    services: list[dict[str, str]] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    def json(self) -> dict[str, object]:
        return {"services": self.services, "troubles": self.troubles}


def read(services_told: object, troubles: object = None) -> Ways:
    """Reads another run's services; malformed ones are left out."""
    ways = Ways()
    for entry in services_told[:_MOST] if isinstance(services_told, list) else []:
        keys = _FORMS if isinstance(entry, dict) else ()
        texts = {key: str(entry.get(key) or "") for key in keys}
        if texts and all(re.fullmatch(_FORMS[key], text) for key, text in texts.items()):
            ways.services.append(texts)
    if isinstance(troubles, list):
        ways.troubles = [str(text)[:500] for text in troubles[:_MOST]]
    return ways


class OwnWays:
    """For one run, found out when it first meets another. All runs that it meets hear the same. The
    proof for a relay belongs to the guests of this run, not to its own processes."""

    def __init__(self, growing: Growing, members: Members, limits: Limits, host: str) -> None:
        """`host`: how others reach this host; may be empty."""
        self._growing = growing
        self._members = members
        self._limits = limits
        self._host = host
        self._job = guests_of(growing.plan.job)
        self._found: Ways | None = None
        self._opened: list[_Opened] = []

    def opened_at(self, member: Member) -> bool:
        """Whether guests may come there."""
        return any(opened.member is member for opened in self._opened)

    async def again(self, member: Member, agent: Agent) -> None:
        """A new agent has taken the place of a relay's: guests come to the old address."""
        for opened in self._opened:
            if opened.member is member:
                await self._serve(agent, opened.node, opened.secret, listen=opened.addresses)

    async def find(self) -> Ways:
        async with self._growing.turn:
            if self._found is None:
                found = Ways()
                for at, file in self._growing.plan.guest_services.items():
                    try:
                        found.services += services.Keys({at: file}, self._job).for_agent([at])
                    except IsthmusError as error:
                        found.troubles.append(error.sentence)
                for member, gateway in self._relays():
                    await self._open(member, gateway, found)
                self._found = found
            return self._found

    async def at(self, host: str, port: int) -> Service | None:
        """The service or relay on that host, and at that port unless it is 0. Returns None if the
        grid file has none there; RunError if it cannot be used."""
        hosts = {_host_of(at) for at in self._growing.plan.guest_services}
        for member, gateway in self._relays():
            hosts |= {_host_of(place.address) for place in gateway.places if place.address}
            hosts |= {*names_of(member.plan.host)}
        if host not in hosts:
            return None
        found = await self.find()
        for entry in found.services:
            if _host_of(entry["at"]) == host and str(port) in ("0", split_address(entry["at"])[1]):
                return Service(entry["at"], entry["name"], bytes.fromhex(entry["secret"]))
        raise RunError("; ".join([f"guests cannot come by {host}", *found.troubles]))

    def _relays(self) -> list[tuple[Member, GatewayPlan]]:
        """The relays, each with its first own gateway, whose thread joins guests' connections."""
        return [
            (member, gateway)
            for member in self._members
            for gateway in member.plan.gateways[:1]
            if member.cluster.name in self._growing.plan.relays
            and not member.lost
            and not any(place.listen.startswith("unix:") for place in gateway.places)
        ]

    async def _open(self, member: Member, gateway: GatewayPlan, found: Ways) -> None:
        """Opens a port for guests at a relay of this run."""
        secret = secrets.token_bytes(32)
        try:
            answer = await self._serve(member.agent, gateway.node, secret)
        except IsthmusError as error:
            found.troubles.append(f"{member.agent.label}: {error.sentence}")
            return
        addresses = [str(address) for address in answer.get("addresses") or []]
        self._opened.append(_Opened(member, gateway.node, secret, addresses))
        remote = member.plan.host
        names = names_of(remote) if remote else [self._host]
        hosts = [*names, member.agent.host]
        proof = services.proof(_KEY, secret, self._job)
        found.services += [
            {"at": address.removeprefix("tcp:"), **proof}
            for address in reachable_beside(gateway.places[0], answer.get("addresses"), hosts)
        ]

    async def _serve(self, agent: Agent, node: int, secret: bytes, **more: list[str]) -> Message:
        return await agent.request(
            "serve",
            "serve",
            self._limits.configure,
            node=node,
            key=_KEY,
            secret=secret.hex(),
            **more,
        )


def _host_of(address: str) -> str:
    return split_address(address)[0].strip("[]")


def reachable_beside(place: Place, told: object, hosts: Sequence[str]) -> list[str]:
    """The TCP addresses at which a gateway of any host may reach a place that an agent has opened
    beside one of its gateways, the best first. `told` is the agent's answer about it; `hosts` are
    names of its host."""
    listening = [a for a in told if isinstance(a, str)] if isinstance(told, list) else []
    named = [] if place.address is None else [split_address(place.address)[0]]
    found = []
    for address in listening:
        if address.startswith("tcp:"):
            host, port = split_address(address)
            names = [*named, *hosts] if host in ANY_HOST or named else [host]
            found += [f"tcp:{name}:{port}" for name in names if name]
    return list(dict.fromkeys(found))
