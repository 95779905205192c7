"""`isthmus jobs`: the jobs that were submitted from here."""

import asyncio
import json
import shutil
import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from isthmus.base import completing
from isthmus.base.errors import UsageError, listing
from isthmus.base.options import AsJson
from isthmus.base.tables import console
from isthmus.base.units import length
from isthmus.queues import place, submission
from isthmus.queues.submission import Part
from isthmus.seeing.rows import Rows


def state_of(job: place.Place) -> str:
    """The state of a job in words."""
    said = job.facts("state.json")
    state = str(said.get("state", "unknown"))
    if state == "ended":
        status = said.get("status")
        if said.get("sentence") == "cancelled":
            return "cancelled"
        return "ended" if status == 0 else f"ended with status {status}"
    if not job.lives:
        return "lost: its process is gone"
    at = job.facts("job.json").get("at")
    return f"{state} at {at}" if state == "waiting" and at else state


def jobs(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[JOB]...",
            help="Only these jobs: the names, or their first or last letters.",
            autocompletion=completing.jobs,
            show_default=False,
        ),
    ] = None,
    ask: Annotated[bool, typer.Option("--ask", help="Also ask the schedulers, by ssh.")] = False,
    forget: Annotated[
        bool,
        typer.Option(
            "--forget", help="Remove the folders of jobs that have ended, with their output."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the jobs that were submitted from here, and what they wait for.

    Jobs that ended 30 days ago are forgotten. [bold]isthmus jobs --forget[/bold] forgets all that
    have ended, or those that are named."""
    found = [place.find(name) for name in names] if names else list(place.every())
    if forget:
        _forget(found, named=bool(names))
        return
    rows = [_row(job, ask=ask) for job in found]
    if as_json:
        print(json.dumps(rows))
    elif rows:
        _show(rows)
    else:
        print(f"no job was submitted from here, or all are forgotten ({place.home()})")


def _forget(found: Sequence[place.Place], *, named: bool) -> None:
    """UsageError if one that is named has not ended."""
    live = [job.name for job in found if job.lives]
    if named and live:
        raise UsageError(
            f"{listing(live)} {'has' if len(live) == 1 else 'have'} not ended",
            f"Wait, or cancel it: isthmus cancel {live[0]}",
        )
    for job in found:
        over = job.facts("state.json").get("state") == "ended"
        if not job.lives and (named or over):
            if not over:  # its parts may still be queued
                submission.cancel_all(parts_of(job))
            shutil.rmtree(job.folder)
            print(f"forgot {job.name}")


def parts_of(job: place.Place) -> list[Part]:
    return [submission.part_of(part) for part in job.facts("job.json").get("parts", [])]


def _row(job: place.Place, *, ask: bool) -> dict[str, Any]:
    """A job as `--json` shows it."""
    facts = job.facts("job.json")
    parts = parts_of(job)
    said = asyncio.run(_states(parts)) if ask and job.lives else [""] * len(parts)
    state = job.facts("state.json")
    return {
        "job": job.name,
        "state": state_of(job),
        "status": state.get("status"),
        "submitted": facts.get("submitted"),
        "program": facts.get("program", []),
        "parts": [
            {
                "cluster": part.cluster,
                "scheduler": part.scheduler.title,
                "id": part.identifier,
                "state": word.removesuffix(" None") or None,
                "here": _is_here(state, part.cluster),
                "left": state.get("left", {}).get(part.cluster),
            }
            for part, word in zip(parts, said, strict=True)
        ],
    }


def _show(rows: Sequence[dict[str, Any]]) -> None:
    table = Rows(
        ("job", "state", "age", "cluster", "in its queue", "program"),
        spare=("age", "program"),
        cropped="program",
    )
    for row in rows:
        age = length(time.time() - row["submitted"]) if row["submitted"] else ""
        cells, program = [row["job"], row["state"], age], " : ".join(row["program"])
        for part in row["parts"]:
            queued = f"{part['scheduler']} job {part['id']}" if part["id"] else "by hand"
            here = None if part["here"] is None else _HERE[part["here"]]
            words = [queued, part["state"], _left(part["left"]) or here]
            table.add(*cells, part["cluster"], ", ".join(filter(None, words)), program)
            cells, program = ["", "", ""], ""
        if not row["parts"]:
            table.add(*cells, "", "", program)
    console().print(table)


_HERE = {True: "has connected", False: "has not connected"}


def _is_here(state: dict[str, Any], cluster: str) -> bool | None:
    """Whether a part is connected; It is None if nobody needs to know."""
    if "here" in state:
        return cluster in state["here"]
    known = state.get("spares", {}).get(cluster)
    return known if isinstance(known, bool) else None


def _left(said: dict[str, Any] | None) -> str:
    """When and why a part has left; empty if it has not."""
    if not said:
        return ""
    return f"left {length(time.time() - said['at'])} ago: {said['why']}"


async def _states(parts: Sequence[Part]) -> list[str]:
    return await asyncio.gather(*(part.state() for part in parts))
