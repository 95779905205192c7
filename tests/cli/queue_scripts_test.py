"""Scripts, times and templates for batch systems, and the command line of `isthmus submit`."""

import json

import pytest
from parts import submit
from running import ran

from isthmus.base.errors import RunError, UsageError
from isthmus.grid import grid as grids
from isthmus.queues import commands, place, schedulers, scripts, times


def submit_with(folder, words: str, grid: str):
    """With this grid file."""
    file = folder / "grid.toml"
    file.write_text(grid)
    return submit("-g", file, *words.split())


def part(**more):
    words = {
        "name": "isthmus-1", "cluster": "lyon", "n": 32, "folder": '"$HOME"/jobs', "to": "a:7400",
        "isthmusd": "~/isthmus/bin/isthmusd", "wdir": "/work/it's here", "time": 5400.0,
        "options": ["--partition=main"], "setup": ["module load openmpi/5"],
    }  # fmt: skip
    return scripts.PartScript(**(words | more))


HEADS = {
    "slurm": ["#SBATCH --ntasks=32", "#SBATCH --time=01:30:00", "#SBATCH --partition=main"],
    "pbs": ["#PBS -l select=32:ncpus=1:mpiprocs=1", "#PBS -l walltime=01:30:00",
            "#PBS --partition=main"],
    "lsf": ["#BSUB -n 32", "#BSUB -W 90", "#BSUB --partition=main"],
    "flux": ["# flux: -n 32", "# flux: -t 90m", "# flux: --partition=main"],
}  # fmt: skip


@pytest.mark.parametrize("name", schedulers.KNOWN)
def test_scripts(name):
    scheduler = schedulers.KNOWN[name]
    text = scripts.text(part(), scheduler)
    lines = text.splitlines()
    assert lines[0] == "#!/bin/bash -l"
    assert set(HEADS[name]) <= set(lines)
    assert lines.index("module load openmpi/5") < lines.index(
        "cd '/work/it'\"'\"'s here' 2>/dev/null || cd \"$HOME\""
    )
    assert "--to a:7400 --cluster lyon" in text
    assert scheduler.batch in text
    done = ran(["bash", "-n"], input=text)
    assert (done.returncode, done.stderr) == (0, "")
    command = schedulers.command(scheduler.state, id="12")
    assert "12" in command
    assert "{{" not in command


@pytest.mark.parametrize(
    ("shell", "line", "said"), [("bash", "false", 1), ("sh", "exit 3", 3), ("sh", "true", None)]
)
def test_a_setup_that_fails_is_the_end_of_a_script(tmp_path, shell, line, said):
    """No signal: it goes on, here to a joiner that is missing."""
    words = part(setup=["true", line], folder=str(tmp_path), wdir="/")
    script = scripts.text(words, schedulers.KNOWN["slurm"])
    done = ran([shell], input=script)
    assert ("join.py" in done.stderr) == (said is None)
    told = f"isthmus: setup ended with status {said}\n"
    assert (done.stderr == told) == (said is not None), done.stderr
    assert done.returncode == (said or done.returncode)


@pytest.mark.parametrize(
    ("name", "printed", "identifier"),
    [
        ("slurm", "4711;cluster\n", "4711"),
        ("pbs", "4711.server\n", "4711.server"),
        ("lsf", "Job <4711> is submitted to queue <normal>.\n", "4711"),
        ("flux", "f2aBcD\n", "f2aBcD"),
        ("slurm", "nonsense\n", None),
    ],
)
def test_what_submitting_prints(name, printed, identifier):
    assert schedulers.found_identifier(schedulers.KNOWN[name], printed) == identifier


def test_a_template(tmp_path):
    file = tmp_path / "mine"
    file.write_text(
        "#!/bin/sh\n#ISTHMUS submit = mysub {script}\n#ISTHMUS requeue = again $MYID\n"
        "#ISTHMUS batch = $MYID\n#MY {n} {clock} {name}\n{command}\n"
    )
    scheduler, template = schedulers.of_template(file)
    text = scripts.text(part(), scheduler, template)
    assert "#MY 32 01:30:00 isthmus-1" in text
    assert "--requeue 'again $MYID'" in text
    assert schedulers.command(scheduler.submit, script="a b") == "mysub 'a b'"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("{command}", "has no '#ISTHMUS submit"),
        ("#ISTHMUS submit = x {script}\n", "has no {command}"),
        ("#ISTHMUS nonsense = x\n{command}", "is not KEY = VALUE"),
    ],
)
def test_a_wrong_template(tmp_path, text, what):
    file = tmp_path / "mine"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        schedulers.of_template(file)
    assert what in str(error.value)


