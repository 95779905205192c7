"""Parts of a submitted job that dial in to a door, as tests need them."""

import asyncio
import socket
import subprocess
import sys
import threading
from pathlib import Path

from running import Running, ran, shell_script
from waiting import eventually

from isthmus.doors import keys
from isthmus.queues import joiner
from isthmus.queues.door import Awaited, Door, GatheringError, Policy

LONG = 240  # seconds: of whatever ends by itself


class JobKeys:
    """The keys of a job with clusters east and west."""

    def __init__(self) -> None:
        self.door = keys.make_key()
        self.parts = {name: keys.make_key() for name in ("east", "west")}
        self.lock = keys.Lock(self.door, self.parts)

    def file(self, folder: Path, cluster: str) -> Path:
        """A new one each time: who has come removes it."""
        made = folder / f"{cluster}-{len(list(folder.glob('*.pem')))}.pem"
        return keys.write_private(made, self.parts[cluster].of_part(self.door))


class Meeting:
    """A door for clusters east and west, in a loop of its own in a thread."""

    def __init__(self, key: JobKeys, policy: Policy, over: dict[str, str]) -> None:
        self.said: list[str] = []
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.result: object = None
        self.here = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(key, policy, over))
        self._thread.start()

    def _run(self, key: JobKeys, policy: Policy, over: dict[str, str]) -> None:
        async def ask(cluster: str) -> str:
            return over.get(cluster, "")

        def say(sentence: str) -> None:
            self.said.append(sentence)
            self.here.set()

        async def gather() -> None:
            door = Door(Awaited(["east", "west"]), key.lock, policy, say, ask)
            await door.open(self.listening)
            try:
                await door.gather()
                for name in ("east", "west"):
                    (await door.agent(name)).close()
                self.result = sorted(door.guests)
                for name in ("east", "west"):
                    await door.dismiss(name)
            except GatheringError as error:
                self.result = error.sentence
            door.close()

        asyncio.run(gather())

    def end(self) -> object:
        self._thread.join(LONG)
        assert not self._thread.is_alive()
        return self.result


async def until(condition):
    await asyncio.to_thread(eventually, condition, "what the door was to do", LONG)


def fake_isthmusd(folder: Path) -> Path:
    """Repeats its input until that ends."""
    return shell_script(folder / "isthmusd", "exec cat")


def join(meeting, key, folder, cluster, *more):
    return join_with(meeting.port, key.file(folder, cluster), folder, "--cluster", cluster, *more)


def join_with(port, file, folder, *more):
    words = ["--key", str(file), "--to", f"127.0.0.1:{port}", "--isthmusd", fake_isthmusd(folder)]
    return Running(
        [sys.executable, joiner.__file__, *words, *more],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def submit(*words):
    return ran([sys.executable, "-m", "isthmus", "submit", *words])
