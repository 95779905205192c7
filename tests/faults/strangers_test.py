"""Strangers who hold connections open keep nobody out: not at gateways, not at a service."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from faulty import MARK, Grid
from ports import free_port
from services import Service, found_isthmusd
from strangers import Strangers

RIGHT = (0, "4 ranks, 0 bytes wrong\n")
PATIENCE = ("--timeout", 60)  # ends a job that strangers keep out


@pytest.fixture
def service(grid: Grid, tmp_path: Path) -> Iterator[Service]:
    (tmp_path / "service").mkdir()
    made = Service(found_isthmusd(), tmp_path / "service", {**os.environ, MARK: grid.mark})
    yield made
    made.close()


@pytest.mark.parametrize("exchange", ["ompi"], indirect=True)
@pytest.mark.parametrize("addresses", [1, 40])
def test_gateways(grid: Grid, exchange: Path, addresses: int) -> None:
    """They come from the very address of the other gateway, or from others besides."""
    east = free_port(2)
    grid.write(
        "[cluster.east]\n[cluster.west]\n[[link]]\nbetween = ['east', 'west']\n"
        f"[[gateway]]\ncluster = 'east'\naddress = '127.0.0.1:{east}'\n"
        f"[[gateway]]\ncluster = 'west'\naddress = '127.0.0.1:{east + 1}'\n"
    )
    grid.environment["ISTHMUS_LEG"] = "socket"
    with Strangers(east, east + 1, count=1500, addresses=addresses) as strangers:
        done = grid.run("-g", grid.file, "-n", 4, *PATIENCE, exchange)
    assert (done.returncode, done.stdout) == RIGHT, done.stderr
    assert strangers.made > 1500
    assert len(done.stderr) < 10_000


@pytest.mark.parametrize("exchange", ["ompi"], indirect=True)
def test_a_service(grid: Grid, service: Service, exchange: Path) -> None:
    grid.file.write_text(service.grid(service.user("alice")))
    with Strangers(service.port, count=1500):
        done = grid.run("-g", grid.file, "-n", 4, *PATIENCE, exchange)
    assert (done.returncode, done.stdout) == RIGHT, done.stderr


@pytest.mark.parametrize("exchange", ["ompi"], indirect=True)
def test_the_name_of_a_key_takes_none_of_its_places(
    grid: Grid, service: Service, exchange: Path
) -> None:
    """The name of a key goes in clear. A peer that knows it has not proved to be its user."""
    key = service.user("alice")
    grid.file.write_text(service.grid(key))
    name = re.search(r'id = "(\S+)"', key.read_text())[1] + "/isthmus-1"
    opening = b"ISTHMUS\n\x01" + bytes([len(name)]) + name.encode() + bytes(32)
    with Strangers(service.port, count=1200, addresses=4, first=opening):
        done = grid.run("-g", grid.file, "-n", 4, *PATIENCE, exchange)
    assert (done.returncode, done.stdout) == RIGHT, done.stderr
