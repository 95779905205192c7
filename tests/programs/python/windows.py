"""Windows through mpi4py: puts and gets, a counter, attributes, a request. ranks: 2 4"""

import sys
from array import array

from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def check(condition, what):
    if not condition:
        print(f"rank {rank}: wrong: {what}", file=sys.stderr, flush=True)
        comm.Abort(3)


win = MPI.Win.Allocate(8 * 100, 8, comm=comm)
memory = memoryview(win.tomemory()).cast("q")
check(len(memory) == 100, "the size of the memory")
check(win.flavor == MPI.WIN_FLAVOR_ALLOCATE, "the flavour")
check(win.attrs[1:] == (800, 8), "attributes")
win.name = "ours"
check(win.name == "ours", "the name")
check(win.group.size == size, "the group")

mine = array("q", range(rank * 1000, rank * 1000 + 100))
win.Fence()
win.Put(mine, (rank + 1) % size)
win.Fence()
last = (rank - 1) % size
check(list(memory) == list(range(last * 1000, last * 1000 + 100)), "a put")
got = array("q", [0] * 100)
win.Get(got, (rank + 1) % size)
win.Fence(MPI.MODE_NOSUCCEED)
check(got == mine, "a get")

win.Lock(rank)
memory[0] = 0
win.Unlock(rank)
comm.Barrier()
one, before = array("q", [1]), array("q", [-1])
win.Lock_all()
for _ in range(20):
    win.Fetch_and_op(one, before, 0)
    win.Flush(0)
    check(0 <= before[0] < 20 * size, "the counter's bounds")
request = win.Rget(got, 0)
request.Wait()
win.Unlock_all()
comm.Barrier()
win.Lock(rank, MPI.LOCK_SHARED)
check(rank != 0 or memory[0] == 20 * size, "the counter")
win.Unlock(rank)
memory.release()
win.Free()
