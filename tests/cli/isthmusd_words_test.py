"""Wrong command lines of isthmusd end in a sentence and with status 2."""

import subprocess

import pytest
from running import ran

from isthmus.install import find_isthmusd


def isthmusd(words: list[str]) -> subprocess.CompletedProcess[str]:
    return ran([find_isthmusd(), *words], timeout=60)


@pytest.mark.parametrize(
    ("words", "said", "help_of"),
    [
        ([], "a subcommand is missing; subcommands are agent, ", ""),
        (["frob"], "'frob' is not a subcommand; subcommands are agent, ", ""),
        (["--frob"], "'--frob' is not a subcommand", ""),
        (["key"], "a subcommand is missing; subcommands are add, limit, list, revoke", ""),
        (["key", "frob"], "'frob' is not a subcommand; subcommands are add, ", ""),
        (["key", "list"], "--keys is required", "key list "),
        (["key", "add", "--keys", "x"], "user is required", "key add "),
        (["key", "add", "a", "--keys", "x", "--connections", "0"], "from 1 up", "key add "),
        (["key", "add", "a", "--keys", "x", "--connections", "1e3"], "from 1 up", "key add "),
        (["serve"], "--config is required", "serve "),
        (["serve", "--frob"], "--config is required", "serve "),
        (["library-version"], "library is required", "library-version "),
        (["agent", "frob"], "frob", "agent "),
    ],
)
def test_a_wrong_command_line(words, said, help_of):
    done = isthmusd(words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("isthmusd: ")
    assert said in done.stderr
    assert done.stderr.endswith(f"\n  See: isthmusd {help_of}--help\n")


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["key", "--help"], ["--version"]])
def test_help_is_asked_for(words):
    done = isthmusd(words)
    assert done.returncode == 0
    assert "isthmusd" in done.stdout
    assert done.stderr == ""
