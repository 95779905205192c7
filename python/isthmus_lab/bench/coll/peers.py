"""Native MPIs for comparison: with default settings, and with the algorithms that do best over a
long, fast wide area."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from isthmus_lab.bench.contestants import tunings
from isthmus_lab.bench.mpis import Mpi


@dataclass(frozen=True)
class Setting:
    """`collectives` None: all. A quick run includes the settings with `best`."""

    name: str
    environment: Mapping[str, str]
    collectives: frozenset[str] | None = None
    best: bool = False


def settings(mpi: Mpi) -> list[Setting]:
    made = [Setting("default", {}, best=True)]
    eager = tunings(mpi)["eager"]
    if mpi.family == "openmpi":
        return made + [_open_mpi(one, eager) for one in _OPEN_MPI]
    return made + [_mpich(one, eager) for one in (_OLD_MPICH if _is_old(mpi) else _MPICH)]


@dataclass(frozen=True)
class _Forced:
    """`algorithms` by collective; `more` are further variables."""

    name: str
    algorithms: Mapping[str, str]
    more: Mapping[str, str] = field(default_factory=dict)
    best: bool = False


# Numbers of coll/tuned's algorithms, which are the same in 4.1 and 5.0:
#   bcast 3 pipeline, 9 scatter-ring-allgather; allreduce 4 ring, 6 Rabenseifner; reduce 3 pipeline,
#   7 Rabenseifner; allgather 3 recursive doubling, 4 ring; allgatherv 3 ring; alltoall 1 linear;
#   gather 1 linear; scatter 3 linear with non-blocking sends; reduce_scatter 2 recursive halving,
#   3 ring; reduce_scatter_block 3 recursive halving; barrier 4 Bruck.
_OPEN_MPI = (
    _Forced(
        "forced",
        {
            "bcast": "3", "allreduce": "6", "reduce": "3", "allgather": "3", "allgatherv": "3",
            "alltoall": "1", "alltoallv": "1", "gather": "1", "scatter": "3",
            "reduce_scatter": "2", "reduce_scatter_block": "3", "barrier": "4",
        },
        {
            "coll_tuned_bcast_algorithm_segmentsize": "16384",
            "coll_tuned_reduce_algorithm_segmentsize": "16384",
        },
        best=True,
    ),
    _Forced(
        "forced-ring",
        {"bcast": "9", "allreduce": "4", "reduce": "7", "allgather": "4", "reduce_scatter": "3"},
    ),
    _Forced(
        "forced-64k",
        {"bcast": "3", "reduce": "3"},
        {
            "coll_tuned_bcast_algorithm_segmentsize": "65536",
            "coll_tuned_reduce_algorithm_segmentsize": "65536",
        },
    ),
)  # fmt: skip

# Before 4.2, only MPICH's non-blocking bcast can cut the tree into segments.
_TREE = {"TREE_TYPE": "kary", "TREE_KVAL": "1", "TREE_PIPELINE_CHUNK_SIZE": "16384"}
_CHAIN = {f"MPIR_CVAR_BCAST_{name}": value for name, value in _TREE.items()}
_OLD_CHAIN = {f"MPIR_CVAR_IBCAST_{name}": value for name, value in _TREE.items()}
_MPICH_ALL = {
    "allreduce": "reduce_scatter_allgather", "reduce": "reduce_scatter_gather",
    "allgather": "ring", "alltoall": "scattered", "reduce_scatter": "recursive_halving",
    "reduce_scatter_block": "recursive_halving",
}  # fmt: skip
_MPICH_OTHERS = {
    "bcast": "scatter_ring_allgather", "allreduce": "recursive_doubling", "allgather": "brucks",
    "alltoall": "pairwise", "reduce": "binomial", "reduce_scatter": "pairwise",
    "reduce_scatter_block": "pairwise",
}  # fmt: skip
_MPICH = (
    _Forced("forced", {"bcast": "pipelined_tree", **_MPICH_ALL}, _CHAIN, best=True),
    _Forced("forced-2", _MPICH_OTHERS),
)
_OLD_MPICH = (
    _Forced(
        "forced",
        {"bcast": "nb", **_MPICH_ALL},
        {**_OLD_CHAIN, "MPIR_CVAR_IBCAST_INTRA_ALGORITHM": "tsp_tree"},
        best=True,
    ),
    _Forced("forced-2", _MPICH_OTHERS),
)


def _open_mpi(forced: _Forced, eager: Mapping[str, str]) -> Setting:
    environment = {**eager, "OMPI_MCA_coll_tuned_use_dynamic_rules": "1"}
    for collective, number in forced.algorithms.items():
        environment[f"OMPI_MCA_coll_tuned_{collective}_algorithm"] = number
    environment |= {f"OMPI_MCA_{name}": value for name, value in forced.more.items()}
    return Setting(forced.name, environment, frozenset(forced.algorithms), forced.best)


def _mpich(forced: _Forced, eager: Mapping[str, str]) -> Setting:
    environment = {**eager, **forced.more}
    for collective, name in forced.algorithms.items():
        environment[f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM"] = name
    return Setting(forced.name, environment, frozenset(forced.algorithms), forced.best)


def _is_old(mpi: Mpi) -> bool:
    major, minor = (int(number) for number in mpi.key.removeprefix("mpich").split("."))
    return (major, minor) < (4, 2)
