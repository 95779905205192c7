"""isthmus_survival: agreement and shrinking where nobody has failed. ranks: 3"""

import importlib
import sys
from pathlib import Path

from mpi4py import MPI

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "include"))
survival = importlib.import_module("isthmus_survival")

comm = MPI.COMM_WORLD.Dup()
comm.Set_errhandler(MPI.ERRORS_RETURN)
assert survival.agree(comm, 7 if comm.rank else 3) == 3
shrunk = survival.shrink(comm)
assert MPI.Comm.Compare(comm, shrunk) == MPI.CONGRUENT
assert shrunk.allreduce(1) == comm.size
assert not survival.is_revoked(comm)
survival.failure_ack(comm)
assert survival.get_failed(comm).size == 0
assert survival.failure_get_acked(comm).size == 0
assert survival.err_proc_failed() != survival.err_revoked()
try:
    survival.revoke(comm)
except MPI.Exception as refused:
    assert refused.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION  # noqa: PT017
    assert "--survive" in refused.Get_error_string()  # noqa: PT017
else:
    raise AssertionError("a run that does not survive revokes")
shrunk.Free()

# Then with the module that is installed in the program's own environment.
del sys.modules["isthmus_survival"], sys.path[0]
sys.path.insert(0, str(ROOT / "python"))
installed = importlib.import_module("isthmus.survival")
assert installed.agree(comm, 5) == 5
comm.Free()
