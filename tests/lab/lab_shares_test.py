"""Nodes that get a share of the processors: `cores` of a site."""

import os
import sys
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def can() -> None:
    """Where root may make a group, and is in nobody else's: seldom in containers and sessions."""
    own = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    ours = [path == "/" or path.startswith("/isthmus-") for _, names, path in own
            if not names or "cpu" in names.split(",")]  # fmt: skip
    if not all(ours):
        pytest.skip("this process is in another's group of the CPU controller")
    first = Path("/sys/fs/cgroup/cpu")
    probe = (first if first.is_dir() else first.parent) / f"isthmus-can-{os.getpid()}"
    try:
        probe.mkdir()
    except OSError as error:
        pytest.skip(f"no group of the CPU controller can be made: {error}")
    can_limit = (probe / "cpu.max").exists() or (probe / "cpu.cfs_quota_us").exists()
    probe.rmdir()
    if not can_limit:
        pytest.skip("the kernel limits no group's share of the processors")


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
