"""The tables of a grid file, as types: which keys each has."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from isthmus.gridkeys import (
    Absolute,
    Addresses,
    Congestion,
    Env,
    Host,
    Hosts,
    Interface,
    Launch,
    LinkName,
    Meet,
    Mpi,
    Net,
    PathThere,
    Patience,
    Ports,
    Reach,
    Scheduler,
    Service,
    Subnet,
    Tag,
    Wait,
)
from isthmus.quantities import Duration, Rate


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)


class ClusterSpec(Table):
    """One native MPI and its hosts."""

    _grids: tuple[str, ...] = PrivateAttr(())

    host: Host | None = None
    mpi: Mpi | None = None
    launch: Launch | None = None
    slots: Annotated[int, Field(ge=1)] | None = None
    speed: Annotated[float, Field(gt=0, le=1e6, strict=False)] = 1.0
    tags: list[Tag] = []
    hosts: Hosts | None = None
    prefix: PathThere | None = None
    env: Env = {}
    net: Net = "tcp"
    encrypt: bool = True
    ports: Ports | None = None
    wait: Wait | None = None
    scheduler: Scheduler | None = None
    batch: list[str] = []
    setup: list[str] = []
    wdir: Absolute | None = None
    program: PathThere | None = None

    @property
    def grids(self) -> tuple[str, ...]:
        """The inner grids that it is in, the outermost first."""
        return self._grids

    def inside(self, grid: str) -> "ClusterSpec":
        """The same cluster as the file sees it that takes its grid in by this name."""
        copy = self.model_copy()
        copy._grids = (grid, *(f"{grid}.{name}" for name in self._grids))
        return copy

    @property
    def launcher(self) -> str:
        """The name of the one that `launch` names, such as "srun"; empty where it names none."""
        words = (self.launch or "").split(None, 1)
        return words[0].rpartition("/")[2] if words else ""


class _Door(Table):
    """Where connections come in. `listen` is for addresses that are translated; both have one
    entry, or one for each of the clusters that come. `port` is theirs where they have none. With
    `threads` so many gateways stand there, each on a thread of its own."""

    host: Host | None = None
    address: Addresses | None = None
    port: Ports | None = None
    listen: Addresses | None = None
    threads: Annotated[int, Field(ge=1, le=64)] = 1


class GatewaySpec(_Door):
    """A place where a cluster can be reached, or several, in the network of each."""

    cluster: str | None = None
    clusters: list[str] = []

    @property
    def serves(self) -> list[str]:
        """The clusters whose gateway it is."""
        return self.clusters or ([self.cluster] if self.cluster else [])


class RelaySpec(_Door):
    """A host without ranks to which all clusters in `between` can connect; without it, all. With
    `service` it is there for many jobs, and nothing is started on it."""

    between: list[str] = []
    prefix: PathThere | None = None
    service: Service | None = None
    key: PathThere | None = None


class NetworkSpec(Table):
    """Hosts that reach each other. One that is named in several is the gateway of the clusters in
    them, and has an address in the subnet, or at the interface, of each."""

    hosts: Hosts
    subnet: Subnet | None = None
    interface: Interface | None = None


class LinkSpec(Table):
    """Two clusters whose gateways can reach each other; with `reach = "direct"`, whose processes
    can; with `"ssh"`, that meet at the launcher. Without it processes of one host share memory.
    By `name` a program can choose it for a communicator; links between other clusters may have the
    same."""

    between: list[str]
    name: LinkName | None = None
    reach: Reach | None = None
    rate: Rate | None = None
    rtt: Duration | None = None
    streams: Annotated[int, Field(ge=1, le=256)] | None = None
    encrypt: bool = True
    patience: Patience | None = None
    congestion: Congestion | None = None
    compress: bool = False
    net: Net = "tcp"


class SharedSpec(Table):
    """A stretch that the ways between several pairs of clusters lead over, and what they carry
    there together, each way."""

    between: list[list[str]]
    rate: Rate


class InnerSpec(Table):
    """A grid of another file, whose clusters are clusters of this one: `file` is relative to the
    file that names it."""

    file: Annotated[str, Field(min_length=1)]


class Grid(Table):
    """A whole grid file; clusters in the order of the file. `patience` is that of links without
    their own, `files` the cluster that has the files of processes of several. What is read has no
    `grid` left: clusters of inner grids are among the others."""

    patience: Patience = Duration.parse("10 min")
    meet: Meet | None = None
    files: str | None = None
    grid: dict[str, InnerSpec] = {}
    cluster: dict[str, ClusterSpec] = {}
    network: dict[str, NetworkSpec] = {}
    gateway: list[GatewaySpec] = []
    link: list[LinkSpec] = []
    relay: list[RelaySpec] = []
    shared: list[SharedSpec] = []
