"""Clusters with several gateways each: by the way of all of them, and what goes wrong with one."""

import random
import socket
import time
from pathlib import Path

import pytest
from faulty import Grid, check, ends_well, goes_on_without_one_gateway, says
from ports import free_port


def gateways(**counts: int) -> str:
    """A grid file on this host alone: how many gateways each cluster has."""
    lines = [f"[cluster.{cluster}]\n" for cluster in counts]
    for cluster, count in counts.items():
        lines += [f"[[gateway]]\ncluster = '{cluster}'\n"] * count
    return "".join(lines)


@pytest.mark.parametrize("counts", [(2, 2), (3, 2), (1, 2)])
def test_everybody_with_everybody(grid: Grid, exchange, counts):
    grid.write(gateways(east=counts[0], west=counts[1]))
    done = grid.run("-g", "grid.toml", "-n", 4, "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr


def test_both_links_carry(grid: Grid, exchange):
    grid.write(gateways(east=2, west=2))
    done = grid.run("-g", "grid.toml", "-n", 4, "--stats", "--timeout", 200, exchange)
    assert done.returncode == 0, done.stderr
    rows = [r for r in done.stderr.splitlines() if " -> " in r and "'s ranks" not in r]
    assert len(rows) == 4, done.stderr
    for ends in ("east/0 -> west/0", "east/1 -> west/1", "west/0 -> east/0", "west/1 -> east/1"):
        (row,) = (row for row in rows if ends in row)
        size = int(row.split("│")[3])
        assert size > 2_000_000, done.stderr


@pytest.mark.parametrize(("mode", "status"), [("abort", 42), ("kill", 137)])
def test_what_a_rank_does_is_told_to_all(grid: Grid, program, mode, status):
    grid.write(gateways(east=2, west=2))
    done = grid.run("-g", "grid.toml", "-n", 4, "--timeout", 200, program("ompi"), mode, 3)
    check(done, status, "rank 3")


def on_threads(count: int) -> str:
    """`threads` gives each of two clusters this many gateways."""
    tables = (f"[[gateway]]\ncluster = '{c}'\nthreads = {count}\n" for c in ("east", "west"))
    return "[cluster.east]\n[cluster.west]\n" + "".join(tables)


def test_all_threads_carry(grid: Grid, exchange):
    grid.write(on_threads(3))
    done = grid.run("-g", "grid.toml", "-n", 16, "--stats", "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "16 ranks, 0 bytes wrong\n"), done.stderr
    rows = [r for r in done.stderr.splitlines() if " -> " in r and "'s ranks" not in r]
    assert len(rows) == 6, done.stderr
    assert min(int(row.split("│")[3]) for row in rows) > 2_000_000, done.stderr


@pytest.mark.parametrize(("mode", "status"), [("abort", 42), ("kill", 137)])
def test_what_a_rank_does_is_told_by_gateways_on_threads(grid: Grid, program, mode, status):
    grid.write(on_threads(3))
    done = grid.run("-g", "grid.toml", "-n", 4, "--timeout", 200, program("ompi"), mode, 3)
    check(done, status, "rank 3")


def test_a_host_with_gateways_on_threads_is_killed_and_the_other_goes_on(
    remote: Grid, prefix, program, tmp_path
):
    remote.write(with_one_there(prefix) + "threads = 3\n")
    goes_on_without_one_gateway(remote, program("ompi"), tmp_path / "bell")


def with_one_there(prefix: Path) -> str:
    return (
        f"[cluster.here]\nprefix = '{prefix}'\n[cluster.west]\n[[gateway]]\ncluster = 'here'\n"
        "[[gateway]]\ncluster = 'here'\nhost = 'site'\n"
    )


def test_one_of_two_on_a_host_of_its_own(remote: Grid, prefix, exchange):
    remote.write(with_one_there(prefix))
    done = remote.run("-g", "grid.toml", "-n", 4, "--timeout", 200, exchange)
    assert (done.returncode, done.stdout) == (0, "4 ranks, 0 bytes wrong\n"), done.stderr


def knock(port: int, said: bytes, patience: float = 60) -> bytes:
    """The gateway's answer to a stranger before it hangs up."""
    with socket.create_connection(("127.0.0.1", port), timeout=patience) as stranger:
        heard = b""
        try:
            stranger.sendall(said)
            stranger.shutdown(socket.SHUT_WR)
            while more := stranger.recv(4096):
                heard += more
        except OSError:  # reset: what was said was too much
            pass
        return heard


def test_strangers_are_turned_away_told_of_and_do_no_harm(grid: Grid, program, tmp_path):
    port, bell = free_port(), tmp_path / "bell"
    grid.write(
        "[cluster.east]\n[cluster.west]\n"
        f"[[gateway]]\ncluster = 'east'\naddress = '127.0.0.1:{port}'\n"
    )
    words = ["-v", "-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, bell]
    hello = b"ISTHMUS\n" + bytes([1, 5]) + b"other" + bytes(32)
    with grid.start(*words) as running:
        says(running, "up 4\n")
        begin = time.monotonic()
        assert knock(port, hello)[:1] == b"\x01"  # another job
        assert b"HTTP" not in knock(port, b"GET / HTTP/1.0\r\n\r\n")
        knock(port, bytes(random.Random(1).randbytes(100_000)))
        knock(port, b"\x16\x03\x01\x02\x00\x01\x00" + bytes(200))  # half a TLS greeting
        knock(port, hello[:20])
        for _ in range(30):  # a port scan
            socket.create_connection(("127.0.0.1", port)).close()
        err = ends_well(running, bell)
    assert "another job" in err, err  # the first has a line of its own
    lines = err.count("cluster east: tcp:127.0.0.1:")
    assert lines <= 1 + (time.monotonic() - begin) / 3, err  # the others share a line each 3 s


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
def test_one_of_two_is_killed_and_the_other_goes_on(remote: Grid, prefix, program, mpi, tmp_path):
    remote.write(with_one_there(prefix))
    goes_on_without_one_gateway(remote, program(mpi), tmp_path / "bell")
