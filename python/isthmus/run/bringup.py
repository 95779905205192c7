"""The steps that bring a run up, each on all agents at once."""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from isthmus.base.errors import IsthmusError, JointError, RunError
from isthmus.base.limits import Limits
from isthmus.base.relay import Voice
from isthmus.base.units import version_line
from isthmus.grid.routes import GatewayLink
from isthmus.place.plan import AgentPlan, Plan
from isthmus.place.staging import StagedFile
from isthmus.place.traceoptions import TraceOptions
from isthmus.run.agent import Agent, Message
from isthmus.run.configuring import Configuring
from isthmus.run.launcherhost import beside_launcher, is_here
from isthmus.run.nearness import Nearness
from isthmus.run.troubles import check_wire
from isthmus.run.worlds import Worlds

# Keys of an agent's `machine` in which all clusters must agree, and their names.
MUST_AGREE = {"long": "size of long"}
# The formats of long double, as "bits of precision/bytes", that are converted into each other.
LONG_DOUBLES = {"64/16", "113/16"}
_BESIDE = 3.0


class BringUp:
    """Call the steps in the order in which they stand. Each raises RunError."""

    def __init__(
        self,
        plan: Plan,
        agents: Sequence[Agent],
        secret: str,
        limits: Limits,
        voice: Voice,
        metrics: tuple[str, int] | None = None,
        *,
        traced: TraceOptions | None = None,
        native: Mapping[str, object] | None = None,
    ) -> None:
        self._plan = plan
        self._agents = list(zip(plan.agents, agents, strict=True))
        self._limits = limits
        self._voice = voice
        self._near = Nearness(plan, self._agents)
        self._machines: dict[int, Message] = {}  # cluster -> `machine` of the agent of its ranks
        self._configuring = Configuring(plan, secret, metrics, traced, native)
        self._worlds = Worlds(plan, self._near, self._machines)

    # -- hello -------------------------------------------------------------------------------

    async def greet(self) -> None:
        """Waits for every agent's hello, and checks that all agree in version and machine."""
        hellos = await _all(self.hear(agent) for _, agent in self._agents)
        self._same_machine([h.get("machine") or {} for h in hellos])
        self._near.memory = {
            spec.cluster: hello.get("memory")
            for (spec, _), hello in zip(self._agents, hellos, strict=True)
            if spec.has_ranks
        }
        self._plan.beside = beside_launcher(
            self._plan, [spec for spec, agent in self._agents if is_here(spec, agent)]
        )

    async def hear(self, agent: Agent) -> Message:
        """Waits for the agent's hello, which must have this number of the wire protocol."""
        hello = await agent.hello(self._limits.start)
        agent.host = str(hello.get("host") or "")
        agent.memory = str(hello.get("memory") or "")
        self._voice.narrate(
            f"{agent.label}: agent {hello.get('version')} ({hello.get('commit')}) on "
            f"{agent.host}, process {hello.get('pid')}"
        )
        check_wire(agent.label, hello)
        return hello

    def configuration(self, spec: AgentPlan) -> dict[str, object]:
        """The configuration of an agent that is added later."""
        return self._configuring.of(spec)

    def world(self, spec: AgentPlan) -> Message:
        return self._worlds.world(spec)

    def machine(self, cluster: int) -> Message:
        """The description that the agent of the cluster's ranks gave of its host."""
        return self._machines[cluster]

    def learn_machine(self, place: int, agent: Agent, hello: Message) -> None:
        """As of the agent of the ranks there. RunError if it differs from those of the others."""
        machine = hello.get("machine") or {}
        known = next(iter(self._machines.values()), machine)
        self._must_agree(known, "the other clusters", machine, agent.label)
        self._ucx_needs_one_order({**self._machines, place: machine})
        self._machines[place] = machine

    def _must_agree(self, one: Message, at: str, other: Message, there: str) -> None:
        for key, what in MUST_AGREE.items():
            if other.get(key) != one.get(key):
                raise RunError(
                    f"the {what} is {one.get(key)} in {at} and {other.get(key)} in {there}: their "
                    "data cannot be exchanged",
                    "All clusters of a grid need the same size of long.",
                )

    def _same_machine(self, machines: Sequence[Message]) -> None:
        """RunError where clusters differ. If only long double differs, ranks refuse data with
        it."""
        ranked = [i for i, (spec, _) in enumerate(self._agents) if spec.has_ranks]
        self._machines.update({self._agents[i][0].cluster: machines[i] for i in ranked})
        first = ranked[0]
        for i in ranked[1:]:
            labels = [self._agents[at][1].label for at in (first, i)]
            self._must_agree(machines[first], labels[0], machines[i], labels[1])
        self._ucx_needs_one_order(self._machines)

    def _ucx_needs_one_order(self, machines: Mapping[int, Message]) -> None:
        """RunError for a link by UCX between byte orders: UCX sends numbers as they lie in
        memory."""
        orders = {
            self._plan.places[cluster].name: machine.get("byteorder")
            for cluster, machine in machines.items()
        }
        for link in self._plan.grid.link:
            ends = {orders[name] for name in link.between if name in orders}
            if link.net != "tcp" and len(ends) > 1:
                raise RunError(
                    f"the byte orders of {' and '.join(link.between)} differ, and UCX cannot "
                    "connect them",
                    """Set net = "tcp" in their [[link]].""",
                )

    # -- configure and inspect ---------------------------------------------------------------

    async def configure(self) -> None:
        """Gives every agent its secret and opens the gateways."""
        answers = await _all(
            agent.request(
                "configure", "configured", self._limits.configure, **self._configuring.of(spec)
            )
            for spec, agent in self._agents
        )
        for (spec, agent), answer in zip(self._agents, answers, strict=True):
            self._note_gateways(spec, agent, answer)
            if answer.get("trace"):
                self._voice.say(f"{agent.label}: its trace is {answer['trace']}")
            if answer.get("metrics"):
                self._voice.narrate(f"{agent.label}: metrics at {answer['metrics']}")

    def _note_gateways(self, spec: AgentPlan, agent: Agent, answer: Message) -> None:
        for entry in answer.get("gateways") or []:
            if isinstance(entry, dict) and isinstance(entry.get("node"), int):
                self._near.listening[entry["node"]] = [str(a) for a in entry.get("addresses") or []]
        for gateway in spec.gateways:
            if not self._near.listening.get(gateway.node):
                raise RunError(f"{agent.label}: the agent did not say where its gateway listens")
            where = ", ".join(self._near.listening[gateway.node])
            self._voice.narrate(f"{agent.label}: gateway listens on {where}")

    async def stage(self, files: Sequence[StagedFile]) -> None:
        """Brings files to the clusters that lack them, before programs are looked for."""
        if files:
            await _all(
                self.stage_at(agent, files) for spec, agent in self._agents if spec.has_ranks
            )

    async def stage_at(self, agent: Agent, files: Sequence[StagedFile]) -> None:
        for file in files:
            said = await agent.request("stage", "stage", self._limits.stage, **file.facts())
            if not said.get("wanted"):
                continue
            for piece in file.pieces():
                await agent.send("stage-data", piece)
            done = await agent.request("stage-end", "staged", self._limits.stage)
            self._voice.narrate(f"{agent.label}: copied {file.path} to {done.get('path')}")

    async def inspect(self) -> None:
        """Checks that every program exists in its cluster, with an MPI library that we support."""

        async def programs(spec: AgentPlan, agent: Agent) -> None:
            cluster = self._plan.clusters[spec.cluster]
            for _, part in cluster.block.parts:
                found = await agent.request(
                    "inspect",
                    "program",
                    self._limits.inspect,
                    argv=cluster.argv(part),
                    mpi=part.mpi,
                    ask_version=self._voice.verbose,
                )
                if found.get("here"):
                    self._near.here.add(spec.cluster)
                self._voice.narrate(
                    f"{agent.label}: {found.get('path')} uses "
                    f"{version_line(found.get('mpi_version')) or 'no MPI of its own'}, "
                    f"started by {found.get('launcher')}"
                )

        await _all(programs(spec, agent) for spec, agent in self._agents if spec.has_ranks)
        self._plan.shared = {
            pair for pair, link in self._plan.pairs.items() if self._near.share_memory(*pair, link)
        }

    # -- link and spawn ----------------------------------------------------------------------

    async def link(self) -> None:
        """Connects the gateways, on all agents at once: one listens while another connects."""
        for spec, agent in self._agents:
            if spec.door:
                self._near.doors[spec.host] = await agent.forwarding.address(agent.label)
        for spec, _ in self._agents:
            self._note_memory(spec, self._plan.links)
        await _all(
            agent.request("link", "linked", self._limits.link, **self._worlds.links(spec))
            for spec, agent in self._agents
        )

    def _note_memory(self, spec: AgentPlan, links: Sequence[GatewayLink]) -> None:
        own = {gateway.node for gateway in spec.gateways}
        self._plan.by_memory |= {
            (link.source, link.target)
            for link in links
            if link.source in own and self._near.by_memory(link, spec)
        }

    def know(self, spec: AgentPlan, agent: Agent) -> None:
        """The agent that the plan has got as its next one."""
        self._agents.append((spec, agent))

    async def add(self, spec: AgentPlan, agent: Agent) -> None:
        """Brings up an agent of gateways that come to the running world, up to its links."""
        self.learn_machine(spec.cluster, agent, await self.hear(agent))
        configuration = self._configuring.of(spec)
        configuration["settings"] = {**self._configuring.settings(spec), "late": True}
        answer = await agent.request(
            "configure", "configured", self._limits.configure, **configuration
        )
        self._note_gateways(spec, agent, answer)
        if spec.door:
            self._near.doors[spec.host] = await agent.forwarding.address(agent.label)

    def links_from(self, spec: AgentPlan, links: Sequence[GatewayLink]) -> list[dict[str, object]]:
        """Further links that an agent's gateways open."""
        self._note_memory(spec, links)
        return self._worlds.links_of(spec, links)

    async def link_added(self, spec: AgentPlan, agent: Agent, world: Message) -> None:
        """Connects the gateways of an added agent; others may open some of their links."""
        links = self._worlds.links(spec) | {"world": world, "beside": None}
        await agent.request("link", "linked", self._limits.link, **links)

    async def again(self, spec: AgentPlan, agent: Agent) -> None:
        """Brings up an agent in the place of one whose gateways served no ranks. Its gateways
        listen where the old ones did, and others connect to them."""
        configuration = self._configuring.of(spec)
        configuration["gateways"] = [
            {
                "node": g.node,
                "listen": [a for a in self._near.listening[g.node] if a.startswith("tcp:")],
            }
            for g in spec.gateways
        ]
        configuration["settings"] = {**self._configuring.settings(spec), "anew": True}
        await agent.request("configure", "configured", self._limits.configure, **configuration)
        await agent.request("link", "linked", self._limits.link, **self._worlds.links(spec))
        self._agents[:] = [(s, agent if s is spec else a) for s, a in self._agents]

    async def spawn(self, *, stdin: bool, tag_output: bool) -> None:
        """Starts the ranks. Standard input goes to the cluster of world rank 0, if anywhere."""

        def request(spec: AgentPlan, agent: Agent) -> Coroutine[Any, Any, Message]:
            cluster = self._plan.clusters[spec.cluster]
            block = cluster.block
            return agent.request(
                "spawn",
                "spawned",
                self._limits.spawn,
                parts=[
                    {
                        "n": n,
                        "argv": cluster.argv(p),
                        "env": dict(p.env),
                        "appnum": p.number,
                        "mpi": p.mpi,
                    }
                    for n, p in block.parts
                ],
                first=block.first,
                local_first=self._local_first(spec, agent),
                size=block.size,
                stdin=stdin and block.first == 0,
                tag_output=tag_output,
            )

        await _all(request(spec, agent) for spec, agent in self._agents if spec.has_ranks)

    def _local_first(self, spec: AgentPlan, agent: Agent) -> int:
        """The number of ranks of earlier clusters that share its host. Only clusters count whose
        ranks all run beside their agents."""
        if spec.cluster not in self._near.here:
            return 0
        return sum(
            self._plan.clusters[other.cluster].block.size
            for other, peer in self._agents
            if other.has_ranks
            and other.cluster < spec.cluster
            and other.cluster in self._near.here
            and peer.host == agent.host
        )


async def _all(work: Any) -> list[Any]:
    """Awaits all at once. When one fails, the others have `_BESIDE` seconds to end or fail as well;
    then all errors are raised as one."""
    tasks = [asyncio.ensure_future(item) for item in work]
    try:
        _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        if pending:
            await asyncio.wait(pending, timeout=_BESIDE)
        failed = [error for task in tasks if task.done() and (error := task.exception())]
        errors = [error for error in failed if isinstance(error, IsthmusError)]
        if len(errors) < len(failed):
            raise next(error for error in failed if error not in errors)
        if errors:
            raise errors[0] if len(errors) == 1 else JointError(errors)
        return [task.result() for task in tasks]
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
