"""Why agents and launchers do not start, in sentences."""

import pytest

from isthmus.run.troubles import LauncherWords, before_hello, end_of_setup


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
