"""The function behind `isthmus run`."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from isthmus.base.leftovers import Leftovers
from isthmus.base.relay import Voice
from isthmus.grid import allocation, hostlist, networktext
from isthmus.grid import grid as grids
from isthmus.job.argv import RunOptions
from isthmus.job.joboptions import JobOptions
from isthmus.job.runner import run_job
from isthmus.place.placement import with_room, without_spares
from isthmus.place.plan import Plan, make_plan
from isthmus.place.survival import of_run
from isthmus.run.members import close_door, command_of

if TYPE_CHECKING:
    from isthmus.job.job import Result


def run(options: RunOptions) -> int:
    """Runs the program, or prints the plan. Returns the exit status."""
    file = None if options.hosts else options.grid or os.environ.get("ISTHMUS_GRID")
    if options.hosts:
        grid = hostlist.grid_of(options.hosts)
    else:
        grid = grids.load(Path(file)) if file else allocation.without_file(os.environ)
    spares = spares_of(grid, options.spares)
    grid = with_more_room(grid, options, spares)
    voice = Voice(options.verbose)
    if file:
        tell_networks(Path(file), grid, options, voice)
    tell_files(grid, options)
    tell_reproducible(grid, options)
    job = options.job
    if options.profile:
        from isthmus.profile.writing import ProfileFile  # noqa: PLC0415  (it needs pydantic)

        profile = ProfileFile.of_command_line(options.profile, options.parts)
        job = replace(job, profile=profile)
    outward = job.profile is not None
    far = job.guests_at is not None or allocation.inside(os.environ)
    plan = make_plan(
        grid,
        options.parts,
        options.map,
        outward=outward,
        guests=options.guests,
        far=far,
        spares=spares,
    )
    plan.survival = of_run(
        grid,
        [cluster.name for cluster in plan.clusters],
        survive=options.survive,
        least=options.min_clusters,
        spares=spares,
        alone=plan.alone,
    )
    shield = not options.dry_run
    commands = [command_of(plan, agent, str(Path.cwd()), shield=shield) for agent in plan.agents]
    if options.dry_run:
        from isthmus.run import report  # noqa: PLC0415

        for line in report.dry_run(plan, commands):
            print(line)
        return 0
    door = Leftovers(plan.door) if plan.door else None
    try:
        result = run_job(plan, commands, job, voice)
    finally:
        close_door(plan)
        if door:
            door.remove()
    tell_results(plan, job, result, voice)
    return result.status


def spares_of(grid: grids.Grid, named: Sequence[str]) -> list[str]:
    """The spare clusters of the grid file, and those of the command line."""
    spares = [name for name, spec in grid.cluster.items() if spec.spare]
    return list(dict.fromkeys([*spares, *named]))


def with_more_room(grid: grids.Grid, options: RunOptions, spares: Sequence[str]) -> grids.Grid:
    """The grid with slots for all ranks, if --oversubscribe allows that."""
    if not options.oversubscribe:
        return grid
    room = with_room(without_spares(grid.cluster, spares), options.parts)
    return grid.model_copy(update={"cluster": {**grid.cluster, **room}})


def tell_results(plan: Plan, job: JobOptions, result: "Result", voice: Voice) -> None:
    """The statistics, the profile and the timeline of a run, as far as they were asked for."""
    if job.stats:
        from isthmus.run import report  # noqa: PLC0415

        report.stats_table(plan, result.stats)
    if job.profile:
        job.profile.write(plan, result.stats, result.told, result.status, voice.say)
    if job.trace and result.traces:
        from isthmus.seeing import timeline  # noqa: PLC0415  (seldom wanted)

        timeline.write(job.trace, plan, result.traces, result.stats, voice)


def tell_networks(file: Path, grid: grids.Grid, options: RunOptions, voice: Voice) -> None:
    """Completes ISTHMUS_NETWORK for all ranks with what the grid file says about its links. Then
    come the measurements of `isthmus tune` or, in their place, the user's figures. Later entries
    win."""
    from isthmus.tune import store  # noqa: PLC0415  (it needs pydantic)

    stored = store.read(file)
    if stored.trouble:
        voice.warn(stored.trouble)
    for part in options.parts:
        own = part.env.get("ISTHMUS_NETWORK", stored.network)
        networktext.check(own, grid)
        of_file = networktext.of_links(grid, networktext.said(own))
        if text := ",".join(filter(None, (of_file, own))):
            part.env["ISTHMUS_NETWORK"] = text


def tell_files(grid: grids.Grid, options: RunOptions) -> None:
    """Tells all ranks which cluster has the files of processes of several clusters."""
    for part in options.parts:
        if grid.files:
            part.env.setdefault("ISTHMUS_FILES", grid.files)


def tell_reproducible(grid: grids.Grid, options: RunOptions) -> None:
    """Tells all ranks that reductions have one order over ranks."""
    for part in options.parts if grid.reproducible else ():
        part.env.setdefault("ISTHMUS_REPRODUCIBLE", "1")
