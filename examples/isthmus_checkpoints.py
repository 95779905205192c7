"""An iterative solver that goes on without clusters that fail. It finds the temperatures in a rod
between ice and boiling water, by Jacobi's method. Each rank has a part of the rod. Every 100 steps,
each rank keeps a copy of its part, and sends one to a partner in another cluster. When a cluster
fails, the others divide the rod anew, and go on from the last copies. The result is the same as
without a failure.

    export PYTHONPATH=$(isthmus config --includedir)
    isthmus run --survive -g grid.toml -n 8 python isthmus_checkpoints.py

For a trial, the cluster that you name ends in the step that you name:

    isthmus run --survive -g grid.toml -n 8 python isthmus_checkpoints.py west 250
"""

import os
import signal
import sys

import isthmus_survival as survival
from mpi4py import MPI

POINTS, STEPS, EVERY = 96, 1000, 100
ICE, WATER = 0.0, 100.0
CLUSTER = os.environ.get("ISTHMUS_CLUSTER", "")
FAILS_IN = int(sys.argv[2]) if sys.argv[1:2] == [CLUSTER] else -1


class Solver:
    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm  # the ranks that are left
        self.step = 0
        self.first, self.part = 1, [0.0]  # the number of the first point here, and temperatures
        self.restore_next = True
        # The last copies that all ranks have made, of this rank and its partner.
        self.saved_step = 0
        self.copies: list[tuple[int, list[float]]] = []

    def solve(self) -> None:
        while self.saved_step < STEPS:
            good, copies = 1, []
            try:
                copies = self.advance()
            except MPI.Exception:
                good = 0
                survival.revoke(self.comm)  # so that others do not wait for this rank
            try:
                good = survival.agree(self.comm, good)  # good everywhere, or nowhere
            except MPI.Exception:
                good = 0  # a rank has failed meanwhile: all ranks get this error
            if good:
                self.saved_step, self.copies = self.step, copies
            else:
                self.leave_the_failed()
            self.restore_next = not good

    def advance(self) -> list[tuple[int, list[float]]]:
        """Makes the next steps, and returns copies."""
        if self.restore_next:
            self.restore()
        while self.step < self.saved_step + EVERY:
            self.make_step()
            if self.step == FAILS_IN:
                os.kill(os.getpid(), signal.SIGKILL)
        return self.exchange_copies()

    def make_step(self) -> None:
        left = self.comm.rank - 1 if self.comm.rank > 0 else MPI.PROC_NULL
        right = self.comm.rank + 1 if self.comm.rank + 1 < self.comm.size else MPI.PROC_NULL
        before = self.comm.sendrecv(self.part[-1], right, source=left)
        after = self.comm.sendrecv(self.part[0], left, source=right)
        rod = [ICE if before is None else before, *self.part, WATER if after is None else after]
        self.part = [(one + other) / 2 for one, other in zip(rod, rod[2:], strict=False)]
        self.step += 1

    def exchange_copies(self) -> list[tuple[int, list[float]]]:
        mine = (self.first, self.part)
        rank, size = self.comm.rank, self.comm.size
        distance = distance_to_partner(self.comm.allgather(CLUSTER))
        partners = self.comm.sendrecv(
            mine, (rank + distance) % size, source=(rank - distance) % size
        )
        return [mine, partners]

    def restore(self) -> None:
        """Puts the rod together from all copies, and divides it among the ranks that are left."""
        rod = dict.fromkeys(range(1, POINTS + 1), 0.0) if self.saved_step == 0 else {}
        for copies in self.comm.allgather(self.copies):
            for first, part in copies:
                rod.update(enumerate(part, first))
        if len(rod) < POINTS:
            print("both copies of a part are lost", file=sys.stderr, flush=True)
            self.comm.Abort(1)
        rank, size = self.comm.rank, self.comm.size
        self.step = self.saved_step
        self.first = 1 + POINTS * rank // size
        self.part = [rod[i] for i in range(self.first, 1 + POINTS * (rank + 1) // size)]

    def leave_the_failed(self) -> None:
        smaller = survival.shrink(self.comm)
        if self.comm != MPI.COMM_WORLD:
            self.comm.Free()
        self.comm = smaller


def distance_to_partner(clusters: list[str]) -> int:
    """The distance in ranks to the partner: the least one that leads every rank to another
    cluster. If one cluster has more than half of the ranks, there is none."""
    size = len(clusters)
    for distance in range(1, size):
        if all(clusters[i] != clusters[(i + distance) % size] for i in range(size)):
            return distance
    return size // 2


def main() -> None:
    MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)  # errors are exceptions
    solver = Solver(MPI.COMM_WORLD)
    solver.solve()
    middle = POINTS // 2 - solver.first
    if 0 <= middle < len(solver.part):
        temperature, left = solver.part[middle], solver.comm.size
        print(f"{temperature:.12f} degrees in the middle; {left} ranks are left", flush=True)


main()
