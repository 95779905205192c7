"""A site joins a run on wide-area networks: `isthmus join`."""

from __future__ import annotations

import re
import subprocess
import sys

import mpis
from running import Running, ran

JOINS = mpis.ROOT / "tests" / "grid" / "growing" / "joins.c"
BUILT = mpis.ROOT / "build" / "tests"


def without(grid: str, site: str) -> str:
    """The grid file without the tables that name the site."""
    tables = re.split(r"^(?=\[)", grid, flags=re.MULTILINE)
    named = re.compile(rf'^\[cluster\.{site}[\].]|"{site}"')
    return "".join(table for table in tables if not named.search(table))


def test_a_site_joins(standing, tmp_path):
    """The run begins with two of three sites. The third one has another library."""
    lab = standing("trio", "--nodes", 1)
    whole = lab.exec("sh", "-c", "cat $ISTHMUS_GRID").stdout
    (tmp_path / "all.toml").write_text(whole)
    (tmp_path / "some.toml").write_text(without(whole, "c"))
    a, b = (mpis.ALL[library].build(JOINS, BUILT) for library in ("openmpi4", "mpich4"))

    def command(*words: object) -> list[str]:
        isthmus = [sys.executable, "-m", "isthmus", *words]
        return lab.labs.command("exec", "--lab", lab.id, "--", *isthmus)

    words = ["--on", "a", "-n", 1, a, b, "c", ":", "--on", "b", "-n", 1, b, b, "c"]
    with Running(
        command("run", "--timeout", 200, "-g", tmp_path / "some.toml", *words),
        env=lab.labs.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as run:  # fmt: skip
        assert run.stdout.readline() == "up\n", run.communicate()
        done = ran(command("join", "-g", tmp_path / "all.toml", "--cluster", "c"), env=lab.labs.env)
        assert (done.returncode, done.stderr) == (0, "")
        out, err = run.communicate(timeout=240)
    assert (run.returncode, out) == (0, "c: 4 ranks, sum 6\n"), err
    assert 'cluster "c" has come: 2 processes run there as cluster "c/1"' in err
