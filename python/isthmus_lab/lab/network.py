"""A testbed worked out: every node with its addresses, every link with its figures. This module
makes nothing.

Site number k (from 1) has 10.k.0.0/16: nodes from 10.k.0.1 on, zipper nodes from 10.k.254.1 on, the
frontend 10.k.255.1, the router 10.k.255.254. In a private site the same stands in 192.168.0.0/16,
in every such site alike, and only the frontend has its address 10.k.255.1 besides.
"""

from dataclasses import dataclass, field

from isthmus.base.quantities import Rate
from isthmus_lab.lab.testbed import Testbed

WAN_OVERHEAD = 38  # bytes on an Ethernet wire around each packet
LAN_OVERHEAD = 14  # the part of them that the kernel's shaper counts
_LEAST = 4096  # bytes of a socket's buffer, as in kernels as they come
_INITIAL = {"tcp_rmem": 131_072, "tcp_wmem": 65_536}  # as in kernels as they come


@dataclass(frozen=True)
class Port:
    """A node's link to a site's switch."""

    site: str
    device: str
    address: str
    mac: str
    rate: int | None  # bits per second
    public: str | None = None  # a further address, known outside the site


@dataclass(frozen=True)
class Node:
    """A host. Zipper nodes have two ports."""

    name: str
    kind: str  # "node", "frontend" or "zipper"
    ports: tuple[Port, ...]

    @property
    def sites(self) -> tuple[str, ...]:
        return tuple(port.site for port in self.ports)

    def port_in(self, site: str) -> Port | None:
        return next((port for port in self.ports if port.site == site), None)


@dataclass(frozen=True)
class Segment:
    """A site's network: a switch that is also its router."""

    name: str
    index: int
    prefix: str  # first two numbers of its addresses
    private: bool
    firewall: str
    slots: int
    mpi: str | None
    gateways: int  # on this number of nodes; 0: on the frontend
    scheduler: str | None = None

    @property
    def subnet(self) -> str:
        return f"{self.prefix}.0.0/16"

    @property
    def router(self) -> str:
        return f"{self.prefix}.255.254"

    @property
    def public_subnet(self) -> str:
        return f"10.{self.index}.0.0/16"

    @property
    def frontend(self) -> str:
        return f"{self.name}0"


@dataclass(frozen=True)
class Link:
    """A WAN link; the figures hold for each direction. Without a box it is a plain wire."""

    a: str
    b: str
    delay: float
    rate: int | None
    queue: int
    jitter: float
    loss: float
    reorder: bool
    box: bool = True

    @property
    def name(self) -> str:
        return f"{self.a}-{self.b}"

    def settings(self) -> dict[str, object]:
        """The settings for the WAN box."""
        return {
            "delay": self.delay,
            "rate": self.rate or 0,
            "queue": self.queue,
            "jitter": self.jitter,
            "loss": self.loss,
            "reorder": self.reorder,
            "overhead": WAN_OVERHEAD,
        }


@dataclass
class Network:
    """Everything that is to be made."""

    name: str
    testbed: Testbed
    segments: dict[str, Segment] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    links: list[Link] = field(default_factory=list)

    @property
    def mtu(self) -> int:
        return self.testbed.mtu

    @property
    def boxes(self) -> list[Link]:
        """The links that have a WAN box."""
        return [link for link in self.links if link.box]

    @property
    def tcp_buffer(self) -> int:
        return self.testbed.tcp.buffer.bytes

    def tcp_memory(self, ceiling: int | None = None) -> dict[str, str]:
        """The kernel's settings for socket buffers: the least, the initial and the largest size.
        `ceiling` replaces the largest one of the testbed."""
        tcp, most = self.testbed.tcp, ceiling or self.tcp_buffer
        found = {}
        for name, usual in _INITIAL.items():
            initial = tcp.initial_buffer.bytes if tcp.initial_buffer else usual
            least = tcp.least_buffer.bytes if tcp.least_buffer else _LEAST
            found[name] = f"{min(least, most)} {min(initial, most)} {most}"
        return found

    def of_site(self, site: str, kind: str | None = None) -> list[Node]:
        """The nodes with a port there, in order."""
        return [
            node for node in self.nodes.values() if node.port_in(site) and kind in (None, node.kind)
        ]

    def link_between(self, a: str, b: str) -> Link | None:
        return next((x for x in self.links if {x.a, x.b} == {a, b}), None)

    def forwarder(self, a: str, b: str) -> Node | None:
        """The zipper node that forwards IP between two sites, or None."""
        pairs = [set(zipper.between) for zipper in self.testbed.zipper if zipper.forward]
        zippers = (node for node in self.nodes.values() if node.kind == "zipper")
        return next((n for n in zippers if {a, b} == set(n.sites) and {a, b} in pairs), None)

    def open_addresses(self, site: str) -> list[str] | None:
        """The addresses that can be reached from outside; None: all."""
        segment = self.segments[site]
        if segment.firewall == "open":
            return None
        if segment.firewall == "outgoing":
            return []
        return [f"10.{segment.index}.255.1"]

    def address_of(self, target: Node, seen_from: Node) -> str | None:
        """The address under which one node knows another, reachable or not, or None."""
        for site in seen_from.sites:
            if port := target.port_in(site):
                return port.address
        for port in target.ports:
            if port.public:
                return port.public
            if not self.segments[port.site].private:
                return port.address
        return None

    def path(self, source: Node, target: Node) -> "Path | None":
        """The path of a connection from one node to another; or None if it cannot be opened."""
        for site in source.sites:
            if port := target.port_in(site):
                near = source.port_in(site)
                assert near
                return Path(port.address, near, port, None)
        if source.kind == "zipper" or target.kind == "zipper":
            return None
        near, far = source.ports[0], target.ports[0]
        if zipper := self.forwarder(near.site, far.site):
            return Path(far.address, near, far, None, zipper.ports)
        link = self.link_between(near.site, far.site)
        address = self.address_of(target, source)
        if link is None or address is None:
            return None
        if self.segments[near.site].private and near.public is None:
            return None
        allowed = self.open_addresses(far.site)
        if allowed is not None and address not in allowed:
            return None
        return Path(address, near, far, link)