def test_a_cluster_without_a_queue(tmp_path):
    grid = '[cluster.east]\nscheduler = "slurm"\n[cluster.west]\n'
    done = submit_with(tmp_path, "-n 4 x", grid)
    assert done.returncode == 2
    assert "cluster 'west': the grid file names no 'scheduler'" in done.stderr


def test_a_spare_cluster_gets_a_batch_job(tmp_path):
    """It asks for all its slots."""
    grid = '[cluster.east]\nscheduler = "slurm"\n[cluster.south]\nscheduler = "slurm"\nslots = 7\n'
    done = submit_with(tmp_path, "--spare south -n 4 --dry-run x", grid)
    assert done.returncode == 0, done.stderr
    east, south = done.stdout.split("==== cluster south")
    assert "#SBATCH --ntasks=4" in east
    assert "#SBATCH --ntasks=7" in south


def test_a_spare_cluster_without_a_queue(tmp_path):
    grid = '[cluster.east]\nscheduler = "slurm"\n[cluster.south]\nspare = true\n'
    done = submit_with(tmp_path, "-n 4 --dry-run x", grid)
    assert done.returncode == 2
    assert "cluster 'south': the grid file names no 'scheduler'" in done.stderr


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90min", 5400), ("2 h", 7200), ("30:00", 1800), ("02:00:00", 7200), ("100:00:01", 360001),
     ("1-00", 86400), ("1-12:30", 131400), ("2-00:00:05", 172805)],
)  # fmt: skip
def test_times_as_batch_systems_write_them(text, seconds):
    assert times.seconds_of("--time", text) == seconds


@pytest.mark.parametrize("option", ["--time", "--hold"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("90", "90 minutes to Slurm, 90 seconds to PBS"),
        ("1.5", "1.5 minutes to Slurm"),
        ("soon", "'soon' is not a time"),
        ("0:00", "'0:00' is not a time"),
        ("-5min", "is not a time"),
    ],
)
def test_wrong_times(tmp_path, option, text, said):
    """Nothing is submitted."""
    words = f"-n 4 --dry-run {option} {text} x"
    done = submit_with(tmp_path, words, "[cluster.a]\nscheduler = 'slurm'\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} {text}" in done.stderr
    assert said in done.stderr


def test_the_scripts_are_shown(tmp_path):
    grid = (
        'meet = "gate.example:7400"\n[cluster.east]\nscheduler = "slurm"\n'
        '[cluster.west]\nscheduler = "pbs"\nhost = "w"\nbatch = ["-q big"]\n'
    )
    done = submit_with(tmp_path, "-n 4 --dry-run --time 30min x", grid)
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --time=00:30:00" in done.stdout
    assert "#PBS -q big" in done.stdout
    assert done.stdout.count("--to gate.example:7400") == 2


def test_grid_keys():
    with pytest.raises(UsageError) as error:
        grids.parse('[cluster.a]\nscheduler = "slurn"\n', "g")
    assert "did you mean 'slurm'?" in str(error.value)
    assert json.dumps(grids.parse('[cluster.a]\nsetup = ["x"]\n', "g").cluster["a"].setup)


@pytest.mark.parametrize(
    ("full", "short", "named"),
    [
        ("login.site.example", "login", "login.site.example"),
        ("localhost", "vm", "vm"),
        ("localhost.localdomain", "localhost", "localhost"),
    ],
)
def test_where_jobs_come_to(full, short, named, monkeypatch, capsys):
    monkeypatch.setattr("socket.getfqdn", lambda: full)
    monkeypatch.setattr("socket.gethostname", lambda: short)
    assert commands._meeting_point(None) == (named, 0)
    assert ("--meet HOST[:PORT]" in capsys.readouterr().err) == (named == "localhost")


@pytest.mark.parametrize(
    ("said", "place"),
    [
        ("login1", ("login1", 0)),
        ("login1:7410", ("login1", 7410)),
        ("::1", ("::1", 0)),
        ("[::1]", ("::1", 0)),
        ("[::1]:7410", ("::1", 7410)),
    ],
)
def test_where_a_user_says_that_jobs_come_to(said, place):
    assert commands._meeting_point(said) == place


@pytest.mark.parametrize("said", ["login1:", "login1:port", ":7410", "login1:70000"])
def test_a_place_that_is_none(said):
    with pytest.raises(UsageError, match="not an address for jobs to connect to"):
        commands._meeting_point(said)


def test_who_looks_at_a_job_whose_process_is_gone_is_told(monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))
    job = place.create("isthmus-1")
    job.file("out").write_text("so far\n")
    job.file("err").touch()
    job.note("state.json", {"state": "running"})
    with pytest.raises(RunError, match="isthmus-1 is lost: its process is gone") as raised:
        commands.attach("isthmus-1")
    assert "isthmus cancel isthmus-1" in str(raised.value)
    assert capfd.readouterr().out == "so far\n"
