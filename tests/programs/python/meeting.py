"""Sides that meet, and processes that are spawned: in other clusters, and by mpi4py's pool.

ranks: 3
"""

import sys

from mpi4py import MPI
from mpi4py.futures import MPIPoolExecutor

CHILD = """
from mpi4py import MPI
parent = MPI.Comm.Get_parent()
both = parent.Merge(high=True)
assert both.allreduce(1) == both.size
both.Free()
parent.send(MPI.COMM_WORLD.size, dest=0)
parent.Disconnect()
"""


def square(n: int) -> int:
    return n * n


def ports(world: MPI.Intracomm) -> None:
    port = MPI.Open_port() if world.rank == 0 else None
    if world.rank == 0:
        MPI.Publish_name("meeting", port)
    world.Barrier()
    side = world.Split(world.rank % 2, world.rank)
    if world.rank % 2 == 0:
        inter = side.Accept(MPI.Lookup_name("meeting"))
    else:
        inter = side.Connect(MPI.Lookup_name("meeting"))
    assert inter.allgather(world.rank) == [r for r in range(world.size) if r % 2 != world.rank % 2]
    inter.Disconnect()
    world.Barrier()
    if world.rank == 0:
        MPI.Unpublish_name("meeting", port)
        MPI.Close_port(port)
    side.Free()


def spawn(world: MPI.Intracomm) -> None:
    info = MPI.Info.Create({"cluster": "west,east"})
    inter = world.Spawn(sys.executable, ["-c", CHILD], 2, info, root=world.size - 1)
    both = inter.Merge(high=False)
    assert both.size == world.size + 2
    assert both.allreduce(1) == both.size
    both.Free()
    if world.rank == 0:
        assert [inter.recv(source=child) for child in range(2)] == [2, 2]
    inter.Disconnect()
    info.Free()


def pool(world: MPI.Intracomm) -> None:
    if world.rank == 0:
        with MPIPoolExecutor(2, mpi_info={"cluster": "east,west"}) as executor:
            assert list(executor.map(square, range(8))) == [n * n for n in range(8)]
    world.Barrier()


if __name__ == "__main__":
    ports(MPI.COMM_WORLD)
    spawn(MPI.COMM_WORLD)
    pool(MPI.COMM_WORLD)
