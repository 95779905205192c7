"""Ctrl-Z stops the ranks and then the launcher; when the launcher goes on, the ranks do, too."""

import asyncio
import contextlib
import signal

from isthmus.run.heartbeat import Heartbeat
from isthmus.run.members import Members

_PAUSE_LIMIT = 2.0  # seconds that agents have to stop their ranks before the launcher stops


class Suspension:
    """Handles SIGTSTP until `stop`, unless it is ignored, as it is without job control."""

    def __init__(self, members: Members, heartbeat: Heartbeat) -> None:
        """In a running loop."""
        self._members = members
        self._heartbeat = heartbeat
        self._loop = asyncio.get_running_loop()
        self._under_way = False
        self._handled = signal.getsignal(signal.SIGTSTP) is not signal.SIG_IGN
        if self._handled:
            self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)

    def stop(self) -> None:
        if self._handled:
            self._loop.remove_signal_handler(signal.SIGTSTP)

    def _suspend(self) -> None:
        if not self._under_way:
            self._under_way = True
            self._members.later(self._stop_and_go_on())

    async def _stop_and_go_on(self) -> None:
        running = self._members.running

        def paused() -> bool:
            return all(m.paused or m.exited or m.lost for m in running)

        self._heartbeat.rest()
        for member in running:
            member.paused = False
            self._members.later(member.agent.send("pause"))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._members.until(paused), _PAUSE_LIMIT)
        self._loop.remove_signal_handler(signal.SIGTSTP)
        # Returns at SIGCONT; at once if nobody could send that.
        signal.raise_signal(signal.SIGTSTP)
        self._loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        for member in running:
            self._members.later(member.agent.send("resume"))
        self._heartbeat.begin_again()
        self._under_way = False
