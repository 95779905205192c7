"""Command lines in the style of mpirun, mpiexec and srun: accepted, or refused with advice."""

import re
import shutil

import pytest
import typer
from running import ran

from isthmus.base.errors import UsageError
from isthmus.cli import habits, nested
from isthmus.cli.cli import app, main, parse_run, parse_submit


def options_of(command: str) -> set[str]:
    params = typer.main.get_command(app).commands[command].params
    return {name for param in params for name in param.opts}


ITS_OWN = options_of("run")


def refused(words: list[str], capsys) -> str:
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("isthmus: ")
    return captured.err


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", habits.ALIASES)
def test_other_names_of_options(name, tmp_path):
    hosts = tmp_path / "hosts"
    hosts.write_text("a\nb\n")
    values = {"-n": "3", "--wdir": "/tmp", "--host": "a,b", "--bind-to": "core"}
    values |= {"--map-by": "node", "--hostfile": str(hosts)}
    values |= {"--ppn": "2", "--timeout": "5"}
    value = [values[habits.ALIASES[name]]] if habits.ALIASES[name] in values else []
    run = parse_run([name, *value, "x"])
    same = parse_run([habits.ALIASES[name], *value, "x"])
    assert run == same != parse_run(["x"])
    if len(name) > 2 and value:
        assert parse_run([f"{name}={value[0]}", "x"]) == same
    assert parse_submit([name, *value, "x"])[0] == same


@pytest.mark.parametrize("command", ["run", "submit"])
def test_options_of_native_launchers_have_a_sentence(command, capsys):
    table = habits.ADVICE_OF_SUBMIT if command == "submit" else habits.ADVICE
    names = sorted({*habits.ADVICE, *habits.ADVICE_OF_SUBMIT} - options_of(command))
    assert len(names) > 250
    for first in range(0, len(names), 10):  # not all: so many errors are not shown
        some = names[first : first + 10]
        said = refused([command, "-n", "2", *some, "a", "b", "./app"], capsys)
        for name in some:
            advice = f"\n  {table[name]}\n" if name in table else ""
            assert f"'isthmus {command}' has no option {name}{advice}" in said


@pytest.mark.parametrize(
    "command",
    [["mpirun.openmpi", "--allow-run-as-root", "--help", "full"], ["mpiexec.hydra", "-help"]],
)
def test_every_option_of_the_launchers_here_is_known(command):
    """Each works, or its sentence says where it lives."""
    done = ran(command, timeout=60)
    listed = [re.split(r"\s{2,}|[ =]<", line.strip())[0] for line in done.stdout.splitlines()]
    names = {
        name
        for words in listed
        if words.startswith("-")
        for name in re.findall(r"(?<![\w-])--?[A-Za-z][\w-]*", words)
    }
    assert len(names) > 40
    known = {*habits.ALIASES, *habits.ADVICE, *habits.OF_VARIABLES, *ITS_OWN, "-h", "--help"}
    assert names - known == set()


def test_no_advice_is_for_an_option_that_there_is():
    assert not (habits.ADVICE.keys() | habits.ALIASES.keys()) & ITS_OWN
    assert set(habits.ALIASES.values()) <= ITS_OWN


@pytest.mark.parametrize(
    "command", [["run"], ["submit"], ["lab", "run"], ["lab", "mpirun"], ["ps"]]
)
@pytest.mark.parametrize("name", ["-hostx", "-help", "-hx", "-xh", "-vh", "-gh", "-vv"])
def test_short_options_are_not_joined(command, name, capsys):
    """`-h` inside of a word shows no help and ends with no status 0."""
    said = refused([*command, name, "a,b", "./app"], capsys)
    assert f"'isthmus {' '.join(command)}' has no option {name}" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-stats", "x"], "did you mean '--stats'?"),
        (["--stat", "x"], "did you mean '--stats'?"),
        (["-vh", "x"], "Write each short option by itself"),
        (["-g=grid.toml", "x"], "Write '-g grid.toml'."),
        (["-f=hosts", "x"], "Write '-f hosts'."),
        (["-xA=1", "x"], "Write '-x A=1'."),
        (["-Ha,b", "x"], "Write '-H a,b'."),
        (["-N2", "x"], "mpirun's -N is --ppn here."),
        (["-c4", "x"], '"srun -c 4"'),
        (["-t90", "x"], "--timeout SECONDS"),
        (["--frobnicate", "x"], "See: isthmus run --help"),
        (["a", ":", "-iface", "3", "b"], "has no option -iface"),
    ],
)
def test_unknown_options(words, said, capsys):
    assert said in refused(["run", *words], capsys)


