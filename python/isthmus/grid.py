"""The grid file: its clusters, and how they are joined."""

import codecs
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from isthmus import gridsense, gridtext, innergrids
from isthmus.errors import UsageError, did_you_mean, listing
from isthmus.gridkeys import WORD, port_count
from isthmus.gridtables import (
    ClusterSpec,
    GatewaySpec,
    Grid,
    InnerSpec,
    LinkSpec,
    NetworkSpec,
    RelaySpec,
    SharedSpec,
    Table,
)

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = [
    "ClusterSpec",
    "GatewaySpec",
    "Grid",
    "LinkSpec",
    "NetworkSpec",
    "RelaySpec",
    "SharedSpec",
    "load",
    "parse",
    "two_halves",
]

_TABLES: dict[str, type[Table]] = {
    "grid": InnerSpec,
    "cluster": ClusterSpec,
    "network": NetworkSpec,
    "gateway": GatewaySpec,
    "link": LinkSpec,
    "relay": RelaySpec,
    "shared": SharedSpec,
}


def two_halves() -> Grid:
    """The grid of `isthmus run` without -g: two clusters on this host."""
    # No checks are needed: making their rules takes 7 ms (2026-11).
    halves = {name: ClusterSpec.model_construct() for name in ("east", "west")}
    return Grid.model_construct(cluster=halves)


def load(path: Path) -> Grid:
    """Reads and checks a grid file, with the files that it includes. UsageError names the file, the
    line and the key."""
    return _load(path, ())


def parse(text: str, name: str) -> Grid:
    """As `load`, for text. `name` stands for the file in messages; files of inner grids are sought
    in its folder."""
    return _parse(text, name, (Path(name),))


def texts(path: Path) -> Iterator[str]:
    """The texts of a readable grid file: its own, and those of the files that it includes."""
    text = path.read_text(encoding="utf-8-sig")
    yield text
    for spec in tomllib.loads(text).get("grid", {}).values():
        yield from texts(innergrids.path_of(path, spec["file"]))


