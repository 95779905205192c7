"""Tasks for the measuring programs: p2p.c over MPI, isthmus-tcpbench over plain TCP."""

from collections.abc import Sequence
from dataclasses import dataclass

STREAM_BYTES = 1 << 20
RATE_BYTES = 8
LATENCY_BYTES = 8
LARGEST = 64 << 20
KIB, MIB = 1 << 10, 1 << 20
ONE_WAY = ("there", "back")
FIGURES = ("pingpong", *ONE_WAY, "stream", "bidirectional", "rate", "loaded", "paused")
PAUSED_BYTES = (256 * KIB, 4 * MIB)
PAUSE = 2.0  # seconds, in which kernels forget a stream's window
GIGABYTE = 1_000_000_000


@dataclass(frozen=True)
class Task:
    """The programs read `text`; one task may take `limit` seconds."""

    figure: str
    bytes: int
    rounds: int = 0
    seconds: float = 0.0
    total: int = 0

    @property
    def text(self) -> str:
        if self.figure in ("pingpong", *ONE_WAY):
            return f"{self.figure}:{self.bytes}:{self.rounds}"
        if self.figure == "loaded":
            return f"loaded:{self.bytes}:{self.total}"
        return f"{self.figure}:{self.bytes}:{self.rounds}:{self.seconds:g}"

    @property
    def of_round_trips(self) -> bool:
        """Whether its samples are round trips, or one way of them. Samples of other tasks are
        rounds of many messages."""
        return self.figure in ("pingpong", *ONE_WAY, "paused", "loaded")

    @property
    def limit(self) -> float:
        """At 2 MB/s, with a second for each round trip; anything slower is stuck."""
        moved = self.total or 2 * self.bytes * (self.rounds + 2)
        trips = self.rounds + 2 if self.of_round_trips else 10 * self.rounds
        return 60 + moved / 2e6 + trips + 40 * self.seconds * max(self.rounds, 1)


def parse(text: str) -> Task:
    """The inverse of `Task.text`. ValueError if the text is malformed."""
    figure, *numbers = text.split(":")
    if figure in ("pingpong", *ONE_WAY):
        size, rounds = map(int, numbers)
        return Task(figure, size, rounds)
    if figure == "loaded":
        size, total = map(int, numbers)
        return Task(figure, size, total=total)
    if figure in ("stream", "bidirectional", "rate", "paused"):
        size_text, rounds_text, seconds = numbers
        return Task(figure, int(size_text), int(rounds_text), float(seconds))
    raise ValueError(f"not a task: {text}")


def pingpongs(sizes: Sequence[int], rounds: int) -> list[Task]:
    return [Task("pingpong", size, rounds) for size in sizes]


def one_way(sizes: Sequence[int], rounds: int) -> list[Task]:
    """Each direction of round trips by itself."""
    return [Task(way, size, rounds) for size in sizes for way in ONE_WAY]


def paused(rounds: int) -> list[Task]:
    """Round trips after a computing phase, and the same back to back."""
    return [
        task
        for size in PAUSED_BYTES
        for task in (Task("pingpong", size, 10), Task("paused", size, rounds, PAUSE))
    ]


def powers_of_two(largest: int = LARGEST) -> list[int]:
    """1 B to 64 MiB."""
    return [1 << k for k in range(largest.bit_length())]


def flows(rounds: int, seconds: float, sizes: Sequence[int] = (STREAM_BYTES,)) -> list[Task]:
    """One way and both ways, with messages of these sizes; and small messages."""
    streams = [
        Task(figure, size, rounds, seconds)
        for figure in ("stream", "bidirectional")
        for size in sizes
    ]
    return [*streams, Task("rate", RATE_BYTES, rounds, min(seconds, 1.0))]


def loaded() -> Task:
    """Small round trips while a gigabyte goes the same way."""
    return Task("loaded", LATENCY_BYTES, total=GIGABYTE)
