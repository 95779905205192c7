"""The faults: one row each. A row says what is done, and what has to follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from signal import SIGHUP, SIGKILL, SIGTERM, Signals

import doings as do
from scene import Scene

LIBRARIES = ("openmpi4", "mpich4")
KILLED = 137


@dataclass(frozen=True)
class Row:
    name: str  # what the page says, "X of Y"
    doing: Callable[[Scene], None]  # after some rounds; whatever lasts ends within
    status: int | None = 0  # of the run; None: any but 0. 0: it goes on, every byte is right
    says: tuple[str, ...] = ()  # in one line each, {host} and the like as they are
    testbed: tuple[str, ...] = ("hablot", "--nodes", "2")
    options: tuple[str, ...] = ()  # of `isthmus run`
    grid: str = ""  # a grid file, else the testbed's
    long: bool = False  # minutes: `--long`
    short: bool = False  # in `make test`
    patience: float = 60  # seconds until rounds go on, or the run ends
    prepare: Callable[[Scene], None] | None = None  # before the run
    or_goes_on: bool = False  # it may as well: some native libraries catch the signal


ONE = ("zipper", "--nodes", "2", "--zippers", "1")
ONE_OF_TWO = ("zipper", "--nodes", "2", "--zippers", "2")
RELAYED = (
    "chain", "--nodes", "2",
    "--set", "site.a.firewall=outgoing", "--set", "site.c.firewall=outgoing",
)  # fmt: skip
BY_RELAY = (
    '[cluster.a]\nhost = "a0"\nhosts = "a[1-2]"\n[cluster.c]\nhost = "c0"\nhosts = "c[1-2]"\n'
    '[[relay]]\nhost = "b0"\naddress = "10.2.255.1:7500"\n'
)
BY_NAME = (
    '[cluster.a]\nhost = "a0"\nhosts = "a[1-2]"\n[cluster.b]\nhost = "b0"\nhosts = "b[1-2]"\n'
    '[[gateway]]\ncluster = "b"\naddress = "b0:7500"\nlisten = "0.0.0.0:7500"\n'
)
RANK_OF_A = ("cluster", "a")  # the native library ends the ranks
RANK = 'rank 0 (cluster "a") was killed by signal {} ({}) on a1'


def signalled(
    what: str, number: Signals, status: int | None, says: tuple[str, ...], host: str = "",
    which: str = "", **more: object,
) -> Row:  # fmt: skip
    """`which`: more words of the process, for the row's name."""
    done = "kill -9" if number == SIGKILL else number.name
    name = f"{done} of {what}{f' on {host}' if host else ''}{which}"
    return Row(name, do.signal(what, number, host), status, says, **more)  # type: ignore[arg-type]


def stopped(what: str, seconds: float, host: str = "", which: str = "", **more: object) -> Row:
    name = f"SIGSTOP of {what}{f' on {host}' if host else ''}{which} for {seconds:g} s"
    return Row(name, do.stop(what, seconds, host), **more)  # type: ignore[arg-type]


def all_signals(
    what: str, host: str, ends: dict[Signals, tuple[int | None, tuple[str, ...]]], **more: object
) -> list[Row]:
    rows = [signalled(what, number, *seen, host=host, **more) for number, seen in ends.items()]
    return [*rows, stopped(what, 30, host), stopped(what, 90, host, long=True)]


PROCESSES = [
    signalled("a rank", SIGKILL, KILLED, (RANK.format(9, "SIGKILL"),), "a1", short=True),
    signalled("a rank", SIGTERM, 143, (RANK.format(15, "SIGTERM"),), "a1"),
    signalled("a rank", SIGHUP, 129, (RANK.format(1, "SIGHUP"),), "a1", or_goes_on=True),
    stopped("a rank", 30, "a1"),
    stopped("a rank", 90, "a1", long=True),
    *all_signals(
        "the agent", "a0",
        {
            SIGKILL: (None, ("cluster a on a0", "killed by SIGKILL")),
            SIGTERM: (None, ("cluster a on a0", "status 143")),
            SIGHUP: (None, ("cluster a on a0", "status 129")),
        },
    ),
    *all_signals(
        "the native launcher", "a0",
        {SIGKILL: (KILLED, ("cluster", "signal 9 (SIGKILL)")), SIGTERM: (None, RANK_OF_A),
         SIGHUP: (None, RANK_OF_A)},
    ),
    *all_signals(
        "a daemon of the native launcher", "a1",
        {SIGKILL: (None, RANK_OF_A), SIGTERM: (None, RANK_OF_A), SIGHUP: (None, RANK_OF_A)},
        or_goes_on=True,
    ),
    *(
        signalled(what, SIGKILL, None, ("cluster b on b0",), host, prepare=do.with_ssh)
        for what, host in (("ssh to b0", ""), ("sshd's session", "b0"))
    ),
    stopped("ssh to b0", 30, prepare=do.with_ssh),
    signalled("isthmus run", SIGKILL, KILLED, ()),
    signalled("isthmus run", SIGTERM, 143, ()),
    signalled("isthmus run", SIGHUP, 129, ()),
    stopped("isthmus run", 30),
    stopped("isthmus run", 90, long=True),
]  # fmt: skip

# The orchestrator's messages are in a file, and `isthmus attach` shows them.
SUBMITTED = [
    signalled("the orchestrator", SIGKILL, None, ("is lost: its process is gone",),
              prepare=do.submitted),
    signalled("the orchestrator", SIGTERM, 143, ("SIGTERM: ended everything",),
              prepare=do.submitted),
    stopped("the orchestrator", 30, prepare=do.submitted),
    signalled("the agent", SIGKILL, None, ("cluster a",), "a0", " of a submitted job",
              prepare=do.submitted),
]  # fmt: skip

