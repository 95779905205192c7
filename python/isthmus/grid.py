"""The grid file: which clusters there are and how they are joined."""

import ipaddress
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from ClusterShell.NodeSet import NodeSet, NodeSetException
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
)

from isthmus import gridtext
from isthmus.errors import UsageError, did_you_mean, listing
from isthmus.units import parse_rate, parse_time

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEDULERS = ("slurm", "pbs", "lsf", "flux")
LAUNCHERS = ("mpirun", "mpiexec", "srun")
FAMILIES = ("openmpi", "mpich")
_PORTS = r"[0-9]{1,5}(?:-[0-9]{1,5})?"
_ADDRESS = re.compile(
    rf"(?:tcp:)?(\[[0-9A-Fa-f:.]+(?:/[0-9]+)?\]|[^\s:\[\]/]+|[0-9.]+/[0-9]+)(?::({_PORTS}))?"
)


def _host(text: str) -> str:
    if not text or text.startswith("-") or re.search(r"\s", text):
        raise ValueError(f"must be a target of ssh, such as 'user@login.site.org'; it is '{text}'")
    return text


def _path(text: str) -> str:
    if not text.startswith(("/", "~/")):
        raise ValueError(f"must be an absolute path, or begin with '~/'; it is '{text}'")
    return text


def _absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(f"must be an absolute path; it is '{text}'")
    return text


def mpi_choice(text: str) -> str:
    """Checks what `mpi` of a cluster, and --mpi, may be. Raises ValueError."""
    if text in FAMILIES or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be {listing(FAMILIES)}, or the absolute path of an MPI installation; "
        f"it is '{text}'{did_you_mean(text, FAMILIES)}"
    )


def _launch(text: str) -> str:
    if text in LAUNCHERS or "{command}" in text or re.fullmatch(r"/\S+", text):
        return text
    raise ValueError(
        f"must be one of {listing(LAUNCHERS)}, the path of one, or a template such as "
        f"'srun --mpi=pmix -n {{n}} {{command}}'; it is '{text}'{did_you_mean(text, LAUNCHERS)}"
    )


def _are_ports(text: str) -> bool:
    """A port, 0 for any, or a range of them."""
    if not re.fullmatch(_PORTS, text):
        return False
    first, dash, last = text.partition("-")
    return int(first) <= 65535 if not dash else 1 <= int(first) <= int(last) <= 65535


def _address(text: str) -> str:
    """Checks and gives the form "tcp:HOST:PORT" or "tcp:HOST:FIRST-LAST"; port 0 is any. HOST may
    be what `is_place` knows."""
    found = _ADDRESS.fullmatch(text)
    if found and "/" in found[1]:
        _subnet(found[1].strip("[]"))
    if not found or not _are_ports(found[2] or "0"):
        raise ValueError(
            f"must be 'HOST', 'HOST:PORT' or 'HOST:FIRST-LAST', ports up to 65535; it is '{text}'"
        )
    return f"tcp:{found[1]}:{found[2] or 0}"