def _load(path: Path, above: tuple[Path, ...]) -> Grid:
    """`above` are the files that include this one, the outermost first."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # editors on Windows put a mark first
    except OSError as error:
        raise UsageError(f"cannot read the grid file {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        utf16 = path.read_bytes()[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        what = "is UTF-16 text" if utf16 else "is not UTF-8 text"
        raise UsageError(f"{path}: the grid file {what}", "Save it as UTF-8.") from None
    return _parse(text, str(path), (*above, path))


def _parse(text: str, name: str, files: tuple[Path, ...]) -> Grid:
    """`files` are the files that are being read, this one last."""
    at = _File(text, name)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: not valid TOML: {error}") from None
    try:
        own = Grid.model_validate(data)
    except ValidationError as error:
        # The first one in the file; but a misspelt key tells more than a missing one.
        first = min(
            error.errors(),
            key=lambda e: (e["type"] == "missing", gridtext.line_of(text, e["loc"]) or 0),
        )
        loc = _key_path(data, first["loc"])
        raise at.wrong(loc, _explain(dict(first), loc)) from None
    if not own.cluster and not own.grid:
        needed = "a grid needs at least one [cluster.NAME]"
        what = f"has none: {needed}" if "cluster" in data else f"is missing: {needed}"
        raise at.wrong(("cluster",), what)
    inner = _inner(own, at, files)
    whole = innergrids.joined(own, inner) if inner else own
    if inner:
        _check_inner(own, inner, at)
    _check_names(own.model_copy(update={"cluster": whole.cluster}), at)
    for key, what in gridsense.troubles(own, whole):
        raise at.wrong(key, what)
    return whole


@dataclass(frozen=True)
class _File:
    """The text of a grid file, and its name in messages."""

    text: str
    name: str

    def wrong(self, loc: gridtext.Path, what: str) -> UsageError:
        line = gridtext.line_of(self.text, loc)
        where = f"{self.name}:{line}" if line else self.name
        return UsageError(f"{where}: {gridtext.written(loc)} {what}")


def _inner(own: Grid, at: _File, files: tuple[Path, ...]) -> dict[str, Grid]:
    """The grids that the file includes, with their clusters named as here."""
    found = {}
    for inner, spec in own.grid.items():
        key = ("grid", inner)
        _check_name(inner, key, at)
        if inner in own.cluster:
            raise at.wrong(key, "is also the name of a cluster")
        path = innergrids.path_of(files[-1], spec.file)
        ring = [file for file in files if file.resolve() == path.resolve()]
        if ring:
            way = " -> ".join(map(str, [*files[files.index(ring[0]) :], path]))
            what = f"is a file that includes this one: {way}; a grid cannot contain itself"
            raise at.wrong((*key, "file"), what)
        if not path.is_file():
            what = f"is '{spec.file}', but {path} does not exist; paths start at this file's folder"
            raise at.wrong((*key, "file"), what)
        found[inner] = innergrids.prefixed(inner, _load(path, files))
    return found


def _check_inner(own: Grid, inner: Mapping[str, Grid], at: _File) -> None:
    """Checks names that meet from several files."""
    for table, one, source in innergrids.twice(own, inner):
        what = f"includes a {table} '{one}', but another has that name; rename one of them"
        raise at.wrong(("grid", source), what)
    for source, part in inner.items():
        for cluster in part.cluster:
            _check_name(cluster, ("grid", source), at)
    links = [link for part in inner.values() for link in part.link]
    for index in range(len(own.link)):
        _check_link_name(at, index, own.link, links)
    taken = [r"relay\d*"] if any(part.relay for part in inner.values()) else []
    taken += ["launcher"] if any(link.reach == "ssh" for link in links) else []
    for cluster in own.cluster:
        if any(re.fullmatch(pattern, cluster) for pattern in taken):
            what = "is also the name of a relay of an inner grid; rename the cluster"
            raise at.wrong(("cluster", cluster), what)


def _check_name(one: str, key: gridtext.Path, at: _File) -> None:
    """Checks the name of a cluster or an inner grid."""
    if not re.fullmatch(WORD, one):
        made = "" if one == key[-1] else f"makes '{one}', which "
        what = f"{made}is not a valid name: use"
        allowed = "letters, digits, '_', '.' and '-', beginning with a letter or a digit"
        more = ", and at most 64 characters" if len(one) > 64 else ""
        raise at.wrong(key, f"{what} {allowed}{more}")


def _key_path(data: Any, loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """The path without the steps that pydantic adds for unions and keys of mappings."""
    path: list[int | str] = []
    for step in loc:
        if isinstance(data, (dict, list)):
            path.append(step)
            try:
                data = data[step]  # type: ignore[index]
            except (KeyError, IndexError, TypeError):
                data = None
    return tuple(path)


def _explain(error: dict[str, Any], loc: tuple[int | str, ...]) -> str:
    kind, value = error["type"], error.get("input")
    if kind == "extra_forbidden":
        model = _TABLES.get(str(loc[0]), Grid) if len(loc) > 1 else Grid
        known = list(model.model_fields)
        near = did_you_mean(str(loc[-1]), known)
        return f"is not a key of a grid file{near}; allowed here: {listing(known)}"
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    if kind in ("greater_than_equal", "less_than_equal"):
        limit = error["ctx"].get("ge", error["ctx"].get("le"))
        word = "least" if kind == "greater_than_equal" else "most"
        return f"must be at {word} {limit}; it is {value}"
    if kind == "greater_than":
        return f"must be more than {error['ctx']['gt']:g}; it is {value}"
    if kind == "string_too_short":
        return "must not be empty"
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
    if kind == "dict_type" and len(loc) == 1 and isinstance(value, list):
        return f"needs names: write [{loc[0]}.NAME], once for each {loc[0]}"
    return f"must be {wanted}; it is {_toml_type(value)}"


def _toml_type(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the string '{value}'"
    return "an array" if isinstance(value, list) else "a table"


def _check_names(grid: Grid, at: _File) -> None:
    """Checks names that refer to each other, which a model alone cannot see."""

    def check_cluster(key: gridtext.Path, name: str) -> None:
        if name in grid.cluster:
            return
        if name in grid.grid:
            what = f"names the grid '{name}'; name one of its clusters"
        else:
            near = did_you_mean(name, grid.cluster)
            what = f"names a cluster '{name}' that is not in the file{near}"
        raise at.wrong(key, f"{what}; its clusters: {listing(grid.cluster)}")

    for cluster in grid.cluster:
        _check_name(cluster, ("cluster", cluster), at)
    if grid.files is not None:
        check_cluster(("files",), grid.files)
    for network, spec in grid.network.items():
        if spec.subnet and spec.interface:
            key = ("network", network, "interface")
            raise at.wrong(key, "and 'subnet' are both given; give one of them")
    for index, gateway in enumerate(grid.gateway):
        _check_gateway(at, index, gateway, check_cluster)
    for index, relay in enumerate(grid.relay):
        for cluster in relay.between:
            check_cluster(("relay", index, "between"), cluster)
        _check_relay(at, index, relay)
        if "relay" in grid.cluster or any(re.fullmatch(r"relay\d+", n) for n in grid.cluster):
            raise at.wrong(("relay", index), "is also the name of a cluster")
    for index, shared in enumerate(grid.shared):
        where = ("shared", index, "between")
        if len(shared.between) < 2:
            count = len(shared.between)
            raise at.wrong(where, f"must name at least two pairs of clusters; it has {count}")
        for pair in shared.between:
            if len(set(pair)) != 2 or len(pair) != 2:
                has = listing(pair) or "none"
                what = f"must have two clusters in each pair; one pair has {has}"
                raise at.wrong(where, what)
            for cluster in pair:
                check_cluster(where, cluster)
    for index, link in enumerate(grid.link):
        where = ("link", index, "between")
        if len(link.between) != 2:
            raise at.wrong(where, f"must name two clusters; it names {len(link.between)}")
        for cluster in link.between:
            check_cluster(where, cluster)
        if link.compress and link.reach == "direct":
            what = 'needs gateways, but reach = "direct" bypasses them'
            raise at.wrong(("link", index, "compress"), what)
        if link.net == "ucx" and link.encrypt:
            what = "is 'ucx', which cannot encrypt; add 'encrypt = false', or remove 'net'"
            raise at.wrong(("link", index, "net"), what)
        if len(set(link.between)) == 1:
            raise at.wrong(where, f"links '{link.between[0]}' to itself")
        _check_link_name(at, index, grid.link)
        if link.reach == "ssh" and "launcher" in grid.cluster:
            what = "makes a relay named 'launcher'; rename the cluster of that name"
            raise at.wrong(("cluster", "launcher"), what)


def _check_link_name(
    at: _File, index: int, links: list[LinkSpec], others: Sequence[LinkSpec] = ()
) -> None:
    link = links[index]
    what = ""
    if link.name in ("direct", "gateway"):
        what = (
            f"is '{link.name}', which the info key isthmus_link reserves for links without a name"
        )
    elif link.name and link.reach == "ssh":
        what = "has no effect: programs cannot choose links by ssh"
    for other in [*others, *links[:index]] if link.name else []:
        if other.name == link.name and set(other.between) == set(link.between):
            what = what or "is also the name of another link between the same clusters"
    if what:
        raise at.wrong(("link", index, "name"), what)


def _check_relay(at: _File, index: int, relay: RelaySpec) -> None:
    own = ("host", "prefix", "address", "port", "listen", "threads")
    started = [key for key in own if key in relay.model_fields_set]
    if relay.service and started:
        what = "is for a relay that the run starts; one with 'service' runs already"
        raise at.wrong(("relay", index, started[0]), what)
    _check_ports(at, ("relay", index), relay)
    if bool(relay.service) != bool(relay.key):
        missing, given = ("key", "service") if relay.service else ("service", "key")
        what = f"is missing, but '{given}' needs it: give a service and the file of your key for it"
        raise at.wrong(("relay", index, missing), what)


def _check_ports(at: _File, table: gridtext.Path, door: GatewaySpec | RelaySpec) -> None:
    listens = door.listen or door.address
    if door.port and listens and not all(address.endswith(":0") for address in listens):
        told = "listen" if door.listen else "address"
        raise at.wrong((*table, "port"), f"is also given by '{told}'; give it once")
    told_ports = [("port", door.port)]
    told_ports += [("address", each) for each in door.address or ()]
    told_ports += [("listen", each) for each in door.listen or ()]
    for key, ports in told_ports:
        found = port_count(ports) if ports else 0
        if found and found < door.threads:
            what = f"has {found} of the {door.threads} ports that its 'threads' need"
            example = f"{'' if key == 'port' else ':'}7400-{7399 + door.threads}"
            raise at.wrong((*table, key), f"{what}; give a range, such as '{example}'")


def _check_gateway(
    at: _File,
    index: int,
    gateway: GatewaySpec,
    check_cluster: Callable[[gridtext.Path, str], None],
) -> None:
    def wrong(key: str, what: str) -> UsageError:
        return at.wrong(("gateway", index, key), what)

    if gateway.cluster and gateway.clusters:
        raise wrong("clusters", "and 'cluster' are both given; give one of them")
    if not gateway.serves:
        raise wrong("cluster", "is missing; give it, or 'clusters' if the gateway serves several")
    key = "clusters" if gateway.clusters else "cluster"
    for cluster in gateway.serves:
        check_cluster(("gateway", index, key), cluster)
        if gateway.serves.count(cluster) > 1:
            raise wrong(key, f"names '{cluster}' twice")
    for key, given in (("address", gateway.address), ("listen", gateway.listen)):
        if given is not None and len(given) not in (1, len(gateway.serves)):
            clusters = f"{len(gateway.serves)} cluster{'s' if len(gateway.serves) > 1 else ''}"
            count = f"has {len(given)} entries, but the gateway serves {clusters}"
            raise wrong(key, f"{count}; give one, or one for each")
    _check_ports(at, ("gateway", index), gateway)
