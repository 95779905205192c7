"""The commands `isthmus submit`, `join`, `jobs`, `attach` and `cancel`."""

import contextlib
import os
import secrets
import shlex
import shutil
import signal
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from isthmus.base import completing, hostport
from isthmus.base.errors import RunError, UsageError, listing
from isthmus.base.relay import Voice
from isthmus.doors.keys import Lock, make_key, write_private
from isthmus.grid.grid import load as load_grid
from isthmus.job.argv import RunOptions
from isthmus.job.execution import (
    spares_of,
    tell_files,
    tell_networks,
    tell_reproducible,
    with_more_room,
)
from isthmus.place.plan import ClusterPlan, Plan, make_plan
from isthmus.place.survival import of_run
from isthmus.profile.writing import ProfileFile
from isthmus.queues import joiner, place, scripts, submission
from isthmus.queues.door import Policy
from isthmus.queues.listed import state_of
from isthmus.queues.options import SubmitOptions
from isthmus.queues.orchestrator import Orchestrator, detach
from isthmus.queues.submission import Part
from isthmus.queues.times import seconds_of
from isthmus.run.command import agent_command

_FOLLOW_PAUSE = 0.2  # seconds between checks for more output


def submit(run: RunOptions, options: SubmitOptions) -> int:
    """Writes and submits the scripts, leaves the orchestrator behind, and returns; or shows the
    scripts. Returns the exit status."""
    if run.hosts:
        raise UsageError(
            "`isthmus submit` takes no -H or --hostfile: batch jobs run where the queue puts them",
            "Ask for nodes by 'batch' of each cluster in the grid file.",
        )
    file = run.grid or os.environ.get("ISTHMUS_GRID")
    if not file:
        raise UsageError(
            "`isthmus submit` needs a grid file, with clusters that have a 'scheduler'",
            "Name it by -g FILE, or by ISTHMUS_GRID.",
        )
    grid = load_grid(Path(file))
    for name, spec in grid.cluster.items():
        if spec.start:
            raise UsageError(
                f"cluster '{name}' has 'start', but `isthmus submit` needs ssh",
                "Name its host by 'host', or start the job by `isthmus run`.",
            )
    spares = spares_of(grid, run.spares)
    grid = with_more_room(grid, run, spares)
    tell_networks(Path(file), grid, run, Voice(run.verbose))
    tell_files(grid, run)
    tell_reproducible(grid, run)
    if run.job.guests_at:
        raise UsageError("submitted runs do not support --guests-at")
    outward = run.profile is not None
    plan = make_plan(
        grid,
        run.parts,
        run.map,
        joining=True,
        outward=outward,
        guests=run.guests,
        spares=spares,
    )
    names = [cluster.name for cluster in plan.clusters]
    plan.survival = of_run(grid, names, survive=run.survive, least=run.min_clusters, spares=spares)
    _check_schedulers(plan)
    profile = ProfileFile.of_command_line(run.profile, run.parts) if run.profile else None
    plan = replace(plan, job=f"isthmus-{secrets.token_hex(4)}")
    host, port = _meeting_point(options.meet or grid.meet)
    length = seconds_of("--time", options.time)
    policy = Policy(hold=seconds_of("--hold", options.hold), wait=run.job.wait)
    if run.dry_run:
        _show(plan, hostport.join(host, port or "PORT"), length)
        return 0
    listening = _listen(host, port)
    to = hostport.join(host, listening.getsockname()[1])
    door = make_key()
    keys = {cluster.name: make_key() for cluster in _queued(plan)}
    here = _new_place(plan)
    texts = {cluster: key.of_part(door) for cluster, key in keys.items()}
    parts = _hand_out(plan, here, texts, to, length, by_hand=options.by_hand)
    here.note(
        "job.json",
        {
            "parts": [part.facts() for part in parts],
            "program": [shlex.join(part.argv) for part in run.parts],
            "at": to,
            "submitted": time.time(),
        },
    )
    orchestrator = _orchestrator(here, Lock(door, keys), plan, parts, run, profile, policy)
    sys.stdout.flush()
    pid = detach(orchestrator, here, listening)
    here.note("process.json", {"pid": pid, "host": socket.gethostname()})
    print(f"{here.name}: `isthmus attach {here.name}` shows its output")
    return 0


def _queued(plan: Plan) -> list[ClusterPlan]:
    """The clusters that get batch jobs."""
    return [*plan.clusters, *plan.spares]


def _check_schedulers(plan: Plan) -> None:
    without = [c.name for c in _queued(plan) if not c.spec.scheduler]
    if without:
        raise UsageError(
            f"{'clusters' if len(without) > 1 else 'cluster'} {listing(without)}: the grid file "
            "names no 'scheduler', so there is no queue for the job",
            'Give each cluster one, as in scheduler = "slurm"; or start the job by `isthmus run`.',
        )


def _show(plan: Plan, to: str, length: float | None) -> None:
    for cluster in _queued(plan):
        part, script = _prepared(plan, cluster, None, to, length)
        where = f" on {part.host}" if part.host else ""
        print(f"==== cluster {cluster.name}{where}: {part.scheduler.submit}\n{script}")


def _new_place(plan: Plan) -> place.Place:
    """It has files for the output."""
    here = place.create(plan.job)
    for name in ("out", "err"):
        here.file(name).touch(0o600)
    return here