def _addresses(value: Any) -> Any:
    """One, or one for each cluster of a gateway."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError("must be a string, or an array with one for each of 'clusters'")
    return tuple(map(_address, texts))


def is_place(host: str) -> bool:
    """Not an address, but where a host has one: a subnet or an interface ("%eth1")."""
    return "/" in host or host.startswith("%")


def _subnet(text: str) -> str:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"must be a subnet such as '10.1.0.0/16'; it is '{text}'") from None
    return text if ":" not in text or text.startswith("[") else f"[{text}]"


def _interface(text: str) -> str:
    if not re.fullmatch(r"[^\s/:%]{1,15}", text):
        raise ValueError(f"must be the name of an interface such as 'eth1'; it is '{text}'")
    return text


def _ports(text: str) -> str:
    if not _are_ports(text):
        raise ValueError(f"must be a port or a range such as '7400-7419'; it is '{text}'")
    return text


def _env(values: dict[str, str]) -> dict[str, str]:
    for name, value in values.items():
        if not re.fullmatch(r"[^=\s]+", name) or "\0" in name + value:
            raise ValueError(f"has a name that no environment variable can have: {name!r}")
    return values


def _hosts(text: str) -> str:
    expand_hosts(text)
    return text


def expand_hosts(text: str) -> list[str]:
    """The names that a host list such as "n[01-16],gpu3" stands for. Raises ValueError."""
    try:
        hosts = list(NodeSet(text))
    except NodeSetException as error:
        raise ValueError(f"must be a list of hosts such as 'n[01-16]': {error}") from None
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", host) for host in hosts):
        raise ValueError(f"must be a list of hosts such as 'n[01-16]'; it is '{text}'")
    return hosts


def _rate(text: str) -> str:
    parse_rate(text)
    return text


def _rtt(text: str) -> str:
    parse_time(text)
    return text


def _patience(text: str) -> str:
    if not 1 <= parse_time(text) <= 86400:
        raise ValueError(f"must be from '1 s' to '24 h'; it is '{text}'")
    return text


def _wait(text: str) -> str:
    if parse_time(text) <= 0:
        raise ValueError(f"must be a time such as '2 h'; it is '{text}'")
    return text


def _scheduler(text: str) -> str:
    if text in SCHEDULERS or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be one of {listing(SCHEDULERS)}, or the path of a batch template; it is '{text}'"
        f"{did_you_mean(text, SCHEDULERS)}"
    )


def _meet(text: str) -> str:
    if _address(text).count("-") or is_place(_address(text).split(":")[1]):
        raise ValueError(f"must be 'HOST' or 'HOST:PORT'; it is '{text}'")
    return text


Reach = Literal["gateway", "direct"]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ClusterSpec(_Table):
    """One native MPI and its hosts."""

    host: Annotated[str, AfterValidator(_host)] | None = None
    mpi: Annotated[str, AfterValidator(mpi_choice)] | None = None
    launch: Annotated[str, AfterValidator(_launch)] | None = None
    slots: Annotated[int, Field(ge=1)] | None = None
    hosts: Annotated[str, AfterValidator(_hosts)] | None = None
    prefix: Annotated[str, AfterValidator(_path)] | None = None
    env: Annotated[dict[str, str], AfterValidator(_env)] = {}
    wait: Annotated[str, AfterValidator(_wait)] | None = None
    scheduler: Annotated[str, AfterValidator(_scheduler)] | None = None
    batch: list[str] = []
    setup: list[str] = []
    wdir: Annotated[str, AfterValidator(_absolute)] | None = None
    program: Annotated[str, AfterValidator(_path)] | None = None


class GatewaySpec(_Table):
    """A place where a cluster can be reached, or several, in the network of each. `listen` is for
    addresses that are translated; both have one entry, or one for each of the clusters. `port` is
    theirs where they have none."""

    cluster: str | None = None
    clusters: list[str] = []
    host: Annotated[str, AfterValidator(_host)] | None = None
    address: Annotated[tuple[str, ...] | None, BeforeValidator(_addresses)] = None
    port: Annotated[str, AfterValidator(_ports)] | None = None
    listen: Annotated[tuple[str, ...] | None, BeforeValidator(_addresses)] = None

    @property
    def serves(self) -> list[str]:
        """The clusters whose gateway it is."""
        return self.clusters or ([self.cluster] if self.cluster else [])


class RelaySpec(_Table):
    """A host without ranks to which all clusters in `between` can connect; without it, all."""

    between: list[str] = []
    host: Annotated[str, AfterValidator(_host)] | None = None
    address: Annotated[tuple[str, ...] | None, BeforeValidator(_addresses)] = None
    port: Annotated[str, AfterValidator(_ports)] | None = None
    listen: Annotated[tuple[str, ...] | None, BeforeValidator(_addresses)] = None
    prefix: Annotated[str, AfterValidator(_path)] | None = None


class NetworkSpec(_Table):
    """Hosts that reach each other. One that is named in several is the gateway of the clusters in
    them, and has an address in the subnet, or at the interface, of each."""

    hosts: Annotated[str, AfterValidator(_hosts)]
    subnet: Annotated[str, AfterValidator(_subnet)] | None = None
    interface: Annotated[str, AfterValidator(_interface)] | None = None


class LinkSpec(_Table):
    """Two clusters whose gateways can reach each other; with `reach = "direct"`, whose processes
    can. Without it processes of one host share memory."""

    between: list[str]
    reach: Reach | None = None
    rate: Annotated[str, AfterValidator(_rate)] | None = None
    rtt: Annotated[str, AfterValidator(_rtt)] | None = None
    streams: Annotated[int, Field(ge=1, le=256)] | None = None
    encrypt: bool = True
    patience: Annotated[str, AfterValidator(_patience)] | None = None
    congestion: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")] | None = None


class Grid(_Table):
    """A whole grid file; clusters in the order of the file. `patience` is that of links without
    their own."""

    patience: Annotated[str, AfterValidator(_patience)] = "10 min"
    meet: Annotated[str, AfterValidator(_meet)] | None = None
    cluster: dict[str, ClusterSpec]
    network: dict[str, NetworkSpec] = {}
    gateway: list[GatewaySpec] = []
    link: list[LinkSpec] = []
    relay: list[RelaySpec] = []


_TABLES: dict[str, type[_Table]] = {
    "cluster": ClusterSpec,
    "network": NetworkSpec,
    "gateway": GatewaySpec,
    "link": LinkSpec,
    "relay": RelaySpec,
}


def two_halves() -> Grid:
    """The grid of `isthmus run` without -g: two clusters on this host."""
    return Grid(cluster={"east": ClusterSpec(), "west": ClusterSpec()})


def load(path: Path) -> Grid:
    """Reads and checks a grid file. UsageError names the file, the line and the key."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the grid file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: the grid file is not UTF-8 text") from None
    return parse(text, str(path))


