"""Whether a cluster's native launcher starts a program on its hosts: `true`, as a run would."""

import asyncio
import secrets
import time
from collections.abc import Sequence

from isthmus.base.errors import IsthmusError, RunError
from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.doctor.findings import Finding, Say
from isthmus.grid.grid import Grid
from isthmus.grid.gridkeys import expand_hosts
from isthmus.grid.gridwriting import without_programs
from isthmus.place.placement import Part
from isthmus.place.plan import Plan, make_plan
from isthmus.run.agent import Agent, Message
from isthmus.run.bringup import BringUp
from isthmus.run.members import command_of
from isthmus.run.troubles import LauncherWords

_LIMIT = 30.0  # seconds: an ssh gives up a host after 15 or so; a queue may take longer
_QUOTED = 6  # lines of a launcher


def check(model: Grid, names: Sequence[str], say: Say) -> None:
    """One finding for each of these clusters, all at once."""
    bare = without_programs(model)
    plans = [make_plan(bare, [Part(["true"], _ranks(bare, name), on=name)]) for name in names]

    async def all_of_them() -> list[Finding]:
        return await asyncio.gather(*(_finding(plan) for plan in plans))

    for finding in asyncio.run(all_of_them()):
        say(finding)


def _ranks(model: Grid, name: str) -> int:
    """One rank for each host, as far as there are slots."""
    spec = model.cluster[name]
    hosts = len(expand_hosts(spec.hosts)) if spec.hosts else 1
    return min(hosts, spec.slots or hosts)


async def _finding(plan: Plan) -> Finding:
    where, ranks = plan.where(plan.agents[0]), plan.size
    limit = min(_LIMIT, Limits().start)
    begun = time.monotonic()
    try:
        await _start(plan, limit)
    except asyncio.TimeoutError:
        text = f"'true' did not end within {limit:g} s"
        if plan.clusters[0].spec.launcher == "srun":
            return Finding(where, "launch", "warn", f"{text}; it may wait in Slurm's queue")
        return Finding(where, "launch", "fail", text, "Start it by hand, with the same launcher.")
    except IsthmusError as error:
        label = f"{where}: "
        return Finding(where, "launch", "fail", error.sentence.removeprefix(label), error.remedy)
    hosts = f"{ranks} hosts" if ranks > 1 else "a host"
    text = f"started 'true' on {hosts} in {time.monotonic() - begun:.1f} s"
    return Finding(where, "launch", "ok", text)


async def _start(plan: Plan, limit: float) -> None:
    """RunError says why it did not start, or how it ended. TimeoutError: it did not end."""
    spec = plan.agents[0]
    cluster = plan.clusters[0].spec
    words = LauncherWords(cluster.hosts)
    said: list[bytes] = []
    ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    def fail(sentence: str, remedy: str = "") -> None:
        if not ended.done():
            ended.set_exception(RunError(sentence, remedy))

    async def heard(_agent: Agent, message: Message, payload: bytes) -> None:
        match message["op"]:
            case "output":
                said.append(payload)
                if trouble := words.hear(payload):
                    fail(*trouble.split("\n  ", 1))
            case "exit" if not ended.done():
                ended.set_result(int(message.get("status") or message.get("signal") or 0))
            case "error" | "fault":
                fail(str(message.get("message")), str(message.get("remedy") or ""))

    agent = Agent(plan.where(spec), command_of(plan, spec, "."), target=spec.host)
    limits = Limits()
    steps = BringUp(plan, [agent], secrets.token_hex(32), limits, Voice(verbose=False))
    try:
        await agent.start(heard, lambda _, sentence: fail(sentence))
        await steps.greet()
        await steps.configure()
        await steps.inspect()
        await steps.link()
        await steps.spawn(stdin=False, tag_output=False)
        if status := await asyncio.wait_for(ended, limit):
            lines = b"".join(said).decode(errors="replace").strip().splitlines()[-_QUOTED:]
            quoted = "".join(f"\n  | {line}" for line in lines)
            raise RunError(f"'true' could not be started: status {status}{quoted}")
    finally:
        await agent.close(limits.close)
