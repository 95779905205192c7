"""Files of two clusters through mpi4py. ranks: 2 3"""

import os
import sys
import tempfile
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def check(condition, what):
    if not condition:
        print(f"rank {rank}: wrong: {what}", file=sys.stderr, flush=True)
        world.Abort(3)


name = world.bcast(f"{tempfile.gettempdir()}/isthmus-python-{os.getpid()}")
info = MPI.Info.Create({"isthmus_share": "false"})
file = MPI.File.Open(world, name, MPI.MODE_CREATE | MPI.MODE_RDWR | MPI.MODE_DELETE_ON_CLOSE, info)

mine = array("d", [rank * 10.0 + i for i in range(4)])
tile = MPI.DOUBLE.Create_vector(2, 2, 2 * size).Commit()
file.Set_view(rank * 16, MPI.DOUBLE, tile)
file.Write_all(mine)
file.Sync()
world.barrier()
file.Sync()
back = array("d", [0.0]) * 4
file.Iread_at(0, back).Wait()
check(back == mine, "read back")

file.Set_view(0, MPI.DOUBLE, MPI.DOUBLE)
whole = array("d", [0.0]) * (4 * size)
status = MPI.Status()
file.Read_at_all(0, whole, status)
check(status.Get_count(MPI.DOUBLE) == 4 * size, "count of the whole")
expected = [r * 10.0 + b * 2 + i for b in range(2) for r in range(size) for i in range(2)]
check(list(whole) == expected, "the whole")
check(file.Get_size() == 32 * size, "size")
check(file.Get_group().Get_size() == size, "group")

file.Write_ordered(mine)
check(file.Get_position_shared() >= 4 * (rank + 1), "shared pointer")
world.barrier()
file.Close()
try:
    MPI.File.Open(world, name, MPI.MODE_RDONLY, info)
    check(False, "a file that is gone was opened")
except MPI.Exception as error:
    check(error.Get_error_class() == MPI.ERR_NO_SUCH_FILE, "class of the error")
tile.Free()
info.Free()
