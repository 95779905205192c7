"""A wrong command line and a wrong grid file show all their errors at once."""

import re

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.grid import grid as grids


def refused(words, capsys) -> list[str]:
    """The sentences of a wrong command line."""
    assert main(words) == 2
    said = capsys.readouterr().err
    assert "Traceback" not in said
    return re.findall(r"^isthmus: (.*)", said, re.MULTILINE)


def places(text: str) -> list[tuple[int, str]]:
    """Line and key of each error of a grid file."""
    with pytest.raises(UsageError) as wrong:
        grids.parse(text, "g.toml")
    lines = str(wrong.value).replace("isthmus: ", "").splitlines()
    found = [re.match(r"g\.toml:(\d+): (\S+) ", line) for line in lines]
    assert all(found), lines
    return [(int(one[1]), one[2]) for one in found if one]


# ---- grid files ---------------------------------------------------------------------------------

MANY = """patience = "never"
[cluster.east]
slot = 3
mpi = "lam"
[cluster.west]
slots = 0
[[gateway]]
cluster = "est"
port = "7x"
[[gateway]]
cluster = "wst"
[[link]]
between = ["east", "north"]
compress = true
reach = "direct"
[[link]]
betwen = ["east", "west"]
"""


def test_all_wrong_keys_of_a_file():
    assert places(MANY) == [
        (1, "patience"),
        (3, "cluster.east.slot"),
        (4, "cluster.east.mpi"),
        (6, "cluster.west.slots"),
        (9, "gateway[0].port"),
        (17, "link[1].betwen"),
    ]


def test_wrong_values_and_wrong_names_together():
    """A table with a wrong key gets no further errors; other tables are checked in full."""
    text = MANY.replace('patience = "never"', "").replace("betwen", "between")
    assert places(text) == [
        (3, "cluster.east.slot"),
        (4, "cluster.east.mpi"),
        (6, "cluster.west.slots"),
        (9, "gateway[0].port"),
        (11, "gateway[1].cluster"),
        (13, "link[0].between"),
        (14, "link[0].compress"),
    ]


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[cluster.a]\nslots = 'x'\n[clutser.b]\nhost = 3\n", ["cluster.a.slots", "clutser"]),
        ("[cluster.a]\n[[relay]]\nservice = 'x:y:z'\nkey = 'k'\n",
         ["relay[0].service", "relay[0].key"]),
        ("[cluster.a]\n[[link]]\nrtt = 3\n[[link]]\nrate = 'x'\n",
         ["link[0].between", "link[0].rtt", "link[1].between", "link[1].rate"]),
        ("[cluster.'-a']\n[cluster.b]\n[[relay]]\nkey = '/k'\n",
         ["cluster.-a", "relay[0].service"]),
        ("[cluster.a]\n[grid.d]\nfile = 'missing.toml'\n[grid.a]\nfile = 'x'\n",
         ["grid.d.file", "grid.a"]),
    ],
)  # fmt: skip
def test_other_files(text, wrong):
    with pytest.raises(UsageError) as error:
        grids.parse(text, "g.toml")
    found = re.findall(r"g\.toml:\d+: (\S+)", str(error.value))
    assert sorted(found) == sorted(wrong)


def test_errors_of_inner_grids_come_together(tmp_path):
    for name in ("one", "two"):
        (tmp_path / f"{name}.toml").write_text("[cluster.a]\nslot = 1\nhots = 'x'\n")
    outer = tmp_path / "outer.toml"
    outer.write_text("[grid.one]\nfile = 'one.toml'\n[grid.two]\nfile = 'two.toml'\nx = 1\n")
    with pytest.raises(UsageError) as wrong:
        grids.load(outer)
    found = re.findall(r"/(\w+)\.toml:(\d): (\S+)", str(wrong.value))
    assert found == [
        ("one", "2", "cluster.a.slot"),
        ("one", "3", "cluster.a.hots"),
        ("two", "2", "cluster.a.slot"),
        ("two", "3", "cluster.a.hots"),
        ("outer", "5", "grid.two.x"),
    ]


def test_a_very_wrong_file_shows_the_first_errors():
    keys = "".join(f"k{number} = 1\n" for number in range(50))
    with pytest.raises(UsageError) as wrong:
        grids.parse(f"[cluster.a]\n{keys}", "g.toml")
    assert str(wrong.value).count("g.toml:") == 20
    assert str(wrong.value).endswith("and 30 more errors")


