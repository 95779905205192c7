"""Runs that go on without clusters that fail: which clusters may (docs/surviving.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from isthmus.base.errors import UsageError
from isthmus.grid.grid import ClusterSpec, Grid


@dataclass(frozen=True)
class Survival:
    """`may_leave` names the clusters that may fail. The run ends when fewer than `least` clusters
    would be left."""

    may_leave: frozenset[str]
    least: int = 1
    everyone: bool = False  # clusters that come later may fail, too

    def extended(self, name: str, spec: ClusterSpec) -> "Survival":
        """The same with a cluster that has come later."""
        may = {name} if self.everyone or spec.may_leave else set()
        return replace(self, may_leave=self.may_leave - {name} | may)


def of_run(
    grid: Grid,
    names: Sequence[str],
    *,
    survive: bool,
    least: int | None,
    spares: Sequence[str] = (),
    alone: bool = True,
) -> Survival | None:
    """For a run over these clusters, with the options of its command line. It is None if no
    cluster may fail. `alone`: no cluster can join a single one. UsageError if the options
    contradict each other or the run."""
    leaving = {
        name
        for name in [*names, *spares]
        if survive or grid.survive or grid.cluster[name].may_leave
    }
    if least is not None and not leaving:
        raise UsageError(
            f"--min-clusters {least} is for runs that go on without clusters that fail",
            "Add --survive, or 'survive = true' to the grid file.",
        )
    if least is not None and least > len(names):
        raise UsageError(
            f"--min-clusters is {least}, but the run has {len(names)} "
            f"cluster{'s' if len(names) > 1 else ''}",
            "Give a smaller number.",
        )
    if not leaving or (alone and len(names) + len(spares) == 1):
        return None
    return Survival(frozenset(leaving), least or 1, everyone=survive or grid.survive)
