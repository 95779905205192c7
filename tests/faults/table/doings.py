"""The faults of the table. Each function returns a callable that does the fault to a run. A lasting
fault has ended when the callable returns. All run inside the lab (scene.py)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from signal import SIGCONT, SIGKILL, SIGSTOP, Signals

import queued
from scene import Scene

Doing = Callable[[Scene], None]


def sh(script: str) -> str:
    """Returns what it prints; raises where it fails."""
    done = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{script}: {done.stderr.strip()}")
    return done.stdout


def on(node: str, script: str) -> str:
    """In the network of a node, or of "switch-a"."""
    return sh(f"nsenter --net={os.environ['ISTHMUS_LAB']}/ns/{node}.net sh -ec '{script}'")


def lab(*words: str) -> None:
    subprocess.run([sys.executable, "-m", "isthmus", "lab", *words], check=True)


def wait(scene: Scene, seconds: float) -> None:
    """That long, or until the run has ended."""
    scene.until(scene.ended, seconds)


# -- processes ------------------------------------------------------------------------------------


def signal(role: str, number: Signals, host: str = "") -> Doing:
    return lambda scene: scene.signal(role, number, host)


def stop(role: str, seconds: float, host: str = "") -> Doing:
    def doing(scene: Scene) -> None:
        found = scene.find(role, host)
        assert found, f"no process is {role} {host}"
        os.kill(found[0], SIGSTOP)
        try:
            wait(scene, seconds)
        finally:
            os.kill(found[0], SIGCONT)

    return doing


# -- links ----------------------------------------------------------------------------------------


def cut(link: str, seconds: float) -> Doing:
    def doing(scene: Scene) -> None:
        lab("cut", link)
        wait(scene, seconds)
        lab("restore", link)

    return doing


USUAL = {
    "rate": "1 Gbit/s", "loss": "0", "jitter": "0ms", "reorder": "no",
    "duplicate": "0", "corrupt": "never",
}  # fmt: skip


def link(seconds: float, *settings: str) -> Doing:
    """The link with other figures for a while."""
    usual = [f"{key}={USUAL[key]}" for key in (word.partition("=")[0] for word in settings)]

    def doing(scene: Scene) -> None:
        lab("set", "a-b", *settings)
        wait(scene, seconds)
        lab("set", "a-b", *usual)

    return doing


def narrow(mtu: int, *, icmp: bool) -> Doing:
    """The WAN takes smaller packets from now on. Without ICMP it says nothing about that."""

    def doing(scene: Scene) -> None:
        for here, there in ("ab", "ba"):
            silent = "iptables -A OUTPUT -p icmp --icmp-type fragmentation-needed -j DROP; "
            on(f"switch-{here}", ("" if icmp else silent) + f"ip link set wan-{there} mtu {mtu}")

    return doing


def resets(seconds: float) -> Doing:
    """A reset answers every 300th packet, in each direction."""
    rule = (
        "FORWARD -p tcp -m statistic --mode nth --every 300 --packet 0 "
        "-j REJECT --reject-with tcp-reset"
    )

    def doing(scene: Scene) -> None:
        for site in "ab":
            on(f"switch-{site}", f"iptables -A {rule}")
        wait(scene, seconds)
        for site in "ab":
            on(f"switch-{site}", f"iptables -D {rule}")

    return doing


def forget() -> Doing:
    """A box on the way drops all that is of the connections that stand, in silence."""

    def doing(scene: Scene) -> None:
        ports = {
            tuple(field.rpartition(":")[2] for field in line.split()[3:5])
            for line in on("a0", "ss -tnH state established").splitlines()
            for line in [f"ESTAB {line}"]
            if "10.2." in line
        }
        assert ports, "no connection crosses the link"
        for here, there in ports:
            for one, other in ((here, there), (there, here)):
                on(
                    "switch-a",
                    f"iptables -I FORWARD -p tcp --sport {one} --dport {other} -j DROP",
                )

    return doing


def nameless(seconds: float) -> Doing:
    """No host knows the names of others any more, and all connections have to be made again."""

    def doing(scene: Scene) -> None:
        files = {file: file.read_text() for file in (scene.lab / "hosts").iterdir()}
        for file in files:
            file.write_text("127.0.0.1 localhost\n")  # the file itself: it is mounted
        try:
            cut("a-b", 12)(scene)  # streams are given up
            wait(scene, seconds - 12)
        finally:
            for file, text in files.items():
                file.write_text(text)

    return doing


# -- hosts ----------------------------------------------------------------------------------------


def full_shm(scene: Scene) -> None:
    """The lab's nodes share one small file system for it, which is filled."""
    shm = scene.lab / "shm"
    sh(f"mount -o remount,size=64k {shm}; dd if=/dev/zero of={shm}/a0/fill 2>/dev/null || true")


def full_tmp(scene: Scene) -> None:
    sh("mount -o remount,size=64k /tmp; dd if=/dev/zero of=/tmp/fill bs=64k 2>/dev/null || true")


def small_disk(scene: Scene) -> None:
    """The file's own."""
    scene.data.parent.mkdir(exist_ok=True)
    sh(f"mount -t tmpfs -o size=128k none {scene.data.parent}")


def no_shm(scene: Scene) -> None:
    """No file can be made there, as in a container without it."""
    sh(f"mount -o remount,ro {scene.lab}/shm")


