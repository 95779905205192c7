"""The contestants. Each runs the same tasks between the same two hosts, and returns samples."""

import contextlib
import json
import secrets
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from isthmus.base.errors import RunError
from isthmus.base.itself import itself
from isthmus.measuring.ends import End
from isthmus.measuring.process import lines, measure, started
from isthmus.measuring.runs import Run, run_from_json
from isthmus.measuring.tasks import ONE_WAY, Task
from isthmus_lab.bench import session
from isthmus_lab.bench.mpis import Mpi
from isthmus_lab.measuring.place import Place

_SERVER_LIMIT = 40.0  # seconds for the listening end to come up
_IPERF_PORT = 5201
_ISTHMUS = itself()
# Inside a cluster both ranks wait natively, on shared processors, as under `isthmus lab mpirun`.
_YIELDING = "OMPI_MCA_mpi_yield_when_idle=1"


class Contestant(session.Contestant[Task, Run], Protocol):
    """`figures` are those that it can measure."""

    @property
    def figures(self) -> frozenset[str]: ...


PLAIN_FIGURES = frozenset({"pingpong", "stream", "bidirectional", "rate", "loaded"})
MPI_FIGURES = PLAIN_FIGURES | {"paused", *ONE_WAY}


class Way(Protocol):
    """A path of plain TCP from one end of a place to the other."""

    def opened(self, port: int) -> contextlib.AbstractContextManager[tuple[str, int]]:
        """Opens the path to a program at `port` of the far end. Yields where its partner
        connects."""
        ...


@dataclass(frozen=True)
class PlainTcp:
    """isthmus-tcpbench: one connection with the kernel's own settings, directly or by another path,
    or with encryption of its own."""

    place: Place
    key: str = "tcp"
    label: str = "plain TCP"
    ceiling: int | None = None
    figures: frozenset[str] = PLAIN_FIGURES
    way: Way | None = None
    tls: bool = False

    def measure(self, tasks: Sequence[Task], number: int) -> list[Run]:
        near, far = self.place.ends
        token = secrets.token_hex(16) + "\n"
        texts = [*(["--tls"] if self.tls else []), *(task.text for task in tasks)]
        with contextlib.ExitStack() as up:
            port = up.enter_context(_serving(far, texts, token))
            at, entry = far.address, port
            if self.way:
                at, entry = up.enter_context(self.way.opened(port))
            play = [near.tcpbench(), "play", at, str(entry), *texts]
            return measure(near.command(play), tasks, self.key, number, run_from_json, stdin=token)


@contextlib.contextmanager
def _serving(far: End, texts: Sequence[str], token: str) -> Iterator[int]:
    """Runs isthmus-tcpbench there for these tasks; yields its port."""
    every = "::" if ":" in far.address else "0.0.0.0"
    listen = far.address if far.address == "127.0.0.1" else every
    serve = [far.tcpbench(), "serve", listen, str(far.port), *texts]
    with started(far.command(serve), None, token) as (server, said):
        try:
            first = next(lines(server, iter([_SERVER_LIMIT, 1.0])), "")
        except TimeoutError:
            first = ""
        word, _, port = first.partition(" ")
        if word != "listening" or not port.isdigit():
            raise RunError(f"the listening end did not come up{said.tail()}")
        yield int(port)


def has_iperf(place: Place) -> bool:
    """Whether it is installed at both ends, as far as they can be asked."""
    asked = [end.command(["sh", "-c", "command -v iperf3"]) for end in place.ends]
    return not any(
        subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
        ).returncode
        in (1, 127)
        for command in asked
    )


@dataclass(frozen=True)
class Iperf:
    """iperf3, as others measure: one-way bandwidth of this number of streams."""

    place: Place
    streams: int
    ceiling: int | None = None
    figures: frozenset[str] = frozenset({"stream"})

    @property
    def key(self) -> str:
        return f"iperf3-{self.streams}"

    @property
    def label(self) -> str:
        return f"iperf3, {self.streams} stream{'s' if self.streams > 1 else ''}"

    def measure(self, tasks: Sequence[Task], number: int) -> list[Run]:
        near, far = self.place.ends
        port = str(far.port or _IPERF_PORT)
        serve = ["timeout", "300", "iperf3", "-s", "-1", "--forceflush", "-p", port]
        runs = []
        for task in tasks:
            seconds = max(2, round(task.seconds))
            with started(far.command(serve), None) as (server, said):
                try:
                    for line in lines(server, iter([_SERVER_LIMIT] * 10)):
                        if "listening" in line:
                            break
                    else:
                        raise RunError(f"iperf3 does not listen{said.tail()}")
                except TimeoutError:
                    raise RunError(f"iperf3 does not listen{said.tail()}") from None
                play = ["iperf3", "-c", far.address, "-p", port, "-P", str(self.streams)]
                play += ["-t", str(seconds), "-O", "1", "-J"]
                rate = self._rate(near.command(play), seconds)
            count = rate * seconds / task.bytes
            runs.append(Run(self.key, number, task, 1, (float(seconds),), (count,)))
        return runs

    @staticmethod
    def _rate(command: Sequence[str], seconds: int) -> float:
        """Bytes per second that arrived."""
        with started(command, None) as (client, said):
            try:
                text = "\n".join(lines(client, iter([seconds + 40.0, *[10.0] * 100_000])))
                rate = float(json.loads(text)["end"]["sum_received"]["bits_per_second"]) / 8
            except TimeoutError:
                raise RunError(f"iperf3 got stuck{said.tail()}") from None
            except (ValueError, KeyError, TypeError):
                raise RunError(f"iperf3 failed: {text[-200:].strip()}{said.tail()}") from None
        if rate <= 0:
            raise RunError("iperf3 reports that nothing arrived")
        return rate


