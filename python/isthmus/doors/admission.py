"""Which connections may wait at a door before they have proved who they are. One of them is dropped
when there are too many. This follows src/core/base/admission.hpp. Pure: no sockets, no clock."""

import functools
import ipaddress
import random
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

_WORDS_EVERY = 60.0  # seconds between two sentences of one door

Ticket = TypeVar("Ticket", bound=Hashable)


@dataclass(frozen=True)
class Origin:
    """The place that a connection comes from. `network` is one host, `site` one customer of a
    provider."""

    network: Hashable
    site: Hashable
    shown: str


@functools.lru_cache(4096)
def of_address(text: str) -> Origin:
    """Of an IP address: IPv6 hosts count by /64, and their sites by /48."""
    address = ipaddress.ip_address(text.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            number = int(address)
            return Origin((64, number >> 64), (48, number >> 80), text)
        address = address.ipv4_mapped
    return Origin(address, address, str(address))


def of_user(number: int) -> Origin:
    """The origin of a process on this host, which came by a unix socket."""
    return Origin(("user", number), ("user", number), f"user {number} of this host")


@dataclass(frozen=True)
class Limits:
    """Connections that have proved nothing, at a time."""

    total: int = 2048
    of_network: int = 512
    of_site: int = 1024
    remembered: int = 4096  # networks from which a proof has come, the latest


@dataclass
class _Pool(Generic[Ticket]):
    of_network: dict[Hashable, list[Ticket]] = field(default_factory=dict)
    of_site: dict[Hashable, int] = field(default_factory=dict)
    size: int = 0


class Admission(Generic[Ticket]):
    """A newcomer is always admitted, so nobody can shut a door by waiting at it. In its place one
    of the network with the most connections is dropped, at random."""

    def __init__(self, limits: Limits, seed: int | None = None) -> None:
        self._limits = limits
        self._random = random.Random(seed)
        self._strangers: _Pool[Ticket] = _Pool()
        self._known: _Pool[Ticket] = _Pool()
        self._places: dict[Ticket, tuple[_Pool[Ticket], Origin]] = {}
        self._proofs: dict[Hashable, None] = {}  # networks, the latest proof last

    def __iter__(self) -> Iterator[Ticket]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def of(self, network: Hashable) -> int:
        """The number of connections from a network."""
        return sum(len(pool.of_network.get(network, ())) for pool in (self._strangers, self._known))

    def arrives(self, ticket: Ticket, origin: Origin) -> Ticket | None:
        """Returns the connection that the caller drops; its ticket is void."""
        pool = self._known if origin.network in self._proofs else self._strangers
        dropped = None
        crowded = self._crowded(pool, origin)
        if crowded is not None:
            dropped = self._random.choice(pool.of_network[crowded])
            self.left(dropped)
        pool.of_network.setdefault(origin.network, []).append(ticket)
        pool.of_site[origin.site] = pool.of_site.get(origin.site, 0) + 1
        pool.size += 1
        self._places[ticket] = (pool, origin)
        return dropped

    def _crowded(self, pool: _Pool[Ticket], origin: Origin) -> Hashable | None:
        """The network that gives up a connection before another one comes in."""
        if len(pool.of_network.get(origin.network, ())) >= self._limits.of_network:
            return origin.network
        if pool.of_site.get(origin.site, 0) >= self._limits.of_site:
            tickets = [
                t for t, (p, o) in self._places.items() if p is pool and o.site == origin.site
            ]
            networks = {self._places[ticket][1].network for ticket in tickets}
            return self._largest(pool, networks)
        if pool.size < self._limits.total:
            return None
        return self._largest(pool, pool.of_network)

    def _largest(self, pool: _Pool[Ticket], networks: Iterable[Hashable]) -> Hashable:
        """Of equal ones any."""
        sizes = {network: len(pool.of_network[network]) for network in networks}
        most = max(sizes.values())
        return self._random.choice([network for network in sizes if sizes[network] == most])

    def proved(self, ticket: Ticket) -> None:
        """It counts no more. Its network has as many places of its own from now on."""
        if ticket not in self._places:
            return
        network = self._places[ticket][1].network
        self._proofs.pop(network, None)
        self._proofs[network] = None
        if len(self._proofs) > self._limits.remembered:
            del self._proofs[next(iter(self._proofs))]
        self.left(ticket)

    def left(self, ticket: Ticket) -> None:
        """It is gone. Void tickets are ignored."""
        if ticket not in self._places:
            return
        pool, origin = self._places.pop(ticket)
        tickets = pool.of_network[origin.network]
        tickets.remove(ticket)
        if not tickets:
            del pool.of_network[origin.network]
        pool.of_site[origin.site] -= 1
        if not pool.of_site[origin.site]:
            del pool.of_site[origin.site]
        pool.size -= 1


class Tally:
    """Counts connections that came and proved nothing, for a sentence a minute at most."""

    def __init__(self) -> None:
        self._count = 0
        self._since: float | None = None

    def add(self, now: float, origin: Origin) -> str:
        """A sentence to say now, or nothing. `now` is in seconds."""
        self._count += 1
        if self._since is not None and now - self._since < _WORDS_EVERY:
            return ""
        count, self._count, self._since = self._count, 0, now
        came = "1 connection" if count == 1 else f"{count} connections"
        return f"{came} came and did not prove to belong here, the last from {origin.shown}"
