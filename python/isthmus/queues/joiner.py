"""`isthmus join`: brings an agent to the orchestrator of a job, which runs elsewhere.

This file and partline.py stand alone, for Python 3.8 and its standard library, since `isthmus
submit` puts them beside its batch scripts: clusters need no Python packages. First both sides speak
in lines of JSON (docs/control.md, "Dialling in"). After `go` the orchestrator asks for agents. Each
has a connection of its own, which carries what would be its standard input and output.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable
if TYPE_CHECKING or __package__:
    from isthmus.queues.partline import JoinError, Key, Stream, connect, read_line, say_to
else:  # beside a batch script
    from partline import JoinError, Key, Stream, connect, read_line, say_to
CONNECT_LIMIT = 600.0  # after so many it is taken for gone
AGENT_LIMIT = 60.0  # the same for a further connection, of an agent
END_LIMIT = 5.0  # between the end of an agent's output and its own
SILENCE_LIMIT = 300.0  # the orchestrator says something each minute while others are awaited


def say(sentence: str) -> None:
    print("isthmus: " + sentence, file=sys.stderr, flush=True)


def wait_for_go(stream: Stream, requeue: str, key: Key) -> bool:
    """True: all are there. False: this part has been given back to its queue."""
    stream.settimeout(SILENCE_LIMIT)
    while True:
        message = read_line(stream)
        op = message.get("op")
        if op == "go":
            key.forget()
            stream.settimeout(None)
            return True
        if op == "no":
            if message.get("over"):
                key.forget()
            raise JoinError(str(message.get("message", "the orchestrator refused")))
        if op == "requeue":
            say(str(message.get("message", "the other clusters are not there yet")))
            if not requeue:
                return False
            say("goes back into the queue: " + requeue)
            done = subprocess.run(
                requeue, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
            )
            said = done.stdout.decode(errors="replace").strip()[:2000]
            if said:
                say(said)
            with contextlib.suppress(OSError):
                say_to(stream, op="requeued", status=done.returncode, said=said)
            return False
        if message.get("message"):
            say(str(message["message"]))


class Bridge(threading.Thread):
    """An agent, whose standard input and output go over a connection of their own. The end of the
    agent ends the connection. The end of that is the end of its input: then it ends, or goes on
    without the orchestrator, and its output is dropped."""

    def __init__(self, stream: Stream, command: list[str], alone: Callable[[], None]) -> None:
        """Calls `alone` if the agent goes on after it has closed its output."""
        super().__init__(daemon=True)
        self.stream = stream
        self.alone = alone
        self.agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def run(self) -> None:
        assert self.agent.stdout
        threading.Thread(target=self._down, daemon=True).start()
        lost = False
        while data := os.read(self.agent.stdout.fileno(), 1 << 16):
            try:
                if not lost:
                    self.stream.sendall(data)
            except OSError:
                lost = True
                self.stream.hang_up()
        try:
            self.agent.wait(END_LIMIT)
        except subprocess.TimeoutExpired:  # it does not hear the orchestrator any more
            self.alone()
        self.agent.wait()
        self.stream.hang_up()

    def _down(self) -> None:
        orders = self.agent.stdin
        assert orders
        try:
            while True:
                data = self.stream.recv(1 << 16)
                if not data:
                    break
                orders.write(data)
                orders.flush()
        except (OSError, ValueError):
            pass
        with contextlib.suppress(OSError):
            orders.close()  # it ends all that it has started

    def finish(self) -> int:
        """The agent's exit status, once it has ended."""
        self.join()
        status = self.agent.returncode
        return status if status >= 0 else 128 - status


