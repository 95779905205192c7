"""Faults while ranks run. Each ends everything everywhere, with a sentence."""

import os
import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest
from faulty import Grid, check, check_killed

TWO = "[cluster.east]\n[cluster.west]\n"


def up(running: subprocess.Popen[str], size: int) -> None:
    """Waits until all ranks have joined."""
    line = running.stdout.readline()
    assert line == f"up {size}\n", line + running.communicate(timeout=240)[1]


def ended(running: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    out, err = running.communicate(timeout=240)
    return subprocess.CompletedProcess(running.args, running.returncode, out, err)


@pytest.fixture(params=["ompi", "mpich"])
def faults(request, program):
    return program(request.param)


def library_of(program: Path) -> str:
    """The MPI that the program was compiled with."""
    return program.suffix.removeprefix(".")


def test_nothing_wrong(grid: Grid, faults):
    done = grid.run("-n", 3, faults, "fine")
    assert (done.returncode, done.stdout) == (0, "up 3\n"), done.stderr


def test_mixed_libraries(grid: Grid, program):
    east, west = program("ompi"), program("mpich")
    done = grid.run("--on", "east", "-n", 2, east, ":", "--on", "west", "-n", 2, west)
    assert (done.returncode, done.stdout) == (0, "up 4\n"), done.stderr


def test_each_rank_has_an_output_file_of_its_own(grid: Grid, faults):
    done = grid.run("-n", 3, "--output", "out.%r", "--show-ranks", faults, "fine")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert [(grid.folder / f"out.{rank}").read_text() for rank in range(3)] == ["up 3\n", "", ""]
    told = re.findall(r"isthmus: rank (\d): (\S+), process (\d+)\n", done.stderr)
    assert sorted(rank for rank, _, _ in told) == ["0", "1", "2"]
    assert {host for _, host, _ in told} == {socket.gethostname()}
    assert len({pid for _, _, pid in told}) == 3


def test_output_file_that_cannot_be_made(grid: Grid, faults):
    done = grid.run("-n", 2, "--error", "no/such/folder/%r", faults, "fine")
    check(done, None, "no/such/folder/", " cannot be written on", "No such file or directory")


@pytest.mark.parametrize("rank", [0, 3])
def test_abort(grid: Grid, faults, rank):
    check(grid.run("-n", 4, faults, "abort", rank), 42, f"rank {rank} called MPI_Abort", "42")


def check_death(
    done: subprocess.CompletedProcess[str], number: int, rank: int, library: str
) -> None:
    """Checks the death of one of four ranks, or of the other one of its cluster: Hydra kills that
    one when a dying process closes its PMI socket, which may be before it closes ours. The error is
    shown once, and the native launchers' words about it are not."""
    cluster = ["east", "east", "west", "west"][rank]
    check_killed(done, number, cluster, library)
    named = re.findall(r"isthmus: rank (\d)", done.stderr)
    assert len(named) == 1, done.stderr
    assert int(named[0]) // 2 == rank // 2, done.stderr
    for noise in ("BAD TERMINATION", "Primary job", "noticed that", "detected that one or more"):
        assert noise not in done.stdout + done.stderr


@pytest.mark.parametrize("ranks", [["-n", 4], ["--on", "east", "-n", 2]])
@pytest.mark.parametrize(("shell", "status"), [("exit 3", 3), ("kill -SEGV $$", 139)])
def test_a_program_that_fails_before_mpi_init(grid: Grid, faults, shell, status, ranks):
    """One sentence, without the native launchers' words."""
    mpi = {"ompi": "openmpi"}.get(library_of(faults), "mpich")
    done = grid.run("--mpi", mpi, *ranks, "sh", "-c", shell)
    check(done, status, "isthmus: cluster ", ": the program ")
    assert (len(done.stderr.splitlines()), done.stdout) == (1, ""), done.stderr


@pytest.mark.parametrize("rank", [0, 3])
def test_rank_killed(grid: Grid, faults, rank):
    check_death(grid.run("-n", 4, faults, "kill", rank), 9, rank, library_of(faults))


def test_rank_that_crashes(grid: Grid, faults):
    check_death(grid.run("-n", 4, faults, "segv", 3), 11, 3, library_of(faults))


@pytest.mark.parametrize(("mode", "status"), [("exit", 1), ("exit-5", 5)])
def test_rank_that_exits_without_finalize(grid: Grid, faults, mode, status):
    """Of four runs: Hydra kills the rank's neighbour and once in fifty tells how that one went."""
    for _ in range(4):
        done = grid.run("-n", 4, faults, mode, 2)
        if library_of(faults) != "mpich" or done.returncode != signal.SIGKILL:
            break
    check(done, status, "rank 2", "west", "MPI_Finalize")


def test_all_ranks_exit_without_finalize(grid: Grid, faults):
    """Each cluster's launcher is ending ranks by itself then, and is left to it."""
    done = grid.run("-n", 4, faults, "all-exit")
    check(done, (1, signal.SIGKILL), "MPI_Finalize")  # Hydra kills the neighbour of who goes first
    said = [line for line in done.stderr.splitlines() if line.strip()]
    assert len(said) == 1, done.stderr


def test_rank_that_never_joins(grid: Grid, faults):
    done = grid.run("--on", "east", faults, "no-init", ":", "--on", "west", "-n", 2, faults)
    check(done, None, "cluster east", "MPI_Init")


def test_timeout(grid: Grid, faults):
    check(grid.run("-n", 2, "--timeout", 5, faults, "hang", -1), 124, "5 s")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupt(grid: Grid, faults, number):
    with grid.start("-n", 2, faults, "hang", -1) as running:
        up(running, 2)
        running.send_signal(number)
        check(ended(running), 128 + number, number.name)


def test_second_interrupt(grid: Grid, faults):
    with grid.start("-n", 2, faults, "hang", -1) as running:
        up(running, 2)
        running.send_signal(signal.SIGINT)
        running.send_signal(signal.SIGINT)
        assert ended(running).returncode == 130


def test_launcher_killed(grid: Grid, faults):
    """No process may outlive it: the fixture checks that."""
    with grid.start("-n", 2, faults, "hang", -1) as running:
        up(running, 2)
        running.kill()


@pytest.mark.parametrize("which", [0, 1])
def test_agent_killed(grid: Grid, faults, which):
    """The agent is its cluster's gateway, too."""
    with grid.start("-n", 4, faults, "hang", -1) as running:
        up(running, 4)
        os.kill(grid.find("isthmusd", " agent")[which], signal.SIGKILL)
        check(ended(running), None, "the agent was killed by SIGKILL")


def test_two_grids_at_once(grid: Grid, faults):
    with grid.start("-n", 4, faults) as one, grid.start("-n", 4, faults) as two:
        for running in (one, two):
            done = ended(running)
            assert (done.returncode, done.stdout) == (0, "up 4\n"), done.stderr


def test_chain_of_three(grid: Grid, faults):
    links = "[[link]]\nbetween = ['east', 'west']\n[[link]]\nbetween = ['west', 'south']\n"
    grid.write(f"{TWO}[cluster.south]\n{links}")
    done = grid.run("-g", "grid.toml", "-n", 6, "--stats", faults)
    assert (done.returncode, done.stdout) == (0, "up 6\n"), done.stderr
    assert "east -> south" not in done.stderr


def test_middle_of_a_chain_killed(grid: Grid, faults):
    links = "[[link]]\nbetween = ['east', 'west']\n[[link]]\nbetween = ['west', 'south']\n"
    grid.write(f"{TWO}[cluster.south]\n{links}")
    with grid.start("-g", "grid.toml", "-n", 3, faults, "hang", -1) as running:
        up(running, 3)
        os.kill(grid.find("isthmusd", " agent")[1], signal.SIGKILL)
        check(ended(running), None, "the agent was killed by SIGKILL")