def _hand_out(
    plan: Plan,
    here: place.Place,
    keys: Mapping[str, str],
    to: str,
    length: float | None,
    *,
    by_hand: bool,
) -> list[Part]:
    """Submits the part of each cluster, or prints how to do it by hand. If one is refused, those
    before it are taken back."""
    parts: list[Part] = []
    for cluster in _queued(plan):
        part, script = _prepared(plan, cluster, here, to, length)
        bundle = part.bundle(script, keys[cluster.name])
        if by_hand:
            file = write_private(here.file(f"{cluster.name}.submit"), bundle)
            there = f"ssh {part.host} sh -s < {file}" if part.host else f"sh {file}"
            print(f"cluster {cluster.name}: {there}")
        else:
            try:
                part = replace(part, identifier=part.submit(bundle))
            except Exception:
                submission.cancel_all(parts)
                shutil.rmtree(here.folder)
                raise
            print(f"cluster {cluster.name}: {part.scheduler.title} job {part.identifier}")
        parts.append(part)
    return parts


def _orchestrator(
    here: place.Place,
    lock: Lock,
    plan: Plan,
    parts: Sequence[Part],
    run: RunOptions,
    profile: ProfileFile | None,
    policy: Policy,
) -> Orchestrator:
    commands = [
        agent_command(a.host, a.prefix, str(Path.cwd()), "gateway") if not a.joins else []
        for a in plan.agents
    ]
    job = replace(run.job, wait=None, profile=profile)
    return Orchestrator(here, lock, plan, commands, parts, job, policy, Voice(run.verbose))


def _meeting_point(text: str | None) -> tuple[str, int]:
    """The place where agents dial in: a name of this host, and a port; 0 is any."""
    if not text:
        return _name_of_this_host(), 0
    host, port = hostport.split(text)
    if port is None:
        return host, 0
    if not (host and port.isdecimal() and int(port) < 1 << 16):
        raise UsageError(
            f"'{text}' is not an address for jobs to connect to",
            "Write HOST or HOST:PORT, in --meet or as meet in the grid file.",
        )
    return host, int(port)


def _name_of_this_host() -> str:
    for name in (socket.getfqdn(), socket.gethostname()):
        if name.partition(".")[0] != "localhost":
            return name
    print(
        "isthmus: the only name of this host is 'localhost', which other hosts cannot reach\n"
        "  Give another name by --meet HOST[:PORT].",
        file=sys.stderr,
    )
    return "localhost"


def _listen(host: str, port: int) -> socket.socket:
    try:
        return hostport.listening(port)
    except OSError as error:
        raise UsageError(
            f"cannot listen at {host} port {port}: {error.strerror}",
            "Name another port by --meet HOST:PORT, or leave the port out.",
        ) from None


def _prepared(
    plan: Plan,
    cluster: ClusterPlan,
    here: place.Place | None,
    to: str,
    length: float | None,
) -> tuple[Part, str]:
    """A cluster's part and its script; with `here` None, only for display. A spare cluster asks for
    all its slots."""
    spec, block = cluster.spec, cluster.block
    scheduler, template = submission.scheduler_of(spec)
    local = shlex.quote(str(here.folder)) if here else "JOBS"
    folder = local if spec.host is None else f'"$HOME"/.isthmus-jobs/{plan.job}'
    script = scripts.PartScript(
        name=plan.job,
        cluster=cluster.name,
        n=block.size or spec.slots or 1,
        folder=folder,
        to=to,
        isthmusd=submission.isthmusd_there(spec),
        wdir=block.wdir or spec.wdir or str(Path.cwd()),
        time=length,
        options=spec.batch,
        setup=spec.setup,
    )
    return Part(cluster.name, spec.host, scheduler, folder), scripts.text(
        script, scheduler, template
    )


def join(words: Sequence[str]) -> int:
    """`isthmus join`, which has a parser of its own: it also stands alone (joiner.py)."""
    return int(joiner.main(list(words)))


JobName = Annotated[
    str,
    typer.Argument(
        metavar="JOB",
        help="The job's name, or its first or last letters.",
        autocompletion=completing.jobs,
    ),
]


def attach(name: JobName) -> int:
    """Show the output of a submitted job as it comes. Ctrl-C leaves the job alone.

    The exit status is the job's."""
    job = place.find(name)
    with contextlib.ExitStack() as files:
        streams = [
            (files.enter_context(job.file(file).open("rb")), out)
            for file, out in (("out", 1), ("err", 2))
        ]
        while True:
            done = not job.lives
            for stream, out in streams:
                while data := stream.read(1 << 16):
                    os.write(out, data)
            if done:
                break
            time.sleep(_FOLLOW_PAUSE)
    said = job.facts("state.json")
    if said.get("state") != "ended":
        raise RunError(
            f"{job.name} is {state_of(job)}",
            f"`isthmus cancel {job.name}` removes what may be left of it in queues.",
        )
    return int(said.get("status", 1))


def cancel(name: JobName) -> None:
    """Cancel a submitted job: all its parts, queued or running."""
    job = place.find(name)
    process = job.facts("process.json")
    if job.lives:
        if process.get("host") != socket.gethostname():
            raise UsageError(f"{job.name} runs from {process.get('host')}", "Cancel it there.")
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(process["pid"]), signal.SIGTERM)
    parts = [submission.part_of(part) for part in job.facts("job.json").get("parts", [])]
    for trouble in submission.cancel_all(parts):
        print(f"isthmus: {trouble}", file=sys.stderr)
    while job.lives:
        time.sleep(_FOLLOW_PAUSE)
    print(f"{job.name}: {state_of(job)}")
