"""isthmus_topology tells the clusters of the grid. ranks: 3"""

import importlib
import os
import sys
from pathlib import Path

from mpi4py import MPI

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "include"))
topology = importlib.import_module("isthmus_topology")

world = MPI.COMM_WORLD
clusters = topology.clusters()
assert [cluster.name for cluster in clusters] == ["east", "west"]
assert [rank for cluster in clusters for rank in cluster.ranks] == list(range(world.size))
assert clusters[topology.cluster()].name == os.environ["ISTHMUS_CLUSTER"]
assert [topology.cluster_of(rank) for rank in range(world.size)] == [0, 0, 1]
assert topology.link(0, 0).way is topology.Way.LOCAL
assert topology.link(0, 1).way in {topology.Way.DIRECT, topology.Way.GATEWAY}
own, whole = topology.user_comm()
assert whole == world
assert own.allgather(world.rank) == list(clusters[topology.cluster()].ranks)

# Then with the module that is installed in the program's own environment.
del sys.modules["isthmus_topology"], sys.path[0]
sys.path.insert(0, str(ROOT / "python"))
installed = importlib.import_module("isthmus.topology")
assert installed.clusters() == clusters
