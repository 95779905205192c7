"""The process of a submitted job: it waits for all parts, then runs the job as `isthmus run` does.
It does not depend on the terminal that started it."""

import asyncio
import contextlib
import os
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace

from isthmus.base.errors import RunError
from isthmus.base.relay import Voice
from isthmus.doors.keys import Lock
from isthmus.job.execution import tell_results
from isthmus.job.job import Job, Result
from isthmus.job.joboptions import JobOptions
from isthmus.place.plan import Plan
from isthmus.queues import schedulers
from isthmus.queues.door import Door, GatheringError, Policy
from isthmus.queues.place import Place
from isthmus.queues.submission import Part, cancel_all
from isthmus.run.members import Members, log_of

_CANCELLED = 128 + signal.SIGTERM


class Orchestrator:
    """For one job. All its messages go to the files `out` and `err` of the job's folder."""

    def __init__(
        self,
        place: Place,
        lock: Lock,
        plan: Plan,
        commands: Sequence[Sequence[str]],
        parts: Sequence[Part],
        options: JobOptions,
        policy: Policy,
        voice: Voice,
    ) -> None:
        self._place = place
        self._lock = lock
        self._plan = plan
        self._commands = commands
        self._parts = {part.cluster: part for part in parts}
        self._options = replace(options, why_gone=self._why_over)
        self._policy = policy
        self._voice = voice

    async def _why_over(self, cluster: str) -> str:
        return await self._parts[cluster].why_over()

    def _moved(self, cluster: str, printed: str) -> None:
        """Notes that a part went back to its queue, mostly as another job."""
        part = self._parts[cluster]
        found = schedulers.found_identifier(part.scheduler, printed)
        if not part.scheduler.submits_anew or not found:
            return
        self._parts[cluster] = replace(part, identifier=found)
        self._voice.say(f"cluster {cluster}: {part.scheduler.title} job {found} from now on")
        known = self._place.facts("job.json")
        known["parts"] = [part.facts() for part in self._parts.values()]
        self._place.note("job.json", known)

    async def run(self, listening: socket.socket) -> None:
        """Runs to the end, which is noted in the folder."""
        self._note("waiting", here=[])
        door = Door(
            [cluster.name for cluster in self._plan.clusters],
            self._lock,
            self._policy,
            self._voice.say,
            self._why_over,
            self._moved,
            lambda clusters: self._note("waiting", here=clusters),
        )
        await door.open(listening)
        loop = asyncio.get_running_loop()
        gathering = asyncio.create_task(door.gather())
        loop.add_signal_handler(signal.SIGTERM, gathering.cancel)
        status, sentence = _CANCELLED, "cancelled"
        result: Result | None = None
        try:
            arrivals = await gathering
            self._note("running")
            members = Members(self._plan, self._commands, log_of(self._voice), arrivals)
            result = await Job(self._plan, members, self._options, self._voice).run()
            status, sentence = result.status, result.sentence
            tell_results(self._plan, self._options, result, self._voice)
        except GatheringError as error:
            status, sentence = 1, error.sentence
            self._voice.say(str(error))
        except RunError as error:  # such as a profile that cannot be written
            status, sentence = (result and result.status) or 1, str(error)
            self._voice.say(sentence)
        except asyncio.CancelledError:
            self._voice.say("the job was cancelled while parts of it were awaited")
        finally:
            door.close()
        # Parts that have come end by themselves; others would wait in a queue for nobody.
        for trouble in cancel_all(list(self._parts.values())) if status else ():
            self._voice.warn(trouble)
        self._place.forget_keys()
        self._note("ended", status=status, sentence=sentence)

    def _note(self, state: str, **more: object) -> None:
        self._place.note("state.json", {"state": state, **more})


def detach(orchestrator: Orchestrator, place: Place, listening: socket.socket) -> int:
    """Runs it in a process with a session of its own; returns the process id at once."""
    ready, told = os.pipe()
    child = os.fork()
    if child:
        os.close(told)
        os.read(ready, 1)
        os.close(ready)
        return child
    try:
        os.setsid()
        place.lock()
        null = os.open(os.devnull, os.O_RDONLY)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        out, err = (os.open(place.file(name), flags, 0o600) for name in ("out", "err"))
        for fd, target in ((null, 0), (out, 1), (err, 2)):
            os.dup2(fd, target)
        os.close(told)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        asyncio.run(orchestrator.run(listening))
        os._exit(0)
    except RunError as error:
        print(f"isthmus: {error}", file=sys.stderr)
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(1)
