"""Signals to the launcher. The first one that ends a run ends it in order, the second one at once.
Others go on to the ranks, or have the run report where its ranks are."""

import asyncio
import signal
from collections.abc import Callable

from isthmus.base.outcome import Ending, Weight
from isthmus.run.members import Members

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FORWARDED = (signal.SIGUSR1, signal.SIGUSR2)


class Signals:
    """For one run, from `listen` to `forget`. The second signal that ends the run sets `hurry`."""

    def __init__(self, members: Members, ending: Ending, tell_where: Callable[[], None]) -> None:
        self._members = members
        self._ending = ending
        self._tell_where = tell_where
        self._interrupts = 0
        self.hurry = asyncio.Event()

    def listen(self) -> None:
        """Needs a running loop without other handlers of these signals."""
        loop = asyncio.get_running_loop()
        for number in _ENDING:
            loop.add_signal_handler(number, self._interrupt, number)
        for number in _FORWARDED:
            loop.add_signal_handler(number, self._forward, number)
        loop.add_signal_handler(signal.SIGQUIT, self._tell_where)

    def forget(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (*_ENDING, *_FORWARDED, signal.SIGQUIT):
            loop.remove_signal_handler(number)

    def _interrupt(self, number: signal.Signals) -> None:
        self._interrupts += 1
        if self._interrupts > 1:
            self.hurry.set()
        self._ending.end(128 + number, f"{number.name}: ended everything", Weight.USER)

    def _forward(self, number: signal.Signals) -> None:
        for member in self._members.ranked:
            self._members.later(member.agent.send("signal", signal=int(number)))
