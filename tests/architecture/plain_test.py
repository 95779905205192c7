"""The check of plain English: what it reads, and which sentences it finds."""

from pathlib import Path

import pytest
from plain import prose, rules

ROOT = Path(__file__).parents[2]


def names(sentence: str) -> list[str]:
    return [name for name, _ in rules.broken(sentence)]


@pytest.mark.parametrize(
    ("hard", "rule", "plain"),
    [
        ("What is missing is listed.", "opening", "The build lists what is missing."),
        ("Nobody waits for ranks.", "opening", "No rank waits for the others."),
        ("It is no time.", "negation", "The word 3x is not a time."),
        ("Each error is told once.", "telling", "It cannot be told from a slow link."),
        ("It takes 11.4 us and not 14.8.", "comparison", "It takes 11.4 us instead of 14.8."),
        ("The doctor mends the link here.", "mending", "The doctor fixes the link here."),
        ("The link is made anew then.", "anew", "The link is opened again then."),
        ("word " * 26, "length", "word " * 25),
    ],
)
def test_rules(hard, rule, plain):
    assert names(hard) == [rule]
    assert names(plain) == []


def test_formulas_have_no_words():
    assert names("L + M / n B + 2 (log s (l + 2 o) + M / B); " * 5) == []


def test_questions_may_begin_with_their_word():
    assert names("What does it wait for?") == []
    assert names("There is no reason to wait for it.") == []


def texts(name: str, text: str) -> list[tuple[int, str]]:
    return [(found.line, found.text) for found in prose.sentences(name, text)]


def test_comments_and_messages_of_c():
    text = (
        "// The first line of a comment\n// goes on. Another sentence begins here now.\n"
        'int a;  // short one\nthrow Failure("the file cannot be read "\n"at its beginning");\n'
        'const char* b = "single";\n/* A block has one sentence, too. */\n'
    )
    assert sorted(texts("src/a.cpp", text)) == [
        (1, "Another sentence begins here now."),
        (1, "The first line of a comment goes on."),
        (4, "the file cannot be read at its beginning"),
        (7, "A block has one sentence, too."),
    ]
    assert (4, "the file cannot be read at its beginning") not in texts("src/a_test.cpp", text)


def test_python():
    text = (
        '"""A module has a docstring.\n\nIts second paragraph counts apart from it."""\n'
        "# One comment that is long enough\nx = 1\n"
        'print(f"the file {x} cannot be read " "at its beginning")\n'
    )
    assert sorted(texts("python/a.py", text)) == [
        (1, "A module has a docstring."),
        (1, "Its second paragraph counts apart from it."),
        (4, "One comment that is long enough"),
        (6, "the file X cannot be read at its beginning"),
    ]
    assert len(texts("tests/a.py", text)) == 3


def test_pages():
    text = (
        "# A heading of more than five words\n\nA paragraph of a page\nhas two lines.\n\n"
        "- an item of a list here\n- another item of the list\n\n    some code that is not read\n\n"
        "| a cell of a table here | b |\n\n"
        "<!-- plain: off -->\nThis bad example is not read.\n<!-- plain: on -->\n"
    )
    assert texts("docs/a.md", text) == [
        (3, "A paragraph of a page has two lines."),
        (6, "an item of a list here"),
        (7, "another item of the list"),
        (11, "a cell of a table here"),
    ]
