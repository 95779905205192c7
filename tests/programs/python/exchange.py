"""Objects, buffers, wildcards and collectives through mpi4py. ranks: 2 4"""

import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def check(condition, what):
    if not condition:
        print(f"rank {rank}: wrong: {what}", file=sys.stderr, flush=True)
        world.Abort(3)


right, left = (rank + 1) % size, (rank - 1) % size
check(world.sendrecv({"from": rank}, dest=right, source=left) == {"from": left}, "object ring")

if rank == 0:
    seen = set()
    for _ in range(size - 1):
        status = MPI.Status()
        text = world.recv(source=MPI.ANY_SOURCE, tag=MPI.ANY_TAG, status=status)
        check(text == f"rank {status.Get_source()}", "source of a wildcard receive")
        check(status.Get_tag() == status.Get_source(), "tag of a wildcard receive")
        seen.add(status.Get_source())
    check(seen == set(range(1, size)), "every rank heard once")
else:
    world.send(f"rank {rank}", dest=0, tag=rank)

world.barrier()  # or the wildcards above could take what follows
big = array("d", [float(rank)]) * 300_000
incoming = array("d", [0.0]) * 300_000
requests = [world.Irecv(incoming, source=left, tag=9), world.Isend(big, dest=right, tag=9)]
MPI.Request.Waitall(requests)
check(incoming == array("d", [float(left)]) * 300_000, "2.4 MB ring")

check(world.allgather(rank * rank) == [r * r for r in range(size)], "allgather of objects")
check(world.allreduce([rank], op=MPI.SUM) == list(range(size)), "allreduce keeps rank order")
check(world.bcast("hello" if rank == size - 1 else None, root=size - 1) == "hello", "bcast")

odd = world.Split(rank % 2, key=-rank)
check(odd.Get_group().Get_size() == odd.Get_size(), "group of a split")
odd.Barrier()
odd.Free()

request = world.Ibarrier()
request.Wait()
check("Isthmus" in MPI.Get_library_version(), "library version names Isthmus")
