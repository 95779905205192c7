"""Hosts that stand in two networks: one gateway each, and what the network does to them."""

import sys

import mpis
import pytest

SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void exchange(int rank, int peer, int round) {
  enum { size = 200000 };
  char* out = malloc(size);
  char* in = calloc(size, 1);
  memset(out, 'a' + (rank + round) % 26, size);
  MPI_Sendrecv(out, size, MPI_CHAR, peer, round, in, size, MPI_CHAR, peer, round, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < size; ++i) {
    if (in[i] != 'a' + (peer + round) % 26) MPI_Abort(MPI_COMM_WORLD, 3);
  }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  int rank, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int rounds = atoi(argv[1]);
  for (int round = 0; round < rounds; ++round) {
    exchange(rank, (rank + ranks / 2) % ranks, round);
    if (rank == 0 && round == 5) system(argv[2]);
  }
  if (rank == 0) puts("every byte right");
  MPI_Finalize();
  return 0;
}
"""


# Run on a bridging host.
KILL = """
for process in /proc/[0-9]*; do
  [ "$(readlink $process/ns/net)" = "$(readlink /proc/self/ns/net)" ] || continue
  words=$(tr '\\0' ' ' < $process/cmdline)
  case "$words" in *isthmusd\\ gateway*) kill -9 ${process#/proc/};; esac
done
"""
DOWN = "ip link set dev $(ip -o -4 address | awk '$4 ~ /^10[.]1[.]/ { print $2 }') down"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    return mpis.ALL["openmpi4"].build_text(SOURCE, tmp_path_factory.mktemp("bytes") / "bytes")


def exchange(lab, program, zippers, fault="true", rounds=40):
    """A pair of ranks exchanges and checks bytes; after some, `fault` happens on the host z1."""
    script = program.parent / "fault.sh"
    script.write_text(fault)
    known = "ISTHMUS_NETWORK=wan-latency=5ms"  # no messages of MPI_Init's own to see how far it is
    there = f"{sys.executable} -m isthmus lab exec --on z1 -- sh {script}"
    return lab(
        "run", "zipper", "--nodes", 1, "--zippers", zippers, "--",
        sys.executable, "-m", "isthmus", "run", "--stats", "--timeout", 200, "-x", known,
        program, rounds, there,
        timeout=240,
    )  # fmt: skip


def test_each_byte_is_received_once_and_sent_once(lab, program):
    done = exchange(lab, program, 1, rounds=5)
    assert (done.returncode, done.stdout) == (0, "every byte right\n"), done.stderr
    rows = [line.split("│") for line in done.stderr.splitlines() if " -> " in line]
    assert sorted(row[1].strip() for row in rows) == ["a -> b, by a+b", "b -> a, by a+b"]
    for row in rows:
        assert 5 * 200_000 <= int(row[3]) < 5 * 200_000 + 5000


def test_one_of_two_is_killed(lab, program):
    done = exchange(lab, program, 2, KILL)
    assert (done.returncode, done.stdout) == (0, "every byte right\n"), done.stderr
    assert "the other gateways of the cluster go on" in done.stderr


def test_one_of_two_is_cut_off_from_one_network(lab, program):
    """Ranks of that network lose it; it lives, serves the others, and hears of it by them."""
    done = exchange(lab, program, 2, DOWN)
    assert (done.returncode, done.stdout) == (0, "every byte right\n"), done.stderr
    assert 'the connection of rank 0 (cluster "a") is lost: it goes on without this gateway' in (
        done.stderr
    )


def test_the_only_one_is_killed(lab, program):
    done = exchange(lab, program, 1, KILL)
    assert done.returncode != 0
    assert done.stdout == ""
    assert "gateway of clusters a and b on z1" in done.stderr


SIDES_AND_BRIDGE = """
[cluster.a]
host = "a0"
hosts = "a1"
[cluster.b]
host = "b0"
hosts = "b1"
[cluster.z]
host = "z1"
slots = 2
[[link]]
between = ["a", "z"]
reach = "direct"
[[link]]
between = ["b", "z"]
reach = "direct"
"""


def test_ranks_on_a_bridging_host_reach_both_sides_without_a_gateway(lab, program):
    grid = program.parent / "bridge.toml"
    grid.write_text(SIDES_AND_BRIDGE)
    words = [program, 100, "true"]  # ranks 0 and 2 exchange, and 1 and 3
    done = lab(
        "run", "zipper", "--nodes", 1, "--zippers", 1, "--",
        sys.executable, "-m", "isthmus", "run", "--stats", "--timeout", 200, "-g", grid,
        "--on", "a", "-n", 1, *words, ":", "--on", "b", "-n", 1, *words, ":",
        "--on", "z", "-n", 2, *words,
        timeout=240,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "every byte right\n"), done.stderr
    rows = [line.split("│") for line in done.stderr.splitlines() if " -> " in line]
    carried = {row[1].strip(): int(row[3]) for row in rows}
    for link in "a -> z", "z -> a", "b -> z", "z -> b":
        direct = sum(size for name, size in carried.items() if name.startswith(f"{link}, direct"))
        assert direct > carried[link], done.stderr
    assert "a -> b" not in carried
