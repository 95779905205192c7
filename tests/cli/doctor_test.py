"""`isthmus doctor` on this host and on grids of it, whole and broken, with the real isthmusd."""

import json
import re
import socket
import sys
from pathlib import Path

import pytest
from doctors import Doctor
from ports import free_port
from running import ran, shell_script

from isthmus.grid.grid import LinkSpec


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    return Doctor(tmp_path)


# -- this host ------------------------------------------------------------------------------------


def test_this_host(doctor):
    done = doctor.run()
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("this host\n")
    assert "Isthmus" in done.stdout
    assert "TCP buffers" in done.stdout


def test_isthmusd_that_is_not_there(doctor, tmp_path):
    doctor.env["ISTHMUS_PREFIX"] = str(tmp_path)
    done = doctor.run("--json")
    assert done.returncode == 1
    (finding,) = json.loads(done.stdout)["findings"]
    assert (finding["what"], finding["level"]) == ("Isthmus", "fail")
    assert str(tmp_path) in finding["text"]


def test_grid_file_that_is_wrong(doctor, tmp_path):
    assert doctor.run("-g", str(tmp_path / "none.toml")).returncode == 2
    doctor.file.write_text("[cluster.a]\nmpy = '/x'\n")
    done = doctor.run("-g", str(doctor.file))
    assert done.returncode == 2
    assert "did you mean 'mpi'?" in done.stderr


# -- grids on this host ---------------------------------------------------------------------------


def test_a_whole_grid(doctor):
    assert doctor("[cluster.east]\n[cluster.west]\n") == 0, doctor.findings
    for cluster in ("cluster east", "cluster west"):
        assert doctor.level(cluster, "Isthmus") == "ok"
        assert doctor.level(cluster, "MPI") == "ok"
    assert doctor.level("gateways", "joined") == "ok"
    assert doctor.of("east - west", "files")["text"].startswith("shared: both see the files in /")
    for cluster in ("cluster east", "cluster west"):
        assert doctor.of(cluster, "launch")["text"].startswith("started 'true' on a host")


def test_a_link_over_a_network(doctor):
    link = "[[link]]\nbetween = ['east', 'west']\nstreams = 2\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0, doctor.findings
    for what in ("port", "RTT", "rate", "MTU", "TCP buffers"):
        assert doctor.level("link east -> west", what) == "ok", doctor.findings


def test_gateways_by_ipv6(doctor):
    text = "[cluster.east]\n[cluster.west]\n"
    for cluster in ("east", "west"):
        text += f"[[gateway]]\ncluster = '{cluster}'\naddress = '[::1]:{free_port()}'\n"
    text += "[[link]]\nbetween = ['east', 'west']\nstreams = 2\n"  # by TCP, though on one host
    assert doctor(text) == 0, doctor.findings
    doctor.finds("link east -> west", "port", "[::1]:")
    for what in ("port", "RTT", "rate", "MTU"):
        assert doctor.level("link east -> west", what) == "ok", doctor.findings


def test_gateways_that_share_memory_need_no_port(doctor):
    """Their address need not be reached, so nothing is said of it."""
    gateway = "[[gateway]]\ncluster = 'west'\naddress = '192.0.2.1'\nlisten = '127.0.0.1'\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{gateway}") == 0, doctor.findings
    assert doctor.of("link east -> west", "leg")["text"].startswith("memory")
    assert not [f for f in doctor.findings if f["what"] == "port"]


def test_one_gateway_of_all_clusters(doctor):
    doctor.env["ISTHMUS_REACH"] = "gateway"
    text = "[cluster.east]\n[cluster.west]\n[[gateway]]\nclusters = ['east', 'west']\n"
    assert doctor(text) == 0, doctor.findings
    assert doctor.level("1 gateway", "joined") == "ok"
    assert doctor.of("east - west", "leg")["text"] == "gateway east+west, which serves both"
    assert not [f for f in doctor.findings if f["what"] == "port"]  # all are on one host


