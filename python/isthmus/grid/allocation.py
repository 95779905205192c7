"""The batch job in which `isthmus run` itself runs.

Inside a heterogeneous job of Slurm, a run without a grid file has one cluster for each group
(component) of the job, with launch = "srun --het-group=N". Slurm describes the groups by variables
such as SLURM_NTASKS_HET_GROUP_0 (salloc(1), "HETEROGENEOUS JOBS"). Agents and gateways run where
`isthmus run` does.
"""

import re
from collections.abc import Mapping
from itertools import combinations

from isthmus.base.errors import UsageError
from isthmus.grid.grid import ClusterSpec, Grid, LinkSpec, two_halves

# The same as in daemon/host/host.cpp.
_JOBS = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "PE_HOSTFILE")
_GROUPS = "SLURM_HET_SIZE"
_TASKS = r"(\d+)(?:\(x(\d+)\))?"


def inside(environment: Mapping[str, str]) -> bool:
    """Whether native launchers here may start ranks on the hosts of a batch job."""
    return any(name in environment for name in _JOBS)


def without_file(environment: Mapping[str, str]) -> Grid:
    """The grid that `isthmus run` uses when no grid file is named."""
    return grid_of(environment) or two_halves()


def grid_of(environment: Mapping[str, str]) -> Grid | None:
    """The grid of the batch job around this process; returns None if that job has no groups."""
    groups = environment.get(_GROUPS, "")
    if not groups.isdecimal() or int(groups) < 2:
        return None
    clusters = {
        f"group{number}": ClusterSpec(
            launch=f"srun --het-group={number}", slots=_slots(environment, number)
        )
        for number in range(int(groups))
    }
    links = [LinkSpec(between=[a, b], reach="direct") for a, b in combinations(clusters, 2)]
    return Grid(cluster=clusters, link=links)


def _slots(environment: Mapping[str, str], group: int) -> int:
    """The tasks of a group: the number asked for, else the sum over its nodes."""
    asked = environment.get(f"SLURM_NTASKS_HET_GROUP_{group}", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    name = f"SLURM_TASKS_PER_NODE_HET_GROUP_{group}"
    told = environment.get(name, "")
    tasks = [re.fullmatch(_TASKS, word) for word in told.split(",")]
    total = sum(int(word[1]) * int(word[2] or 1) for word in tasks if word)
    if not all(tasks) or total == 0:
        raise UsageError(
            f"{_GROUPS} says that this is a heterogeneous job of Slurm, but {name} is '{told}', "
            "which is not a list of tasks such as '4(x2),1'",
            "Give a grid file with -g, or unset SLURM_HET_SIZE.",
        )
    return total
