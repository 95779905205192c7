"""Nodes that get a share of the processors: `cores` of a site."""

import os
import sys
from pathlib import Path

import pytest

from isthmus.errors import RunError
from isthmus.lab import cpus


@pytest.fixture(autouse=True)
def can() -> None:
    """As root, where the CPU controller is there to be written to: seldom in containers."""
    try:
        cpus.limited(f"{cpus.LABS}can-{os.getpid()}", 0.5).rmdir()
    except RunError as cannot:
        pytest.skip(str(cannot))


BURN = "import time\nwhile time.process_time() < 0.5: pass"


def groups(lab: str) -> dict[str, Path]:
    """Of the nodes, by name."""
    prefix = f"isthmus-lab-{lab}-"
    folders = (Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup"))
    found = [path for folder in folders for path in folder.glob(f"{prefix}*")]
    return {path.name.removeprefix(prefix): path for path in found}


def throttled(group: Path) -> int:
    """How often its processes have had to wait for their next turn."""
    words = (group / "cpu.stat").read_text().split()
    return int(words[words.index("nr_throttled") + 1])


def test_a_node_waits_when_it_has_used_its_share_up(standing):
    lab = standing("hablot", "--nodes", "1", "--set", "site.a.cores=0.1")
    assert list(groups(lab.id)) == ["a1"]
    done = lab.exec("sh", "-c", '"$ISTHMUS_LAB/bin/enter" a1 "$0" -c "$1"', sys.executable, BURN)
    assert done.returncode == 0, done.stderr
    assert throttled(groups(lab.id)["a1"]) > 0


def test_what_a_node_starts_on_another_has_that_ones_share(standing):
    lab = standing("hablot", "--nodes", "1", "--set", "site.*.cores=0.5")
    done = lab.exec("sh", "-c", '$ISTHMUS_SSH a1 "$ISTHMUS_SSH b1 cat /proc/self/cgroup"')
    assert f"/isthmus-lab-{lab.id}-b1\n" in done.stdout
    assert f"/isthmus-lab-{lab.id}-a1\n" not in done.stdout


def test_groups_go_with_their_lab(lab):
    words = ("run", "hablot", "--nodes", "1", "--set", "site.*.cores=0.5", "--")
    done = lab(*words, "sh", "-c", 'basename "$ISTHMUS_LAB"')
    assert done.returncode == 0, done.stderr
    assert not groups(done.stdout.strip())
