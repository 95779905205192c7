"""The way from this host to another: the user's ssh, or a command. The grid file gives the command
as `start`, such as `kubectl exec -i pod --`."""

import shlex
from collections.abc import Sequence
from pathlib import PurePath


class Entry(str):
    """A host with a command in place of ssh. Its text is that command; it stands where other hosts
    have an ssh target. `words` start a program there with the words that follow."""

    words: tuple[str, ...]

    def __new__(cls, words: Sequence[str]) -> "Entry":
        entry = super().__new__(cls, shlex.join(words))
        entry.words = tuple(words)
        return entry

    @property
    def program(self) -> str:
        """The command's name, such as "kubectl"."""
        return PurePath(self.words[0]).name


def names_of(host: str | None) -> list[str]:
    """The names by which other hosts may find a host: that of an ssh target. This host has
    none, and neither has a host with a command of its own."""
    return [] if host is None or isinstance(host, Entry) else [host.rpartition("@")[2]]


def program_for(host: str) -> str:
    """The program that reaches a host, for messages and findings."""
    return host.program if isinstance(host, Entry) else "ssh"


def check_words(words: list[str]) -> list[str]:
    """Checks the value of `start`. Raises ValueError with a sentence that continues behind it."""
    if not words or not all(words) or words[0].startswith("-"):
        raise ValueError(
            "must be a command with its words, such as "
            f'["kubectl", "exec", "-i", "pod", "--"]; it is {words}'
        )
    if PurePath(words[0]).name in ("kubectl", "oc", "podman", "docker", "nerdctl"):
        options = [word for word in words[1:] if word.startswith("-")]
        short = "".join(word[1:] for word in options if not word.startswith("--"))
        if "exec" in words and "i" not in short and "--interactive" not in options:
            raise ValueError("needs '-i': Isthmus writes to the command's standard input")
        joined = {*"it"} >= {*short}  # otherwise a letter may be part of a value
        if any(word in ("-t", "--tty") for word in options) or ("t" in short and joined):
            raise ValueError(
                "must not have '-t': a terminal changes the bytes that pass through it"
            )
    return words
