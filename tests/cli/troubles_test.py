"""Why agents and launchers do not start, and how agents end, in sentences."""

import pytest

from isthmus.run.troubles import LauncherWords, before_hello, end_of_setup, how_agent_ended


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ssh: Could not resolve hostname n01: Name or service not known", "there is no host 'n01"),
        ("ssh: connect to host n02 port 22: Connection refused", "host n02.site does not answer"),
        ("me@n01.site: Permission denied (publickey,password).", "host n01.site refuses ssh"),
    ],
)
def test_words_of_a_launchers_ssh(line, said):
    words = LauncherWords("n[01-02].site")
    trouble = words.hear(f"noise\n{line}\r\nmore noise\n".encode())
    assert said in trouble
    assert "\n  " in trouble  # the remedy
    assert not words.hear(line.replace("n0", "other").encode())  # a host that the program asks for
    assert not LauncherWords(None).hear(line.encode())


def test_a_process_that_ended_before_isthmusd_spoke():
    lines = ["some output", "isthmus: setup ended with status 3: module load x"]
    setup = end_of_setup(lines)
    assert (setup, lines) == ("3: module load x", ["some output"])
    found = [
        before_hello("host", 1, setup, lines),
        before_hello("host", 255, "", []),
        before_hello(None, 127, "", []),
    ]
    assert [trouble.what for trouble in found if trouble] == ["setup", "ssh", "Isthmus"]
    assert all(trouble.remedy for trouble in found if trouble)
    assert before_hello(None, 1, "", []) is None


@pytest.mark.parametrize(
    ("target", "status", "said_hello", "sentence"),
    [
        ("n1", 255, True, "the connection was lost"),
        (None, 255, True, "the agent ended by itself with status 255"),
        ("n1", 255, False, "the agent ended by itself with status 255"),
        ("n1", -9, True, "the ssh of this launcher was killed by SIGKILL"),
        (None, -9, True, "the agent was killed by SIGKILL"),
        ("n1", 75, True, "it was not heard for long, and leaves, since no rank uses it any more"),
        ("n1", 3, True, "the agent ended by itself with status 3"),
    ],
)
def test_what_a_status_tells(target, status, said_hello, sentence):
    assert how_agent_ended(target, status, said_hello=said_hello) == sentence


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("ssh: Could not resolve hostname n1: Name or service not known", "Correct the name"),
        ("ssh: connect to host n1 port 22: Connection refused", "Port or ProxyJump"),
        ("ssh: connect to host n1 port 22: Connection timed out", "Port or ProxyJump"),
        ("ssh: connect to host n1 port 22: No route to host", "Port or ProxyJump"),
        ("Host key verification failed.", "accept its key"),
        ("me@n1: Permission denied (publickey,password).", "asks for a password"),
        ("", "asks for a password"),
    ],
)
def test_a_remedy_for_each_word_of_ssh(line, remedy):
    trouble = before_hello("n1", 255, "", ["Warning: something", line])
    assert trouble
    assert remedy in trouble.remedy
