"""Joins the gateways as for a run."""

import asyncio
import contextlib
import secrets

from isthmus.base.errors import IsthmusError, RunError
from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.doctor.findings import Finding
from isthmus.place.plan import Plan
from isthmus.run.agent import Agent, Message
from isthmus.run.bringup import BringUp
from isthmus.run.members import close_door, command_of


def join(plan: Plan) -> Finding:
    """Brings up agents and gateways as a run does, without ranks."""
    count = len(plan.links)
    gateways = len(plan.gateways)
    where = "1 gateway" if gateways == 1 else f"{gateways} gateways"
    try:
        asyncio.run(_bring_up(plan))
    except IsthmusError as error:
        return Finding(where, "joined", "fail", error.sentence, error.remedy)
    if not count:
        alone = "it listens" if gateways == 1 else "all listen"
        return Finding(where, "joined", "ok", f"{alone}, as for a run, and no link is needed")
    links = "1 link" if count == 1 else f"{count} links"
    return Finding(where, "joined", "ok", f"{links}, authenticated, as for a run")


async def _bring_up(plan: Plan) -> None:
    async def heard(agent: Agent, message: Message, payload: bytes) -> None:
        if message["op"] in ("error", "fault"):
            trouble.append(f"{agent.label}: {message.get('message')}")

    def lost(agent: Agent, sentence: str) -> None:
        trouble.append(sentence)

    trouble: list[str] = []
    agents = []
    for spec in plan.agents:
        agents.append(Agent(plan.where(spec), command_of(plan, spec, "."), target=spec.host))
    limits = Limits(link=20)
    steps = BringUp(plan, agents, secrets.token_hex(32), limits, Voice(verbose=False))
    try:
        await asyncio.gather(*(agent.start(heard, lost) for agent in agents))
        await steps.greet()
        await steps.configure()
        # If no launcher is found, a program may bring its own; the check of the MPI has said so.
        with contextlib.suppress(RunError):
            await steps.inspect()
        await steps.link()
        if trouble:
            raise RunError(trouble[0])
    finally:
        await asyncio.gather(*(agent.close(limits.close) for agent in agents))
        close_door(plan)
