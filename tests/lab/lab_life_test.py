"""The begin and end of labs. A lab leaves nothing behind, however it ends."""

import json
import os
import pty
import re
import select
import signal
import sys
import tempfile
from pathlib import Path

import pytest
from running import ran
from waiting import eventually

SMALL = ("run", "hablot", "--nodes", "1")
WAITING = ("--", "sh", "-c", "sleep 3600 & echo up; wait")


def host_traces() -> set[str]:
    """Things that a lab could leave in the host's own namespaces."""
    devices = {f"device {path.name}" for path in Path("/sys/class/net").iterdir()}
    mounts = {
        f"mount {line.split()[4]}" for line in Path("/proc/self/mountinfo").read_text().splitlines()
    }
    return devices | mounts


def test_the_commands_status_and_output(lab):
    before = host_traces()
    done = lab(*SMALL, "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    assert not lab.folders
    assert host_traces() == before


def controllers() -> dict[str, Path]:
    """The folder of the CPU controller's groups, if they may be changed, by whose line in
    /proc/self/cgroup tells ours."""
    first, second = Path("/sys/fs/cgroup/cpu"), Path("/sys/fs/cgroup")
    if not any(os.access(folder / "cgroup.procs", os.W_OK) for folder in (first, second)):
        return {}
    if (first / "cgroup.procs").exists():
        return {r":cpu(?:,cpuacct)?:": first}
    switched_on = second / "cgroup.subtree_control"
    return {"^0::": second} if switched_on.exists() and "cpu" in switched_on.read_text() else {}


def test_it_has_a_group_of_the_cpu_controller(lab):
    """This holds if root can make one. A lab in somebody's group stays in that."""
    for line, folder in controllers().items():
        own = re.search(f"{line}(.*)", Path("/proc/self/cgroup").read_text(), re.MULTILINE)[1]
        try:
            (folder / "cgroup.procs").write_text("0")
            done = lab(*SMALL, "--", "cat", "/proc/self/cgroup")
        finally:
            (folder / own.lstrip("/") / "cgroup.procs").write_text("0")
        group = re.search(rf"{line}/(isthmus-lab-hablot-\w+)$", done.stdout, re.MULTILINE)
        assert group, done
        assert not (folder / group[1]).exists()


def test_a_command_that_dies(lab):
    assert lab(*SMALL, "--", "sh", "-c", "kill -9 $$").returncode == 128 + 9
    done = lab(*SMALL, "--", "/nonexistent/program")
    assert done.returncode == 127
    assert "cannot start program" in done.stderr


def test_what_the_command_leaves_running_is_ended(lab):
    done = lab(*SMALL, "--", "sh", "-c", "setsid sleep 3600 >/dev/null 2>&1 & echo started")
    assert done.stdout == "started\n"
    assert not lab.left


def test_a_node_is_a_host_of_its_own(lab):
    script = "hostname; ls /sys/class/net; ip -o route show default; getent hosts b1; ls /dev/shm"
    done = lab(*SMALL, "--on", "a1", "--", "sh", "-c", script)
    name, *rest = done.stdout.split("\n")
    assert name == "a1", done.stderr
    assert rest == ["eth0", "lo", "10.2.0.1        b1", ""]


def test_ceilings_of_socket_buffers(lab):
    script = "cat /proc/sys/net/ipv4/tcp_rmem /proc/sys/net/ipv4/tcp_wmem"
    done = lab(*SMALL, "--set", "tcp.buffer=208 KiB", "--on", "b1", "--", "sh", "-c", script)
    assert [line.split()[2] for line in done.stdout.splitlines()] == ["212992"] * 2, done.stderr
    keys = ("least_buffer", "initial_buffer", "buffer")
    sizes = [word for key in keys for word in ("--set", f"tcp.{key}=3 MB")]
    done = lab(*SMALL, *sizes, "--on", "b1", "--", "sh", "-c", script)
    assert done.stdout.split() == ["3000000"] * 6, done.stderr


def test_nodes_behind_shaped_links_send_large_super_packets(lab):
    script = "cat /proc/sys/net/ipv4/tcp_min_tso_segs; ip -d link show dev eth0"
    done = lab("run", "matsuda", "--on", "b1", "--", "sh", "-c", script)
    segments, link = done.stdout.split("\n", 1)
    most = int(re.search(r"gso_max_segs (\d+)", link).group(1))
    assert int(segments) > 2, done.stderr
    assert int(segments) == most


def test_a_zipper_node_forwards_ip_if_the_testbed_says_so(lab):
    words = ["zipper", "--nodes", "1", "--zippers", "1"]
    there = ["--on", "z1", "--", "cat", "/proc/sys/net/ipv4/ip_forward"]
    assert lab("run", *words, *there).stdout == "0\n"
    forward = ["--set", "zipper.forward=yes"]
    assert lab("run", *words, *forward, *there).stdout == "1\n"
    done = lab("check", *words, *forward, "--seconds", "0", "--all", "--json")
    found = {(f["source"], f["target"]): f for f in json.loads(done.stdout)["findings"]}
    for pair in (("a1", "b1"), ("b0", "a0")):
        assert found[pair]["what"] == "RTT"
        assert found[pair]["verdict"] != "WRONG"


def test_no_route_leads_out(lab):
    script = "for n in a0 a1 b0 b1; do $ISTHMUS_LAB/bin/enter $n ip route get 192.0.2.1; done"
    done = lab(*SMALL, "--", "sh", "-c", f"{script}; ip route get 192.0.2.1")
    assert done.stderr.count("Network is unreachable") == 5, done.stderr
    assert done.stdout == ""


def started(lab):
    keeper = lab.start(*SMALL, *WAITING)
    line = keeper.stdout.readline()
    assert line == "up\n", keeper.communicate()
    return keeper


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_signals_reach_the_command(lab, number):
    script = f"trap 'echo got; exit 5' {number.name[3:]}; echo up; while :; do sleep 0.05; done"
    keeper = lab.start(*SMALL, "--", "sh", "-c", script)
    assert keeper.stdout.readline() == "up\n"
    keeper.send_signal(number)
    out, _ = keeper.communicate(timeout=240)
    assert (keeper.returncode, out) == (5, "got\n")
    assert not lab.folders


def test_ctrl_c_reaches_the_command_once(lab):
    script = "trap 'echo got' INT; echo up; until read line; do :; done; echo line=$line"
    keeper, terminal = pty.fork()
    if keeper == 0:
        os.execvpe(sys.executable, lab.command(*SMALL, "--", "sh", "-c", script), lab.env)
    said = b""
    status = None
    try:
        for awaited, typed in ((b"up", b"\x03"), (b"got", b"end\n"), (b"line=end", b"")):
            while awaited not in said:
                assert select.select([terminal], [], [], 60)[0], said
                said += os.read(terminal, 1000)
            os.write(terminal, typed)
        status = os.waitpid(keeper, 0)[1]
    finally:
        os.close(terminal)
        if status is None:
            os.kill(keeper, signal.SIGKILL)
            os.waitpid(keeper, 0)
    assert said.count(b"got") == 1
    assert os.waitstatus_to_exitcode(status) == 0


def test_sigkill_takes_everything_down(lab):
    keeper = started(lab)
    assert len(lab.left) >= 4, "keeper, init, WAN box, shell and its child were expected"
    keeper.kill()
    keeper.communicate(timeout=240)
    eventually(lambda: not lab.left, "the end of all processes of a killed lab")
    assert len(lab.folders) == 1
    assert "running lab" not in lab("list").stdout
    assert not lab.folders, "the next command clears away what a killed lab left"


def test_a_lab_does_not_outlive_its_wan_box(lab):
    keeper = started(lab)
    box = next(int(p.partition(":")[0]) for p in lab.left if "isthmus-wanbox --a" in p)
    os.kill(box, signal.SIGKILL)
    _, err = keeper.communicate(timeout=240)
    assert keeper.returncode == 1
    assert "the WAN box of a-b ended by itself" in err


def test_two_labs_at_once(lab):
    keepers = [started(lab), started(lab)]
    ids = [folder.name for folder in lab.folders]
    assert len(ids) == 2
    vague = lab("stats")
    assert vague.returncode == 2
    assert all(name in vague.stderr for name in ids)
    assert lab("cut", "a-b", "--lab", ids[0]).stdout == f"cut a-b of {ids[0]}\n"
    assert "(cut)" in lab("stats", "--lab", ids[0]).stdout
    assert "(cut)" not in lab("stats", "--lab", ids[1]).stdout
    for keeper in keepers:
        keeper.terminate()
        keeper.communicate(timeout=240)


@pytest.fixture
def nobodys():
    """A folder of the user nobody; pytest's own are its user's alone."""
    if os.geteuid() != 0:
        pytest.skip("only root can play another user")
    with tempfile.TemporaryDirectory(prefix="isthmus-test-") as name:
        os.chown(name, 65534, 65534)
        yield Path(name)


def as_nobody(lab, home, tun: str):
    """A lab of a user without any rights, for whom /dev/net/tun has the given mode."""
    script = (
        "mount -t tmpfs -o mode=755 none /dev/net && mknod /dev/net/tun c 10 200 && "
        f'chmod {tun} /dev/net/tun && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@"'
    )
    lab.env["ISTHMUS_HOME"] = str(home)
    command = lab.command(*SMALL, "--on", "a1", "--", "sh", "-c", "id -u; ip -o -4 address show")
    words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *command]
    return ran(words, env=lab.env, cwd="/")


