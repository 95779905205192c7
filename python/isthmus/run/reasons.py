"""The reasons that end a run: the news from its members, in the user's words and with its
weight."""

import signal

from isthmus.base.endings import (
    cluster_named,
    cluster_of_the_rank,
    how_ended,
    launcher_killed,
    left_the_others,
    of_the_rank,
    surely_killed,
)
from isthmus.base.outcome import Ending, Outcome, Weight
from isthmus.grid import routes
from isthmus.pages import page
from isthmus.place.plan import Plan
from isthmus.run.agent import Message
from isthmus.run.batch import Batch
from isthmus.run.members import Member, Members

_HYDRA_CRASHED = 255  # its own status then


def _no_init() -> str:
    return (
        "Is it an MPI program, and linked to MPI dynamically? In a container it also needs\n"
        f"  the folder that ISTHMUS_LIBDIR names there ({page('containers.md')})"
    )


class Reasons:
    """Turns news about members into outcomes of `ending`."""

    def __init__(self, plan: Plan, members: Members, ending: Ending) -> None:
        self._plan = plan
        self._members = members
        self._ending = ending

    def abort(self, message: Message) -> None:
        """A rank has called MPI_Abort."""
        rank, code = message.get("rank"), _integer(message.get("code"), 1)
        for member in self._members.ranked:
            member.aborting = member.aborting or rank in member.cluster.block.world_ranks
        said = f"rank {rank} called MPI_Abort with code {code}"
        extra = str(message.get("message") or "")
        if extra and "MPI_Abort" not in extra:
            said += f": {extra}"
        self._ending.end((code & 0xFF) or 1, said, Weight.ABORT)

    def fault(self, message: Message) -> None:
        """Something between the clusters is broken."""
        code = _integer(message.get("code"), 1)
        said = str(message.get("message") or "the agent reports a fault without a reason")
        status = (code & 0xFF) or 1
        for member in self._members.ranked if status == 1 else ():
            # The fault may be a rank whose end is known already.
            if member.exited and cluster_of_the_rank(said) == member.cluster.name:
                status, told = _end_of_rank(said, member, member.exited)
                said = _launcher_killed(member, member.exited) or told
        self._ending.end(status, said, Weight.FAULT)

    def exit(self, member: Member, message: Message) -> None:
        """The native launcher of a member has ended."""
        status, _ = how_exited(member, message)
        before = self._ending.outcome
        if member.killing:
            pass
        elif killed := _launcher_killed(member, message):
            if before and cluster_named(before.sentence) == member.cluster.name:
                self._ending.replace(status, killed)  # the rank ended with its launcher
            else:
                self._ending.end(status, killed, Weight.EXIT)
        elif (
            before
            and (before.weight, before.status) == (Weight.FAULT, 1)
            and cluster_of_the_rank(before.sentence) in ("", member.cluster.name)
        ):
            # The fault was a rank, and this is how it ended.
            self._ending.replace(*_end_of_rank(before.sentence, member, message))
        elif said := _program_ended(member, message):
            self._ending.end(status & 0xFF or 1, said, Weight.EXIT)
        self.look_for_waiting()

    def output(self, member: Member, fd: int, data: bytes) -> None:
        """Takes output of the ranks or their launcher."""
        if fd == 2 and not member.joined and (said := member.launching.hear(data)):
            self._ending.end(1, f"{member.agent.label}: {said}", Weight.EXIT)

    def error(self, member: Member, message: Message) -> None:
        """An agent could not carry out a request."""
        said = str(message.get("message") or "the agent gave no reason")
        remedy = message.get("remedy")
        self._ending.end(
            1,
            f"{member.agent.label}: {said}" + (f"\n  {remedy}" if remedy else ""),
            Weight.FAULT,
        )

    def look_for_waiting(self) -> None:
        """Ends the run if a cluster ended well without MPI_Init: ranks that joined would wait for
        ever."""
        gone = [m for m in self._members.ranked if m.exited and not m.joined]
        waiting = [m for m in self._members.ranked if m.joined and not m.exited]
        if gone and waiting:
            self._ending.end(
                1,
                f"{gone[0].agent.label}: the program ended without MPI_Init, while "
                f"{waiting[0].agent.label} has called it and waits\n  {_no_init()}",
                Weight.EXIT,
            )

    def look_for_joined(self) -> None:
        """Ends the run if no rank ever joined: each ran as a world of its own, seldom on
        purpose."""
        if not self._plan.alone and not any(member.joined for member in self._members.ranked):
            self._ending.end(
                1,
                f"the program ended without MPI_Init in every cluster\n  {_no_init()}",
                Weight.EXIT,
            )

    async def hear_schedulers(self, batch: Batch | None) -> None:
        """If a scheduler has ended a cluster's ranks, its words are the reason for everything
        else."""
        outcome = self._ending.outcome
        if outcome is None or outcome.weight not in (Weight.EXIT, Weight.FAULT):
            return
        for member in self._members.ranked:
            if member.failed:
                continue
            if member.lost and not member.verdict and batch:
                member.verdict = await batch.why_gone(member.cluster.name)
            if member.verdict:
                said = f"{member.agent.label}: {member.verdict}"
                self._ending.replace(outcome.status or 1, said)
                return
        if outcome.status == 128 + signal.SIGTERM:
            self._guess(outcome)

    def _guess(self, outcome: Outcome) -> None:
        """srun may end with its ranks before it hears that Slurm has ended them (22.05, on a busy
        host). Then only the way they ended is known."""
        for member in self._members.ranked:
            names = (f'(cluster "{member.cluster.name}")', f"{member.agent.label}:")
            if member.cluster.spec.launcher == "srun" and any(n in outcome.sentence for n in names):
                said = surely_killed(outcome.sentence)
                self._ending.replace(outcome.status, f"{said}, as by scancel")
                return

    def is_spare(self, member: Member) -> bool:
        """Whether only gateways are lost with it, and its cluster has others. If a rank needed it
        all the same, the agent of that rank says so."""
        if member.plan.has_ranks or not all(other.spawned for other in self._members.ranked):
            return False
        left = [g for other in self._members if not other.lost for g in other.plan.gateways]
        count = len(self._plan.clusters)
        if all(c >= count for gateway in member.plan.gateways for c in gateway.clusters):
            # It only forwarded: other gateways must do that in its place.
            stand = {g.node: [c for c in g.clusters if c < count] for g in left}
            return routes.all_joined(count, stand, self._plan.links)
        return all(
            any(cluster in other.clusters for other in left)
            for gateway in member.plan.gateways
            for cluster in gateway.clusters
            if cluster < count
        )


