"""Ranks as people and maps write them: "0-3,8,10-20:2" (src/core/world/rank_list.hpp)."""

import re
from collections.abc import Iterable, Sequence

_RANGE = r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?"
MOST = 1 << 24


def parse(text: str, size: int = MOST, whose: str = "a run has at most") -> list[int]:
    """ValueError if it is not a list of ranks below `size`; its sentence continues behind the
    text."""
    ranks: list[int] = []
    for word in text.split(","):
        found = re.fullmatch(_RANGE, word)
        if not found:
            raise ValueError("is not a list of ranks such as '0-3,8' or '0-14:2'")
        first, last, stride = int(found[1]), int(found[2] or found[1]), int(found[3] or 1)
        if last < first:
            raise ValueError(f"counts down in '{word}'; write the smaller rank first")
        if stride < 1:
            raise ValueError(f"has a stride of 0 in '{word}'")
        if last >= size:
            raise ValueError(f"has rank {last}, but {whose} {size} rank{'s' * (size != 1)}")
        ranks += range(first, last + 1, stride)
    return ranks


def text(ranks: Sequence[int]) -> str:
    return ",".join(_runs(ranks))


def _runs(ranks: Sequence[int]) -> Iterable[str]:
    i = 0
    while i < len(ranks):
        end = i + 1
        stride = ranks[end] - ranks[i] if end < len(ranks) else 0
        while stride > 0 and end < len(ranks) and ranks[end] - ranks[end - 1] == stride:
            end += 1
        if stride != 1 and end - i < 3:  # two separate ranks are not shorter as a range
            end = i + 1
        one = end - i == 1
        yield f"{ranks[i]}" + ("" if one else f"-{ranks[end - 1]}" + f":{stride}" * (stride != 1))
        i = end
