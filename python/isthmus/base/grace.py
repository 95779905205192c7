"""The time that ranks have to end by themselves once a run must end.

The end of one cluster mostly ends the others as well. Ranks that hear of it end within a second.
A launcher that is killed meanwhile reports errors that hide the reason. Ranks that hear
nothing would stay forever, as when a scheduler has cancelled another cluster's part.
"""

from dataclasses import dataclass

from isthmus.base.endings import cluster_named, cluster_of_the_rank, ended_in_init
from isthmus.base.outcome import Outcome, Weight

_UNJOINED = 1.0  # seconds, if hardly any rank has heard of it
# A reason that outweighs the first may still come. Ranks wait for a second; within that their
# launcher can be told to end them, before it stumbles over their end (2026-11: mpirun 4.1 takes
# 2.0 s for either, prterun 0.5 s, mpiexec of MPICH and srun less than 0.1 s).
_SETTLING = 0.5
_HEEDED = 0.7
# Ranks wait for a second, and mpirun 4.1 takes two more.
_BY_ITSELF = 3.0
# For a launcher that has yet to report a dead rank: on a loaded host it is slow (2026-11).
_TELLING = 10.0
_ABORTING = 2.0


@dataclass(frozen=True)
class Grace:
    """`fixed` is the user's value, for each ending that the user did not ask for."""

    fixed: float | None = None

    def of(
        self, outcome: Outcome, cluster: str, *, joined: bool, orderly: bool, aborting: bool
    ) -> float:
        """Seconds from the first outcome until the cluster's ranks are ended. `joined`: some
        cluster has joined. `orderly`: the ranks that ended had called MPI_Finalize. `aborting`: a
        rank of this cluster has called MPI_Abort."""
        if outcome.weight == Weight.USER:
            return 0
        if self.fixed is not None:
            return self.fixed if joined else min(self.fixed, _UNJOINED)
        if not joined:
            own = ended_in_init(outcome.sentence) and _is_of(outcome, cluster)
            return _BY_ITSELF if own else _UNJOINED  # its launcher may say how it ended
        if cluster_of_the_rank(outcome.sentence) == cluster:
            return _TELLING
        if aborting or orderly or _is_of(outcome, cluster):
            return _BY_ITSELF
        return _SETTLING

    def of_launcher(
        self, outcome: Outcome, cluster: str, heard: float | None, *, aborting: bool
    ) -> float | None:
        """Seconds that the native launcher then has before SIGTERM. `heard`: the seconds since the
        ranks heard of it, if known. Returns None if the cluster's agent knows best. `aborting`: as
        above."""
        if heard is None or outcome.weight == Weight.USER:
            return None
        own = aborting or _is_of(outcome, cluster)
        return _ABORTING if own or heard > _HEEDED else 0


def _is_of(outcome: Outcome, cluster: str) -> bool:
    """Whether a rank of the cluster has failed, so that its launcher ends the others by itself."""
    return cluster_named(outcome.sentence) == cluster
