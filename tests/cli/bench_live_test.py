"""The contestants for real, with small tasks: on this host, and in a lab."""

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from faulty import Sshd
from marks import MARK, marked_processes
from ports import free_port
from running import ran
from waiting import eventually

from isthmus.base.errors import RunError
from isthmus.grid.gridwriting import write
from isthmus.measuring.ends import find_tcpbench
from isthmus.measuring.program import prepare
from isthmus.measuring.runs import run_from_json
from isthmus.measuring.tasks import MIB, Task, one_way
from isthmus_lab.bench import proxies
from isthmus_lab.bench.contestants import IsthmusRun, PlainTcp
from isthmus_lab.measuring.place import Place, loopback, of_grid

PYTHON = str(Path(__file__).parents[2] / "python")
TASKS = [
    Task("pingpong", 8, 5),
    Task("pingpong", 3 * MIB, 2),
    Task("stream", MIB, 2, 0.05),
    Task("bidirectional", MIB, 1, 0.05),
    Task("rate", 8, 1, 0.02),
    Task("loaded", 8, total=20_000_000),
]
MPI_TASKS = [*TASKS, *one_way([8], 5), Task("paused", 1024, 2, 0.1)]


def check(runs, tasks=TASKS) -> None:
    """A run for each task, with as many samples as were wanted."""
    assert [run.task for run in runs] == tasks
    for run in runs:
        again = run_from_json(run.as_json())
        assert again == run
        assert len(run.seconds) == run.task.rounds or run.task.figure == "loaded"
        assert run.seconds


def test_plain_tcp_on_this_host():
    check(PlainTcp(loopback()).measure(TASKS, 0))


def test_plain_tcp_by_ipv6(tmp_path: Path):
    file = tmp_path / "six.toml"
    gateway = "[[gateway]]\ncluster = '{}'\naddress = '[::1]'\n"
    file.write_text("[cluster.a]\n[cluster.b]\n" + gateway.format("a") + gateway.format("b"))
    check(PlainTcp(of_grid(file, None)).measure(TASKS[:2], 0), TASKS[:2])


def test_tcp_with_tls_on_this_host():
    check(PlainTcp(loopback(), tls=True).measure(one_way := TASKS[:2], 0), one_way)


@pytest.mark.parametrize(
    ("tool", "throughout"),
    [(proxies.HAPROXY, False), (proxies.HAPROXY, True), (proxies.STUNNEL, False)],
)
def test_plain_tcp_over_proxies(tool, throughout):
    place = loopback()
    if not tool.installed(place.ends):
        pytest.skip(f"{tool.command[0]} is not installed")
    chain = proxies.Chain(place, tool, throughout, free_port(4))
    check(PlainTcp(place, way=chain).measure(TASKS, 0))


def test_plain_tcp_to_an_alias_of_the_ssh_configuration(tmp_path: Path, monkeypatch, grid_with):
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "isthmus-tcpbench").symlink_to(find_tcpbench())
    file = grid_with(f"[cluster.here]\n[cluster.there]\nhost = 'site'\nprefix = '{prefix}'\n")
    with Sshd(tmp_path) as sshd:
        monkeypatch.setenv("ISTHMUS_SSH", sshd.ssh)
        check(PlainTcp(of_grid(file, None)).measure(TASKS, 0))


def test_isthmus_on_this_host(tmp_path: Path):
    place, file = loopback(), tmp_path / "grid.toml"
    file.write_text(write(place.grid))
    program = prepare("mpicc.openmpi")
    ours = IsthmusRun(place, "isthmus", "Isthmus", file, (program, program))
    check(ours.measure(MPI_TASKS, 0), MPI_TASKS)


def test_a_pair_inside_a_cluster(tmp_path: Path):
    """The rank of the other cluster stands by, and ends with them."""
    both, file = loopback(), tmp_path / "grid.toml"
    file.write_text(write(both.grid))
    near, far = both.ends
    place = Place("east alone", both.grid, (near, near), beside=far)
    program = prepare("mpicc.openmpi")
    ours = IsthmusRun(place, "isthmus", "Isthmus", file, (program, program))
    check(ours.measure(MPI_TASKS, 0), MPI_TASKS)


