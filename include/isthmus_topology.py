"""The clusters that this program runs on, for mpi4py (docs/topology.md).

One file that needs nothing but mpi4py: put its folder (`isthmus config --includedir`) into
PYTHONPATH, or copy it. Without Isthmus it reports one cluster, the whole of MPI.COMM_WORLD.
Clusters are numbered in the order of their first ranks; ranks are those of MPI.COMM_WORLD.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from mpi4py import MPI


class Way(IntEnum):
    """The connection of two clusters."""

    LOCAL = 0  # both are the same one: its native MPI
    DIRECT = 1  # their processes reach each other
    GATEWAY = 2  # gateways forward between them


class Link(NamedTuple):
    way: Way
    latency: float  # one way, in seconds; 0: unknown
    rate: float  # bytes a second, each way; 0: unknown


class Cluster(NamedTuple):
    name: str  # in the grid file; empty without Isthmus
    ranks: Sequence[int]  # ascending; a range if they follow each other


class ChangeKind(IntEnum):
    """The changes of clusters while the program runs (docs/joining.md)."""

    JOINED = 0  # a spare one: MPI_Comm_spawn can start processes there from now on
    LEFT = 1  # a spare one: it cannot any more
    FAILED = 2  # its processes have failed, and the run goes on


class Change(NamedTuple):
    kind: ChangeKind
    cluster: str
    why: str  # a sentence


_library = ctypes.CDLL(None)  # all that the process has loaded, so also what Isthmus preloads
try:
    _several = _library.isthmus_topology_clusters() > 1
except AttributeError:
    _several = False


def clusters() -> list[Cluster]:
    """All of them."""
    if not _several:
        return [Cluster(os.environ.get("ISTHMUS_CLUSTER", ""), range(MPI.COMM_WORLD.size))]
    _library.isthmus_topology_cluster_name.restype = ctypes.c_char_p
    ranks: list[list[int]] = [[] for _ in range(_library.isthmus_topology_clusters())]
    for rank in range(MPI.COMM_WORLD.size):
        ranks[_library.isthmus_topology_cluster_of(rank)].append(rank)
    found: list[Cluster] = []
    for number, own in enumerate(ranks):
        name = _library.isthmus_topology_cluster_name(number).decode()
        block = range(own[0], own[-1] + 1)
        found.append(Cluster(name, block if len(block) == len(own) else tuple(own)))
    return found


def cluster_of(rank: int) -> int:
    """The number of the cluster that a rank is in."""
    if not 0 <= rank < MPI.COMM_WORLD.size:
        raise ValueError(f"MPI.COMM_WORLD has no rank {rank}")
    return int(_library.isthmus_topology_cluster_of(rank)) if _several else 0


def cluster() -> int:
    """The number of this process's cluster."""
    return cluster_of(MPI.COMM_WORLD.rank)


def link(a: int, b: int) -> Link:
    """The connection of two clusters, given by number."""
    latency, rate = ctypes.c_double(), ctypes.c_double()
    way = 0 if (a, b) == (0, 0) else -1
    if _several:
        way = _library.isthmus_topology_link(a, b, ctypes.byref(latency), ctypes.byref(rate))
    if way < 0:
        raise ValueError(f"{a} and {b} are not two clusters of this grid")
    return Link(Way(way), latency.value, rate.value)


def cluster_comm() -> MPI.Intracomm:
    """The ranks of this process's cluster; without Isthmus MPI.COMM_WORLD. Not to be freed."""
    if not _several:
        return MPI.COMM_WORLD
    return MPI.Comm.f2py(_library.isthmus_topology_cluster_comm_f())


def channels() -> dict[str, MPI.Intracomm]:
    """The communicators of the grid file's channels, by name and in its order. One is
    MPI.COMM_NULL if this process is not in the channel. Do not free them."""
    if not _several:
        return {}
    _library.isthmus_topology_channel_name.restype = ctypes.c_char_p
    return {
        _library.isthmus_topology_channel_name(number).decode(): MPI.Comm.f2py(
            _library.isthmus_topology_channel_comm_f(number)
        )
        for number in range(_library.isthmus_topology_channels())
    }


def changes(first: int = 0) -> list[Change]:
    """The changes of clusters that this process has heard of since it has started, from number
    `first` on."""
    try:
        number = int(_library.isthmus_topology_changes())
    except AttributeError:
        return []
    found: list[Change] = []
    for each in range(first, number):
        name, why = ctypes.c_char_p(), ctypes.c_char_p()
        kind = _library.isthmus_topology_change(each, ctypes.byref(name), ctypes.byref(why))
        texts = [(text.value or b"").decode(errors="replace") for text in (name, why)]
        found.append(Change(ChangeKind(kind), *texts))
    return found


def user_comm() -> list[MPI.Intracomm]:
    """MPICH/MadIII's MPI_USER_COMM: the cluster's, those of this process's channels, and
    MPI.COMM_WORLD. Its length is MPI_COMM_NUMBER."""
    if not _several:
        return [MPI.COMM_WORLD]
    own = [comm for comm in channels().values() if comm != MPI.COMM_NULL]
    return [cluster_comm(), *own, MPI.COMM_WORLD]