# ---- command lines ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--timeout", "x", "-n", "two", "./app"], ["--timeout.*'x'", "-n.*'two'"]),
        (["-n0", "--stat", "./app", "--stta"], ["no option --stat", "-n.*1"]),
        (["--frob", "a", "--nicate", "./app", "--x"], ["no option --frob", "no option --nicate"]),
        (["--frob", "a", "--timeout=x", "sh", "--x"], ["no option --frob", "--timeout.*'x'"]),
        (["-x", "A:=1", "-o", "f", "--metrics", "z", "--wait", "q", "./app"],
         ["--output f", "-x A:=1", "--wait q", "--metrics z"]),
        (["-n", "two", "./x", ":", "-n", "2", "--frob", "./y"], ["-n.*'two'", "no option --frob"]),
        (["-n", "2", "./x", ":", "--stats", "--mpi", "lam", "./y"], ["part 2.*--stats", "--mpi"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("command", ["run", "submit"])
def test_all_errors_of_a_command_line(command, words, said, capsys):
    found = refused([command, *words], capsys)
    assert len(found) == len(said), found
    for sentence, pattern in zip(found, said, strict=True):
        assert re.search(pattern, sentence)


@pytest.mark.parametrize("words", [["lab", "cut", "a", "b"], ["doctor", "a", "b"]])
def test_too_many_words(words, capsys):
    assert refused(words, capsys)[0] == "too many words: b"


@pytest.mark.parametrize("words", [["run"], ["run", "-n"], ["run", "--stats"], ["top", "a", "b"]])
def test_one_error_is_shown_once(words, capsys):
    assert main(words) == 2
    assert capsys.readouterr().err.count("isthmus: ") <= 1


@pytest.mark.parametrize(
    "words", [["./a", ":"], ["./a", ":", ":", "./b"], ["./a", ":", "./b", ":"]]
)
@pytest.mark.parametrize("command", ["run", "submit"])
def test_a_part_without_a_program_is_named(command, words, capsys):
    (said,) = refused([command, *words], capsys)
    assert said.startswith(f"part {3 if words[-1] == ':' and len(words) > 2 else 2} of the command")


@pytest.mark.parametrize(
    ("words", "see"),
    [
        (["lab", "run"], "isthmus lab run --help"),
        (["lab", "frob"], "isthmus lab --help"),
        (["profile", "show"], "isthmus profile show --help"),
        (["run"], "isthmus run --help"),
        (["join", "--frob"], "isthmus join --help"),
        (["join", "--key", "x", "--frob"], "isthmus join --key FILE --help"),
    ],
)
def test_errors_name_the_help_of_their_command(words, see, capsys):
    if "--key" in words:  # its parser also stands alone
        with pytest.raises(SystemExit, match="2"):
            main(words)
    else:
        assert main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith("isthmus: ")
    assert said.endswith(f"\n  See: {see}\n")


@pytest.mark.parametrize(
    "words",
    [
        ["run", "hablott", "isthmus", "run", "-n", "4", "./app"],
        ["run", "--nodes", "3", "hablott", "--set=a=b", "isthmus", "run", "-n", "4", "./app"],
        ["run", "hablott", "--nodes", "3", "--", "isthmus", "run", "-n", "4"],
    ],
)
def test_a_command_in_a_lab_needs_no_dashes(words, capsys):
    (said,) = refused(["lab", *words], capsys)
    assert said.startswith("unknown testbed 'hablott'")


def test_options_before_a_command_in_a_lab_are_checked(capsys):
    (said,) = refused(["lab", "run", "--nods", "3", "hablot", "ls", "-l"], capsys)
    assert "has no option --nods; did you mean '--nodes'?" in said


@pytest.mark.parametrize(
    ("change", "said"),
    [("wan.delay=20", "with a unit, such as '20 ms'; it is the number 20"),
     ("wan.rate=3", "such as '1 Gbit/s'; it is the number 3"),
     ("site.a.mpi=3", "must be a string; it is the number 3")],
)  # fmt: skip
def test_values_without_a_unit(change, said, capsys):
    (sentence,) = refused(["lab", "show", "hablot", "--set", change], capsys)
    assert sentence.endswith(said)
