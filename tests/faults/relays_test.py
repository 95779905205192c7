"""A relay of the grid file that dies: it is started again, and nothing is lost."""

import os
import signal
from pathlib import Path

import pytest
from faulty import Grid, check, ends_well, says
from ports import free_port

TWO = "[cluster.east]\n[cluster.west]\n"


def relay(**keys: object) -> str:
    lines = [f"{key} = '{value}'\n" for key, value in keys.items()]
    return TWO + "[[relay]]\n" + "".join(lines)


def hears(running, words: str) -> None:
    """The launcher says so."""
    while words not in (line := running.stderr.readline()):
        assert line, f"the launcher has ended without '{words}'"


@pytest.mark.parametrize("mpi", ["ompi", "mpich"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_it_is_started_again(grid: Grid, program, tmp_path, mpi, number):
    """Also where its port is any, twice, and while ranks wait in a collective."""
    grid.write(relay())
    bell = tmp_path / "bell"
    with grid.start("-g", "grid.toml", "-n", 4, program(mpi), "fine", 0, bell) as running:
        says(running, "up 4\n")
        for _ in range(2):
            os.kill(grid.gateway(), number)
            hears(running, "it is started again, and its traffic is kept meanwhile")
            hears(running, "isthmus: relay: is back")
        ends_well(running, bell)


def test_on_another_host(remote: Grid, prefix: Path, program, tmp_path):
    address = f"127.0.0.1:{free_port()}"
    remote.write(relay(host="site", prefix=prefix, address=address))
    bell = tmp_path / "bell"
    with remote.start("-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, bell) as running:
        says(running, "up 4\n")
        os.kill(remote.gateway(), signal.SIGKILL)
        hears(running, "isthmus: relay on site: is back")
        ends_well(running, bell)


def test_on_another_host_whose_ssh_has_died(remote: Grid, prefix: Path, program, tmp_path):
    """In a run that survives, the relay takes its launcher for lost, and goes on."""
    address = f"127.0.0.1:{free_port()}"
    remote.write(relay(host="site", prefix=prefix, address=address))
    bell = tmp_path / "bell"
    words = ("--survive", "-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, bell)
    with remote.start(*words) as running:
        says(running, "up 4\n")
        (client,) = remote.find("ssh -F", "isthmusd", "gateway")
        os.kill(client, signal.SIGKILL)
        hears(running, "isthmus: relay on site: is back")
        ends_well(running, bell)


def test_with_threads(grid: Grid, program, tmp_path):
    """All its gateways are there again."""
    grid.write(TWO + "[[gateway]]\ncluster = 'east'\nthreads = 2\n[[relay]]\nthreads = 3\n")
    bell = tmp_path / "bell"
    with grid.start("-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, bell) as running:
        says(running, "up 4\n")
        os.kill(grid.gateway(), signal.SIGKILL)
        hears(running, "isthmus: relay: is back")
        ends_well(running, bell)


def test_it_cannot_be_started_again(remote: Grid, prefix: Path, program, tmp_path):
    """The patience of its links ends, and the run with it: a sentence says what it tried."""
    script = tmp_path / "there" / "bin" / "isthmusd"
    script.parent.mkdir(parents=True)
    script.write_text((prefix / "bin" / "isthmusd").read_text())
    script.chmod(0o755)
    remote.write("patience = '2 s'\n" + relay(host="site", prefix=script.parents[1]))
    words = ("-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, tmp_path / "never")
    with remote.start(*words) as running:
        says(running, "up 4\n")
        script.unlink()
        os.kill(remote.gateway(), signal.SIGKILL)
        _, err = running.communicate(timeout=240)
    running.stderr = err  # as of a run that was waited for
    check(running, 1, "relay on site", "started again")


def test_an_end_while_it_is_away(grid: Grid, program, tmp_path):
    """A part that is being started then ends with the rest."""
    grid.write(relay())
    words = ("-g", "grid.toml", "-n", 4, program("ompi"), "fine", 0, tmp_path / "never")
    with grid.start(*words) as running:
        says(running, "up 4\n")
        os.kill(grid.gateway(), signal.SIGKILL)
        hears(running, "it is started again")
        running.send_signal(signal.SIGINT)
        _, err = running.communicate(timeout=240)
    assert running.returncode == 128 + signal.SIGINT, err
