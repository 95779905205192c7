"""The path between clusters over networks that misbehave: every byte is checked."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

import mpis
import pytest
from waiting import eventually

# Both directions at once, in rounds of some megabytes, each with a content of its own.
EXCHANGE = """
import hashlib, sys
from mpi4py import MPI
world = MPI.COMM_WORLD
rounds, size = int(sys.argv[1]), int(sys.argv[2]) << 20
def content(rank, turn):
    seed = hashlib.sha256(b"%d %d" % (rank, turn)).digest()
    return hashlib.shake_128(seed).digest(1 << 20) * (size >> 20)
got = bytearray(size)
other = 1 - world.rank
for turn in range(rounds):
    world.Sendrecv(content(world.rank, turn), other, turn, got, other, turn)
    assert got == content(other, turn), f"round {turn} differs"
    print(f"round {turn}", flush=True)
"""


# Rank 0 sleeps while ranks from 2 on, except the last, send to it. Rank 1 and the last, in
# different clusters, exchange data meanwhile, and then wake it. Each process prints its largest
# memory in MiB at the end.
SLEEPER = """
import os, sys, time
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, last = world.rank, world.size - 1
messages, seconds, bell = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
size = 1 << 20
def content(sender, number):
    return bytes([sender, number % 251]) * (size // 2)
def most(pid):
    fields = dict(line.split(":", 1) for line in open(f"/proc/{pid}/status"))
    return fields["Name"].strip(), int(fields["VmHWM"].split()[0]) // 1024
got = bytearray(size)
world.Barrier()
if rank == 0:
    deadline = time.monotonic() + seconds
    while not os.path.exists(bell) or time.monotonic() < deadline:
        time.sleep(0.05)
    for number in range(messages):
        for sender in range(2, last):
            world.Recv(got, sender, number)
            assert got == content(sender, number), (sender, number)
elif 1 < rank < last:
    for number in range(messages):
        world.Send(content(rank, number), 0, number)
else:
    rates = []
    for turn in range(1 + round(seconds)):
        begin = time.monotonic()
        for number in range(64):
            world.Sendrecv(content(rank, number), last + 1 - rank, 0, got)
        rates.append(64 / (time.monotonic() - begin))
    if rank == last:
        print("bystanders:", min(rates), max(rates), "MiB/s", flush=True)
        open(bell, "w").close()
print("most", rank, most("self")[1], flush=True)
world.Barrier()
if rank == 0:
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            name, used = most(pid)
        except (OSError, KeyError):
            continue
        if name == "isthmusd":
            print("most isthmusd", used, flush=True)
"""


def sleeper(lab, folder, senders, messages, seconds):
    """The lab's process; ranks 0 and 1 in site b, all others in a."""
    program, bell = folder / "sleeper.py", folder / "bell"
    program.write_text(SLEEPER)
    words = f"{mpis.ALL['mpich5'].python} {program} {messages} {seconds} {bell}"
    parts = f"--on b -n 2 {words} : --on a -n {senders + 1} {words}"
    run = f"{sys.executable} -m isthmus run -g $ISTHMUS_GRID {parts}"
    return lab.start("run", "hablot", "--set", f"site.*.slots={senders + 1}", "--", "sh", "-c", run)


@pytest.fixture
def exchange(tmp_path: Path, lab):
    """exchange(lab words, rounds, MiB, before=shell words) -> a running lab with the program."""
    program = tmp_path / "exchange.py"
    program.write_text(EXCHANGE)
    python = mpis.ALL["mpich5"].python

    def start(words, rounds, size, grid="$ISTHMUS_GRID"):
        run = (
            f"{sys.executable} -m isthmus run --stats -g {grid} --on a -n 1 {python} {program} "
            f"{rounds} {size} : --on b -n 1 {python} {program} {rounds} {size}"
        )
        nodes = [] if "--nodes" in words else ["--nodes", "1"]
        return lab.start("run", "hablot", *nodes, *words, "--", "sh", "-c", run)

    return start


def in_the_midst(process) -> None:
    """Until the program is under way."""
    assert process.stdout.readline().startswith("round")


def finish(process, timeout=240):
    out, err = process.communicate(timeout=timeout)
    assert process.returncode == 0, out + err
    return out, err


def streams(stats: str) -> list[int]:
    """The figures of each direction of the link, from the table of --stats."""
    rows = [row.split("│") for row in stats.splitlines() if re.search(r"[ab] -> [ab]", row)]
    assert len(rows) == 2, stats
    return [int(row[6]) for row in rows]


def test_a_link_that_is_cut_for_five_seconds(exchange, lab):
    process = exchange([], 12, 16)
    in_the_midst(process)
    name = lab.folders[0].name
    assert lab("cut", "a-b", "--lab", name).returncode == 0
    time.sleep(5)
    assert lab("restore", "a-b", "--lab", name).returncode == 0
    out, _ = finish(process)
    assert "round 11" in out


# Resets every connection of the link's gateways, twice a second, and says how many in all.
RESET = """
there=$(getent ahostsv4 b0 | awk 'NR == 1 {{ print $1 }}')
total=0
for _ in $(seq {turns}); do
  sleep 0.5
  for pair in $(ss -tnpHO state established dst $there | awk '/isthmusd/ {{ print $3 "," $4 }}'); do
    ss -KtH src "${{pair%,*}}" dst "${{pair#*,}}" >/dev/null && total=$((total + 1))
  done
done
echo $total
"""


def test_connections_that_are_reset_again_and_again(exchange, lab):
    process = exchange([], 40, 16)
    in_the_midst(process)
    name = lab.folders[0].name
    done = lab("exec", "--lab", name, "--on", "a0", "--", "sh", "-c", RESET.format(turns=8))
    assert done.returncode == 0, (done.stderr, process.communicate())
    assert int(done.stdout) >= 8, "this kernel does not let connections be reset (INET_DIAG)"
    out, _ = finish(process)
    assert out.count("round 39") == 2


def test_one_of_two_gateways_loses_its_link_for_good(exchange, lab):
    process = exchange(["--nodes", "2", "--set", "site.*.gateways=2"], 30, 16)
    in_the_midst(process)
    hole = "ip route add blackhole $(getent ahostsv4 b1 | awk 'NR == 1 { print $1 }')"
    done = lab("exec", "--lab", lab.folders[0].name, "--on", "a1", "--", "sh", "-c", hole)
    assert done.returncode == 0, done.stderr
    out, err = finish(process)
    assert out.count("round 29") == 2
    assert re.search(r'warning: .*the link from gateway 0 of cluster "a" to gateway 0 of', err), err


# Every byte between the hosts of the ranks is lost, while the gateways, on their own hosts, reach
# each other and the ranks. Or the connections are reset, and cannot be made again.
HOLE = "ip route add blackhole $(getent ahostsv4 b1 | awk 'NR == 1 { print $1 }')"
RESET_DIRECT = "ss -KtH dst $(getent ahostsv4 b1 | awk 'NR == 1 { print $1 }') >/dev/null"


@pytest.mark.parametrize("how", [HOLE, f"{HOLE} && {RESET_DIRECT}"], ids=["silent", "reset"])
def test_direct_conduits_that_die_leave_their_frames_to_the_gateways(exchange, lab, tmp_path, how):
    grid = tmp_path / "direct.toml"
    sed = f"sed '/^\\[\\[link\\]\\]/a reach = \"direct\"' $ISTHMUS_GRID >{grid}"
    process = exchange([], 30, 16, grid=f"$({sed}; echo {grid})")
    in_the_midst(process)
    name = lab.folders[0].name
    done = lab("exec", "--lab", name, "--on", "a1", "--", "sh", "-c", how)
    assert done.returncode == 0, done.stderr
    out, err = finish(process)
    assert out.count("round 29") == 2  # and every byte was what it should be
    crossed = {
        bool(direct): int(carried)
        for direct, carried in re.findall(r"a -> b(, direct)?[^│]*│[^│]*│ *(\d+) │", err)
    }
    assert min(crossed.values()) > 16 << 20, err  # both have carried rounds


def test_a_receiver_that_sleeps_stops_nobody_else_and_fills_no_memory(lab, tmp_path):
    out, _ = finish(sleeper(lab, tmp_path, senders=4, messages=100, seconds=0))
    ranks = {int(r): int(m) for r, m in re.findall(r"most (\d+) (\d+)", out)}
    assert sorted(ranks) == list(range(7))
    # The receiver holds its windows' share of the 400 MiB that wait; the rest is not sent.
    own = min(ranks.values())
    assert max(ranks.values()) < own + 256 + 30, ranks
    gateways = [int(m) for m in re.findall(r"most isthmusd (\d+)", out)]
    assert len(gateways) >= 2
    assert max(gateways) < 2 * 128 + 7 * 8 + 30, gateways


def test_streams_stand_by_where_the_kernel_lets_them_begin_anew(exchange):
    words = ["--set", "tcp.congestion=cubic", "--set", "tcp.slow_start_after_idle=true"]
    _, err = finish(exchange(words, 12, 16))
    assert streams(err) == [48, 48]


def test_no_streams_stand_by_where_the_kernel_keeps_what_they_have_learnt(exchange):
    words = ["--set", "tcp.congestion=cubic", "--set", "tcp.slow_start_after_idle=false"]
    _, err = finish(exchange(words, 3, 1))  # too little for a link to want more of its own accord
    assert max(streams(err)) < 32


def test_a_link_has_a_congestion_control_of_its_own(exchange, lab, tmp_path):
    grid = tmp_path / "reno.toml"
    sed = f"sed '/^\\[\\[link\\]\\]/a congestion = \"reno\"' $ISTHMUS_GRID >{grid}"
    process = exchange(["--set", "tcp.congestion=cubic"], 40, 16, f"$({sed}; echo {grid})")
    in_the_midst(process)
    asked = "ss -tniHO state established dst $(getent ahostsv4 {} | awk 'NR == 1 {{ print $1 }}')"
    for node, other in (("a0", "b0"), ("b0", "a0")):
        words = ("exec", "--lab", lab.folders[0].name, "--on", node, "--", "sh", "-c")
        said = lab(*words, asked.format(other)).stdout
        assert " reno " in said, said
        assert " cubic " not in said, said
    finish(process)


def test_one_percent_of_the_packets_lost(exchange):
    out, err = finish(exchange(["--set", "wan.loss=0.01"], 4, 8))
    assert out.count("round 3") == 2
    assert max(streams(err)) > 1  # one stream alone would be held back by its losses


def test_small_buffers_get_as_many_streams_as_fill_the_link(exchange):
    _, err = finish(exchange(["--set", "tcp.buffer=208 KiB"], 4, 8))
    assert max(streams(err)) >= 14  # 125 MB/s x 11.6 ms, of which one carries at most 104 KiB


def test_without_a_rate_the_streams_grow_with_need(exchange, tmp_path):
    grid = tmp_path / "grid.toml"
    bare = f"$(sed '/^rate/d; /^rtt/d' $ISTHMUS_GRID > {grid}; echo {grid})"
    _, err = finish(exchange(["--set", "tcp.buffer=208 KiB"], 12, 16, grid=bare))
    assert max(streams(err)) > 1


def test_a_link_that_stays_cut_ends_the_job_with_its_name(exchange, lab, tmp_path):
    grid = tmp_path / "grid.toml"
    hasty = f"$(sed '1i patience = \"12 s\"' $ISTHMUS_GRID > {grid}; echo {grid})"
    process = exchange([], 1000, 16, grid=hasty)
    in_the_midst(process)
    assert lab("cut", "a-b", "--lab", lab.folders[0].name).returncode == 0
    _, err = process.communicate(timeout=240)
    assert process.returncode != 0
    assert re.search(r'the link from the gateway of cluster "[ab]" to', err), err
    assert "has not been heard for 12 s (patience)" in err
    assert "isthmus: link a - b: silent for 5 s, waiting (patience 12 s)" in err
    eventually(lambda: not lab.left, "nothing left")
