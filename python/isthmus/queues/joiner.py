"""`isthmus join`: brings an agent to the orchestrator of a job, which runs elsewhere.

This file stands alone, for Python 3.8 and its standard library, since `isthmus submit` puts it
beside its batch scripts: clusters need no Python packages. First both sides speak in lines of JSON
(docs/control.md, "Dialling in"); after `go` the connection carries what would be the agent's
standard input and output.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, NoReturn

FIRST_PAUSE, CONNECT_PAUSE = 0.25, 5.0  # seconds between attempts to reach the orchestrator
CONNECT_LIMIT = 600.0  # after so many it is taken for gone
SILENCE_LIMIT = 300.0  # the orchestrator says something each minute while others are awaited
MAX_LINE = 1 << 16
GONE = "the job's orchestrator has gone away while others were awaited"
LOOK = "\n  `isthmus attach JOB`, where the job was submitted, shows its last messages."


class JoinError(Exception):
    """A sentence for the user."""


def say(sentence: str) -> None:
    print("isthmus: " + sentence, file=sys.stderr, flush=True)


def context(key: str) -> ssl.SSLContext:
    """TLS 1.3 in which this end shows its own certificate. The door's certificate is checked after
    it has come. Its mark identifies it, and its times do not matter, since clocks differ."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    made.check_hostname = False
    made.verify_mode = ssl.CERT_NONE
    try:
        made.load_cert_chain(key)
    except (OSError, ssl.SSLError) as error:
        raise JoinError(f"{key} is not the key of a part of a job: {said_of(error)}") from None
    return made