def test_one_cluster_has_no_links(doctor):
    assert doctor("[cluster.alone]\n") == 0, doctor.findings
    assert {finding["where"] for finding in doctor.findings} == {"cluster alone"}


def test_prefix_without_mpi(doctor):
    assert doctor("[cluster.east]\nmpi = '/no/such/mpi'\n[cluster.west]\n") == 1
    doctor.finds("cluster east", "MPI", "/no/such/mpi", level="fail", remedy="mpi key")
    assert doctor.level("cluster west", "MPI") == "ok"


@pytest.mark.parametrize("options", ["", " --oversubscribe", " -n {n} {command}"])
def test_launcher_that_is_not_there(doctor, options):
    assert doctor(f"[cluster.east]\nlaunch = '/no/such/mpirun{options}'\n[cluster.west]\n") == 1
    doctor.finds("cluster east", "MPI", "launcher '/no/such/mpirun' is not found")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_hosts_that_do_not_resolve(doctor, mpi):
    """Hydra does not end by itself."""
    hosts = f"mpi = '{mpi}'\nhosts = 'no[1-2].invalid'\n"
    assert doctor(f"[cluster.east]\n{hosts}[cluster.west]\n") == 1
    found = doctor.of("cluster east", "launch")
    assert re.search(r"cannot start ranks: there is no host 'no[12]\.invalid'", found["text"])
    assert "'hosts'" in found["remedy"]
    assert doctor.level("cluster west", "launch") == "ok"


def test_a_launcher_that_fails(doctor):
    launch = "launch = 'sh -c \"echo no license >&2; exit 3\" {command}'\n"
    assert doctor(f"[cluster.east]\n{launch}[cluster.west]\n") == 1
    found = doctor.of("cluster east", "launch")
    assert found["text"].startswith("'true' could not be started: status 3")
    assert "| no license" in found["text"]


def test_a_launcher_that_does_not_end(doctor):
    doctor.env["ISTHMUS_START_TIMEOUT"] = "3"
    assert doctor("[cluster.east]\nlaunch = 'sh -c \"sleep 600\" {command}'\n") == 1
    doctor.finds("cluster east", "launch", "did not end within 3 s")


def test_the_program_of_a_cluster_is_not_started(doctor, tmp_path):
    program = shell_script(tmp_path / "app", f"touch {tmp_path}/started")
    assert doctor(f"[cluster.east]\nprogram = '{program}'\n[cluster.west]\n") == 0
    assert doctor.level("cluster east", "launch") == "ok"
    assert not (tmp_path / "started").exists()


SETUPS = [
    ("setup = ['false']", "setup", "its setup ended with status 1", "'setup' in the grid file"),
    ("prefix = '/no/such'", "Isthmus", "cannot start /no/such/bin/isthmusd", "'prefix'"),
    ("prefix = '/no/such'\nsetup = ['true']", "Isthmus", "could not be started", "'prefix'"),
]


@pytest.mark.parametrize(("key", "what", "text", "remedy"), SETUPS)
def test_an_agent_that_does_not_start(doctor, key, what, text, remedy):
    """`isthmus run` has the same sentence and remedy."""
    assert doctor(f"[cluster.east]\n{key}\n[cluster.west]\n") == 1
    found = doctor.of("cluster east", what)
    assert text in found["text"]
    assert remedy in found["remedy"]
    done = ran(
        [sys.executable, "-m", "isthmus", "run", "-g", doctor.file, "-n", "2", "true"],
        env=doctor.env,
    )
    assert done.returncode == 1
    assert f"isthmus: cluster east: {found['text'].splitlines()[0]}" in done.stderr
    assert f"  {found['remedy']}\n" in done.stderr


def test_port_that_another_program_has(doctor):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        gateway = f"[[gateway]]\ncluster = 'west'\naddress = '127.0.0.1:{port}'\n"
        assert doctor(f"[cluster.east]\n[cluster.west]\n{gateway}") == 1
    doctor.finds("gateways", "joined", str(port))
    doctor.finds("link", "port", str(port), level="fail")


