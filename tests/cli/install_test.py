"""Which of several builds is used, and what version an installation is."""

import os
from pathlib import Path

import pytest
from running import ran

from isthmus import install, version
from isthmus.base.errors import RunError
from isthmus.queues import joiner
from isthmus.run.command import agent_command


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


def test_the_commit_is_the_one_that_was_built(tmp_path, monkeypatch):
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "isthmus"
    monkeypatch.setattr(version, "__file__", str(package / "version.py"))
    version.commit.cache_clear()
    assert version.commit() == "unknown"
    (tmp_path / "share" / "isthmus").mkdir(parents=True)
    (tmp_path / "share" / "isthmus" / "commit").write_text("0123456789ab\n")
    version.commit.cache_clear()
    assert version.commit() == "0123456789ab"
    version.commit.cache_clear()


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


ON_THE_PATH, USUAL = "here/isthmusd", "home/isthmus/bin/isthmusd"


@pytest.mark.parametrize("setup", [(), ("true",)])
@pytest.mark.parametrize(
    ("present", "started"), [((ON_THE_PATH, USUAL), ON_THE_PATH), ((USUAL,), USUAL), ((), None)]
)
def test_other_hosts_look_on_the_path_then_in_the_usual_folder(
    tmp_path, monkeypatch, setup, present, started
):
    monkeypatch.delenv("ISTHMUS_LAB", raising=False)
    for name in present:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"#!/bin/sh\necho {name} $1\n")
        (tmp_path / name).chmod(0o755)
    path = f"{tmp_path}/here:/usr/bin:/bin"
    launchers, kept = os.pipe()  # input that ends would end the setup
    done = ran(
        ["/bin/sh", "-c", agent_command("far", None, "/", "agent", setup)[-1]],
        env={"PATH": path, "HOME": str(tmp_path / "home")},
        stdin=launchers,
        timeout=60,
    )
    os.close(launchers)
    os.close(kept)
    if started:
        assert done.stdout == f"{started} agent\n", done.stderr
    else:
        assert done.returncode == 127
        assert f"{tmp_path}/home/isthmus/bin/isthmusd" in done.stderr


@pytest.mark.parametrize(("noted", "found"), [(True, "noted/isthmusd"), (False, USUAL)])
def test_a_batch_job_looks_in_the_usual_folder_last(tmp_path, monkeypatch, noted, found):
    for name in ("noted/isthmusd", USUAL):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch(0o755)
    if noted:
        (tmp_path / "isthmusd.path").write_text(f"{tmp_path}/noted/isthmusd\n")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(joiner, "__file__", str(tmp_path / "join.py"))
    assert joiner.find_isthmusd("isthmusd") == str(tmp_path / found)
    assert joiner.find_isthmusd("/elsewhere/isthmusd") == (
        str(tmp_path / "noted/isthmusd") if noted else None
    )


def test_the_launcher_alone_says_what_is_missing(tmp_path, monkeypatch):
    """As the wheel for any system installs it, without compiled parts."""
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "isthmus"
    monkeypatch.delenv("ISTHMUS_PREFIX", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(install, "__file__", str(package / "install.py"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    monkeypatch.setattr("importlib.metadata.files", lambda _: [])
    with pytest.raises(RunError, match=r"isthmusd.* is missing on this host") as raised:
        install.find_isthmusd()
    assert "Clusters on this host need it" in raised.value.remedy
    (tmp_path / "include" / "isthmus").mkdir(parents=True)
    (tmp_path / "include" / "isthmus" / "isthmus.h").touch()
    assert install.includedir() == tmp_path / "include" / "isthmus"
