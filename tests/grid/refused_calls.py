"""A system call that is refused to a program, as containers do."""

_SECCOMP = r"""
import ctypes, os, platform, struct
number = {"x86_64": %d, "aarch64": %d}[platform.machine()]
program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in (
    (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000))))
fprog = ctypes.create_string_buffer(struct.pack("HxxxxxxP", 4, ctypes.addressof(program)))
libc = ctypes.CDLL(None, use_errno=True)
assert libc.prctl(38, 1, 0, 0, 0) == 0  # no new privileges
assert libc.prctl(22, 2, fprog, 0, 0) == 0, os.strerror(ctypes.get_errno())
"""


def refused(x86_64: int, aarch64: int) -> str:
    """The beginning of a Python program to which the call of these numbers is refused: EPERM."""
    return _SECCOMP % (x86_64, aarch64)
