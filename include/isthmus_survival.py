"""Programs that go on without clusters that fail, for mpi4py (docs/surviving.md).

One file that needs nothing but mpi4py: put its folder (`isthmus config --includedir`) into
PYTHONPATH, or copy it. The functions do what isthmus.h describes, with every MPI library. Errors
are MPI.Exception, whose `Get_error_class()` is one of the three below. Set
`comm.Set_errhandler(MPI.ERRORS_RETURN)`, as mpi4py does for MPI.COMM_WORLD. Without Isthmus,
mpi4py's own methods serve with Open MPI. Other libraries have none that work, so all members are
taken to be alive.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import TypeVar, cast

from mpi4py import MPI

_T = TypeVar("_T")
_Comm = TypeVar("_Comm", MPI.Intracomm, MPI.Intercomm)

_library = ctypes.CDLL(None)  # all that the process has loaded, so also what Isthmus preloads


def _survives() -> bool:
    try:
        return int(_library.isthmus_survival_error(0)) >= 0
    except AttributeError:
        return False


def _at(thing: MPI.Comm | MPI.Group | MPI.Request) -> ctypes.c_void_p:
    """The address of its handle."""
    return ctypes.c_void_p(MPI._addressof(thing))


def _check(code: int) -> None:
    if code != MPI.SUCCESS:
        raise MPI.Exception(code)


def _own(call: Callable[[], _T], otherwise: Callable[[], _T]) -> _T:
    """Calls mpi4py's own method. MPICH's (4.0 to 5.0) end the process."""
    try:
        return call() if MPI.get_vendor()[0] == "Open MPI" else otherwise()
    except NotImplementedError:
        return otherwise()


def _error(which: int, name: str) -> int:
    if _survives():
        return int(_library.isthmus_survival_error(which))
    return int(getattr(MPI, name, MPI.UNDEFINED))


def err_proc_failed() -> int:
    """The class of the error that a process has failed."""
    return _error(0, "ERR_PROC_FAILED")


def err_proc_failed_pending() -> int:
    """The class of the error of a receive from any source that is still active."""
    return _error(1, "ERR_PROC_FAILED_PENDING")


def err_revoked() -> int:
    """The class of the error of every operation on a revoked communicator."""
    return _error(2, "ERR_REVOKED")


def revoke(comm: MPI.Comm) -> None:
    """All that is under way on it ends with an error, on every member."""
    if _survives():
        _check(_library.isthmus_survival_revoke(_at(comm)))
    else:
        comm.Revoke()


def is_revoked(comm: MPI.Comm) -> bool:
    if not _survives():
        return bool(_own(comm.Is_revoked, lambda: False))
    flag = ctypes.c_int()
    _check(_library.isthmus_survival_is_revoked(_at(comm), ctypes.byref(flag)))
    return flag.value != 0


def shrink(comm: _Comm) -> _Comm:
    """A communicator of the members that are alive, in the same order; of an intercommunicator,
    another one."""
    if not _survives():
        return _own(comm.Shrink, comm.Dup)
    made = cast("_Comm", MPI.Intercomm() if comm.Is_inter() else MPI.Intracomm())
    _check(_library.isthmus_survival_shrink(_at(comm), _at(made)))
    return made


def agree(comm: MPI.Comm, flag: int = 1) -> int:
    """The bitwise AND of the flags of all members that are alive; the same on all of them. Raises
    on all of them if a member has failed and not all others have acknowledged that."""
    agreed = ctypes.c_int(flag)
    if not _survives():
        return int(_own(lambda: comm.Agree(flag), lambda: comm.allreduce(flag, MPI.BAND)))
    _check(_library.isthmus_survival_agree(_at(comm), ctypes.byref(agreed)))
    return agreed.value


def failure_ack(comm: MPI.Comm) -> None:
    """Acknowledges the failures that this process knows: receives from any source work again."""
    if _survives():
        _check(_library.isthmus_survival_failure_ack(_at(comm)))


def _group(name: str, comm: MPI.Comm) -> MPI.Group:
    found = MPI.Group()
    _check(getattr(_library, f"isthmus_survival_{name}")(_at(comm), _at(found)))
    return found


def failure_get_acked(comm: MPI.Comm) -> MPI.Group:
    """The members whose failure is acknowledged."""
    return _group("failure_get_acked", comm) if _survives() else MPI.GROUP_EMPTY


def get_failed(comm: MPI.Comm) -> MPI.Group:
    """The members that have failed, as far as this process knows."""
    if _survives():
        return _group("get_failed", comm)
    return _own(comm.Get_failed, lambda: MPI.GROUP_EMPTY)
