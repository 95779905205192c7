"""The reports of ranks when they leave: each one text, in pieces (docs/control.md)."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import Field, ValidationError

from isthmus.latermodel import LaterModel
from isthmus.ports import refusal

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Sizes = dict[int, Count]
Row = tuple[int, Count, Count, Sizes]
Range = tuple[Count, Count, Annotated[int, Field(gt=0)]]

_MOST_TEXT = 64 << 20  # bytes of one rank; 4096 receivers with all sizes are some 2 MB


class Members(LaterModel):
    size: Count
    ranks: list[Range]


class Collective(LaterModel):
    function: str
    communicator: int | None
    entered: Count
    bytes: Count
    sizes: Sizes
    seconds: Seconds


class Files(LaterModel):
    read: Count
    written: Count
    calls: Count


class RankTold(LaterModel):
    """The report as src/mpi/profile/telling.cpp writes it."""

    rank: Count
    cluster: str
    host: str
    seconds: Seconds
    mpi: Seconds
    wan: Seconds
    calls: dict[str, tuple[Seconds, Seconds]]
    pairs: list[Row]
    windows: list[Row]
    communicators: list[Members]
    collectives: list[Collective]
    files: Files | None = None


@dataclass
class Told:
    """The complete reports of ranks. `world` maps the numbers of the run's processes to their
    ranks; processes that joined later have their numbers as ranks."""

    world: Sequence[int] = ()
    ranks: dict[int, RankTold] = field(default_factory=dict)
    _pieces: dict[int, list[str]] = field(default_factory=dict)

    def hear(self, node: int, request: Mapping[str, Any]) -> dict[str, Any]:
        """Takes a piece from a process, and returns the answer."""
        rank = self.world[node] if 0 <= node < len(self.world) else node
        text = request.get("text")
        pieces = self._pieces.setdefault(rank, [])
        pieces.append(text if isinstance(text, str) else "")
        if sum(map(len, pieces)) > _MOST_TEXT:
            self._pieces[rank] = []
            return refusal("other", "the profile of this rank is too long")
        if request.get("last") is True:
            whole = "".join(self._pieces.pop(rank))
            with contextlib.suppress(ValidationError):  # then the rank is missing
                told = RankTold.model_validate_json(whole)
                if told.rank == rank:
                    self.ranks[rank] = told
        return {}