def group(controller: str, limit: str, value: int) -> Doing:
    """A control group (version 1) that holds all processes of the run."""

    def prepare(scene: Scene) -> None:
        folder = Path("/sys/fs/cgroup") / controller / f"isthmus-row-{scene.folder.name}"
        folder.mkdir()
        (folder / limit).write_text(str(value))
        scene.limits = f"echo 0 > {folder}/cgroup.procs; "
        scene.groups.append(folder)

    return prepare


def files(limit: int) -> Doing:
    def prepare(scene: Scene) -> None:
        scene.limits = f"ulimit -n {limit}; "

    return prepare


FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"


def clock(when: str, site: str) -> Doing:
    """For one site's hosts, or for all."""
    env = {"LD_PRELOAD": FAKETIME, "FAKETIME": when, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def prepare(scene: Scene) -> None:
        if not site:
            scene.env = env
            return
        setup = "; ".join(f"export {name}='{value}'" for name, value in env.items())
        text = (scene.lab / "grid.toml").read_text()
        scene.grid = text.replace(f"[cluster.{site}]\n", f'[cluster.{site}]\nsetup = ["{setup}"]\n')

    return prepare


def load(processes: int, seconds: float) -> Doing:
    def doing(scene: Scene) -> None:
        busy = [
            subprocess.Popen(["nice", "sh", "-c", "while :; do :; done"]) for _ in range(processes)
        ]
        wait(scene, seconds)
        for process in busy:
            process.send_signal(SIGKILL)
            process.wait()

    return doing


def submitted(scene: Scene) -> None:
    """The run is a job by `isthmus submit`."""
    scene.queued = True
    scene.grid = queued.GRID
    scene.env = queued.prepare(scene.folder, os.environ["PATH"])


def nothing(_: Scene) -> None:
    time.sleep(0)


# -- ssh and services -----------------------------------------------------------------------------


def with_ssh(scene: Scene) -> None:
    """A real ssh and a real sshd on each frontend. The lab's stand-in becomes what it starts."""
    keys = scene.folder / "ssh"
    keys.mkdir()
    for name in ("host", "user"):
        sh(f"ssh-keygen -q -t ed25519 -N '' -f {keys}/{name}")
    shutil.copy(keys / "user.pub", keys / "authorized")
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    hosts = ""
    for number, site in enumerate("ab", 1):
        address = f"10.{number}.255.1"
        config = keys / f"sshd-{site}"
        config.write_text(
            f"ListenAddress {address}\nHostKey {keys}/host\nAuthorizedKeysFile {keys}/authorized\n"
            "PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nAcceptEnv *\n"
        )
        scene.beside(f"{site}0", f"exec /usr/sbin/sshd -D -e -f {config}")
        scene.until_listening(f"{site}0", 22)
        hosts += f"Host {site}0\nHostName {address}\n"
    (keys / "config").write_text(
        f"{hosts}Host *\nIdentityFile {keys}/user\nStrictHostKeyChecking no\n"
        f"UserKnownHostsFile {keys}/known\nLogLevel ERROR\nSendEnv *\n"
    )
    scene.env = {"ISTHMUS_SSH": f"{scene.lab}/bin/enter a0 ssh -F {keys}/config"}


SERVICE_AT = "10.2.255.1:7600"


def with_service(scene: Scene) -> None:
    """On the site between the clusters. Links wait a minute for it."""
    home = scene.folder / "service"
    home.mkdir()
    (home / "service.toml").write_text(
        f'listen = ["{SERVICE_AT}"]\nkeys = "{home}/keys"\naudit = "{home}/audit"\n'
    )
    sh(f"isthmusd key add user --keys {home}/keys --out {home}/user.key")
    serve(scene)
    scene.grid = (
        'patience = "60 s"\n'
        '[cluster.a]\nhost = "a0"\nhosts = "a[1-2]"\n[cluster.c]\nhost = "c0"\nhosts = "c[1-2]"\n'
        f"[[relay]]\nservice = '{SERVICE_AT}'\nkey = '{home}/user.key'\n"
    )


def serve(scene: Scene) -> None:
    scene.beside("b0", f"exec isthmusd serve --config {scene.folder}/service/service.toml")
    scene.until_listening("b0", 7600)


def service_killed(seconds: float) -> Doing:
    """It is started again some time later; never if that is 0."""

    def doing(scene: Scene) -> None:
        scene.others[-1].kill()
        if seconds:
            wait(scene, seconds)
            serve(scene)

    return doing


def service_stopped(seconds: float) -> Doing:
    def doing(scene: Scene) -> None:
        scene.others[-1].send_signal(SIGSTOP)
        wait(scene, seconds)
        scene.others[-1].send_signal(SIGCONT)

    return doing


# -- several --------------------------------------------------------------------------------------


def both(one: Doing, other: Doing, lag: float) -> Doing:
    """The second begins `lag` seconds after the first."""

    def doing(scene: Scene) -> None:
        wrong: list[Exception] = []

        def do(what: Doing) -> None:
            try:
                what(scene)
            except Exception as error:
                wrong.append(error)

        first = threading.Thread(target=do, args=(one,))
        first.start()
        wait(scene, lag)
        do(other)
        first.join()
        if wrong:
            raise wrong[0]

    return doing
