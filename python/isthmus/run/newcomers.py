"""Clusters that join a run as spare ones while it goes on, and spare clusters that leave it. The
user asks for that in another terminal; processes come by MPI_Comm_spawn alone."""

from isthmus.base.errors import IsthmusError, RunError, UsageError, did_you_mean, listing
from isthmus.base.outcome import Ending
from isthmus.base.relay import Voice
from isthmus.grid import more
from isthmus.place.placement import Block
from isthmus.place.plan import ClusterPlan, Plan, listen_of
from isthmus.run.agent import Message
from isthmus.run.growing import Growing

MOST = 64  # clusters that join one run; all of its processes keep their names


class Newcomers:
    """For one run."""

    def __init__(self, plan: Plan, ending: Ending, voice: Voice) -> None:
        self._plan = plan
        self._ending = ending
        self._voice = voice
        self._growing: Growing | None = None
        self._joined = 0

    def begin(self, growing: Growing) -> None:
        """The ranks start: from here on clusters may join."""
        self._growing = growing

    def answer(self, question: Message) -> Message:
        """The answer to `join` or `leave` (docs/control.md, "What other terminals ask")."""
        try:
            growing = self._open()
            if question.get("ask") == "join":
                return {"said": self._join(growing, question)}
            return {"said": [self._leave(growing, str(question.get("cluster")))]}
        except IsthmusError as error:
            return {"error": error.sentence, "remedy": error.remedy, "status": error.status}

    def _join(self, growing: Growing, question: Message) -> list[str]:
        """Returns a sentence for each cluster. IsthmusError, and none has joined."""
        plan = self._plan
        wanted = question.get("clusters")
        found = more.parse(
            str(question.get("text")),
            str(question.get("name")),
            plan.grid,
            _running(growing),
            list(map(str, wanted)) if isinstance(wanted, list) else [],
            survives=plan.survival is not None,
        )
        if self._joined + len(found.names) > MOST:
            raise RunError(
                f"{self._joined} clusters have joined this run, and at most {MOST} can",
                "Start another run with these clusters in its grid file.",
            )
        plan.grid = found.grid
        self._joined += len(found.names)
        return [self._take(growing, name) for name in found.names]

    def _take(self, growing: Growing, name: str) -> str:
        plan = self._plan
        cluster = ClusterPlan(name, plan.grid.cluster[name], Block(name))
        plan.spares.append(cluster)
        plan.listen = listen_of(plan, cluster)
        if plan.survival:
            plan.survival = plan.survival.extended(name, cluster.spec)
        return self._tell(
            growing, name, "joined", "it has joined; MPI_Comm_spawn can start processes there"
        )

    def _leave(self, growing: Growing, name: str) -> str:
        plan = self._plan
        spare = next((one for one in plan.spares if one.name == name), None)
        if spare is None:
            known = [one.name for one in plan.spares]
            near = did_you_mean(name, known)
            raise UsageError(
                f"--cluster {name}: this run has no such spare cluster{near}; "
                f"it has {listing(known) or 'none'}"
            )
        if growing.extensions.named(name) or name in _running(growing):
            raise RunError(
                f'cluster "{name}" has gateways already, which stay until the run ends',
                "Only a cluster without gateways can leave.",
            )
        if growing.turn.locked():
            raise RunError(f'cluster "{name}" cannot leave while the run is growing', "Try again.")
        plan.spares.remove(spare)
        plan.grid = more.without(plan.grid, name)
        return self._tell(
            growing, name, "left", "it has left; no process can be spawned there any more"
        )

    def _open(self) -> Growing:
        """RunError if no cluster can join or leave now."""
        plan = self._plan
        if self._ending.begun.is_set():
            raise RunError(f"{plan.job} is ending")
        if plan.joining:
            raise RunError(
                "this run is a submitted job, whose clusters come from queues",
                "Name spare clusters when you submit it: isthmus submit --spare CLUSTER.",
            )
        if plan.alone:
            raise RunError(
                "this run is a native job of one cluster, so no other can join",
                "Start it with --guests, or with a spare cluster (--spare).",
            )
        if self._growing is None:
            raise RunError(f"{plan.job} has not started its ranks yet", "Try again.")
        return self._growing

    def _tell(self, growing: Growing, name: str, state: str, why: str) -> str:
        growing.spread(name, state, f'cluster "{name}": {why}')
        said = f'cluster "{name}" has {why.removeprefix("it has ")}'
        self._voice.say(said)
        return said


def _running(growing: Growing) -> list[str]:
    """The clusters with gateways that run; some of them only forward."""
    plan, living = growing.plan, growing.living
    running = {c for g in plan.gateways if g.node in living for c in g.clusters}
    return list(dict.fromkeys(plan.places[c].name for c in sorted(running)))
