"""Commands that other packages offer. They appear where such a package is installed. Commands of
isthmus itself start without looking for them."""

import pytest

from isthmus.base import later
from isthmus.cli import cli

SENTENCE = "'{0}' is in the package isthmus-lab: pip install isthmus-lab"


@pytest.fixture
def offer(monkeypatch):
    """Sets what other packages offer."""
    return lambda commands: monkeypatch.setattr(later, "offered", lambda: commands)


@pytest.mark.parametrize("command", ["lab", "bench"])
@pytest.mark.parametrize("words", [(), ("--help",), ("run", "trio", "--", "true")])
def test_without_isthmus_lab_its_commands_are_explained(command, words, offer, capsys):
    offer({})
    assert cli.main([command, *words]) == 2
    out, err = capsys.readouterr()
    assert (out, err) == ("", f"isthmus: {SENTENCE.format(command)}\n")


def test_without_isthmus_lab_help_does_not_show_its_commands(offer, capsys):
    offer({})
    assert cli.main(["help", "lab"]) == 2
    assert SENTENCE.format("lab") in capsys.readouterr().err
    assert cli.main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert " Prepare " in shown
    assert " Lab " not in shown


def test_without_isthmus_lab_nothing_is_completed(offer, monkeypatch, capsys):
    offer({})
    monkeypatch.setenv("_ISTHMUS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "isthmus lab ")
    monkeypatch.setenv("COMP_CWORD", "2")
    with pytest.raises(SystemExit, match="0"):
        cli.main([])
    assert capsys.readouterr().err == ""


def test_any_package_may_offer_a_command(offer, capsys):
    offer({"hello": "isthmus.cli.about:version"})
    assert cli.main(["hello"]) == 0
    assert capsys.readouterr().out.startswith("isthmus ")
    assert cli.main(["--help"]) == 0
    assert " Other packages " in capsys.readouterr().out


@pytest.mark.parametrize("words", [["run", "--dry-run", "true"], ["version"], ["grid", "--sample"]])
def test_commands_of_isthmus_start_without_a_search(words, monkeypatch):
    def search():
        pytest.fail("other packages were searched")

    monkeypatch.setattr(later, "offered", search)
    assert cli.main(words) == 0