def test_port_that_is_closed(doctor):
    """West listens where east does not knock, on a link of a network."""
    listen, knock = free_port(), free_port()
    gateway = (
        f"[[gateway]]\ncluster = 'west'\naddress = '127.0.0.1:{knock}'\n"
        f"listen = '127.0.0.1:{listen}'\n"
    )
    link = "[[link]]\nbetween = ['east', 'west']\nrtt = '1 ms'\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{gateway}{link}") == 1
    assert doctor.level("gateways", "joined") == "fail"
    doctor.finds("link", "port", f"port {knock}", "refused", level="fail", remedy="firewall")


def test_rate_and_rtt_that_are_not_so(doctor):
    link = "[[link]]\nbetween = ['east', 'west']\nrtt = '240 ms'\nrate = '1 Mbit/s'\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0
    doctor.finds("link", "RTT", level="warn", remedy='rtt = "')
    assert doctor.level("link", "rate") == "warn"


def test_buffers_too_small_for_the_link(doctor):
    """No kernel's ceilings are enough for this."""
    link = "[[link]]\nbetween = ['east', 'west']\nrtt = '30 s'\nrate = '400 Gbit/s'\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0
    doctor.finds("link", "TCP buffers", level="warn", remedy="sudo sysctl -w net.ipv4.tcp_rmem=")


@pytest.mark.skipif("reach" not in LinkSpec.model_fields, reason="no direct links here")
def test_direct_links(doctor):
    link = "[[link]]\nbetween = ['east', 'west']\nreach = 'direct'\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0
    assert doctor.level("cluster east -> cluster west", "direct") == "ok"
    assert doctor.level("cluster west -> cluster east", "direct") == "ok"
    assert doctor.of("east - west", "leg")["text"].startswith("direct")


@pytest.mark.parametrize(("reach", "leg"), [("", "memory"), ("reach = 'gateway'", "gateways")])
def test_the_leg_is_told(doctor, reach, leg):
    link = f"[[link]]\nbetween = ['east', 'west']\n{reach}\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0
    assert doctor.of("east - west", "leg")["text"].startswith(leg)


def test_the_leg_inside_a_cluster_is_told_where_it_is_not_encrypted(doctor):
    assert doctor("[cluster.east]\nencrypt = false\n[cluster.west]\n") == 0
    told = doctor.of("cluster east, ranks - gateways", "leg")
    assert told["text"] == "TCP, not encrypted between hosts"
    assert not any("west, ranks" in finding["where"] for finding in doctor.findings)


@pytest.mark.parametrize(("network", "leg"), [("", "memory"), ("rtt = '2ms'", "TCP")])
def test_the_leg_of_gateways_is_told(doctor, network, leg):
    link = f"[[link]]\nbetween = ['east', 'west']\n{network}\n"
    assert doctor(f"[cluster.east]\n[cluster.west]\n{link}") == 0
    assert doctor.of("link east -> west", "leg")["text"].startswith(leg)


def test_ucx_is_looked_for_where_it_is_to_be_used(doctor):
    grid = """
[cluster.east]
net = "auto"
[cluster.west]
[[link]]
between = ["east", "west"]
reach = "direct"
encrypt = false
net = "auto"
"""
    assert doctor(grid) == 0, doctor.findings
    assert doctor.level("cluster east", "ucx") == "ok"
    doctor.finds("east - west", "leg", "UCX")


def test_lines_for_people(doctor):
    doctor.file.write_text("[cluster.east]\nmpi = '/no/such/mpi'\n[cluster.west]\n")
    done = doctor.run("-g", str(doctor.file))
    assert done.returncode == 1
    assert "cluster east\n" in done.stdout
    assert any(line.startswith("  fail MPI ") for line in done.stdout.splitlines())
    words = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    counts = [("ok", "ok"), ("warn", "warning"), ("fail", "failure")]
    shown = [f"{words.count(word)} {name}" for word, name in counts if word in words]
    assert re.sub("(warning|failure)s", r"\1", done.stdout.splitlines()[-1]) == ", ".join(shown)
    assert "Traceback" not in done.stdout + done.stderr