@dataclass(frozen=True)
class IsthmusRun:
    """`isthmus run`, with the ranks of each end on their own cluster, and a program for each part
    of the place."""

    place: Place
    key: str
    label: str
    grid: Path
    programs: tuple[str, str]
    ceiling: int | None = None
    figures: frozenset[str] = MPI_FIGURES

    def measure(self, tasks: Sequence[Task], number: int) -> list[Run]:
        command = [*_ISTHMUS, "run", "-g", str(self.grid)]
        for (end, ranks), program in zip(self.place.parts, self.programs, strict=True):
            command += [":"] if command[-1] != str(self.grid) else []
            command += ["--on", end.cluster, "-n", str(ranks)]
            command += ["-x", _YIELDING] if self.place.beside else []
            command += [program]
            command += [task.text for task in tasks]
        return measure(command, tasks, self.key, number, run_from_json)


@dataclass(frozen=True)
class NativeMpi:
    """A native MPI as one job over both ends of a lab, with a pair of ranks."""

    place: Place
    mpi: Mpi
    program: str
    tuning: str
    settings: Mapping[str, str] = field(default_factory=dict)
    ceiling: int | None = None
    figures: frozenset[str] = MPI_FIGURES

    @property
    def key(self) -> str:
        return f"native-{self.mpi.key}-{self.tuning}"

    @property
    def label(self) -> str:
        return f"{self.mpi.label}, {self.tuning}"

    def measure(self, tasks: Sequence[Task], number: int) -> list[Run]:
        command = [*_ISTHMUS, "lab", "mpirun", "--mpi", self.mpi.name]
        command += ["--hosts", ",".join(end.address for end in self.place.ends), "-n", "2", "env"]
        command += [f"{name}={value}" for name, value in self.settings.items()]
        return measure(
            [*command, self.program, *(t.text for t in tasks)],
            tasks,
            self.key,
            number,
            run_from_json,
        )


_FOUR_MB = 4 << 20  # what Hablot et al. gave every MPI
_EAGER = (64 << 20) + 4096  # 64 MiB and the headers

_OPEN_MPI_BUFFERS = ("OMPI_MCA_btl_tcp_sndbuf", "OMPI_MCA_btl_tcp_rcvbuf")
_OPEN_MPI_EAGER = (
    "OMPI_MCA_btl_tcp_eager_limit",
    "OMPI_MCA_btl_tcp_rndv_eager_limit",
    "OMPI_MCA_btl_tcp_max_send_size",
)


def tunings(mpi: Mpi) -> dict[str, dict[str, str]]:
    """Environment variables, by the tuning's name. An MPICH may be built over UCX and libfabric;
    without a rendez-vous the latter is quicker (1 MiB over 11.6 ms: 18 ms against 33)."""
    if mpi.family == "openmpi":
        buffers = dict.fromkeys(_OPEN_MPI_BUFFERS, str(_FOUR_MB))
        eager = dict.fromkeys(_OPEN_MPI_EAGER, str(_EAGER))
    else:
        buffers = dict.fromkeys(("UCX_TCP_SNDBUF", "UCX_TCP_RCVBUF"), str(_FOUR_MB))
        eager = {"UCX_RNDV_THRESH": "inf"}
        if "ofi" in mpi.networks:
            eager = {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_OFI_RXM_SAR_LIMIT": str(_EAGER)}
    return {"default": {}, "tuned": buffers, "eager": eager}


def threads(mpi: Mpi) -> dict[str, str]:
    """Environment variables that have MPI_Init ask for MPI_THREAD_MULTIPLE, so that the library
    locks what threads share."""
    if mpi.family == "openmpi":
        return {"OMPI_MPI_THREAD_LEVEL": "3"}
    return {"MPIR_CVAR_DEFAULT_THREAD_LEVEL": "MPI_THREAD_MULTIPLE"}
