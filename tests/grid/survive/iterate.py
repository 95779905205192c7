"""Sums over all ranks, while a cluster fails: the survivors revoke, shrink and go on.

iterate.py HOW FOLDER CLUSTER: by mpi4py's `own` methods, or those of the `module` in FOLDER.
"""

import importlib
import os
import signal
import sys
from array import array

from mpi4py import MPI

how, folder, fails = sys.argv[1:]
sys.path.insert(0, folder)
survival = importlib.import_module("isthmus_survival")
expected = (survival.err_proc_failed(), survival.err_revoked())
if how == "own":
    assert expected == (MPI.ERR_PROC_FAILED, MPI.ERR_REVOKED)


def allreduce(value: int, op: MPI.Op) -> int:
    """Not by mpi4py's own allreduce: that uses a communicator which the program cannot revoke."""
    result = array("i", [0])
    comm.Allreduce(array("i", [value]), result, op)
    return result[0]


comm = MPI.COMM_WORLD.Dup()
comm.Set_errhandler(MPI.ERRORS_RETURN)
step = 0
while step < 60:
    if step == 20 and os.environ["ISTHMUS_CLUSTER"] == fails:
        os.kill(os.getpid(), signal.SIGKILL)
    try:
        assert allreduce(1, MPI.SUM) == comm.size
        step += 1
    except MPI.Exception as failure:
        assert failure.Get_error_class() in expected  # noqa: PT017
        if how == "own":
            comm.Revoke()
            assert comm.Is_revoked()
            smaller = comm.Shrink()
        else:
            survival.revoke(comm)
            assert survival.is_revoked(comm)
            smaller = survival.shrink(comm)
        comm.Free()
        comm = smaller
        step = allreduce(step, MPI.MIN)
low = comm.rank < comm.size // 2
side = comm.Split(int(low))
sides = side.Create_intercomm(0, comm, comm.size // 2 if low else 0)
again = sides.Shrink() if how == "own" else survival.shrink(sides)
assert again.Get_remote_size() == sides.Get_remote_size()
for each in (again, sides, side):
    each.Free()
assert (comm.Agree(3) if how == "own" else survival.agree(comm, 3)) == 3
if comm.rank == 0:
    print(comm.size, "ranks,", step, "steps", flush=True)
comm.Free()
