"""The batch jobs of a run whose parts come from queues (docs/queues.md)."""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from isthmus.run.arrival import Arrival


class Batch(Protocol):
    """Clusters are named as in the grid file."""

    async def agent(self, cluster: str) -> "Arrival":
        """Another agent inside the cluster's batch job. RunError if none comes."""

    async def until_here(self, cluster: str, limit: float | None) -> None:
        """Returns when its batch job has connected. RunError if it never will, or has not after
        `limit` seconds, or if the user allows no more."""

    async def why_gone(self, cluster: str) -> str:
        """The scheduler's words for a job that will not run any more; else an empty text."""

    async def leave(self, cluster: str, why: str) -> None:
        """It has failed, and the run goes on. Ends what is left of its batch job."""

    def let_go(self, clusters: Collection[str]) -> None:
        """These may go on without this launcher. Their batch jobs are not ended from now on."""
