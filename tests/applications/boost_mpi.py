"""The examples of Boost.MPI's Python documentation; rank 0 prints what they find."""

from boost import mpi

world = mpi.world


class Molecule:
    """Sent as a pickle."""

    def __init__(self, number):
        self.number = number

    def __add__(self, other):
        return Molecule(self.number + other.number)


def tell(what, found):
    lines = mpi.gather(world, repr(found), 0)
    if world.rank == 0:
        print(what, *lines, sep="\n  ", flush=True)


def ring():
    after, before = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    request = world.isend(after, 1, {"from": world.rank, "data": "x" * 1000 * world.rank})
    got = world.recv(before, 1)
    request.wait()
    return got["from"], len(got["data"])


def requests():
    waiting = mpi.RequestList([world.irecv(rank, 2) for rank in range(world.size)])
    sent = mpi.RequestList(
        [world.isend(rank, 2, [world.rank] * rank) for rank in range(world.size)]
    )
    found = []
    while waiting:
        value, status, index = mpi.wait_any(waiting)
        found.append((status.source, value))
        del waiting[index]
    mpi.wait_all(sent)
    return sorted(found)


def collectives():
    total = mpi.all_reduce(world, Molecule(world.rank), lambda a, b: a + b).number
    first = mpi.reduce(world, str(world.rank), lambda a, b: a + b, world.size - 1)
    text = mpi.broadcast(world, "Hello" if world.rank == 1 else None, 1)
    every = mpi.all_gather(world, (world.rank, text))
    exchanged = mpi.all_to_all(world, [f"{world.rank}>{to}" for to in range(world.size)])
    part = mpi.scatter(world, [n * n for n in range(world.size)] if world.rank == 0 else None, 0)
    return total, first, every, exchanged, part, mpi.scan(world, world.rank + 1, max)


def groups():
    half = world.split(world.rank % 2, -world.rank)
    status = None
    if half.rank == 0 and half.size > 1:
        half.send(half.size - 1, 7, "deep")
    if half.size > 1 and half.rank == half.size - 1:
        status = half.probe(mpi.any_source, mpi.any_tag)
        status = (status.source, status.tag, half.recv(status.source, status.tag))
    half.barrier()
    return half.rank, half.size, mpi.all_reduce(half, world.rank, lambda a, b: a + b), status


tell("ring", ring())
tell("requests", requests())
tell("collectives", collectives())
tell("groups", groups())
