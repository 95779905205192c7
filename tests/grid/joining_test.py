"""Clusters join a run that goes on: `isthmus join` and `isthmus leave`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import mpis
import pytest
from marks import MARK, nothing_is_left
from running import Running, ran

GROWING = Path(__file__).parent / "growing"
TWO = "[cluster.east]\nslots = 2\n[cluster.west]\nslots = 2\n"
SMALL = "[cluster.east]\n[cluster.west]\n"  # a rank in each
CHAIN = '[[link]]\nbetween = ["east", "west"]\n'


class Joining:
    """A run of one test, and commands about it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run: Running | None = None
        self.environment = os.environ | {
            MARK: uuid.uuid4().hex,
            "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        }

    def file(self, text: str, name: str = "grid.toml") -> Path:
        file = self.folder / name
        file.write_text(text)
        return file

    def start(self, grid: str, *words: object, options: Sequence[object] = ()) -> Running:
        file = self.file(grid)
        command = [sys.executable, "-m", "isthmus", "run", "-g", file, *options, *words]
        self.run = Running(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment
        )
        return self.run

    def says(self, line: str) -> None:
        assert self.run
        assert self.run.stdout
        said = self.run.stdout.readline()
        assert said == line, said or self.run.communicate(timeout=240)

    def warns(self, line: str) -> None:
        """The run says that next on standard error."""
        assert self.run
        assert self.run.stderr
        assert line in self.run.stderr.readline()

    def ask(self, *words: object) -> subprocess.CompletedProcess[str]:
        command, *others = words
        assert self.run
        return ran(
            [sys.executable, "-m", "isthmus", *map(str, [command, self.run.pid, *others])],
            env=self.environment,
        )

    def join(self, text: str, *words: object) -> None:
        done = self.ask("join", "-g", self.file(text, "more.toml"), *words)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr

    def ends(self) -> tuple[int, str, str]:
        assert self.run
        out, err = self.run.communicate(timeout=240)
        return self.run.returncode, out, err


@pytest.fixture
def joining(tmp_path: Path, programs: Path) -> Iterator[Joining]:
    made = Joining(tmp_path)
    yield made
    if made.run and made.run.poll() is None:
        made.run.terminate()
        made.run.communicate(timeout=240)
    nothing_is_left(made.environment[MARK])


def built(library: str, programs: Path) -> Path:
    return mpis.ALL[library].build(GROWING / "joins.c", programs)


@pytest.mark.parametrize("reach", ["gateway", "direct"])
@pytest.mark.parametrize("library", ["openmpi4", "openmpi5", "mpich4", "mpich5", "mpiabi5"])
def test_two_clusters_join(joining, programs, library: str, reach: str) -> None:
    """Processes of all the clusters before spawn others there, which spawn in the next one."""
    program = built(library, programs)
    grid = f'{TWO}{CHAIN}reach = "{reach}"\n'
    with joining.start(grid, "-n", 4, program, program, "south", "north"):
        joining.says("up\n")
        link = f'[[link]]\nbetween = ["south", "west"]\nreach = "{reach}"\n'
        joining.join("[cluster.south]\n" + link)
        joining.warns('cluster "south" has joined; MPI_Comm_spawn can start processes there')
        joining.says("south: 6 ranks, sum 15\n")
        joining.join('[cluster.north]\n[[link]]\nbetween = ["south", "north"]\n')
        joining.says("north: 8 ranks, sum 28\n")
        status, out, err = joining.ends()
    assert (status, out) == (0, ""), err
    assert 'cluster "south" has come: 2 processes run there as cluster "south/1"' in err


@pytest.mark.parametrize(("first", "second"), mpis.MIXED)
def test_libraries_are_mixed(joining, programs, first: str, second: str) -> None:
    """The cluster that joins has another library than those of which one spawns there."""
    east, west = built(first, programs), built(second, programs)
    words = ["-n", 2, "--on", "east", east, west, "south", ":"]
    words += ["-n", 2, "--on", "west", west, west, "south"]
    with joining.start(TWO, *words):
        joining.says("up\n")
        joining.join("[cluster.south]\n")
        joining.says("south: 6 ranks, sum 15\n")
        assert joining.ends()[:2] == (0, "")


def test_a_cluster_leaves_and_joins_again(joining, programs) -> None:
    program = built("mpich4", programs)
    with joining.start(TWO, "-n", 4, program, program, "-south", "south", "-north", "north"):
        joining.says("up\n")
        joining.join("[cluster.south]\n[cluster.north]\n")
        seen = json.loads(joining.ask("top", "--once", "--json", "--interval", "0.1").stdout)
        assert [spare["name"] for spare in seen["spares"]] == ["south", "north"]
        assert "south" in joining.ask("top", "--once", "--interval", "0.1").stdout
        done = joining.ask("leave", "--cluster", "south")
        assert (done.returncode, done.stderr) == (0, "")
        joining.says("-south\n")
        again = joining.ask("leave", "--cluster", "south")
        assert again.returncode == 2
        assert "this run has no such spare cluster" in again.stderr
        joining.join("[cluster.south]\n")
        joining.says("south: 6 ranks, sum 15\n")
        used = joining.ask("leave", "--cluster", "south")
        assert used.returncode == 1
        assert "has gateways already" in used.stderr
        assert joining.ask("leave", "--cluster", "north").returncode == 0
        joining.says("-north\n")
        joining.join("[cluster.north]\n")
        joining.says("north: 8 ranks, sum 28\n")
        assert joining.ends()[:2] == (0, "")


def test_a_cluster_joins_after_another_has_failed(joining, programs) -> None:
    """The others replace the lost processes there."""
    program = mpis.ALL["openmpi5"].build(GROWING / "regrow.c", programs)
    options = ["--survive", "-n", 4]
    with joining.start(TWO, program, "nobody:south", options=options) as run:
        joining.says("up\n")
        ranks = json.loads(joining.ask("ps", "--json").stdout)
        west = next(rank["pid"] for rank in ranks if rank["cluster"] == "west")
        joining.join("[cluster.south]\n")
        os.kill(west, 9)
        status, out, err = joining.ends()
    assert (status, out) == (0, "4 ranks, sum 6\n"), err
    assert run.returncode == 0


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_cluster_fails_and_then_another_joins(joining, programs, library: str) -> None:
    """The survivors wait for it, and spawn there."""
    program = mpis.ALL[library].build(GROWING / "regrow.c", programs)
    with joining.start(TWO, program, "nobody:+south", options=["--survive", "-n", 4]):
        joining.says("up\n")
        ranks = json.loads(joining.ask("ps", "--json").stdout)
        os.kill(next(rank["pid"] for rank in ranks if rank["cluster"] == "west"), 9)
        joining.says("wait for south\n")
        joining.join("[cluster.south]\n")
        status, out, err = joining.ends()
    assert (status, out) == (0, "4 ranks, sum 6\n"), err


def test_one_cluster_that_others_may_join(joining, programs) -> None:
    program = built("mpich4", programs)
    with joining.start("[cluster.east]\n", "--guests", "-n", 2, program, program, "south"):
        joining.says("up\n")
        joining.join("[cluster.south]\n")
        joining.says("south: 4 ranks, sum 6\n")
        assert joining.ends()[:2] == (0, "")


def test_spawned_processes_hear_what_joined_before(joining, programs) -> None:
    """All ranks wait until each has heard of the second one, which joined before some started."""
    program = built("mpich4", programs)
    with joining.start(SMALL, "-n", 2, program, program, "south", "north"):
        joining.says("up\n")
        joining.join("[cluster.south]\n[cluster.north]\n")
        joining.says("south: 4 ranks, sum 6\n")
        joining.says("north: 6 ranks, sum 15\n")
        assert joining.ends()[:2] == (0, "")


def test_eight_clusters_join(joining, programs) -> None:
    """One after the other, while processes are being spawned in the one before."""
    program = built("mpich4", programs)
    names = [f"c{i}" for i in range(8)]
    with joining.start(SMALL, "-n", 2, program, program, *names):
        joining.says("up\n")
        for name in names:
            joining.join(f"[cluster.{name}]\n")
        for i, name in enumerate(names):
            size = 4 + 2 * i
            joining.says(f"{name}: {size} ranks, sum {size * (size - 1) // 2}\n")
        assert joining.ends()[:2] == (0, "")


@pytest.mark.parametrize("python", mpis.pythons().values(), ids=mpis.pythons())
def test_a_program_of_mpi4py(joining, python: str) -> None:
    words = [python, "-m", "mpi4py", GROWING / "joins.py", "south", "north"]
    with joining.start(SMALL, "-n", 2, *words):
        joining.says("up\n")
        joining.join("[cluster.south]\n")
        joining.says("south: 4 ranks, sum 6\n")
        joining.join("[cluster.north]\n")
        joining.says("north: 6 ranks, sum 15\n")
        status, out, err = joining.ends()
        assert (status, out) == (0, ""), err


@pytest.mark.parametrize("library", ["openmpi4", "mpich4"])
def test_a_program_of_fortran(joining, programs, library: str) -> None:
    program = mpis.ALL[library].build(GROWING / "hears.f90", programs)
    with joining.start(SMALL, "-n", 2, program):
        joining.says("up\n")
        joining.join("[cluster.south]\n")
        assert joining.ask("leave", "--cluster", "south").returncode == 0
        joining.says(
            '0 south cluster "south": it has joined; MPI_Comm_spawn can start processes there\n'
        )
        joining.says(
            '1 south cluster "south": it has left; no process can be spawned there any more\n'
        )
        joining.says("-1  \n")
        assert joining.ends()[:2] == (0, "")