def said_of(error: OSError) -> str:
    """In OpenSSL's words, or the system's."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or str(error)).lower().replace("_", " ")
    return error.strerror or str(error)


def door_of(path: str) -> str:
    """The mark of the job's door, as the file of the part's key says. JoinError unless it is there
    and nobody else may read it."""
    try:
        mode = Path(path).stat().st_mode
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise JoinError(
            f"cannot read the part's key {path}: {why}\n"
            "  It is CLUSTER.pem in ~/.isthmus-jobs/JOB there, until the job begins or ends."
        ) from None
    if mode & 0o077:
        raise JoinError(f"others may read the part's key {path}\n  chmod 600 {path}")
    first = text.partition("\n")[0].split()
    if len(first) != 2 or first[0] != "door":
        raise JoinError(f"{path} is not the key of a part of a job: it does not begin with 'door'")
    return first[1]


def server_name(key: str) -> str:
    """The name of the door in the first record of TLS, as in keys.py. Strangers do not know it, so
    they do not delay this part."""
    text = Path(key).read_text()
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    certificate = ssl.PEM_cert_to_DER_cert(text[text.index(begin) : text.index(end) + len(end)])
    mark = hashlib.sha256(certificate).hexdigest()
    return hashlib.sha256(f"isthmus door {mark}".encode()).hexdigest()[:32]


def connect(addresses: list[tuple[str, int]], key: str, limit: float) -> ssl.SSLSocket:
    """A connection to the first orchestrator that is reached. JoinError where it is another."""
    door = door_of(key)
    made = context(key)
    name = server_name(key)
    deadline = time.monotonic() + limit
    pause, trouble = FIRST_PAUSE, ""
    while True:
        for host, port in addresses:
            try:
                plain = socket.create_connection((host, port), timeout=15)
            except OSError as error:
                trouble = f"{host}:{port}: {error.strerror or error}"
                continue
            try:
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                stream = made.wrap_socket(plain, server_hostname=name)
            except ssl.SSLEOFError:
                plain.close()
                trouble = f"{host}:{port} closed the connection during the handshake"
                continue
            except ssl.SSLError as error:
                plain.close()
                raise JoinError(f"TLS with {host}:{port} failed: {said_of(error)}") from None
            except OSError as error:
                plain.close()
                trouble = f"{host}:{port}: {error.strerror or error}"
                continue
            shown = hashlib.sha256(stream.getpeercert(binary_form=True) or b"").hexdigest()
            if shown == door:
                return stream
            stream.close()
            raise JoinError(
                f"{host}:{port} is not the orchestrator of this job: its certificate has the mark "
                f"{shown[:16]}..., the key says {door[:16]}..."
            )
        if time.monotonic() > deadline:
            raise JoinError(
                f"the job's orchestrator is not reached: {trouble}\n"
                "  Does it still run (`isthmus jobs`, where the job was submitted)? Can this host "
                "connect to that address?"
            )
        time.sleep(pause * random.uniform(0.5, 1.5))  # parts that were turned away come apart
        pause = min(2 * pause, CONNECT_PAUSE)


def read_line(stream: ssl.SSLSocket) -> dict[str, Any]:
    """One message; JoinError when the orchestrator is gone, or speaks of other things."""
    line = b""
    while not line.endswith(b"\n"):
        try:
            piece = stream.recv(1)  # what follows `go` is the agent's
        except ssl.SSLError as error:
            raise JoinError(
                f"the job's orchestrator does not take this key: TLS: {said_of(error)}\n"
                "  Each job has keys of its own, and each of its clusters has one."
            ) from None
        except OSError as error:
            raise JoinError(GONE + f": {error}" + LOOK) from None
        if not piece:
            raise JoinError(GONE + LOOK)
        line += piece
        if len(line) > MAX_LINE:
            break
    try:
        message = json.loads(line.decode())
    except ValueError:
        message = None
    if not isinstance(message, dict):
        raise JoinError(
            "the job's orchestrator sent something that is not a message; is it the same version?"
        )
    return message


def forget(key: str) -> None:
    """It has opened the door, or will not any more."""
    with contextlib.suppress(OSError):
        Path(key).unlink()


def wait_for_go(stream: ssl.SSLSocket, requeue: str, key: str) -> bool:
    """True: all are there. False: this part has been given back to its queue."""
    stream.settimeout(SILENCE_LIMIT)
    while True:
        message = read_line(stream)
        op = message.get("op")
        if op == "go":
            forget(key)
            stream.settimeout(None)
            return True
        if op == "no":
            if message.get("over"):
                forget(key)
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
            report = {"op": "requeued", "status": done.returncode, "said": said}
            with contextlib.suppress(OSError):
                stream.sendall(json.dumps(report).encode() + b"\n")
            return False
        if message.get("message"):
            say(str(message["message"]))


def bridge(stream: ssl.SSLSocket, command: list[str]) -> int:
    """The agent's standard input and output over the connection; its exit status."""
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert agent.stdin
    assert agent.stdout
    orders = agent.stdin
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: agent.terminate())

    def down() -> None:
        try:
            while True:
                data = stream.recv(1 << 16)
                if not data:
                    break
                orders.write(data)
                orders.flush()
        except (OSError, ValueError):
            pass
        with contextlib.suppress(OSError):
            orders.close()  # it ends all that it has started

    threading.Thread(target=down, daemon=True).start()
    try:
        while True:
            data = os.read(agent.stdout.fileno(), 1 << 16)
            if not data:
                break
            stream.sendall(data)
    except OSError:
        agent.terminate()
    status = agent.wait()
    with contextlib.suppress(OSError):
        stream.shutdown(socket.SHUT_RDWR)
    return status if status >= 0 else 128 - status


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
    door_of(arguments.key)
    agent = find_isthmusd(arguments.isthmusd)
    if not agent:
        raise JoinError(
            f"isthmusd is not found as '{arguments.isthmusd}' on {socket.gethostname()}\n"
            "  Install Isthmus there, and set the cluster's prefix in the grid file to the place."
        )
    stream = connect(addresses_of(arguments.to), arguments.key, arguments.reach)
    hello = {
        "op": "join",
        "host": socket.gethostname(),
        "batch": arguments.batch,
        "left": seconds_left(arguments.left) if arguments.left else None,
    }
    if arguments.cluster:
        hello["cluster"] = arguments.cluster
    stream.sendall(json.dumps(hello).encode() + b"\n")
    if not wait_for_go(stream, arguments.requeue, arguments.key):
        return 0
    return bridge(stream, [agent, "agent"])


class _Parser(argparse.ArgumentParser):
    """Words errors as the other commands do."""

    def error(self, message: str) -> NoReturn:
        message = message.replace("the following arguments are required", "options are missing")
        self.exit(2, f"isthmus: {message}\n  See: isthmus join --help\n")


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