def test_values_and_arguments_may_look_like_options():
    assert parse_run(["-x", "A=-host", "-n2", "x", "-host"]).parts[0].argv == ["x", "-host"]
    assert parse_run(["-o", "-host.%r", "--", "-host"]).parts[0].argv == ["-host"]


def test_places_of_ranks_reach_the_launchers():
    wishes = parse_run(["--ppn", "2", "--oversubscribe", "--bind-to=numa", "x"]).job.native
    assert wishes == {"ranks_per_node": 2, "oversubscribed": True, "bind_to": "numa"}
    with pytest.raises(UsageError, match="--ppn 2 and --map-by node both place the ranks"):
        parse_run(["-ppn", "2", "--map-by", "node", "x"])


@pytest.mark.parametrize(
    ("words", "blocks"),
    [
        (["-H", "lyon:2,tsukuba:4", "-n", "12", "x"], ["lyon on lyon: ranks 0-3", "4-11"]),
        (["-H", "lyon:2,tsukuba:4", "-n", "3", "x"], ["lyon on lyon: ranks 0-1", "rank 2"]),
        (["-H", "lyon,tsukuba", "-n", "5", "x"], ["lyon on lyon: ranks 0-2", "3-4"]),
        (["-H", "a:1,b:1", "--on", "b", "-n", "3", "x", ":", "y"], ["b on b: ranks 0-2", "rank 3"]),
        (["-H", "a:2,b:1", "--on", "b", "-n", "3", "x", ":", "-n", "4", "y"], ["0-3", "4-6"]),
    ],
)
def test_more_ranks_than_slots(words, blocks, capsys):
    assert main(["run", "--dry-run", "--oversubscribe", *words]) == 0
    said = [line for line in capsys.readouterr().out.splitlines() if line.startswith("cluster ")]
    assert all(block in line for block, line in zip(blocks, said, strict=True)), said


# ---- environment variables ----------------------------------------------------------------------


@pytest.mark.parametrize("dash", ["-", "--"])
@pytest.mark.parametrize(
    ("words", "first", "second"),
    [
        ("env|A|1|x|:|y", {"A": "1"}, {}),
        ("env|A=b=c|x|:|y", {"A": "b=c"}, {}),
        ("env|A|-v|x|:|y", {"A": "-v"}, {}),
        ("envlist|HERE,THERE|x|:|y", {"HERE": "h", "THERE": "t"}, {}),
        ("genv|A|1|x|:|y", {"A": "1"}, {"A": "1"}),
        ("genv|A|it's 'a',b|x|:|y", {"A": "it's 'a',b"}, {"A": "it's 'a',b"}),
        ("genvlist|HERE,THERE|x|:|y", *[{"HERE": "h", "THERE": "t"}] * 2),
        ("genv|A|1|x|:|-env|A|2|y", {"A": "1"}, {"A": "2"}),
        ("genv|A|1|x|-env|B|2|:|y", {"A": "1"}, {"A": "1"}),
        ("genv=A|3|x|:|y", {"A": "3"}, {"A": "3"}),
        ("env=A=3|x|:|y", {"A": "3"}, {}),
        ("envlist=HERE|x|:|y", {"HERE": "h"}, {}),
        ("envall|-genvall|x|:|y", {}, {}),
    ],
)
@pytest.mark.parametrize("command", ["run", "submit"])
def test_variables_as_mpiexec_takes_them(command, words, first, second, dash, monkeypatch):
    monkeypatch.setenv("HERE", "h")
    monkeypatch.setenv("THERE", "t")
    typed = [f"{dash}{word}" if n == 0 else word for n, word in enumerate(words.split("|"))]
    run = parse_run(typed) if command == "run" else parse_submit(typed)[0]
    assert [part.env for part in run.parts] == [first, second]


