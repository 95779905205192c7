"""The costs of gateways: processor time and cache misses for each gigabyte that they pass on.

Usage: isthmus lab run zipper -- python bench/gateways.py [--seconds 10] [--pairs 1]

Streams of 1 MiB messages go from the first nodes of one site to those of the other, by the lab's
gateways. Processor time and switches are the kernel's counts for all isthmusd processes. Cache
misses come from `perf stat`, on machines that let it count them. The cost of a short stream is
subtracted from a long one's, so that the figures do not include the start.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from isthmus.measuring.tasks import GIGABYTE, MIB, Task
from isthmus_lab.bench.limits import OURS
from isthmus_lab.bench.p2p import Options, contestants
from isthmus_lab.measuring.place import Place, inside_lab

EVENTS = ("cycles", "instructions", "cache-references", "cache-misses")
SHORT = 1.0  # seconds of the stream that is subtracted
EVERY = 0.1  # seconds between two looks at the processes
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """One process so far: seconds, and the number of times it yielded or lost its core."""

    user: float
    system: float
    waits: int
    preempted: int


def daemons() -> dict[int, Spent]:
    """The isthmusd processes of this lab, which sees no others."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "comm").read_text().strip() != "isthmusd":
                continue
            numbers = (entry / "stat").read_text().rpartition(")")[2].split()
            status = dict(
                line.split(":", 1) for line in (entry / "status").read_text().splitlines()
            )
            found[int(entry.name)] = Spent(
                int(numbers[11]) / _TICKS,
                int(numbers[12]) / _TICKS,
                int(status["voluntary_ctxt_switches"]),
                int(status["nonvoluntary_ctxt_switches"]),
            )
    return found


@contextlib.contextmanager
def watched(seen: dict[int, Spent]) -> Iterator[None]:
    """Keeps what each process had spent when it was last seen."""
    done = threading.Event()

    def look() -> None:
        while not done.wait(EVERY):
            seen.update(daemons())

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextlib.contextmanager
def counted(counts: dict[str, float]) -> Iterator[None]:
    """Counts of `perf stat` on all processors meanwhile; empty without it."""
    perf = shutil.which("perf")
    if perf is None:
        yield
        return
    with tempfile.NamedTemporaryFile("r") as file:
        command = [perf, "stat", "-a", "-x", ";", "-o", file.name, "-e", ",".join(EVENTS)]
        with subprocess.Popen([*command, "sleep", "3600"], stderr=subprocess.DEVNULL) as running:
            try:
                yield
            finally:
                running.terminate()
        for line in file.read().splitlines():
            fields = line.split(";")
            if len(fields) > 2 and fields[0].isdigit():
                counts[fields[2]] = float(fields[0])


@dataclass(frozen=True)
class Total:
    """The sums of all of them, in one stream; `counts` are for the whole machine."""

    gigabytes: float
    seconds: float
    spent: Spent
    counts: dict[str, float]


def stream(place: Place, seconds: float) -> Total:
    """RunError where it fails."""
    seen: dict[int, Spent] = {}
    counts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        (ours,) = contestants(place, Options(only=(OURS,)), Path(folder), lambda _: None)
        with watched(seen), counted(counts):
            (run,) = ours.measure([Task("stream", MIB, 1, seconds)], 0)
    spent = Spent(*(sum(of) for of in zip(*map(dataclasses.astuple, seen.values()), strict=True)))
    moved = run.pairs * sum(run.messages) * MIB / GIGABYTE
    return Total(moved, sum(run.seconds), spent, counts)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="of the longer stream (10)")
    parser.add_argument("--pairs", type=int, default=1, help="of nodes that send and receive (1)")
    words = parser.parse_args()
    if "ISTHMUS_LAB" not in os.environ:
        parser.error("runs in a lab: isthmus lab run zipper -- python bench/gateways.py")
    if words.seconds <= 2 * SHORT:
        parser.error(f"--seconds {words.seconds:g}: more than {2 * SHORT:g} are needed")
    place = dataclasses.replace(inside_lab(), pairs=words.pairs)
    short, whole = stream(place, SHORT), stream(place, words.seconds)
    gigabytes = whole.gigabytes - short.gigabytes
    before, after = dataclasses.asdict(short.spent), dataclasses.asdict(whole.spent)
    each = {what: (after[what] - before[what]) / gigabytes for what in after}
    rate = 8e-6 * whole.gigabytes * GIGABYTE / whole.seconds
    print(f"{gigabytes:.3g} GB at {rate:.0f} Mbit/s; all isthmusd processes, for each GB:")
    print(f"  {each['user']:.2f} s in the program, {each['system']:.2f} s in the kernel")
    print(f"  {each['waits']:.0f} waits, {each['preempted']:.0f} times preempted")
    for event in EVENTS:
        told = "not counted by this machine"
        if event in short.counts and event in whole.counts:
            told = f"{(whole.counts[event] - short.counts[event]) / gigabytes:.3g}"
        print(f"  {event} of the whole machine: {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