def test_a_program_that_is_not_there(grid_with):
    file = grid_with(write(loopback().grid))
    nothing = IsthmusRun(loopback(), "isthmus", "Isthmus", file, ("/no/such", "/no/such"))
    with pytest.raises(RunError, match="/no/such"):
        nothing.measure(TASKS, 0)


IN_LAB = """
import json, sys
from pathlib import Path
from isthmus_lab.bench import mpis, p2p, session
from isthmus_lab.measuring.place import inside_lab
from isthmus_lab.measuring.results import Results
from isthmus.measuring.tasks import Task, MIB
tasks = [Task("pingpong", 8, 3), Task("stream", MIB, 1, 0.1)]
wanted = ("tcp", "tcp-untuned", "isthmus", "native-openmpi4.1-eager")
place = inside_lab()
options = p2p.Options(quick=True, only=wanted)
made = p2p.contestants(place, options, Path(sys.argv[1]), lambda text: None)
entries = [session.Entry(one, [tasks]) for one in made]
results = Results()
session.measure(place, entries, results, lambda text: None)
print(json.dumps(results.as_json()))
"""


def test_in_a_lab(tmp_path: Path):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun may not be opened here, so there are no labs")
    lab = ["lab", "run", "hablot", "--", sys.executable, "-c", IN_LAB]
    done = ran(
        [sys.executable, "-m", "isthmus", *lab, tmp_path],
        env={**os.environ, "PYTHONPATH": PYTHON, "ISTHMUS_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["failures"] == []
    runs = [run_from_json(run) for run in said["runs"]]
    assert len(runs) == 8
    one_way = {run.contestant: min(run.seconds) / 2 for run in runs if run.task.bytes == 8}
    assert len(one_way) == 4
    assert min(one_way.values()) >= 5.8e-3  # none is quicker than the wire
    rates = {
        run.contestant: 8 * MIB * run.messages[0] / run.seconds[0]
        for run in runs
        if run.task.figure == "stream"
    }
    assert max(rates.values()) <= 1e9
    assert rates["tcp-untuned"] < 200e6  # 208 KiB, of which half can be under way, each 11.6 ms


OVER_A_BRIDGE = """
import json
from isthmus_lab.bench import relays
from isthmus_lab.measuring.place import inside_lab
from isthmus.measuring.tasks import Task, MIB
tasks = [Task("pingpong", 8, 3), Task("stream", MIB, 1, 0.1), Task("loaded", 8, total=1_000_000)]
found, missing = relays.relays(inside_lab())
runs = [run.as_json() for one in found for run in one.measure(tasks, 0)]
print(json.dumps({"keys": [one.key for one in found], "missing": missing, "runs": runs}))
"""


# As where no sshd has run: sshd refuses to use such a folder for the separation of privileges.
NO_SSHD_YET = """
[ ! -d /run/sshd ] || mount -t tmpfs -o mode=777 none /run/sshd && exec "$@"
"""


def test_relays_over_a_bridge(tmp_path: Path):
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("/dev/net/tun may not be opened here, so there are no labs")
    lab = ["lab", "run", "zipper", "--zippers", "1", "--", sys.executable, "-c", OVER_A_BRIDGE]
    apart = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    done = ran(
        [*apart, "sh", "-c", NO_SSHD_YET, "sh", sys.executable, "-m", "isthmus", *lab],
        env={**os.environ, "PYTHONPATH": PYTHON, "ISTHMUS_HOME": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert len(said["keys"]) + len(said["missing"]) == 3
    assert "relay-ssh" in said["keys"]  # tests of other hosts need an sshd, too
    runs = [run_from_json(run) for run in said["runs"]]
    assert [run.contestant for run in runs] == [key for key in said["keys"] for _ in range(3)]


def test_sigterm_leaves_nothing_behind():
    mark = uuid.uuid4().hex
    words = ["bench", "p2p", "--testbed", "loopback", "--only", "tcp"]
    with subprocess.Popen(
        [sys.executable, "-m", "isthmus", *words],
        env={**os.environ, "PYTHONPATH": PYTHON, MARK: mark},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as bench:  # fmt: skip
        eventually(
            lambda: any(" play " in line for line in marked_processes(mark)), "it does not play"
        )
        bench.send_signal(signal.SIGTERM)
        bench.communicate(timeout=240)
    assert bench.returncode == 128 + signal.SIGTERM
    eventually(lambda: not marked_processes(mark), "something is left behind")
