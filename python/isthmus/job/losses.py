"""Native launchers that have ended, and agents that are lost: who goes on without them. If nobody
does, the run ends."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from isthmus.base.outcome import Ending, Weight
from isthmus.base.relay import Voice
from isthmus.job.revival import Revival
from isthmus.place.extension import Extensions
from isthmus.place.plan import Plan
from isthmus.run.agent import Agent, Message
from isthmus.run.extending import Extending
from isthmus.run.members import Member, Members
from isthmus.run.reasons import Reasons, ended_badly, how_exited
from isthmus.run.spawning import Spawning
from isthmus.run.surviving import Surviving
from isthmus.run.yielding import look_there


@dataclass(eq=False, repr=False)
class Losses:
    """For one run. `_release` gets members whose spawned processes have ended well."""

    _plan: Plan
    _members: Members
    _extensions: Extensions
    _surviving: Surviving
    _reasons: Reasons
    _ending: Ending
    _voice: Voice
    _release: Callable[[Member], Coroutine[Any, Any, None]]
    _spawning: Spawning | None = field(default=None, init=False)
    _extending: Extending | None = field(default=None, init=False)
    _revival: Revival | None = field(default=None, init=False)

    def begin(self, spawning: Spawning, extending: Extending, revival: Revival) -> None:
        """Ranks may start from here on, and these take care of their members."""
        self._spawning, self._extending, self._revival = spawning, extending, revival

    def exited(self, member: Member, message: Message) -> None:
        """The native launcher of a member has ended."""
        member.exited = message
        status, number = how_exited(member, message)
        self._voice.narrate(f"{member.agent.label}: ended with status {status}")
        if not member.joined and self._spawning and self._spawning.exited(member, status, number):
            return
        bad = "" if member.failed or member.killing else ended_badly(member, message)
        end = partial(self._reasons.exit, member, message)
        if member.failed or (bad and self._surviving.takes(member, bad, end)):
            self._members.changed()
            return
        end()
        if not status and all(member.plan is not agent for agent in self._plan.agents):
            self._members.later(self._release(member))
        self._members.changed()

    def lost(self, agent: Agent, sentence: str) -> None:
        """An agent has ended unasked, or is not reached any more."""
        member = self._members.of(agent)
        member.lost = True
        if member.dropped or member.leaving:
            self._members.changed()
            return

        def end() -> None:
            if member.spawned or not agent.told:  # else the step of the bring-up fails
                self._ending.end(1, sentence + self._hint(member), Weight.FAULT)

        spare = self._is_spare(member)
        if self._extending and self._extending.takes(member):
            self._voice.narrate(f"{sentence}; nobody has used it yet")
        elif (self._spawning and self._spawning.failed(member, sentence)) or (
            self._revival and self._revival.takes(member, sentence, spare=spare)
        ):
            pass
        elif spare:
            self._voice.warn(f"{sentence}; the other gateways of the cluster go on")
            self._surviving.lose_spare(member)
        elif not self._surviving.takes(member, sentence, end):
            end()
        self._members.changed()

    def _hint(self, member: Member) -> str:
        """It may be this launcher that is lost, and not the cluster."""
        if not self._plan.survival or not (member.agent.target or member.plan.joins):
            return ""
        return (
            "\n  Perhaps only this launcher has lost it, and the ranks there go on.\n"
            f"  {look_there()}"
        )

    def _is_spare(self, member: Member) -> bool:
        """Whether only gateways are lost with it, and its cluster has others."""
        if extension := self._extensions.at(member.plan.cluster):
            own = [m for m in self._members if m.plan in extension.agents and not m.lost]
            return member.plan in extension.agents and bool(own)
        return self._reasons.is_spare(member)
