"""The life of a lab.

The command that starts a lab stays outside as its *keeper*. Its only child is the lab's *init*,
process 1 of a PID namespace. When the keeper ends, however it ends, the kernel kills init, and with
init every process of the lab. The namespaces go with the last process, and everything in them.
"""

import os
import select
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from isthmus.base.errors import IsthmusError, RunError
from isthmus.measuring.ends import find_program
from isthmus_lab.lab import build, cpus, kernel, programs, registry, slurm, wan
from isthmus_lab.lab.grid import grid_toml
from isthmus_lab.lab.network import Network
from isthmus_lab.lab.registry import Lab

_TO_PASS_ON = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2}
_WATCHED = _TO_PASS_ON | {signal.SIGCHLD}
_FROM_TERMINAL = 0x80  # si_code of the kernel's signals: every process of the terminal got it
_PATIENCE = 20.0  # seconds that a command has to end after SIGTERM or SIGHUP

Body = Callable[[Network, Lab], int]


def run_lab(network: Network, body: Body) -> int:
    """Builds the lab, runs `body` as its only command in a process of its own, and takes everything
    down. Returns the exit status. IsthmusError if the lab cannot be built."""
    programs.check()
    if slurm.on(network):
        programs.require(slurm.PROGRAMS)
    wanbox = find_program("isthmus-wanbox")
    lab, lock = registry.create(network.name)
    try:
        slurm.check(network, lab)
        _isolate()
        sys.stdout.flush()
        sys.stderr.flush()
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
        try:
            alive, keeper = os.pipe()
            init = os.fork()
            if init == 0:
                os.close(keeper)
                _end(lambda: _init(network, lab, wanbox, body, alive))
            os.close(alive)
            (lab.folder / "init").write_text(str(init))
            return _keep(init)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    finally:
        os.close(lock)
        registry.remove(lab)


_FORBIDDEN = (
    "Run it as root, or where unprivileged user namespaces are allowed (sysctl "
    "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns)."
)


def _isolate() -> None:
    """The next child of the keeper will be process 1 of its own namespace."""
    try:
        if os.geteuid() != 0:
            kernel.become_root_of_user_namespace()
        kernel.unshare(kernel.NEW_PID)
    except OSError as error:
        what = f"the lab cannot make namespaces here: {error.strerror}"
        raise RunError(what, _FORBIDDEN) from None


def _isolate_init() -> None:
    """Gives init mounts, network, name and shared memory of its own. The keeper's stay, as it
    clears up when these are gone."""
    try:
        own = kernel.NEW_MOUNT | kernel.NEW_NET | kernel.NEW_UTS | kernel.NEW_IPC
        kernel.unshare(own)
        kernel.make_mounts_private()
    except OSError as error:
        what = f"the lab cannot make namespaces here: {error.strerror}"
        raise RunError(what, _FORBIDDEN) from None
    try:
        kernel.mount("proc", Path("/proc"), "proc")
    except OSError as error:
        raise RunError(
            f"the lab cannot mount a /proc of its own: {error.strerror}",
            "Some containers forbid it; run the lab as root, or outside the container.",
        ) from None


def _end(work: Callable[[], int]) -> None:
    """For a child: never returns into the parent's code."""
    status = 1
    try:
        status = work()
    except IsthmusError as error:
        print(f"isthmus: {error}", file=sys.stderr)
        status = error.status
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _status(wait_status: int) -> int:
    code = os.waitstatus_to_exitcode(wait_status)
    return 128 - code if code < 0 else code


def _keep(init: int) -> int:
    """Waits for init, and passes on signals for the command. Signals are blocked."""
    while True:
        info = signal.sigtimedwait(_WATCHED, 60)
        done, status = os.waitpid(init, os.WNOHANG)
        if done:
            return _status(status)
        if info and info.si_signo in _TO_PASS_ON and info.si_code != _FROM_TERMINAL:
            os.kill(init, info.si_signo)


def _init(network: Network, lab: Lab, wanbox: Path, body: Body, alive: int) -> int:
    """Process 1: builds, starts the command, waits. The kernel kills processes that it leaves.
    `alive` ends when the keeper does."""
    kernel.die_with_parent()
    if select.select([alive], [], [], 0)[0]:  # the keeper has ended already
        return 1
    cpus.make(lab.cpus)
    _isolate_init()
    build.build(network, lab)
    boxes = wan.start(network, lab, wanbox)
    build.attach_wans(network, lab)
    daemons = slurm.start(network, lab)
    lab.grid.write_text(grid_toml(network, programs.nospin()))
    lab.note(build.facts(network))
    command = os.fork()
    if command == 0:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
        _end(lambda: body(network, lab))
    for box, link in zip(boxes, network.boxes, strict=True):
        daemons[box.pid] = f"the WAN box of {link.name}"
    return _wait_for(command, daemons)


def _wait_for(command: int, daemons: dict[int, str]) -> int:
    ending = False
    while True:
        info = signal.sigtimedwait(_WATCHED, _PATIENCE if ending else 3600)
        while True:
            try:
                done, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return 1
            if done == command:
                return _status(status)
            if done in daemons:
                print(f"isthmus: {daemons[done]} ended by itself", file=sys.stderr)
                return 1
            if done == 0:
                break
        if info is None and ending:
            return 128 + signal.SIGTERM
        if info and info.si_signo in _TO_PASS_ON and info.si_code != _FROM_TERMINAL:
            ending = ending or info.si_signo in (signal.SIGTERM, signal.SIGHUP)
            os.kill(command, info.si_signo)
