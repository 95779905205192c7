"""The tables of a grid file as types, with their keys.

They need no pydantic: `model_validate` makes the model of a table (gridmodels.py) when a grid file
is read. The annotations are those of the model."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from isthmus.base.quantities import Duration
from isthmus.grid.reach import Entry

if TYPE_CHECKING:
    from typing_extensions import Self, dataclass_transform

    from isthmus.grid.gridtypes import (
        Absolute,
        Addresses,
        Annotated,
        Congestion,
        Env,
        Field,
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
        Rate,
        Reach,
        Scheduler,
        Service,
        Start,
        Subnet,
        Tag,
        Wait,
    )
else:

    def dataclass_transform(**_):
        return lambda found: found


REQUIRED: Any = object()


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Table:
    """A table that cannot be changed. It has the methods of pydantic's models that are used of it.
    Made by its class it is not checked; made by `model_validate` it is."""

    model_fields: ClassVar[dict[str, Any]] = {}  # the defaults, by name
    model_fields_set: frozenset[str] = frozenset()  # the keys that were given

    def __init_subclass__(cls) -> None:
        own = [name for name in cls.__annotations__ if not name.startswith(("_", "model_"))]
        fields = {name: cls.__dict__.get(name, REQUIRED) for name in own}
        cls.model_fields = {**cls.model_fields, **fields}

    def __init__(self, **given: Any) -> None:
        fields = self.model_fields
        if wrong := given.keys() - fields.keys():
            raise TypeError(f"{type(self).__name__} has no {wrong}")
        if missing := [n for n in fields if fields[n] is REQUIRED and n not in given]:
            raise TypeError(f"{type(self).__name__} needs {missing}")
        values = {name: copy.copy(default) for name, default in fields.items()}
        self.__dict__.update(values | given, model_fields_set=frozenset(given))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.model_dump() == other.model_dump()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = (f"{name}={getattr(self, name)!r}" for name in sorted(self.model_fields_set))
        return f"{type(self).__name__}({', '.join(given)})"

    @classmethod
    def model_validate(cls, data: object) -> Self:
        """Raises pydantic's ValidationError."""
        from isthmus.grid import gridmodels  # noqa: PLC0415  (see there)

        return gridmodels.validated(cls, data)

    def model_dump(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.model_fields}

    def model_copy(self, *, update: Mapping[str, Any] | None = None) -> Self:
        other = object.__new__(type(self))
        given = self.model_fields_set | (update or {}).keys()
        other.__dict__.update({**self.__dict__, **(update or {}), "model_fields_set": given})
        return other

    def entered(self) -> Self:
        """The same table. Its `start`, if it has one, becomes its `host`."""
        start = getattr(self, "start", None)
        return self.model_copy(update={"host": Entry(start)}) if start else self


class ClusterSpec(Table):
    """One native MPI and its hosts."""

    _grids: tuple[str, ...] = ()

    host: Host | None = None
    start: Start | None = None
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
    may_leave: bool = False
    spare: bool = False

    @property
    def grids(self) -> tuple[str, ...]:
        """The inner grids that hold it, the outermost first."""
        return self._grids

    def inside(self, grid: str) -> ClusterSpec:
        """The same cluster as seen by a file that includes its grid under this name."""
        other = self.model_copy()
        other.__dict__["_grids"] = (grid, *(f"{grid}.{name}" for name in self._grids))
        return other

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
    start: Start | None = None
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


class ChannelSpec(Table):
    """Processes with a communicator of their own: all of `clusters`, and those on `hosts`. Its
    messages take the link with the name `link`, between clusters that have one."""

    clusters: list[str] = []
    hosts: Hosts | None = None
    link: LinkName | None = None


class InnerSpec(Table):
    """A grid of another file, whose clusters become clusters of this one. `file` is relative to the
    file that names it."""

    file: Annotated[str, Field(min_length=1)]


class Grid(Table):
    """A whole grid file; clusters stand in the order of the file. `patience` holds for links
    without their own. `files` is the cluster with the files of processes of several clusters.
    `reproducible`: reductions have one order over ranks. `survive`: the run goes on without
    clusters that fail. `grid` is empty once the file is read: clusters of inner grids are among the
    others."""

    patience: Patience = Duration.parse("10 min")
    meet: Meet | None = None
    files: str | None = None
    reproducible: bool = False
    survive: bool = False
    grid: dict[str, InnerSpec] = {}
    cluster: dict[str, ClusterSpec] = {}
    network: dict[str, NetworkSpec] = {}
    gateway: list[GatewaySpec] = []
    link: list[LinkSpec] = []
    relay: list[RelaySpec] = []
    shared: list[SharedSpec] = []
    channel: dict[str, ChannelSpec] = {}
