"""Tries a link with plain TCP between the hosts of its gateways, at the gateway's own port."""

import contextlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat

from isthmus.base.errors import IsthmusError
from isthmus.grid.addresses import Place, reachable, split_address
from isthmus.grid.gridkeys import is_place
from isthmus.measuring.ends import End
from isthmus.measuring.process import lines, started
from isthmus.measuring.runs import Run, run_from_json
from isthmus.measuring.tasks import LATENCY_BYTES, STREAM_BYTES, Task

_TASKS = (
    Task("pingpong", LATENCY_BYTES, 20),
    Task("pingpong", 8 * 1024, 2),  # packets as large as hosts send them
    Task("stream", STREAM_BYTES, 1, 2.0),
)
_UP_LIMIT = 40.0
_STEP_LIMIT = 90.0
_WIDE_LIMIT = 15.0  # TCP repeats a packet six times meanwhile


class UnreachableError(IsthmusError):
    """The gateway cannot listen, or cannot be reached."""


class NarrowError(IsthmusError):
    """The port opens, but full-sized packets do not pass."""


@dataclass(frozen=True)
class Measured:
    """`rtt` in seconds, `rate` in bits per second of one stream, `mtu` of the path (0: unknown)."""

    address: str
    rtt: float
    rate: float
    mtu: int
    retransmitted: int


def measure(near: End, far: End, place: Place, names: Sequence[str]) -> Measured:
    """Measures from `near` to `far`, which stands for a gateway; `names` are those of its host.
    UnreachableError has the answer from each address. NarrowError: see there."""
    ports = split_address(place.listen)[1]
    first, _, last = ports.partition("-")
    for port in range(int(first), int(last or first)):
        with contextlib.suppress(_TakenError):
            return _measure(near, far, place, names, str(port))
    return _measure(near, far, place, names, last or first)


class _TakenError(UnreachableError):
    """This port cannot be listened at."""


def _measure(near: End, far: End, place: Place, names: Sequence[str], port: str) -> Measured:
    host, _ = split_address(place.listen)
    host = ("[::]" if ":" in host else "0.0.0.0") if is_place(host) else host
    token = secrets.token_hex(16) + "\n"
    texts = [task.text for task in _TASKS]
    serve = [far.tcpbench(), "serve", host, port, *texts]
    with started(far.command(serve), None, token) as (server, said):
        try:
            first = next(lines(server, iter([_UP_LIMIT, 1.0])), "")
        except TimeoutError:
            first = ""
        word, _, actual = first.partition(" ")
        if word != "listening" or not actual.isdigit():
            with contextlib.suppress(Exception):
                server.wait(5)
            if server.returncode in (126, 127):
                raise UnreachableError(
                    "isthmus-tcpbench could not be started there",
                    "It is part of Isthmus: reinstall Isthmus there, and set 'prefix' to the "
                    "place.",
                )
            raise _TakenError(
                f"nothing can listen at {host} port {port} there{said.tail()}",
                "Give the gateway another 'address' or 'listen' in the grid file.",
            )
        answers = []
        addresses = reachable(place, [f"tcp:{host}:{actual}"], names)
        for address in addresses:
            try:
                return _play(near, address, texts, token)
            except UnreachableError as error:
                answers.append(error.sentence)
        raise UnreachableError(
            "; ".join(answers) or "it has no address for others",
            "Open the port in the firewall of the host that listens, or give the address for "
            "others by 'address' (and 'listen') in [[gateway]]. The cluster that comes first in "
            "the grid file connects to the other.",
        )


def _play(near: End, address: str, texts: Sequence[str], token: str) -> Measured:
    host, port = split_address(address)
    runs: list[Run] = []
    path: dict[str, int] = {}
    play = [near.tcpbench(), "play", "--path", host.strip("[]"), port, *texts]
    with started(near.command(play), None, token) as (client, said):
        try:
            limits = (_WIDE_LIMIT if len(runs) == 1 else _STEP_LIMIT for _ in repeat(None))
            for line in lines(client, limits):
                data = json.loads(line) if line.startswith("{") else {}
                if "task" in data:
                    runs.append(run_from_json(data))
                path |= data.get("path") or {}  # of the last run
        except (TimeoutError, ValueError, KeyError, TypeError) as error:
            if isinstance(error, TimeoutError) and len(runs) == 1:
                raise NarrowError(
                    f"{host} port {port} opens, but full-sized packets do not pass",
                    "Some network on the way takes smaller packets than the hosts' MTU, and drops "
                    "the ICMP messages that say so: let them pass, or lower the MTU of the hosts. "
                    "Until then a run needs some 20 s to notice, and sends small segments.",
                ) from None
            raise UnreachableError(f"{host} port {port}: nothing passes{said.tail()}") from None
        if len(runs) < len(texts):
            client.wait(10)
            why = said.tail().replace("\n  | isthmus-tcpbench: ", "").strip()
            raise UnreachableError(why or f"cannot connect to {host} port {port}")
    pingpong, _, stream = runs
    rate = 8 * stream.task.bytes * stream.messages[0] / stream.seconds[0]
    rtt, retransmitted = min(pingpong.seconds), path.get("retransmitted", 0)
    return Measured(address.removeprefix("tcp:"), rtt, rate, path.get("mtu", 0), retransmitted)
