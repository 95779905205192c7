"""The grid of a heterogeneous job of Slurm."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import allocation

JOB = {
    "SLURM_HET_SIZE": "3",
    "SLURM_NTASKS_HET_GROUP_0": "4",
    "SLURM_TASKS_PER_NODE_HET_GROUP_0": "2(x2)",
    "SLURM_TASKS_PER_NODE_HET_GROUP_1": "3(x2),1",
    "SLURM_TASKS_PER_NODE_HET_GROUP_2": "2",
}


def test_inside_of_a_job():
    assert not allocation.inside({"HOME": "/root"})
    assert allocation.inside({"PBS_JOBID": "12.pbs"})


@pytest.mark.parametrize("environment", [{}, {"SLURM_JOB_ID": "7"}, {"SLURM_HET_SIZE": "1"}])
def test_without_groups_there_is_none(environment):
    assert allocation.grid_of(environment) is None


def test_each_group_is_a_cluster():
    grid = allocation.grid_of(JOB)
    assert grid
    assert {name: (spec.launch, spec.slots) for name, spec in grid.cluster.items()} == {
        "group0": ("srun --het-group=0", 4),
        "group1": ("srun --het-group=1", 7),
        "group2": ("srun --het-group=2", 2),
    }
    pairs = [["group0", "group1"], ["group0", "group2"], ["group1", "group2"]]
    assert [(link.between, link.reach) for link in grid.link] == [(p, "direct") for p in pairs]


def test_more_groups_than_there_are():
    with pytest.raises(UsageError, match="SLURM_TASKS_PER_NODE_HET_GROUP_3 is ''"):
        allocation.grid_of(JOB | {"SLURM_HET_SIZE": "99999999999"})


@pytest.mark.parametrize("tasks", ["", "two", "2(x", "0"])
def test_tasks_that_nobody_understands(tasks):
    with pytest.raises(UsageError, match="SLURM_TASKS_PER_NODE_HET_GROUP_1"):
        allocation.grid_of(JOB | {"SLURM_TASKS_PER_NODE_HET_GROUP_1": tasks})
