"""`isthmus install` to a host of a real sshd."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faulty import Sshd
from running import ran

from isthmus.install import find_isthmusd
from isthmus.version import VERSION


@pytest.fixture
def install(sshd: Sshd, tmp_path: Path):
    """install(WORD...) runs it from an installation like pip's."""
    real = find_isthmusd()
    whole = tmp_path / "whole"
    (whole / "bin").mkdir(parents=True)
    (whole / "bin/isthmusd").symlink_to(real)
    libraries = next(
        folder
        for folder in (real.parent.parent / "lib/isthmus", *(p / "lib" for p in real.parents))
        if any(folder.glob("libisthmus-face-*.so"))
    )
    (whole / "lib").mkdir()
    (whole / "lib/isthmus").symlink_to(libraries)

    def run(*words: object, **more: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ISTHMUS_SSH": sshd.ssh, "ISTHMUS_PREFIX": str(whole), **more}
        return ran([sys.executable, "-m", "isthmus", "install", *words], env=environment)

    return run


def test_what_is_copied_runs(install, sshd: Sshd, tmp_path: Path, grid_with):
    there = tmp_path / "it's there"
    for _ in range(2):  # the second time over the first
        done = install("site", "--prefix", there)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"site: Isthmus {VERSION} in {there}; ")
        assert f'prefix = "{there}"' in done.stdout
    copied = [there / "bin/isthmusd", *(there / "lib/isthmus").glob("libisthmus-face-*.so")]
    assert len(copied) > 1
    assert [file.name for file in copied if b".debug_" in file.read_bytes()] == []
    grid = grid_with(f'[cluster.far]\nhost = "site"\nprefix = "{there}"\n')
    shown = ran(
        [sys.executable, "-m", "isthmus", "run", "-g", grid, "--on", "far", "hostname"],
        env={**os.environ, "ISTHMUS_SSH": sshd.ssh},
    )
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout


def test_every_host_that_fails_is_told(install, tmp_path: Path):
    (tmp_path / "file").touch()
    done = install("refused", "site", "--prefix", tmp_path / "file" / "below")
    assert done.returncode == 1
    assert "refused: ssh could not connect" in done.stderr
    assert "Try: ssh" in done.stderr
    assert f"site: Isthmus cannot be written to {tmp_path}/file/below" in done.stderr


def test_libraries_that_are_not_there(install, tmp_path: Path):
    """An isthmusd that the host's loader turns down."""
    whole = tmp_path / "other"
    (whole / "lib/isthmus").mkdir(parents=True)
    (whole / "bin").mkdir()
    (whole / "bin/isthmusd").write_text("#!/bin/sh\necho 'libfmt.so.9: not found' >&2\nexit 127\n")
    (whole / "bin/isthmusd").chmod(0o755)
    done = install("site", "--prefix", tmp_path / "there", ISTHMUS_PREFIX=str(whole))
    assert done.returncode == 1
    assert "site: isthmusd could not be started there" in done.stderr
    assert "libfmt.so.9: not found" in done.stderr
    assert "the host needs a C library that is not older" in done.stderr
