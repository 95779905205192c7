"""The help of every command shows all of its text, and no option that typer adds."""

import re
import sys

import pytest
import typer
from running import ran

from isthmus.base import later
from isthmus.cli.cli import app, main


def commands() -> dict[str, object]:
    """All commands, groups too, by the words that call them."""
    found: dict[str, object] = {}

    def walk(words: tuple[str, ...], command) -> None:
        found[" ".join(words)] = command
        if hasattr(command, "list_commands"):
            for name in command.list_commands(None):
                walk((*words, name), command.get_command(None, name))

    walk((), typer.main.get_command(app))
    return found


COMMANDS = commands()


def squeezed(text: str) -> str:
    """Without markup for bold, white space and frames."""
    return re.sub(r"[\s│]", "", re.sub(r"\[/?bold\]", "", text))


def texts(command) -> list[str]:
    """What its author wrote."""
    written = [command.help or "", getattr(command, "epilog", None) or ""]
    for param in command.params:
        written += [getattr(param, "help", None) or "", getattr(param, "metavar", None) or ""]
    return [line for text in written for line in text.splitlines() if line.strip()]


def test_every_command_is_in_a_group(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "200")
    main_group = COMMANDS[""]
    known = {*main_group.commands, *later.COMMANDS, *later.offered()}
    assert {*main_group.list_commands(None)} == known
    assert {"lab", "bench"} <= known
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    places = [shown.index(f" {group} ") for group in later.GROUPS]
    assert places == sorted(places)
    assert "─ Commands " not in shown


@pytest.mark.parametrize("name", later.SUMMARIES)
def test_the_list_says_what_the_command_says(name):
    first = COMMANDS[name].help.partition("\n\n")[0]
    assert later.SUMMARIES[name] == first


def test_the_list_of_commands_imports_none():
    assert {*later.SUMMARIES} == {*later.COMMANDS, *later.ELSEWHERE}
    text = (
        "import sys; from isthmus.base import later; from isthmus.cli import cli;"
        "status = cli.main(['--help']);"
        "places = {place.partition(':')[0] for place in later.COMMANDS.values()};"
        "sys.exit(status or ', '.join(places & {*sys.modules}) or 0)"
    )
    done = ran([sys.executable, "-c", text])
    assert (done.returncode, done.stderr) == (0, "")


def test_there_are_commands():
    assert {"run", "submit", "lab run", "bench p2p", "profile show", "doctor"} <= set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_no_text_is_lost(name, monkeypatch, capsys):
    """Rich takes words in brackets for markup."""
    monkeypatch.setenv("COLUMNS", "3000")  # no line is broken
    assert main([*name.split(), "--help"]) == 0
    shown = squeezed(capsys.readouterr().out)
    assert [line for line in texts(COMMANDS[name]) if squeezed(line) not in shown] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_no_command_installs_completion(name, capsys):
    """`isthmus completion` prints a script; typer's own options write into the user's files."""
    for option in ("--install-completion", "--show-completion"):
        assert all(option not in param.opts for param in COMMANDS[name].params)
    assert main([*name.split(), "--install-completion"]) == 2
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_flags_have_no_type(name, capsys):
    assert main([*name.split(), "--help"]) == 0
    assert "<bool>" not in capsys.readouterr().out