def parse(text: str, name: str) -> Grid:
    """As `load`, of text; `name` stands for the file in messages."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: not valid TOML: {error}") from None
    try:
        grid = Grid.model_validate(data)
    except ValidationError as error:
        # The first of the file; but a misspelt key tells more than that the right one is missing.
        first = min(
            error.errors(),
            key=lambda e: (e["type"] == "missing", gridtext.line_of(text, e["loc"]) or 0),
        )
        loc = _key_path(data, first["loc"])
        raise _complaint(text, name, loc, _explain(dict(first), loc)) from None
    _check_names(grid, text, name)
    return grid


def _key_path(data: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Without what pydantic adds for unions and keys of mappings."""
    path: list[int | str] = []
    for step in loc:
        if isinstance(data, (dict, list)):
            path.append(step)
            try:
                data = data[step]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                data = None
    return tuple(path)


def _complaint(text: str, name: str, loc: tuple[int | str, ...], what: str) -> UsageError:
    line = gridtext.line_of(text, loc)
    where = f"{name}:{line}" if line else name
    return UsageError(f"{where}: {gridtext.written(loc)} {what}")


def _explain(error: dict[str, Any], loc: tuple[int | str, ...]) -> str:
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        model = _TABLES.get(str(loc[0]), Grid) if len(loc) > 1 else Grid
        known = list(model.model_fields)
        near = did_you_mean(str(loc[-1]), known)
        return f"is not a key of a grid file{near}; allowed here: {listing(known)}"
    if kind == "missing":
        if loc == ("cluster",):
            return "is missing: a grid needs at least one [cluster.NAME]"
        return "is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = error["ctx"].get("ge", error["ctx"].get("le"))
        word = "least" if kind == "greater_than_equal" else "most"
        return f"must be at {word} {limit}; it is {value}"
    if kind == "literal_error":
        return f"must be {error['ctx']['expected']}; it is {value!r}"
    wanted = {
        "string_type": "a string",
        "int_type": "a whole number",
        "bool_type": "true or false",
        "list_type": "an array",
        "dict_type": "a table",
        "model_type": "a table",
    }.get(kind)
    if wanted is None:
        return str(error["msg"])
    if kind == "list_type" and len(loc) == 1:
        wanted = f"written [[{loc[0]}]], once for each {loc[0]}"
    return f"must be {wanted}; it is {_toml_type(value)}"


