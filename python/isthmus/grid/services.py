"""Relays that are services of a site: `isthmusd serve` on a host that both clusters can dial. Two
gateways that a service links each have a connection to it, and their own encryption from end to
end."""

import os
import stat
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from isthmus.base import tomltext
from isthmus.base.errors import UsageError
from isthmus.grid.grid import Grid, LinkSpec, RelaySpec
from isthmus.grid.routes import GatewayLink

_MOST_OF_KEY = 4096


class ServedLink(LinkSpec):
    """A link by services ("host:port"), of which the first to answer is used."""

    services: tuple[str, ...] = ()


def members(grid: Grid, relay: RelaySpec) -> list[str]:
    """The clusters that meet at the relay."""
    return relay.between or list(grid.cluster)


def served_pairs(grid: Grid) -> dict[frozenset[str], list[str]]:
    """The services that join each pair of clusters."""
    pairs: dict[frozenset[str], list[str]] = {}
    for relay in grid.relay:
        for pair in combinations(members(grid, relay), 2) if relay.service else ():
            pairs.setdefault(frozenset(pair), []).append(str(relay.service))
    return pairs


def links(grid: Grid) -> list[LinkSpec]:
    """One for each two clusters that meet at a service and have no [[link]] of their own."""
    own = {frozenset(link.between) for link in grid.link}
    return [
        ServedLink(between=[a, b], services=tuple(dict.fromkeys(served)))
        for (a, b), served in (
            (pair, served_pairs(grid).get(frozenset(pair), []))
            for pair in combinations(grid.cluster, 2)
        )
        if served and frozenset((a, b)) not in own
    ]


def of_link(link: GatewayLink) -> list[str]:
    """The services that the link uses; none if it uses addresses."""
    return list(link.spec.services) if isinstance(link.spec, ServedLink) else []


class Keys:
    """A run's proofs for services: of each key a run gives away only a part for this job."""

    def __init__(self, files: Mapping[str, str], job: str) -> None:
        """`files` are the files of keys, by service. UsageError names a file that cannot be
        used."""
        self._job = job
        self._keys = {at: _load(at, Path(file).expanduser()) for at, file in files.items()}

    def for_agent(self, services: Iterable[str]) -> list[dict[str, str]]:
        """The keys as `configure` has them."""
        return [
            {"at": at, **proof(name, secret, self._job)}
            for at in sorted(set(services))
            for name, secret in [self._keys[at]]
        ]


def proof(key: str, secret: bytes, job: str) -> dict[str, str]:
    """Shows a service that a connection belongs to a job of the key's owner."""
    import hashlib  # noqa: PLC0415  (few runs have a service)
    import hmac  # noqa: PLC0415

    derived = hmac.new(secret, f"isthmus/1 service {job}".encode(), hashlib.sha256)
    return {"name": f"{key}/{job}", "secret": derived.hexdigest()}


def of_guests(grid: Grid, used: set[str]) -> dict[str, str]:
    """The files of keys, by service, for all services that clusters of a run reach, whether or not
    they meet there: other runs may."""
    return {
        str(relay.service): relay.key
        for relay in grid.relay
        if relay.service and relay.key and used & set(members(grid, relay))
    }


def _load(at: str, file: Path) -> tuple[str, bytes]:
    who = f"Ask the administrator of the service {at} for a key (isthmusd key add)."
    try:
        with file.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            text = opened.read(_MOST_OF_KEY)
    except OSError as error:
        raise UsageError(
            f"cannot read the key {file} of the [[relay]] {at}: {error.strerror}", who
        ) from None
    if stat.S_IMODE(mode) & 0o077:
        raise UsageError(
            f"others may read the key {file} of the [[relay]] {at}", f"chmod 600 {file}"
        )
    try:
        said = tomltext.loads(text.decode("utf-8-sig"))
        name, secret = str(said["id"]), bytes.fromhex(said["secret"])
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"the file {file} is not a key of a service", who) from None
    return name, secret
