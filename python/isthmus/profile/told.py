"""The reports of ranks when they leave: each one text, in pieces (docs/control.md)."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isthmus.run.ports import refusal

if TYPE_CHECKING:
    from isthmus.profile.ranktold import RankTold

_MOST_TEXT = 64 << 20  # bytes of one rank; 4096 receivers with all sizes are some 2 MB


@dataclass
class Told:
    """The complete reports of ranks. `world` maps the numbers of the run's processes to their
    ranks; processes that joined later have their numbers as ranks."""

    world: Sequence[int] = ()
    ranks: dict[int, "RankTold"] = field(default_factory=dict)
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
            # Only runs with a profile need pydantic.
            from pydantic import ValidationError  # noqa: PLC0415

            from isthmus.profile.ranktold import RankTold  # noqa: PLC0415

            whole = "".join(self._pieces.pop(rank))
            with contextlib.suppress(ValidationError):  # then the rank is missing
                told = RankTold.model_validate_json(whole)
                if told.rank == rank:
                    self.ranks[rank] = told
        return {}