def ended_badly(member: Member, message: Message) -> str:
    """Words for a native job that has failed, or nothing."""
    if member.verdict:
        return f"{member.agent.label}: {member.verdict}"
    return _launcher_killed(member, message) or _program_ended(member, message)


def _program_ended(member: Member, message: Message) -> str:
    """Words for a program that has failed, or nothing."""
    died = _died(message)
    if how_exited(member, message)[0]:
        return _end_of_rank(died, member, message)[1]
    if message.get("joined") and not message.get("finalized"):
        return left_the_others(died or f"{member.agent.label}: a rank ended without MPI_Finalize")
    return ""


def _end_of_rank(sentence: str, member: Member, message: Message) -> tuple[int, str]:
    """The status of a run that ends with a lost rank, and the sentence, completed with how the rank
    ended. `sentence` is empty if no rank is known. Hydra may crash before it says how the rank
    ended (4.0, 5.0; 2026-11). Its own status then says nothing about the rank."""
    status, number = how_exited(member, message)
    label, host = member.agent.label, member.chatter.host
    if member.chatter.tripped and number is None and status == _HYDRA_CRASHED:
        crashed = f"{label}: a rank has failed, and Hydra crashed before it said how"
        return status, sentence or crashed
    if sentence:
        sentence = of_the_rank(sentence, member.cluster.name, status, number, host)
    else:
        sentence = f"{label}: the program {how_ended(status, number, host)}"
    return status & 0xFF or 1, sentence


def _died(message: Message) -> str:
    """The words of a gateway about the first rank that ended early, or nothing."""
    said = message.get("died")
    return said if isinstance(said, str) else ""


def _launcher_killed(member: Member, message: Message) -> str:
    """Words for a native launcher that a signal has ended, or nothing. srun ends with the signal
    of its ranks."""
    launcher, number = message.get("launcher"), message.get("signal")
    if not isinstance(launcher, str) or not isinstance(number, int):
        return ""
    if member.cluster.spec.launcher == "srun":
        return ""
    host = "" if member.plan.host else member.agent.host  # the label names the others
    words = launcher_killed(launcher, host, number)
    return words and f"{member.agent.label}: {words}"


def how_exited(member: Member, message: Message) -> tuple[int, int | None]:
    """The status of an `exit` message as a shell has it, and the signal if there was one. Hydra
    ends with the bare number of the signal that killed a rank (4.0, 5.0; 2026-11)."""
    if (number := message.get("signal")) is not None:
        return 128 + _integer(number, 0), _integer(number, 0)
    status = _integer(message.get("status"), 1)
    killed = member.chatter.signal if status else None
    return (status, None) if killed is None else (128 + killed, killed)


def _integer(value: object, default: int) -> int:
    return value if isinstance(value, int) else default