class Agents:
    """Those of this part. The orchestrator asks for each, until it ends the part's connection."""

    def __init__(
        self, stream: Stream, addresses: list[tuple[str, int]], key: Key, isthmusd: str
    ) -> None:
        self._stream = stream
        self._addresses = addresses
        self._key = key
        self._command = [isthmusd, "agent"]
        self._bridges: list[Bridge] = []
        self._ending = False

    def serve(self) -> int:
        """Returns the first exit status of an agent that is not 0."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, lambda *_: self._terminate())
        try:
            while True:
                message = read_line(self._stream)
                if message.get("op") == "agent":
                    self._start(message.get("number"))
        except JoinError:
            pass  # the orchestrator wants no more, or is gone
        if not self._ending:
            for bridge in self._bridges:
                bridge.stream.hang_up()
        statuses = [bridge.finish() for bridge in self._bridges]
        return next((status for status in statuses if status), 0)

    def _start(self, number: object) -> None:
        try:
            stream = connect(self._addresses, self._key, AGENT_LIMIT)
            stream.settimeout(None)
            bridge = Bridge(stream, self._command, self._stream.hang_up)
            say_to(stream, op="agent", number=number)
        except (JoinError, OSError) as error:
            say(f"an agent cannot be started: {error}")
            with contextlib.suppress(OSError):
                say_to(self._stream, op="trouble", number=number, message=str(error))
            return
        self._bridges.append(bridge)
        bridge.start()

    def _terminate(self) -> None:
        """Somebody ends this part. The agents tell the orchestrator how their ranks end."""
        self._ending = True
        for bridge in self._bridges:
            bridge.agent.terminate()
        self._stream.hang_up()


def seconds_left(text: str) -> int | None:
    """The seconds of "[DAYS-][[HOURS:]MINUTES:]SECONDS", as Slurm writes it. An unlimited job has
    None."""
    days, dash, rest = text.strip().partition("-")
    if not dash:
        days, rest = "0", days
    try:
        parts = [int(part) for part in rest.split(":")]
        total = int(days) * 86400
    except ValueError:
        return None
    scale = 1
    for part in reversed(parts):
        total += part * scale
        scale *= 60
    return total


def addresses_of(text: str) -> list[tuple[str, int]]:
    found = []
    for word in text.split(","):
        host, _, port = word.rpartition(":")
        if not host or not port.isdigit():
            raise JoinError(f"--to {text}: '{word}' is not HOST:PORT")
        found.append((host.strip("[]"), int(port)))
    return found


def find_isthmusd(name: str) -> str | None:
    """On the PATH of this shell, else of the one that submitted the script, which noted it, else
    where `isthmus install` puts it."""
    named = str(Path(name).expanduser()) if name.startswith("~") else name
    if shutil.which(named):
        return named
    noted = ""
    with contextlib.suppress(OSError):
        noted = Path(__file__).with_name("isthmusd.path").read_text().strip()
    usual = Path("~/isthmus/bin/isthmusd").expanduser()
    places = [noted, str(usual) if name == usual.name else ""]
    return next((place for place in places if place and os.access(place, os.X_OK)), None)


def join(arguments: argparse.Namespace) -> int:
    key, addresses = Key(arguments.key), addresses_of(arguments.to)
    agent = find_isthmusd(arguments.isthmusd)
    if not agent:
        raise JoinError(
            f"isthmusd is not found as '{arguments.isthmusd}' on {socket.gethostname()}\n"
            "  Install Isthmus there, and set the cluster's prefix in the grid file to the place."
        )
    stream = connect(addresses, key, arguments.reach)
    hello = {
        "op": "join",
        "host": socket.gethostname(),
        "batch": arguments.batch,
        "left": seconds_left(arguments.left) if arguments.left else None,
    }
    if arguments.cluster:
        hello["cluster"] = arguments.cluster
    say_to(stream, **hello)
    if not wait_for_go(stream, arguments.requeue, key):
        return 0
    return Agents(stream, addresses, key, agent).serve()


class _Parser(argparse.ArgumentParser):
    """Words errors as the other commands do."""

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required", "options are missing")
        self.exit(2, f"isthmus: {message}\n  See: isthmus join --key FILE --help\n")


def parser() -> argparse.ArgumentParser:
    made = _Parser(prog="isthmus join", description=(
        "Start this cluster's agent and connect it to the orchestrator of a job. It waits there "
        "for the other clusters. `isthmus submit` writes batch scripts that do this."
    ))  # fmt: skip
    add = made.add_argument
    add(
        "--key",
        required=True,
        metavar="FILE",
        help="the part's key, which only you may read; it is removed once the job begins",
    )
    add("--to", required=True, metavar="HOST:PORT[,...]", help="where the orchestrator listens")
    add("--cluster", default="", metavar="NAME", help="checks that the key is that cluster's")
    add("--isthmusd", default="isthmusd", metavar="PATH", help="default: found on the PATH")
    add("--batch", default="", metavar="ID", help="id of this batch job")
    add("--left", default="", metavar="TIME", help="remaining time of this batch job, [D-]HH:MM:SS")
    add(
        "--requeue",
        default="",
        metavar="COMMAND",
        help="the command that gives this batch job back to its queue",
    )
    add("--reach", type=float, default=CONNECT_LIMIT, metavar="SECONDS",
        help="how long to try to reach the orchestrator (default: %(default)g)")  # fmt: skip
    return made


def main(words: list[str] | None = None) -> int:
    try:
        return join(parser().parse_args(words))
    except JoinError as error:
        say(str(error))
        return 1


if __name__ == "__main__":
    sys.exit(main())
