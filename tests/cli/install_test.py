"""Which of several builds in a checkout is used."""

import os
from pathlib import Path

from isthmus import install


def build(tree: Path, at: float) -> Path:
    (tree / "lib").mkdir(parents=True)
    (tree / "lib" / "libisthmus-face-ompi.so").touch()
    program = tree / "src" / "daemon" / "isthmusd"
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    os.utime(program, (at, at))
    return program


def test_the_newest_that_runs_here(tmp_path, monkeypatch):
    monkeypatch.delenv("ISTHMUS_PREFIX", raising=False)
    monkeypatch.setattr(install, "__file__", str(tmp_path / "python/isthmus/install.py"))
    (tmp_path / "CMakePresets.json").touch()
    build(tmp_path / "build" / "debug", at=1e9)
    release = build(tmp_path / "build" / "release", at=1.1e9)
    build(tmp_path / "build" / "asan", at=1.2e9)
    build(tmp_path / "build" / "aarch64", at=1.3e9)
    assert install.find_isthmusd() == release
    assert install.built("isthmusd")[0] == release
