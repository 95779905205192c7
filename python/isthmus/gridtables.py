"""The tables of a grid file as types, with their keys."""

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
        """The inner grids that hold it, the outermost first."""
        return self._grids

    def inside(self, grid: str) -> "ClusterSpec":
        """The same cluster as seen by a file that includes its grid under this name."""
        copy = self.model_copy()
        copy._grids = (grid, *(f"{grid}.{name}" for name in self._grids))
        return copy

    @property
    def launcher(self) -> str:
        """The name of the launcher in `launch`, such as "srun"; empty if there is none."""
        words = (self.launch or "").split(None, 1)
        return words[0].rpartition("/")[2] if words else ""


class _Door(Table):
    """A place where connections come in. `listen` is for addresses that are translated. Both have
    one entry, or one for each cluster that connects. `port` is used where they have none. If it has
    `threads`, that number of gateways runs there, each on a thread of its own."""

    host: Host | None = None
    address: Addresses | None = None
    port: Ports | None = None
    listen: Addresses | None = None
    threads: Annotated[int, Field(ge=1, le=64)] = 1


class GatewaySpec(_Door):
    """A place where one or several clusters can be reached, in the network of each."""

    cluster: str | None = None
    clusters: list[str] = []

    @property
    def serves(self) -> list[str]:
        """The clusters that the gateway serves."""
        return self.clusters or ([self.cluster] if self.cluster else [])


class RelaySpec(_Door):
    """A host without ranks to which the clusters in `between` can connect; without `between`, all
    can. A relay with `service` serves many jobs, and the run starts nothing on it."""

    between: list[str] = []
    prefix: PathThere | None = None
    service: Service | None = None
    key: PathThere | None = None


class NetworkSpec(Table):
    """Hosts that reach each other. A host in several networks is the gateway of the clusters in
    them. It has an address in the subnet, or at the interface, of each."""

    hosts: Hosts
    subnet: Subnet | None = None
    interface: Interface | None = None


class LinkSpec(Table):
    """Two clusters whose gateways can reach each other. Their processes can with `reach =
    "direct"`; with `"ssh"` they meet at the launcher. Without `reach`, processes of one host share
    memory. A program can choose a link by its `name` for a communicator; links between other
    clusters may have the same name."""

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
    """A stretch that the network paths of several pairs of clusters share, and its capacity each
    way."""

    between: list[list[str]]
    rate: Rate


class InnerSpec(Table):
    """A grid of another file, whose clusters become clusters of this one. `file` is relative to the
    file that names it."""

    file: Annotated[str, Field(min_length=1)]


class Grid(Table):
    """A whole grid file; clusters stand in the order of the file. `patience` holds for links
    without their own. `files` is the cluster with the files of processes of several clusters.
    `grid` is empty once the file is read: clusters of inner grids are among the others."""

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
