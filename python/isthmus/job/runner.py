"""Starts the agents of a run, then imports the modules that run it. Both take as long, so they
happen at the same time."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from isthmus.base.relay import Voice
from isthmus.job.joboptions import JobOptions
from isthmus.place.plan import Plan
from isthmus.run.members import Members, log_of

if TYPE_CHECKING:
    from isthmus.job.job import Result


def run_job(
    plan: Plan, commands: Sequence[Sequence[str]], options: JobOptions, voice: Voice
) -> "Result":
    """Runs a job to its end, in a loop of its own. `commands[i]` starts the agent
    `plan.agents[i]`."""

    async def main() -> "Result":
        members = Members(plan, commands, log_of(voice))
        await members.launch()
        from isthmus.job.job import Job  # noqa: PLC0415  (35 ms, in which the agents start; 2026-11)

        return await Job(plan, members, options, voice).run()

    return asyncio.run(main())