@dataclass(frozen=True)
class Path:
    """`link` None: both nodes are at the same switch, or a zipper node with the ports `over`
    forwards between them."""

    address: str
    near: Port
    far: Port
    link: Link | None
    over: tuple[Port, ...] = ()

    @property
    def rtt(self) -> float:
        """The least possible round trip."""
        return 2 * self.link.delay if self.link else 0.0

    def bottleneck(self, mtu: int) -> "Bottleneck | None":
        """The slowest part, or None if no part is shaped."""
        payload = mtu - 52  # IP and TCP headers, with time stamps
        found = [
            Bottleneck(port.rate, payload / (mtu + LAN_OVERHEAD))
            for port in (self.near, *self.over, self.far)
            if port.rate
        ]
        if self.link and self.link.rate:
            found.append(Bottleneck(self.link.rate, payload / (mtu + WAN_OVERHEAD)))
        return min(found, key=lambda part: part.goodput, default=None)


@dataclass(frozen=True)
class Bottleneck:
    """`rate` as configured, in bits per second; `share` is the part that can be TCP payload."""

    rate: int
    share: float

    @property
    def goodput(self) -> float:
        return self.rate * self.share


def work_out(name: str, testbed: Testbed) -> Network:
    """The network of a testbed."""
    network = Network(name, testbed)
    for index, (site, spec) in enumerate(testbed.site.items(), 1):
        prefix = "192.168" if spec.private else f"10.{index}"
        network.segments[site] = Segment(
            site,
            index,
            prefix,
            spec.private,
            spec.firewall,
            spec.slots,
            spec.mpi,
            spec.gateways,
            spec.scheduler,
        )
    for site, spec in testbed.site.items():
        segment = network.segments[site]
        public = f"10.{segment.index}.255.1" if spec.private else None
        port = _port(segment, "eth0", (255, 1), None, public)
        network.nodes[segment.frontend] = Node(segment.frontend, "frontend", (port,))
        for i in range(1, spec.nodes + 1):
            port = _port(segment, "eth0", (0, i), spec.link)
            network.nodes[f"{site}{i}"] = Node(f"{site}{i}", "node", (port,))
    count = 0
    for zipper in testbed.zipper:
        for _ in range(zipper.nodes):
            count += 1
            ports = tuple(
                _port(network.segments[site], f"eth{k}", (254, count), zipper.link)
                for k, site in enumerate(zipper.between)
            )
            network.nodes[f"z{count}"] = Node(f"z{count}", "zipper", ports)
    for wan in testbed.wan:
        rate = wan.rate.bits if wan.rate else None
        delay = wan.delay.seconds
        queue = wan.queue.bytes if wan.queue else _default_queue(rate, delay)
        for a, b in wan.pairs():
            jitter = wan.jitter.seconds
            link = Link(a, b, delay, rate, queue, jitter, wan.loss, wan.reorder, wan.box)
            network.links.append(link)
    return network


def _port(
    segment: Segment,
    device: str,
    host: tuple[int, int],
    rate: Rate | None,
    public: str | None = None,
) -> Port:
    mac = f"02:00:00:{segment.index:02x}:{host[0]:02x}:{host[1]:02x}"
    address = f"{segment.prefix}.{host[0]}.{host[1]}"
    return Port(segment.name, device, address, mac, rate.bits if rate else None, public)


def _default_queue(rate: int | None, delay: float) -> int:
    """Bytes for one round trip, so that one stream fills the link; at least 1 MB."""
    return max(round((rate or 0) / 8 * 2 * delay), 1_000_000) if rate else 0
