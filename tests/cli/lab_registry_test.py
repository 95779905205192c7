"""Which lab a command means, and whose folders it looks at. No lab runs here."""

import pytest

from isthmus.base.errors import RunError, UsageError
from isthmus.cli import cli
from isthmus_lab.lab import build, commands, links, registry


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.delenv("ISTHMUS_LAB", raising=False)
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    (tmp_path / "labs").mkdir(mode=0o700)
    return tmp_path / "labs"


@pytest.fixture
def lab(home):
    """One that another terminal has started."""
    made, _ = registry.create("hablot")
    made.note({"testbed": "hablot"})
    return made


CHANGES = {
    "cut": lambda name: links.cut("all", name),
    "restore": lambda name: links.restore("all", name),
    "set": lambda name: links.set_("all", ["loss=1%"], name),
    "exec": lambda name: commands.exec_(["true"], None, name),
    "shell": lambda name: commands.shell(None, None, None, None, None, name),
}


@pytest.mark.parametrize("command", CHANGES)
def test_what_changes_a_lab_wants_its_name(lab, command):
    with pytest.raises(UsageError) as error:
        CHANGES[command](None)
    assert f"no lab is named; a lab runs: '{lab.id}'" in str(error.value)
    assert "--lab" in str(error.value)
    with pytest.raises(RunError, match="is being built"):  # it is meant now
        CHANGES[command](lab.id)


def test_what_only_looks_takes_the_only_one(lab):
    assert registry.find(None) == lab
    assert registry.find(lab.id[:8], to_change=True) == lab


def test_labs_links_and_nodes_are_completed(lab, monkeypatch, capsys):
    def completed(line: str) -> list[str]:
        monkeypatch.setenv("_ISTHMUS_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with pytest.raises(SystemExit):
            cli.main([])
        said = capsys.readouterr()
        assert said.err == ""
        return said.out.split()

    lab.note(build.facts(commands._network("hablot", 1, None, None)))
    for command in ("cut", "restore", "set", "traffic"):
        assert completed(f"isthmus lab {command} --lab ") == [lab.id]
        assert completed(f"isthmus lab {command} --lab {lab.id} ") == ["a-b", "all"]
    assert completed("isthmus lab cut a") == ["a-b", "all"]
    for command in ("exec", "shell"):
        assert completed(f"isthmus lab {command} --lab {lab.id} --on b") == ["b0", "b1"]
    assert "a1" in completed("isthmus lab run hablot --on a")
    assert completed("isthmus lab cut --lab none-such ") == []


def test_commands_inside_a_lab_mean_that(lab, monkeypatch):
    monkeypatch.setenv("ISTHMUS_LAB", str(lab.folder))
    assert registry.find(None, to_change=True) == lab


@pytest.mark.parametrize("trap", ["writable", "link"])
def test_a_folder_that_others_may_have_filled_is_not_used(home, tmp_path, trap):
    if trap == "writable":
        home.chmod(0o777)
    else:
        home.rename(tmp_path / "elsewhere")
        home.symlink_to(tmp_path / "elsewhere")
    for use in (registry.sweep, lambda: registry.find("x"), lambda: registry.create("hablot")):
        with pytest.raises(RunError, match=r"where labs are, (may be written|is a symbolic link)"):
            use()


def test_a_folder_of_another_user_is_not_used(home, monkeypatch):
    monkeypatch.setattr("os.geteuid", lambda: home.stat().st_uid + 1)
    with pytest.raises(RunError, match="belongs to another user"):
        registry.sweep()