@pytest.mark.parametrize(
    ("value", "variables"),
    [
        ("ALL", {}),
        ("ALL,A=1", {"A": "1"}),
        ("A=1,B=b=c,HERE", {"A": "1", "B": "b=c", "HERE": "h"}),
        ("A='1,2',ALL,B=", {"A": "1,2", "B": ""}),
        ("A='it''s'", {"A": "it's"}),
        ("ALL=1", {"ALL": "1"}),
    ],
)
def test_variables_as_srun_takes_them(value, variables, monkeypatch):
    monkeypatch.setenv("HERE", "h")
    for words in (["--export", value, "x", ":", "y"], [f"--export={value}", "x", ":", "y"]):
        assert [part.env for part in parse_run(words).parts] == [variables] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-env", "A"], "-env needs the name of a variable and its value"),
        (["--genv"], "--genv needs the name of a variable and its value"),
        (["-envlist"], "-envlist needs names of variables"),
        (["--envnone", "x"], "The ranks have the environment of their cluster's host"),
        (["-genv", "1A", "2", "x"], "'1A' is not a name for an environment variable"),
        (["-envlist", "NOT_SET", "x"], "-x NOT_SET: the variable is not set here"),
        (["--export", "NOT_SET,A=1", "x"], "the variable NOT_SET is not set here"),
        (["--export=NONE", "x"], "ranks have the environment of their cluster's host"),
        (["--export=A='1", "x"], "a quote is not closed"),
        (["x", ":", "-genv", "A", "1", "y"], "part 2 ('y') has --export"),
    ],
)
def test_wrong_variables(words, said, capsys):
    assert said in refused(["run", *words], capsys)


# ---- the word `run` is missing ------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [["-n", "4", "./app"], ["-n4", "./app"], ["--np=4", "./app"], ["--hostfile", "h", "./app"],
     ["-ppn", "2", "./app"],
     ["--stats", "./app"], ["./app", "-n", "4"], ["bin/my app"], [shutil.which("sh")], ["sh", "x"]],
)  # fmt: skip
def test_a_command_line_without_run(words, capsys):
    said = refused(words, capsys)
    assert f"did you mean `isthmus run {words[0].replace('bin/my app', repr('bin/my app'))}" in said


@pytest.mark.parametrize("words", [["--frobnicate"], ["frobnicate", "./app"], ["jbos"]])
def test_what_is_no_program_either(words, capsys):
    assert "did you mean `isthmus run" not in refused(words, capsys)


# ---- a native launcher before isthmus -----------------------------------------------------------


@pytest.mark.parametrize(
    ("parent", "environ"),
    [
        ("mpirun.openmpi", {"OMPI_COMM_WORLD_SIZE": "2"}),
        ("hydra_pmi_proxy", {"PMI_SIZE": "2"}),
        ("slurmstepd", {"SLURM_STEP_NUM_TASKS": "2"}),
    ],
)
def test_a_native_launcher_starts_isthmus_several_times(parent, environ):
    with pytest.raises(UsageError, match=f"{parent} has started `isthmus run` 2 times"):
        nested.check(environ, parent)
    nested.check(environ, "python3")  # a rank that starts a run
    nested.check(dict.fromkeys(environ, "1"), parent)
    nested.check({}, parent)


# ---- grid files as arguments --------------------------------------------------------------------


@pytest.mark.parametrize("command", ["grid", "doctor", "tune"])
def test_a_grid_file_as_an_argument(command, grid_with, monkeypatch, capsys):
    monkeypatch.delenv("ISTHMUS_GRID", raising=False)
    file = grid_with("[cluster.a]\nslot = 3\n")
    assert f"{file}:2" in refused([command, str(file)], capsys)
    assert f"{file}:2" in refused([command, str(file), "-g", str(file)], capsys)
    assert "two grid files are named" in refused([command, "other", "-g", str(file)], capsys)
