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
from isthmus.queues.batchjobs import BatchJobs
from isthmus.queues.door import Awaited, Door, GatheringError, Policy
from isthmus.queues.place import Place
from isthmus.queues.submission import Part
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
        spares = [spare.name for spare in plan.spares]
        self._batch = BatchJobs(place, parts, spares, voice)
        self._options = replace(options, batch=self._batch)
        self._policy = policy
        self._voice = voice

    async def run(self, listening: socket.socket) -> None:
        """Runs to the end, which is noted in the folder."""
        batch, survival = self._batch, self._plan.survival
        batch.here([])
        names = [cluster.name for cluster in self._plan.clusters]
        spares = [spare.name for spare in self._plan.spares]
        may_leave = survival.may_leave if survival else ()
        door = batch.door = Door(
            Awaited(names, spares, may_leave),
            self._lock,
            self._policy,
            self._voice.say,
            batch.why_over,
            batch.moved,
            batch.here,
        )
        await door.open(listening)
        loop = asyncio.get_running_loop()
        gathering = asyncio.create_task(door.gather())
        loop.add_signal_handler(signal.SIGTERM, gathering.cancel)
        status, sentence = _CANCELLED, "cancelled"
        result: Result | None = None
        try:
            await gathering
            batch.begins()
            members = Members(self._plan, self._commands, log_of(self._voice), batch)
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
        await batch.finish(well=status == 0)
        self._place.forget_keys()
        batch.ended(status, sentence)


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
