"""Finds launchers of other runs, by the names of their ports."""

import asyncio
import contextlib
import json
from functools import partial
from pathlib import Path

from isthmus.base.errors import IsthmusError
from isthmus.meeting import dialling, door
from isthmus.run.agent import Message
from isthmus.run.portname import PortName
from isthmus.run.ports import Ports, refusal
from isthmus.run.wire import MOST_LINE, RefusedError
from isthmus.seeing import runs

_LIMIT = 5.0  # seconds to connect within this host
_LOOKUP = 2.0  # seconds that another run has to answer about a name
_AGAIN = 0.25  # seconds between looks for a name


async def launcher(
    port: PortName, limit: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection to the launcher of the run that has the port, within `limit` seconds.
    RefusedError."""
    deadline = asyncio.get_running_loop().time() + limit
    for folder in runs.folders():
        path = folder / port.job
        if not path.is_socket():
            continue
        with contextlib.suppress(OSError, asyncio.TimeoutError):
            here = deadline if not port.at else min(deadline, deadline - limit + _LIMIT)
            return await dialling.dialled(partial(_open, path), here)
    if port.at:
        try:
            return await dialling.dialled(lambda: door.dial(port), deadline)
        except (OSError, IsthmusError, asyncio.TimeoutError) as error:
            why = dialling.why(error)
            tried = f", in {limit:g} s" if dialling.may_pass(error) else ""
        raise RefusedError(
            "port",
            f"the run {port.job}, whose port {port.shown} is, cannot be reached at "
            f"{port.place}{tried}: {why}",
        )
    raise RefusedError(
        "port",
        f"the run {port.job}, whose port {port.shown} is, is not on this host: it has ended, or "
        "belongs to another user or host (then it needs --guests-at)",
    )


async def _open(path: Path) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.wait_for(asyncio.open_unix_connection(path, limit=MOST_LINE), _LIMIT)


async def waited_for(service: str, own: str, limit: float, ports: Ports) -> Message:
    """The answer to a rank of the run `own`, within `limit` seconds; `ports` has that run's
    names."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + limit
    while True:
        answer = ports.lookup(service)
        if "port" in answer:
            return answer
        if port := await published(service, own):
            return {"port": port}
        if clock() >= deadline:
            return _unknown(service, limit)
        await asyncio.sleep(min(_AGAIN, max(0, deadline - clock())))


def _unknown(service: str, limit: float) -> Message:
    """A refusal with the remedy."""
    when = f" within {limit:g} s" if limit else ""
    remedy = "" if limit else "; the info key timeout of MPI_Lookup_name waits for it"
    said = f"the name '{service}' is not published{when} in this run, nor in others of this user"
    return refusal("name", f"{said} on the host of its launcher{remedy}")


async def published(service: str, own: str) -> str | None:
    """The port that another run of this user on this host has published under that name."""
    paths = [
        path
        for folder in runs.folders()
        for path in sorted(folder.glob("isthmus-*"))
        if path.name != own
    ]
    told = await asyncio.gather(*(_ask(path, service) for path in paths))
    return next((port for port in told if port), None)


async def _ask(path: Path, service: str) -> str | None:
    """Returns None if that run has no such name, or does not answer in time."""

    async def ask() -> object:
        reader, writer = await asyncio.open_unix_connection(path, limit=MOST_LINE)
        try:
            question = {"ask": "lookup", "service": service}
            writer.write(json.dumps(question).encode() + b"\n")
            await writer.drain()
            return json.loads(await reader.readline())
        finally:
            writer.close()

    with contextlib.suppress(OSError, ValueError, asyncio.TimeoutError):
        answer = await asyncio.wait_for(ask(), _LOOKUP)
        port = answer.get("port") if isinstance(answer, dict) else None
        return port if isinstance(port, str) else None
    return None
