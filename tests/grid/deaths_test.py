"""Clusters die one after the other and together, in every way: `isthmus run --survive`."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import mpis
import pytest
from marks import MARK, nothing_is_left, processes
from running import Running

STEADY = Path(__file__).parent / "survive" / "steady.c"
LIBRARIES = ["openmpi4", "mpich4", "openmpi5", "mpich5"]
CHAIN = '[[link]]\nbetween = ["c{0}", "c{1}"]\n'


def parents() -> dict[int, int]:
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # gone meanwhile
    return found


class Deaths:
    """A run of clusters c0, c1, ... with as many ranks each."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self.programs = folder, programs
        self.mark = uuid.uuid4().hex
        self.each = 0
        self.heard = ""

    def start(self, clusters: int, each: int, lines: str = "", links: str = "") -> None:
        """Clusters have the libraries in turn. Returns when all have joined."""
        self.each = each
        grid = self.folder / "grid.toml"
        tables = "".join(f"[cluster.c{i}]\nslots = {each}\n" for i in range(clusters))
        grid.write_text(lines + tables + links)
        libraries = [mpis.ALL[LIBRARIES[i % len(LIBRARIES)]] for i in range(clusters)]
        built = [library.build(STEADY, self.programs) for library in libraries]
        parts = mpis.on(**{f"c{i}": (each, built[i], self.folder) for i in range(clusters)})
        self.run = Running(
            [sys.executable, "-m", "isthmus", "run", "--survive", "-g", grid, *parts],
            env=os.environ | {MARK: self.mark, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.run.stdout
        assert self.run.stdout.readline() == "up\n", self.run.communicate()

    def rank(self, cluster: int) -> int:
        """The process of its last rank."""
        return int((self.folder / str((cluster + 1) * self.each - 1)).read_text())

    def above(self, cluster: int, words: str) -> int:
        """The process with these words in its command line that has started the ranks."""
        lines, parent_of, pid = processes(self.mark), parents(), self.rank(cluster)
        while not re.search(words, lines[pid]):
            pid = parent_of[pid]
        return pid

    def agent(self, cluster: int) -> int:
        return self.above(cluster, " agent")

    def launcher(self, cluster: int) -> int:
        return self.above(cluster, r"^\S*(mpirun|mpiexec|prterun)")

    def all_of(self, cluster: int) -> list[int]:
        parent_of, found = parents(), [self.agent(cluster)]
        for pid in found:
            found += [child for child, parent in parent_of.items() if parent == pid]
        return found

    def hear(self, *clusters: int) -> None:
        """Waits until the launcher has reported that these have failed."""
        wanted = {f'cluster "c{i}" has failed' for i in clusters}
        assert self.run.stderr
        while wanted:
            line = self.run.stderr.readline()
            assert line, f"the run ended before {wanted}: {self.heard}"
            self.heard += line
            wanted = {words for words in wanted if words not in line}

    def kill(self, victims: Sequence[int], *clusters: int) -> None:
        """Kills all at once, so that these clusters fail."""
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        self.hear(*clusters)

    def ends_with(self, ranks: str) -> None:
        (self.folder / "bell").touch()
        out, err = self.run.communicate(timeout=240)
        assert (self.run.returncode, out) == (0, f"{ranks} ranks\n"), self.heard + err


@pytest.fixture
def deaths(tmp_path: Path, programs: Path) -> Iterator[Deaths]:
    made = Deaths(tmp_path, programs)
    yield made
    made.run.terminate()  # without its launcher it would go on
    made.run.communicate(timeout=240)
    nothing_is_left(made.mark)


def test_seven_of_eight_clusters_die(deaths: Deaths) -> None:
    """The one of rank 0, too; two at once; one while the others go on without another."""
    deaths.start(8, 2)
    deaths.kill([deaths.rank(0), deaths.agent(5)], 0, 5)
    deaths.kill([deaths.launcher(3)], 3)
    os.kill(deaths.agent(1), signal.SIGKILL)
    deaths.kill([deaths.rank(6)], 1, 6)
    deaths.kill([deaths.agent(2), deaths.launcher(4)], 2, 4)
    deaths.ends_with("2 of 16")


def test_two_clusters_of_a_hundred_ranks_die(deaths: Deaths) -> None:
    deaths.start(4, 25)
    deaths.kill([deaths.rank(1)], 1)
    deaths.kill([deaths.launcher(2)], 2)
    deaths.ends_with("50 of 100")


def test_the_cluster_between_others_dies(deaths: Deaths) -> None:
    """In a chain. The first cluster is then cut off from the last two, which are more."""
    deaths.start(4, 2, links="".join(CHAIN.format(i, i + 1) for i in range(3)))
    deaths.kill([deaths.rank(1)], 1, 0)
    deaths.ends_with("4 of 8")


def test_a_cluster_stops(deaths: Deaths) -> None:
    """All its processes, for longer than the patience of its links."""
    deaths.start(3, 2, 'patience = "4 s"\n')
    stopped = deaths.all_of(1)
    for pid in stopped:  # some may have ended meanwhile
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    deaths.hear(1)
    deaths.ends_with("4 of 6")
    for pid in stopped:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
