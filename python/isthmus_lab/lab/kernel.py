"""Namespaces and mounts. Python learned `unshare` and `setns` only in 3.12."""

import contextlib
import ctypes
import os
import signal
from collections.abc import Iterator
from pathlib import Path

NEW_MOUNT, NEW_UTS, NEW_IPC = 0x00020000, 0x04000000, 0x08000000
NEW_USER, NEW_PID, NEW_NET = 0x10000000, 0x20000000, 0x40000000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_SET_PDEATHSIG = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(status: int, what: str) -> None:
    if status != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(flags: int) -> None:
    _checked(_libc.unshare(flags), "unshare")


def set_namespace(fd: int, kind: int) -> None:
    _checked(_libc.setns(fd, kind), "setns")


def mount(source: str, target: Path, kind: str, flags: int = 0, data: str = "") -> None:
    arguments = (source.encode(), str(target).encode(), kind.encode())
    _checked(_libc.mount(*arguments, ctypes.c_ulong(flags), data.encode()), f"mount on {target}")


def bind(source: Path, target: Path) -> None:
    """`target` is a file that exists."""
    mount(str(source), target, "", _BIND)


def make_mounts_private() -> None:
    """Mounts from now on are seen in this mount namespace alone."""
    mount("none", Path("/"), "", _RECURSIVE | _PRIVATE)


def die_with_parent() -> None:
    """This process is killed when the thread that forked it ends, however that ends."""
    _checked(_libc.prctl(_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")


def become_root_of_user_namespace() -> None:
    """Makes a user namespace in which this user is root and nobody else exists."""
    uid, gid = os.getuid(), os.getgid()
    unshare(NEW_USER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
    Path("/proc/self/gid_map").write_text(f"0 {gid} 1")


@contextlib.contextmanager
def inside(namespace: Path) -> Iterator[None]:
    """The calling thread is in the network namespace of that file. Sockets made there stay
    there."""
    home = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        fd = os.open(namespace, os.O_RDONLY | os.O_CLOEXEC)
        try:
            set_namespace(fd, NEW_NET)
        finally:
            os.close(fd)
        try:
            yield
        finally:
            set_namespace(home, NEW_NET)
    finally:
        os.close(home)
