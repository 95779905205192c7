"""Testbed files: the sites, their nodes, and the links between them."""

import itertools
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from isthmus.base import tomltext
from isthmus.base.errors import UsageError, did_you_mean, listing
from isthmus.base.quantities import Duration, Rate, Size
from isthmus.grid import gridtext, gridwords
from isthmus.grid.complaints import Complaint, Complaints

MOST_NODES = 250
_WIRE_KEYS = ("sites", "shape", "box")  # of a [[wan]] without a box


def _time(time: Duration) -> Duration:
    if time.seconds > 60:
        raise ValueError(f"must be at most 60 s; it is '{time}'")
    return time


def _mpi(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(f"must be an absolute path; it is '{text}'")
    return text


Time = Annotated[Duration, AfterValidator(_time)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Site(_Table):
    """A cluster: nodes at a switch, and a frontend at the same switch, unshaped. `cores` limits the
    processors of each node, for all its processes together."""

    nodes: Annotated[int, Field(ge=1, le=MOST_NODES)] = 2
    link: Rate | None = None
    slots: Annotated[int, Field(ge=1)] = 1
    cores: Annotated[float, Field(ge=0.01, le=1024, strict=False)] | None = None
    gateways: Annotated[int, Field(ge=0, le=MOST_NODES)] = 0
    firewall: Literal["open", "gateway", "outgoing"] = "open"
    private: bool = False
    mpi: Annotated[str, AfterValidator(_mpi)] | None = None
    scheduler: Literal["slurm"] | None = None


class Wan(_Table):
    """Links between sites: each pair of them, each with the next, or each with the first."""

    sites: Annotated[list[str], Field(min_length=2)]
    shape: Literal["mesh", "chain", "star"] = "mesh"
    delay: Time = Duration.parse("0 ms")
    rate: Rate | None = None
    queue: Size | None = None
    jitter: Time = Duration.parse("0 ms")
    loss: Annotated[float, Field(ge=0, le=1, strict=False)] = 0.0
    reorder: bool = False
    box: bool = True

    def settings(self) -> list[str]:
        """The keys in the file that concern a WAN box."""
        return [key for key in self.model_dump(exclude_defaults=True) if key not in _WIRE_KEYS]

    def pairs(self) -> list[tuple[str, str]]:
        names = self.sites
        if self.shape == "chain":
            return list(itertools.pairwise(names))
        if self.shape == "star":
            return [(names[0], other) for other in names[1:]]
        return [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]


class Zipper(_Table):
    """Hosts in the networks of two sites. If `forward`, the first of them forwards IP."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    nodes: Annotated[int, Field(ge=1, le=64)] = 1
    link: Rate | None = None
    forward: bool = False


class Tcp(_Table):
    """TCP settings of every node. The kernel grows a socket's buffers from the initial size up to
    `buffer`, and under memory pressure shrinks them to the least. A size that is not given is the
    kernel's."""

    congestion: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")] = "cubic"
    buffer: Size = Size.parse("64 MB")
    initial_buffer: Size | None = None
    least_buffer: Size | None = None
    slow_start_after_idle: bool = True


class Testbed(_Table):
    """A whole testbed file; sites in the order of the file."""

    __test__ = False  # for pytest, to which the name looks like a test

    description: str = ""
    mtu: Annotated[int, Field(ge=576, le=9000)] = 1500
    site: dict[str, Site]
    wan: list[Wan] = []
    zipper: list[Zipper] = []
    tcp: Tcp = Tcp()


def shipped() -> dict[str, Path]:
    """The testbeds that come with Isthmus, by name."""
    folder = Path(str(resources.files("isthmus_lab.lab") / "testbeds"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load(name: str) -> tuple[str, Testbed]:
    """A shipped testbed by its name, or a file by its path: its short name and itself."""
    known = shipped()
    path = known.get(name) or Path(name)
    if name not in known and not (path.suffix == ".toml" or "/" in name):
        raise UsageError(
            f"unknown testbed '{name}'{did_you_mean(name, known)}; shipped: {listing(known)}",
            "For a testbed of your own, give the path of its file (*.toml).",
        )
    text = tomltext.read(path, "the testbed file")
    return path.stem, parse(text, str(path))


def parse(text: str, name: str) -> Testbed:
    """As `load`, for text; `name` stands for the file in messages. UsageError has all errors."""
    return validated(tomltext.parse(text, name), text, name)


def validated(data: dict[str, Any], text: str, name: str) -> Testbed:
    """The testbed of these tables. UsageError has all errors."""
    wrong = Complaints(text, name)
    try:
        testbed = Testbed.model_validate(data)
    except ValidationError as error:
        for each in error.errors():
            loc = tuple(step for step in each["loc"] if not str(step).startswith("function-"))
            wrong.add(loc, gridwords.explain(dict(each), loc, _keys_at(loc), "a testbed file"))
        raise wrong.error() from None
    wrong.extend(_troubles(testbed))
    wrong.check()
    return testbed


def resized(testbed: Testbed, nodes: int | None, zippers: int | None) -> Testbed:
    """The same testbed with these numbers of nodes at every site, and of zipper nodes."""
    sites, zips = testbed.site, testbed.zipper
    if nodes is not None:
        if not 1 <= nodes <= MOST_NODES:
            raise UsageError(f"--nodes {nodes}: a site may have 1 to {MOST_NODES} nodes")
        sites = {name: site.model_copy(update={"nodes": nodes}) for name, site in sites.items()}
    if zippers is not None:
        if not zips:
            raise UsageError("--zippers: this testbed has no [[zipper]]")
        if not 1 <= zippers <= 64:
            raise UsageError(f"--zippers {zippers}: a testbed may have 1 to 64 zipper nodes")
        zips = [zipper.model_copy(update={"nodes": zippers}) for zipper in zips]
    made = testbed.model_copy(update={"site": sites, "zipper": zips})
    check_names(made, "", "the testbed")
    return made


def _keys_at(loc: tuple[int | str, ...]) -> list[str]:
    tables: dict[str, type[_Table]] = {"site": Site, "wan": Wan, "zipper": Zipper, "tcp": Tcp}
    model = tables.get(str(loc[0]), Testbed) if len(loc) > 1 else Testbed
    return list(model.model_fields)


def check_names(testbed: Testbed, text: str, name: str) -> None:
    """UsageError if sites have wrong names or links join wrong ones."""
    wrong = Complaints(text, name)
    wrong.extend(_troubles(testbed))
    wrong.check()


def _troubles(testbed: Testbed) -> Iterator[Complaint]:
    if not 1 <= len(testbed.site) <= 100:
        yield ("site",), "needs 1 to 100 tables [site.NAME]"
    for site in testbed.site:
        if not re.fullmatch(r"[a-z](?:[a-z0-9-]{0,8}[a-z])?", site) or site == "z":
            yield (
                ("site", site),
                "is not a name for a site: use at most 10 small letters, digits and '-', "
                "beginning and ending with a letter; 'z' is reserved for zipper nodes (z1, z2, "
                "...)",
            )
    for site, spec in testbed.site.items():
        at = ("site", site, "gateways")
        if spec.gateways > spec.nodes:
            yield at, f"is more than the site's {spec.nodes} nodes"
        if spec.gateways and (spec.private or spec.firewall != "open"):
            what = "needs nodes that can be reached from outside: no firewall, no private addresses"
            yield at, what
    yield from _wires(testbed)
    yield from _pairs(testbed)
    yield from _forwarding(testbed)
    yield from _buffers(testbed.tcp)


def _forwarding(testbed: Testbed) -> Iterator[Complaint]:
    """IP crosses a zipper node only between sites that hide nothing."""
    for i, zipper in enumerate(testbed.zipper):
        for site in zipper.between if zipper.forward else ():
            spec = testbed.site.get(site)
            if spec and (spec.private or spec.firewall != "open"):
                yield (
                    ("zipper", i, "forward"),
                    f"needs open sites without private addresses; '{site}' is not one",
                )


def _buffers(tcp: Tcp) -> Iterator[Complaint]:
    sizes = [("least_buffer", tcp.least_buffer), ("initial_buffer", tcp.initial_buffer)]
    given = [(key, size) for key, size in [*sizes, ("buffer", tcp.buffer)] if size is not None]
    for (less, small), (more, large) in itertools.pairwise(given):
        # A smaller `buffer` limits the others (see Network.tcp_memory).
        if small.bytes > large.bytes and more != "buffer":
            yield ("tcp", less), f"is more than tcp.{more}"


def _pairs(testbed: Testbed) -> Iterator[Complaint]:
    """Links that join nothing, or what is joined already."""
    seen: dict[frozenset[str], str] = {}
    linked: list[tuple[gridtext.Path, list[tuple[str, str]]]] = [
        (("wan", i, "sites"), wan.pairs()) for i, wan in enumerate(testbed.wan)
    ]
    linked += [
        (("zipper", i, "between"), [(z.between[0], z.between[1])])
        for i, z in enumerate(testbed.zipper)
    ]
    for where, pairs in linked:
        for site in dict.fromkeys(site for pair in pairs for site in pair):
            if site not in testbed.site:
                near = did_you_mean(site, testbed.site)
                yield where, f"names a site '{site}' that is not in the file{near}"
        for pair in pairs:
            key = frozenset(pair)
            if pair[0] == pair[1]:
                yield where, f"links '{pair[0]}' to itself"
            elif key in seen:
                yield where, f"links '{pair[0]}' and '{pair[1]}', which {seen[key]} links already"
            seen.setdefault(key, f"{where[0]}[{where[1]}]")


def _wires(testbed: Testbed) -> Iterator[Complaint]:
    """Links without a box do not delay, shape or filter."""
    for i, wan in enumerate(testbed.wan):
        if wan.box:
            continue
        for key in wan.settings():
            yield ("wan", i, key), "needs a WAN box; remove `box = false`, or this key"
        for site in wan.sites:
            spec = testbed.site.get(site)
            if spec and (spec.private or spec.firewall != "open"):
                what = (
                    f"needs a WAN box: it is the firewall of site '{site}' and hides its addresses"
                )
                yield ("wan", i, "box"), what
