"""Testbed files: the sites, their nodes, and the links between them."""

import itertools
import re
import sys
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from isthmus import gridtext
from isthmus.errors import UsageError, did_you_mean, listing
from isthmus.quantities import Duration, Rate, Size

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
    """Hosts that stand in the networks of two sites."""

    between: Annotated[list[str], Field(min_length=2, max_length=2)]
    nodes: Annotated[int, Field(ge=1, le=64)] = 1
    link: Rate | None = None


class Tcp(_Table):
    """TCP settings of every node."""

    congestion: Annotated[str, Field(pattern=r"^[a-z0-9_]{1,15}$")] = "cubic"
    buffer: Size = Size.parse("64 MB")
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
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"cannot read the testbed file {path}: {reason}") from None
    return path.stem, parse(text, str(path))


def parse(text: str, name: str) -> Testbed:
    """As `load`, for text; `name` stands for the file in messages."""
    try:
        testbed = Testbed.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{name}: not valid TOML: {error}") from None
    except ValidationError as error:
        raise complaint(error, text, name) from None
    check_names(testbed, text, name)
    return testbed


def complaint(error: ValidationError, text: str, name: str) -> UsageError:
    """The first error, in words; `text` is the text of the file `name`."""
    first = error.errors()[0]
    return _complaint(text, name, first["loc"], _explain(dict(first)))


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


def _complaint(text: str, name: str, loc: tuple[int | str, ...], what: str) -> UsageError:
    line = gridtext.line_of(text, loc)
    return UsageError(f"{name}{f':{line}' if line else ''}: {gridtext.written(loc)} {what}")


def _explain(error: dict[str, Any]) -> str:
    kind, loc = error["type"], error["loc"]
    if kind == "extra_forbidden":
        model: type[_Table] = Testbed
        for table, of in (("site", Site), ("wan", Wan), ("zipper", Zipper), ("tcp", Tcp)):
            if loc[0] == table and len(loc) > 1:
                model = of
        keys = list(model.model_fields)
        near = did_you_mean(str(loc[-1]), keys)
        return f"is not a key of a testbed file{near}; allowed here: {listing(keys)}"
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(error["ctx"]["error"])
    said = str(error["msg"])
    return f"is wrong: {said[0].lower()}{said[1:]}; it is {error.get('input')!r}"


def check_names(testbed: Testbed, text: str, name: str) -> None:
    """UsageError if sites have wrong names or links join wrong ones."""
    if not 1 <= len(testbed.site) <= 100:
        raise _complaint(text, name, ("site",), "needs 1 to 100 tables [site.NAME]")
    for site in testbed.site:
        if not re.fullmatch(r"[a-z](?:[a-z0-9-]{0,8}[a-z])?", site) or site == "z":
            raise _complaint(
                text,
                name,
                ("site", site),
                "is not a name for a site: use at most 10 small letters, digits and '-', "
                "beginning and ending with a letter; 'z' is reserved for zipper nodes (z1, z2, "
                "...)",
            )
    for site, spec in testbed.site.items():
        at = ("site", site, "gateways")
        if spec.gateways > spec.nodes:
            raise _complaint(text, name, at, f"is more than the site's {spec.nodes} nodes")
        if spec.gateways and (spec.private or spec.firewall != "open"):
            what = "needs nodes that can be reached from outside: no firewall, no private addresses"
            raise _complaint(text, name, at, what)
    _check_wires(testbed, text, name)
    seen: dict[frozenset[str], str] = {}
    joined = [(("wan", i, "sites"), wan.pairs()) for i, wan in enumerate(testbed.wan)]
    joined += [
        (("zipper", i, "between"), [(z.between[0], z.between[1])])
        for i, z in enumerate(testbed.zipper)
    ]
    for where, pairs in joined:
        for pair in pairs:
            for site in pair:
                if site not in testbed.site:
                    near = did_you_mean(site, testbed.site)
                    what = f"names a site '{site}' that is not in the file{near}"
                    raise _complaint(text, name, where, what)
            if pair[0] == pair[1]:
                raise _complaint(text, name, where, f"links '{pair[0]}' to itself")
            key = frozenset(pair)
            if key in seen:
                what = f"links '{pair[0]}' and '{pair[1]}', which {seen[key]} links already"
                raise _complaint(text, name, where, what)
            seen[key] = f"{where[0]}[{where[1]}]"


def _check_wires(testbed: Testbed, text: str, name: str) -> None:
    """Links without a box do not delay, shape or filter."""
    for i, wan in enumerate(testbed.wan):
        if wan.box:
            continue
        if keys := wan.settings():
            what = "needs a WAN box; remove `box = false`, or this key"
            raise _complaint(text, name, ("wan", i, keys[0]), what)
        for site in wan.sites:
            spec = testbed.site.get(site)
            if spec and (spec.private or spec.firewall != "open"):
                what = (
                    f"needs a WAN box: it is the firewall of site '{site}' and hides its addresses"
                )
                raise _complaint(text, name, ("wan", i, "box"), what)
