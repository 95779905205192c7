"""As joins.c, for mpi4py: joins.py TURN..."""

import sys
import time
from pathlib import Path

from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parents[3] / "include"))
import isthmus_topology as topology


def has_joined(cluster: str) -> bool:
    kinds = {change.kind for change in topology.changes() if change.cluster == cluster}
    return topology.ChangeKind.JOINED in kinds


def check(comm: MPI.Intracomm, cluster: str) -> None:
    total = comm.allreduce(comm.rank)
    assert total == comm.size * (comm.size - 1) // 2
    if comm.rank == 0:
        print(f"{cluster}: {comm.size} ranks, sum {total}", flush=True)


def grow(comm: MPI.Intracomm, turns: list[str]) -> MPI.Intracomm:
    info = MPI.Info.Create({"cluster": turns[0]})
    words = ["-m", "mpi4py", __file__, "child", *turns]
    children = comm.Spawn(sys.executable, words, 2, info)
    return children.Merge(high=False)


turns = sys.argv[1:]
if turns[0] == "child":
    comm = MPI.Comm.Get_parent().Merge(high=True)
    check(comm, turns[1])
    turns = turns[2:]
else:
    comm = MPI.COMM_WORLD.Dup()
    if comm.rank == 0:
        print("up", flush=True)
while turns:
    while not comm.allreduce(has_joined(turns[0]), MPI.LAND):
        time.sleep(0.01)
    assert topology.changes(1000) == []
    comm = grow(comm, turns)
    check(comm, turns[0])
    turns = turns[1:]
