"""Addresses of gateways: where they listen, and where others reach them."""

from collections.abc import Sequence
from dataclasses import dataclass

from isthmus.grid.grid import GatewaySpec
from isthmus.grid.gridkeys import is_place

ANY_HOST = ("0.0.0.0", "[::]")
ANYWHERE = "tcp:[::]:0"  # by IPv4, too; an agent without IPv6 listens at 0.0.0.0


@dataclass(frozen=True)
class Place:
    """The place where a gateway listens, and its address for others if the grid file gives one."""

    listen: str
    address: str | None = None


def split_address(address: str) -> tuple[str, str]:
    """Splits "tcp:HOST:PORT" into the host and the port, or the range of ports."""
    host, _, port = address.removeprefix("tcp:").rpartition(":")
    return host, port


def _with_port(address: str, port: str | None) -> str:
    host, own = split_address(address)
    return f"tcp:{host}:{port}" if port and own == "0" else address


def _outside(address: str, listen: str, port: str) -> str:
    """The port at which others reach a gateway that listens at `port`: that of `address`. In a
    range it has the same position as in the range of `listen`."""
    first, dash, last = split_address(address)[1].partition("-")
    if not dash:
        return port if first == "0" else first
    start = split_address(listen)[1].partition("-")[0]
    found = int(first) + int(port) - int(start)
    return str(found) if int(first) <= found <= int(last) else port


def reachable(place: Place, listening: Sequence[str], hosts: Sequence[str]) -> list[str]:
    """The TCP addresses that others should try, best first. `listening` is the agent's answer
    about the place; `hosts` are names of its host, for a gateway that listens on all interfaces."""
    found: list[str] = []
    for address in listening:
        if not address.startswith("tcp:"):
            continue
        host, port = split_address(address)
        if place.address is not None:
            named, _ = split_address(place.address)
            found.append(f"tcp:{named}:{_outside(place.address, place.listen, port)}")
        elif host in ANY_HOST:
            found += [f"tcp:{name}:{port}" for name in hosts if name]
        else:
            found.append(address)
    return list(dict.fromkeys(found))


def is_fixed(spec: GatewaySpec) -> bool:
    """Whether the address names a certain host, rather than any host that the gateway runs on."""
    given = spec.listen or spec.address or ()
    return any(not is_place(split_address(text)[0].strip("[]")) for text in given)


def places_of(spec: GatewaySpec, names: Sequence[str], default: str) -> tuple[Place, ...]:
    """One place for each of its used clusters, or one place for all."""
    every = [
        _place(spec, index, default) for index, name in enumerate(spec.serves) if name in names
    ]
    return tuple(every) if len(set(every)) > 1 else (every[0],)


def _place(spec: GatewaySpec, index: int, default: str) -> Place:
    """The place for the cluster with that index."""

    def entry(given: tuple[str, ...] | None) -> str | None:
        text = given[min(index, len(given) - 1)] if given else None
        return _with_port(text, spec.port) if text else None

    address = entry(spec.address)
    listen = entry(spec.listen) or address or _with_port(default, spec.port)
    told = address is not None and not is_place(split_address(address)[0].strip("[]"))
    return Place(listen, address if told else None)
