"""Clusters fail as they do on wide-area networks and under schedulers: `isthmus run --survive`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import mpis
import pytest
import slurms
from running import Running
from waiting import eventually

STEADY = mpis.ROOT / "tests" / "grid" / "survive" / "steady.c"
BUILT = mpis.ROOT / "build" / "tests"


class Run:
    """Sums over all living ranks in a lab, until `ends_with`. Site x has the library `libraries[x]`
    on all its nodes."""

    def __init__(
        self, lab, folder: Path, libraries: dict[str, str], nodes: int, lines: str
    ) -> None:
        self.folder = folder
        self.grid = folder / "grid.toml"
        text = lab.exec("sh", "-c", "cat $ISTHMUS_GRID").stdout
        self.grid.write_text(lines + text)
        words: list[object] = []
        for site, library in libraries.items():
            program = mpis.ALL[library].build(STEADY, BUILT)
            words += [*([":"] if words else []), "--on", site, "-n", nodes, program, folder]
        self.process = Running(
            lab.labs.command(
                "exec", "--lab", lab.id, "--", sys.executable, "-m", "isthmus", "run",
                "--survive", "--timeout", 300, "-g", self.grid, *words,
            ),
            env=lab.labs.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert self.process.stdout
        assert self.process.stdout.readline() == "up\n", self.process.communicate()

    def hears(self, cluster: str) -> str:
        """The line that it has failed."""
        assert self.process.stderr
        for line in self.process.stderr:
            if f'cluster "{cluster}" has failed: ' in line:
                return line
        pytest.fail("the run ended")

    def ends_with(self, ranks: str) -> None:
        (self.folder / "bell").touch()
        out, err = self.process.communicate(timeout=240)
        assert (self.process.returncode, out) == (0, f"{ranks} ranks\n"), err


def test_a_site_is_cut_off(standing, tmp_path):
    """The cut is longer than the patience of its links. If sites are equal, the last one fails."""
    lab = standing("trio", "--nodes", 1)
    libraries = {"a": "openmpi4", "b": "mpich5", "c": "mpich4"}
    run = Run(lab, tmp_path, libraries, 1, 'patience = "4 s"\n')
    for link in ("a-c", "b-c"):
        assert lab.ask("cut", link).returncode == 0
    assert "; 2 clusters go on" in run.hears("c")
    run.ends_with("2 of 3")
    for link in ("a-c", "b-c"):
        assert lab.ask("restore", link).returncode == 0


def test_one_link_is_cut(standing, tmp_path):
    """Two sites that do not reach each other cannot both go on."""
    lab = standing("trio", "--nodes", 1)
    libraries = {"a": "mpich4", "b": "openmpi5", "c": "openmpi4"}
    run = Run(lab, tmp_path, libraries, 1, 'patience = "4 s"\n')
    assert lab.ask("cut", "a-b").returncode == 0
    assert "(patience)" in run.hears("b")
    run.ends_with("2 of 3")
    assert lab.ask("restore", "a-b").returncode == 0


@slurms.INSTALLED
@pytest.mark.parametrize(
    ("how", "said"),
    [
        (("scancel", "--user=root"), "somebody cancelled it (scancel)"),
        (("sh", "-c", "scontrol update jobid=$(squeue -ho %A) timelimit=0:01"), "its time limit"),
    ],
    ids=["scancel", "time limit"],
)
def test_slurm_ends_the_job_of_a_site(standing, tmp_path, how, said):
    lab = standing("queues")
    run = Run(lab, tmp_path, {"a": "openmpi4", "b": "mpich4"}, 2, "")
    slurms.on(lab, "b", *how)
    line = run.hears("b")
    assert said in line or "SIGTERM" in line  # a rank may end before Slurm reports it
    run.ends_with("2 of 4")
    eventually(lambda: not slurms.queue(lab, "b"), "the end of the job")
