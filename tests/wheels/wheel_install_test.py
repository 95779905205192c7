"""`isthmus install` from a wheel, and the launcher alone, over a real sshd."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from faulty import Sshd, check
from running import shell_script
from wheels import ROOT, Isthmus

LIMIT = 25 * 2**20  # three faces, isthmusd and OpenSSL
GRID = '[cluster.far]\nhost = "site"\n[cluster.farther]\nhost = "site"\n'


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_hosts_need_no_prefix(
    command: Isthmus, whole: Path, launcher_alone: Path, sshd: Sshd, home: Path, tmp_path: Path
) -> None:
    """Runs find what a wheel has put into ~/isthmus. Here the launcher alone starts them."""
    done = command(whole, "install", "site", ISTHMUS_SSH=sshd.ssh)
    assert done.returncode == 0, done.stderr
    assert "in ~/isthmus" in done.stdout
    assert size_of(home / "isthmus") <= LIMIT
    (tmp_path / "grid.toml").write_text(GRID)
    program = tmp_path / "demo"
    source = ROOT / "examples" / "isthmus_demo.c"
    subprocess.run(["mpicc.openmpi", "-O1", source, "-o", program], check=True)
    done = command(launcher_alone, "run", "-g", "grid.toml", "-n", 4, program, ISTHMUS_SSH=sshd.ssh)
    assert done.returncode == 0, done.stderr
    assert "rank 3 of 4: cluster farther" in done.stdout


def test_another_version_there(
    command: Isthmus, launcher_alone: Path, sshd: Sshd, home: Path, tmp_path: Path
) -> None:
    shell_script(
        home / "isthmus" / "bin" / "isthmusd",
        'echo \'{"op": "hello", "version": "0.0.9"}\'\nexec cat',
    )
    (tmp_path / "grid.toml").write_text(GRID)
    done = command(launcher_alone, "run", "-g", "grid.toml", "-n", 2, "true", ISTHMUS_SSH=sshd.ssh)
    check(
        done,
        1,
        "Isthmus there is 0.0.9, wire protocol unknown, here it is",
        "isthmus install",
    )


MISSING = "isthmusd, the compiled part of Isthmus, is missing on this host"


@pytest.mark.parametrize("words", [("run", "-n", "2", "/bin/true"), ("doctor",), ("install", "x")])
def test_the_launcher_alone_says_what_is_missing(
    command: Isthmus, launcher_alone: Path, words: tuple[str, ...]
) -> None:
    done = command(launcher_alone, *words)
    assert done.returncode != 0
    assert (done.stdout + done.stderr).count(MISSING) == 1, done.stdout + done.stderr


def test_nothing_of_this_checkout_is_used(whole: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ISTHMUS")}
    text = "from isthmus.install import find_isthmusd; print(find_isthmusd())"
    done = subprocess.run(
        [whole / "bin/python", "-I", "-c", text],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(whole / "bin/isthmusd")