GONE_ON = ("the other gateways of the cluster go on",)
LEAVES = ("was not heard for long, and leaves",)
TWO = ", one of two"
ONLY = ", the only one"
GATEWAYS = [
    *(
        signalled("a gateway", number, 0, GONE_ON, "z1", TWO, testbed=ONE_OF_TWO)
        for number in (SIGKILL, SIGTERM, SIGHUP)
    ),
    stopped("a gateway", 15, "z1", TWO, testbed=ONE_OF_TWO),
    stopped("a gateway", 60, "z1", TWO, testbed=ONE_OF_TWO, says=LEAVES),
    stopped("a gateway", 90, "z1", TWO, testbed=ONE_OF_TWO, says=LEAVES, long=True),
    signalled("a gateway", SIGKILL, None, ("gateway", "z1"), "z1", ONLY, testbed=ONE),
    stopped("a gateway", 60, "z1", ONLY, testbed=ONE),
    signalled(
        "a gateway", SIGKILL, 0, ("it is started again",), "b0", ", a relay",
        testbed=RELAYED, grid=BY_RELAY,
    ),
    stopped("a gateway", 30, "b0", ", a relay", testbed=RELAYED, grid=BY_RELAY),
    Row("kill -9 of the service, which is back after 3 s", do.service_killed(3),
        testbed=RELAYED, prepare=do.with_service),
    Row("kill -9 of the service, which does not come back", do.service_killed(0), None,
        ("service",), testbed=RELAYED, prepare=do.with_service, patience=150),
    Row("SIGSTOP of the service for 30 s", do.service_stopped(30), testbed=RELAYED,
        prepare=do.with_service),
]  # fmt: skip

LINKS = [
    Row("the link cut for 1 s", do.cut("a-b", 1)),
    Row("the link cut for 15 s", do.cut("a-b", 15)),
    Row("the link cut for 90 s", do.cut("a-b", 90), long=True),
    Row("one direction of the link cut for 15 s", do.cut("a>b", 15)),
    Row("one direction of the link cut for 90 s", do.cut("b>a", 90), long=True),
    Row("30 % of the packets lost for 15 s", do.link(15, "loss=30%"), patience=120),
    Row("packets out of order for 15 s", do.link(15, "jitter=20ms", "reorder=yes")),
    Row("a hundredth of the rate for 20 s", do.link(20, "rate=10 Mbit/s"), patience=120),
    Row("an MTU of 600 without ICMP", do.narrow(600, icmp=False), patience=150,
        says=("full-sized packets do not pass",)),
    Row("an MTU of 1280 with ICMP", do.narrow(1280, icmp=True), patience=60),
    Row("a fifth of the packets twice for 15 s", do.link(15, "duplicate=20%")),
    Row("a wrong byte in each megabyte, with right checksums, for 15 s",
        do.link(15, "corrupt=1 MB"), patience=60),
    Row("names that do not resolve for 25 s, while connections are lost", do.nameless(25),
        grid=BY_NAME, patience=60),
    Row("connections reset, 2000 a minute, for 15 s", do.resets(15)),
    Row("a NAT that forgets all connections", do.forget()),
]  # fmt: skip


def processes_limited(limit: int) -> Row:
    """For the run as a whole. A small limit refuses a process or a thread somewhere."""
    return Row(f"{limit} processes and threads", do.nothing, status=None, or_goes_on=True,
               prepare=do.group("pids", "pids.max", limit))  # fmt: skip


HOSTS = [
    Row("/dev/shm full on all hosts", do.nothing, prepare=do.full_shm),
    Row("/tmp full on all hosts", do.nothing, status=None, prepare=do.full_tmp,
        or_goes_on=True),
    Row("the file's disk full", do.nothing, status=None, prepare=do.small_disk,
        says=("No space left on device",)),
    Row("no /dev/shm on all hosts", do.nothing, prepare=do.no_shm),
    processes_limited(20),
    Row("80 MB of memory for all", do.nothing, status=None,
        prepare=do.group("memory", "memory.limit_in_bytes", 80_000_000)),
    Row("60 open files a process", do.nothing, prepare=do.files(60), status=None),
    Row("the clocks of the sites 2 h apart", do.nothing, prepare=do.clock("+2h", "b")),
    Row("all clocks in 2040", do.nothing, prepare=do.clock("2040-01-01 00:00:00", "")),
    Row("a load of 40", do.load(40, 20), patience=120, long=True),
]  # fmt: skip

ROWS: list[Row] = [*PROCESSES, *SUBMITTED, *GATEWAYS, *LINKS, *HOSTS]
# Two at a time, at random: those that end within, and after which the run goes on.
PASSING = [r for r in ROWS if r.status == 0 and not r.long and not r.prepare and not r.grid
           and r.testbed[0] == "hablot" and "MTU" not in r.name]  # fmt: skip


def drawn(seed: int) -> Row:
    """Two faults at once."""
    chance = Random(seed)
    one, other = chance.sample(PASSING, 2)
    lag = round(chance.uniform(0, 5), 1)
    name = f"random {seed}: {one.name}; {lag:g} s later {other.name}"
    return Row(name, do.both(one.doing, other.doing, lag), patience=120)


def named(name: str) -> Row:
    if name.startswith("random "):
        return drawn(int(name.split()[1].rstrip(":")))
    if limited := re.fullmatch(r"(\d+) processes and threads", name):
        return processes_limited(int(limited[1]))
    return next(row for row in ROWS if row.name == name)