def _toml_type(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string '{value}'"
    return "an array" if isinstance(value, list) else "a table"


def _check_names(grid: Grid, text: str, name: str) -> None:
    """What a model alone cannot see: names that refer to each other."""
    if not grid.cluster:
        raise _complaint(text, name, ("cluster",), "needs at least one [cluster.NAME]")

    def unknown(cluster: str) -> str:
        near = did_you_mean(cluster, grid.cluster)
        return f"names a cluster '{cluster}' that is not in the file{near}"

    for cluster in grid.cluster:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", cluster):
            allowed = "may hold letters, digits, '_', '.' and '-', and begins with none of the last"
            raise _complaint(text, name, ("cluster", cluster), f"is no name: a cluster's {allowed}")
    for network, spec in grid.network.items():
        if spec.subnet and spec.interface:
            key = ("network", network, "interface")
            raise _complaint(text, name, key, "is told by 'subnet', too; say one of them")
    for index, gateway in enumerate(grid.gateway):
        _check_gateway(grid, text, name, index, gateway, unknown)
    for index, relay in enumerate(grid.relay):
        for cluster in relay.between:
            if cluster not in grid.cluster:
                allowed = f"; its clusters: {listing(grid.cluster)}"
                where = ("relay", index, "between")
                raise _complaint(text, name, where, unknown(cluster) + allowed)
        if "relay" in grid.cluster or any(re.fullmatch(r"relay\d+", n) for n in grid.cluster):
            raise _complaint(text, name, ("relay", index), "is how a cluster is called, too")
    for index, link in enumerate(grid.link):
        where = ("link", index, "between")
        if len(link.between) != 2:
            count = len(link.between)
            raise _complaint(text, name, where, f"must name two clusters; it names {count}")
        for cluster in link.between:
            if cluster not in grid.cluster:
                allowed = f"; its clusters: {listing(grid.cluster)}"
                raise _complaint(text, name, where, unknown(cluster) + allowed)
        if len(set(link.between)) == 1:
            raise _complaint(text, name, where, f"joins '{link.between[0]}' to itself")


def _check_gateway(
    grid: Grid,
    text: str,
    name: str,
    index: int,
    gateway: GatewaySpec,
    unknown: Callable[[str], str],
) -> None:
    def wrong(key: str, what: str) -> UsageError:
        return _complaint(text, name, ("gateway", index, key), what)

    if gateway.cluster and gateway.clusters:
        raise wrong("clusters", "and 'cluster' are both there; give one of them")
    if not gateway.serves:
        raise wrong("cluster", "is missing; give it, or 'clusters' in whose networks it stands")
    key = "clusters" if gateway.clusters else "cluster"
    for cluster in gateway.serves:
        if cluster not in grid.cluster:
            raise wrong(key, f"{unknown(cluster)}; its clusters: {listing(grid.cluster)}")
        if gateway.serves.count(cluster) > 1:
            raise wrong(key, f"names '{cluster}' twice")
    for key, given in (("address", gateway.address), ("listen", gateway.listen)):
        if given is not None and len(given) not in (1, len(gateway.serves)):
            count = f"has {len(given)} entries, but the gateway {len(gateway.serves)} cluster"
            more = "s" if len(gateway.serves) > 1 else ""
            raise wrong(key, f"{count}{more}; give one, or one for each")
    listens = gateway.listen or gateway.address
    if gateway.port and listens and not all(address.endswith(":0") for address in listens):
        told = "listen" if gateway.listen else "address"
        raise wrong("port", f"is given by '{told}', too; say it once")