def test_a_user_without_rights(lab, nobodys):
    done = as_nobody(lab, nobodys, "666")
    if "cannot make namespaces here" in done.stderr:
        pytest.skip("this kernel allows no user namespaces to users")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("0\n")
    assert "10.1.0.1/16" in done.stdout


def test_a_user_who_may_not_open_tun(lab, nobodys):
    done = as_nobody(lab, nobodys, "600")
    assert done.returncode == 1
    assert "the lab needs /dev/net/tun, which cannot be opened: Permission denied" in done.stderr


def test_what_cannot_be(lab, tmp_path):
    for words, said in [
        (("run", "nowhere", "--", "true"), "unknown testbed 'nowhere'"),
        ((*SMALL, "--on", "q1", "--", "true"), "no such node"),
        (("cut", "a-b"), "no lab runs"),
        (("mpirun", "--mpi", "openmpi", "x"), "works only inside a lab"),
    ]:
        done = lab(*words)
        assert done.returncode == 2, words
        assert said in done.stderr
    done = lab(*SMALL, "--", "true", ISTHMUS_HOME="/proc/none")
    assert done.returncode == 1
    assert "cannot make the lab's folder" in done.stderr
    file = tmp_path / "odd.toml"
    file.write_text("[site.a]\n[tcp]\ncongestion = 'nonesuch'\n")
    done = lab("run", file, "--", "true")
    assert done.returncode == 1
    assert "no TCP congestion control 'nonesuch'" in done.stderr
    assert not lab.folders
