"""Whole grids with the real isthmusd, a real sshd, and the check that nothing is left behind."""

import getpass
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest
from marks import MARK, processes
from ports import free_port
from running import Running, ran, shell_script
from waiting import eventually

COMPILERS = {"ompi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def wrapped(home: Path, script: str) -> Path:
    """`home` with a bin/isthmusd that is a shell script."""
    shell_script(home / "bin" / "isthmusd", script)
    return home


class Grid:
    """Writes a grid file and runs programs on it."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self.file = folder / "grid.toml"
        self.mark = uuid.uuid4().hex
        self.environment = {**environment, MARK: self.mark}

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "isthmus", "run", *map(str, words)]

    def run(self, *words: object, **more: object) -> subprocess.CompletedProcess[str]:
        return ran(self.command(*words), env=self.environment, cwd=self.folder)

    def start(self, *words: object) -> Running:
        """In a process group of its own."""
        return Running(
            self.command(*words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.folder,
            preexec_fn=os.setpgrp,
        )

    def without_ssh(self, program: Path) -> subprocess.CompletedProcess[str]:
        """The end of a run whose ssh is killed while its ranks hang."""
        with self.start("-g", "grid.toml", "-n", 4, program, "hang", -1) as running:
            says(running, "up 4\n")
            (client,) = self.find("ssh -F", "isthmusd", "agent")
            os.kill(client, signal.SIGKILL)
            out, err = running.communicate(timeout=240)
        return subprocess.CompletedProcess(running.args, running.returncode, out, err)

    def find(self, *words: str) -> list[int]:
        """Processes of the run with all these words in their command line."""
        return sorted(
            pid for pid, line in processes(self.mark).items() if all(word in line for word in words)
        )

    def gateway(self) -> int:
        """The one process that is only a gateway."""
        found: list[int] = []

        def is_one(pid: int) -> bool:
            try:
                return Path(f"/proc/{pid}/exe").readlink().name == "isthmusd"
            except OSError:
                return False  # gone meanwhile

        # Another looks like it until that has become the shell that removes its folder in the end
        # (daemon/host/leftovers.cpp).
        def is_alone() -> bool:
            found[:] = [pid for pid in self.find("isthmusd", " gateway") if is_one(pid)]
            return len(found) == 1

        eventually(is_alone, "one process that is only a gateway")
        return found[0]

    def check_nothing_is_left(self) -> None:
        try:
            eventually(lambda: not processes(self.mark), "that no process is left behind")
        except pytest.fail.Exception as failed:
            left = processes(self.mark)
            for pid in left:
                subprocess.run(["kill", "-9", str(pid)], check=False)
            pytest.fail(f"{failed}: {left}")


def check(
    done: subprocess.CompletedProcess[str], status: int | tuple[int, ...] | None, *words: str
) -> None:
    """A sentence with all the words; `status` None is any failure."""
    allowed = (status,) if isinstance(status, int) else status
    right = done.returncode != 0 if allowed is None else done.returncode in allowed
    assert right, f"exit status {done.returncode}\n{done.stderr}"
    assert "isthmus: " in done.stderr
    assert [word for word in words if word not in done.stderr] == [], done.stderr
    assert "Traceback" not in done.stderr


class Sshd:
    """An sshd of our own on a port of the loopback, and an ssh configuration that reaches it.

    Host `site` is the sshd, and `behind` is the same by way of `site` (ProxyJump). The port of
    `refused` has no listener, and the sshd knows no key of `stranger`."""

    def __init__(self, folder: Path, more: str = "") -> None:
        """`more` has further lines of its configuration."""
        self.port = free_port()
        self.config = folder / "ssh_config"
        self.log = folder / "sshd.log"
        for name in ("host_key", "user_key", "other_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(command, check=True)
        shutil.copy(folder / "user_key.pub", folder / "authorized_keys")
        host_key = (folder / "host_key.pub").read_text()
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} {host_key}")
        (folder / "sshd_config").write_text(
            f"Port {self.port}\nListenAddress 127.0.0.1\nHostKey {folder}/host_key\n"
            f"AuthorizedKeysFile {folder}/authorized_keys\nPidFile none\nStrictModes no\n"
            "UsePAM no\nPasswordAuthentication no\nPermitRootLogin yes\n"
            f"AcceptEnv {MARK} ISTHMUS_LIBDIR ISTHMUS_DEBUG_MEMORY OMPI_*\n{more}"
        )
        common = (
            f"User {getpass.getuser()}\nHostName 127.0.0.1\n"
            f"UserKnownHostsFile {folder}/known_hosts\n"
            "StrictHostKeyChecking yes\nIdentitiesOnly yes\n"
            f"SendEnv {MARK} ISTHMUS_LIBDIR ISTHMUS_DEBUG_MEMORY OMPI_*\n"
        )
        mine, others = f"IdentityFile {folder}/user_key\n", f"IdentityFile {folder}/other_key\n"
        self.config.write_text(
            f"Host site\n{common}{mine}Port {self.port}\n"
            f"Host behind\n{common}{mine}Port {self.port}\nProxyJump site\n"
            f"Host stranger\n{common}{others}Port {self.port}\n"
            f"Host refused\n{common}{mine}Port {free_port()}\n"
        )
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.process = subprocess.Popen(
            [shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e", "-f",
             str(folder / "sshd_config")],
            stdin=subprocess.DEVNULL,
            stderr=self.log.open("w"),
        )  # fmt: skip

        def listens() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return "Server listening" in self.log.read_text()

        eventually(listens, "that sshd listens")

    def __enter__(self) -> "Sshd":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    @property
    def ssh(self) -> str:
        return f"ssh -F {self.config}"


def says(running: Running, line: str) -> None:
    """The run's next line. If the run has ended instead, its errors are shown."""
    found = running.stdout.readline()
    assert found == line, found + ("" if found else running.stderr.read())


def ends_well(running: Running, bell: Path) -> str:
    """The program may end, and the run succeeds. Returns what it has said on standard error."""
    bell.touch()
    _, err = running.communicate(timeout=240)
    assert running.returncode == 0, err
    return str(err)


def goes_on_without_one_gateway(grid: Grid, program: Path, bell: Path) -> None:
    """faults.c survives the end of the only gateway that is on another host."""
    with grid.start("-g", "grid.toml", "-n", 4, program, "fine", 0, bell) as running:
        says(running, "up 4\n")
        victim = grid.gateway()
        os.kill(victim, signal.SIGKILL)
        while "the other gateways of the cluster go on" not in (line := running.stderr.readline()):
            assert line, "the launcher has ended"
        ends_well(running, bell)


def check_killed(
    done: subprocess.CompletedProcess[str], number: int, cluster: str, library: str
) -> None:
    """A rank of the cluster was killed by the signal, and the run says so. Hydra ends with 1 if its
    proxy was gone before it reported how its ranks ended. That was once in some hundred crashes on
    a busy machine (23 November 2026)."""
    name = signal.Signals(number).name
    lost = f'(cluster "{cluster}") ended without MPI_Finalize, with status 1'
    if library.startswith("mpich") and done.returncode == 1 and lost in done.stderr:
        return
    check(done, 128 + number, f'(cluster "{cluster}") was killed by signal {number} ({name})')


def check_one_killed(
    grid: Grid, source: Path, folder: Path, library: str, mode: str, rank: int
) -> None:
    """Runs four ranks of the program, which kills `rank` while the others wait for it in `mode`.
    The error names the rank by its cluster, and no rank continues."""
    program = folder / source.stem
    subprocess.run([COMPILERS[library], source, "-o", program], check=True)
    done = grid.run("-n", 4, program, mode, rank)
    cluster = ["east", "west"][rank // 2]
    check_killed(done, signal.SIGKILL, cluster, library)
    # Hydra kills the dying one's sibling, too, and may be seen to have done so first.
    assert int(re.findall(r"isthmus: rank (\d)", done.stderr)[0]) // 2 == rank // 2, done.stderr
    assert "nothing waited" not in done.stdout
