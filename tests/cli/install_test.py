"""Which of several builds is used, and what version an installation is."""

import os
from pathlib import Path

import pytest

from isthmus import install, version
from isthmus.command import agent_command


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


def test_what_pip_put_below_the_prefix_of_the_package(tmp_path, monkeypatch):
    monkeypatch.delenv("ISTHMUS_PREFIX", raising=False)
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "isthmus"
    monkeypatch.setattr(install, "__file__", str(package / "install.py"))
    program = tmp_path / "bin" / "isthmusd"
    program.parent.mkdir()
    program.touch(0o755)
    assert install.find_isthmusd() == program


@pytest.mark.parametrize("name", ["isthmus-1.2.3.dist-info", "isthmus-1.2.3rc1.dist-info"])
def test_the_version_is_that_of_the_installation_beside_the_package(tmp_path, monkeypatch, name):
    (tmp_path / "lib" / name).mkdir(parents=True)
    monkeypatch.setattr(version, "__file__", str(tmp_path / "lib" / "isthmus" / "version.py"))
    assert f"isthmus-{version._find()}.dist-info" == name


@pytest.mark.parametrize("setup", [(), ("true",)])
def test_nodes_of_a_lab_need_no_path(tmp_path, monkeypatch, setup):
    """They share this host's files; other hosts have an installation of their own."""
    program = tmp_path / "bin" / "isthmusd"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("ISTHMUS_PREFIX", str(tmp_path))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("ISTHMUS_LAB", raising=False)
    assert str(program) not in agent_command("a0", None, "/", "agent", setup)[-1]
    monkeypatch.setenv("ISTHMUS_LAB", str(tmp_path))
    assert str(program) in agent_command("a0", None, "/", "agent", setup)[-1]
