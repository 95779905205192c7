"""Files that are not TOML: each error has line, column and what to write."""

import re

import pytest

from isthmus.base import tomltext
from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids


def refused(text: str) -> list[tuple[str, str, str]]:
    """Line and column, sentence and remedy of each error."""
    with pytest.raises(UsageError) as wrong:
        tomltext.parse(text, "g.toml")
    found = re.findall(
        r"^(?:isthmus: )?g\.toml:(\d+:\d+): (.*)\n  (.*)$", str(wrong.value), re.MULTILINE
    )
    assert 2 * len(found) == len(str(wrong.value).splitlines())
    return found


@pytest.mark.parametrize(
    ("line", "column", "sentence", "remedy"),
    [
        # text without quotes
        ("host = lyon", 8, "lyon is text without quotes", 'Write: host = "lyon"'),
        ("host = me@lyon.org # x", 8, "is text without quotes", 'Write: host = "me@lyon.org"'),
        ("prefix = ~/isthmus", 10, "is text without quotes", 'Write: prefix = "~/isthmus"'),
        ("launch = srun -n 4", 10, "is text without quotes", 'Write: launch = "srun -n 4"'),
        ("rate = 1 Gbit/s", 10, "is text without quotes", 'Write: rate = "1 Gbit/s"'),
        # other quotes
        ("host = \u201clyon\u201d", 8, "is not a quote of TOML", 'Write plain quotes: "text"'),
        ('host = "lyon', 13, "a text has no closing quote", 'Write: host = "lyon"'),
        ("host = 'lyon", 13, "a text has no closing quote", "Write: host = 'lyon'"),
        ('wdir = "C:\\users"', 13, "has a meaning of its own", "Write: wdir = 'C:\\users'"),
        # other signs
        ("slots: 2", 6, "':' stands behind 'slots'", "Write '=': slots = 2"),
        ("host : lyon", 6, "':' stands behind 'host'", "Write '=': host = \"lyon\""),
        ('host == "lyon"', 7, "'host' has two '='", 'Write: host = "lyon"'),
        ("slots = 2;", 10, "';' follows the value", "A comment begins with '#'"),
        ("slots = 2 // two", 11, "'// two' follows the value", "A comment begins with '#'"),
        ("slots =\u00a02", 8, "a special space (U+00A0)", "Write a plain space."),
        # other values
        ("encrypt = True", 11, "'True' is not a value", "Write: encrypt = true"),
        ("slots = 02", 10, "a number begins with 0", "Write: slots = 2"),
        ("slots =", 8, "'slots' has no value", "Write: slots = VALUE"),
        ("slots", 6, "'slots' has no value", "Write: slots = VALUE"),
        ('env = { A = "1",', 17, "must be on one line", 'Write: env = { A = "1", B = "2" }'),
    ],
)  # fmt: skip
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_wrong_line(line, column, sentence, remedy, newline):
    text = newline.join(["[cluster.a]", line, "speed = 2", ""])
    ((at, said, write),) = refused(text)
    assert at == f"2:{column}"
    assert sentence in said
    assert remedy in write


@pytest.mark.parametrize(
    ("text", "at", "sentence"),
    [
        ("[cluster.a\n", "1:11", "the header of a table has no end"),
        ("[[link]\n", "1:7", "the header of a table has no end"),
        ("[cluster.my lyon]\n", "1:13", "'cluster.my lyon' is not a name of a table"),
        ("[cluster.a]\n[cluster.a]\n", "2:11", "[cluster.a] is here for the second time"),
        ("[cluster.a]\nslots = 1\nslots = 2\n", "3:10", "'slots' is here for the second time"),
        ('hosts = ["a",\n "b"\n[cluster.b]\n', "1:14", "an array has no ']'"),
        ('hosts = ["a", "b"', "1:18", "an array has no ']'"),
        ("[cluster.a]\nhost = 'lyon\n", "2:13", "a text has no closing quote"),
        ("[cluster.a]\nwdir = '''x\nslots = 1\n", "2:12", "a text has no closing quote"),
        ('{"cluster": {}}', "1:1", "this is not TOML"),
        ("cluster:\n  lyon:\n", "1:8", "this is not TOML"),
    ],
)
def test_tables_and_arrays(text, at, sentence):
    found = refused(text)
    assert found[0][0] == at
    assert sentence in found[0][1]


def test_all_wrong_lines_of_a_file():
    text = "[cluster.a]\nhost = lyon\nslots: 2\n[cluster.b]\nhost = 'x'\nmpi = mpich\nspeed = 2;\n"
    assert [at for at, _, _ in refused(text)] == ["2:8", "3:6", "6:7", "7:10"]


def test_one_error_causes_no_others():
    assert len(refused("[cluster.a]\nslots = 1\n[cluster.b\nslots = 1\n")) == 1
    assert len(refused("[cluster.a]\nhosts = ['a',\nslots = 1\n[cluster.b]\nx = y\n")) == 1


def test_tabs_windows_line_ends_and_a_mark_are_allowed(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_bytes(b"\xef\xbb\xbf[cluster.a]\r\n\tslots\t=\t2\r\n")
    assert grids.load(file).cluster["a"].slots == 2
    file.write_bytes(b"[cluster.a]\rslots = 2\r")
    assert grids.load(file).cluster["a"].slots == 2


def test_other_encodings(tmp_path):
    file = tmp_path / "grid.toml"
    file.write_bytes(b"[cluster.a]\n# caf\xe9\n# \xe9\n")
    with pytest.raises(
        UsageError, match=r"grid\.toml:2: the grid file is not UTF-8 text \(line 2, 3"
    ):
        grids.load(file)


def test_a_missing_file_has_a_remedy(tmp_path):
    with pytest.raises(UsageError, match="Check the name"):
        grids.load(tmp_path / "grid.toml")
    (tmp_path / "other.toml").write_text("")
    (tmp_path / "grids.toml").write_text("")
    with pytest.raises(UsageError, match=r"There is: .*/grids\.toml"):
        grids.load(tmp_path / "grid.toml")
