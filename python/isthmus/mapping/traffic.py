"""The messages between ranks, from a profile or a table."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError, listing
from isthmus.base.ranklist import MOST
from isthmus.profile import model as profile

# In these, blocks differ from member to member: a member's bytes are spread over the others.
_SPREAD = ("alltoall", "scatter")
_COLUMNS = ("from", "to", "messages", "bytes")

Pair = tuple[int, int]


@dataclass(frozen=True)
class Volume:
    """Messages and bytes of both directions together."""

    messages: float = 0
    bytes: float = 0

    def __add__(self, other: "Volume") -> "Volume":
        return Volume(self.messages + other.messages, self.bytes + other.bytes)


@dataclass(frozen=True)
class Collective:
    """The calls of a collective on one communicator: operations, and the bytes that a member gave
    to all of them together."""

    members: tuple[int, ...]
    operations: float
    bytes: float
    spread: bool

    def pairs(self) -> Iterable[tuple[Pair, Volume]]:
        """Treats it as if each member exchanged with each other. Cutting off one member then costs
        the operations and bytes once, as it does in fact; where bytes are spread, the member's
        share."""
        n = len(self.members)
        share = 2 / n if self.spread else 1 / (n - 1)
        volume = Volume(self.operations / (n - 1), self.bytes * share)
        for pair in combinations(sorted(self.members), 2):
            yield pair, volume


@dataclass(frozen=True)
class Traffic:
    """`pairs` are pairs of ranks, the lower first."""

    size: int
    pairs: Mapping[Pair, Volume]
    collectives: Sequence[Collective] = ()
    missing: Sequence[int] = ()  # ranks whose messages are unknown

    def with_collectives(self, most: int) -> dict[Pair, Volume]:
        """Adds the collectives of communicators with at most `most` members to the pairs. Larger
        ones cross wherever their members are."""
        found = dict(self.pairs)
        for collective in self.collectives:
            if 1 < len(collective.members) <= most:
                for pair, volume in collective.pairs():
                    found[pair] = found.get(pair, Volume()) + volume
        return found


def load(path: Path) -> Traffic:
    """UsageError names the file, and the line or key."""
    try:
        text = path.read_text(encoding="utf-8-sig")  # as spreadsheets write it
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", _REMEDY) from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text", _REMEDY) from None
    return _of_profile(path) if text.lstrip().startswith("{") else _of_table(text, path)


_REMEDY = (
    "Give a file of `isthmus run --profile FILE`, or CSV: lines under a header "
    f"'{','.join(_COLUMNS)}', or a square of bytes from each rank to each."
)


def _of_profile(path: Path) -> Traffic:
    found = profile.read(path, _REMEDY)
    try:
        size = int(found["size"])
        if size > MOST:
            raise ValueError(f"a run has at most {MOST} ranks, but this one has {size}")
        rows = [row[:4] for key in ("pairs", "windows") for row in found.get(key) or []]
        members = [
            tuple(
                rank for first, last, step in comm["ranks"] for rank in range(first, last + 1, step)
            )
            for comm in found.get("communicators") or []
        ]
        missing = [int(rank) for rank in found.get("missing") or []]
        collectives = [
            _collective(row, members[row["communicator"]], frozenset(missing))
            for row in found.get("collectives") or []
            if row["communicator"] is not None and len(members[row["communicator"]]) > 1
        ]
        pairs = _summed((_whole(row) for row in rows if row[1] != -1), size)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is not a complete profile: {_said(error)}", _REMEDY) from None
    return Traffic(size, pairs, collectives, missing)


def _said(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


def _collective(
    row: Mapping[str, Any], members: tuple[int, ...], missing: frozenset[int]
) -> Collective:
    n = max(1, len(members) - len(missing.intersection(members)))
    return Collective(
        members,
        operations=row["entered"] / n,
        bytes=row["bytes"] / n,
        spread=any(word in row["function"].lower() for word in _SPREAD),
    )


def _of_table(text: str, path: Path) -> Traffic:
    rows = [
        (number, [word.strip() for word in row])
        for number, row in enumerate(csv.reader(text.splitlines()), 1)
        if any(word.strip() for word in row) and not row[0].lstrip().startswith("#")
    ]
    if not rows:
        raise UsageError(f"{path}: the file is empty", _REMEDY)
    if not _is_number(rows[0][1][0]):
        return _of_edges(rows, path)
    size = len(rows)
    found = []
    for source, (number, words) in enumerate(rows):
        if len(words) != size:
            raise UsageError(
                f"{path}:{number}: the row has {len(words)} columns, but there are {size} rows",
                _REMEDY,
            )
        for target, word in enumerate(words):
            if amount := _amount(word, path, number):
                found.append((source, target, 1.0, amount))
    return Traffic(size, _summed(found, size))


def _of_edges(rows: list[tuple[int, list[str]]], path: Path) -> Traffic:
    line, header = rows[0]
    names = [word.lower() for word in header]
    if unknown := [name for name in names if name not in _COLUMNS]:
        raise UsageError(
            f"{path}:{line}: '{unknown[0]}' is not a column; columns are {listing(_COLUMNS)}",
            _REMEDY,
        )
    if not {"from", "to"} <= {*names}:
        raise UsageError(f"{path}:{line}: the columns 'from' and 'to' are needed", _REMEDY)
    found = []
    for number, words in rows[1:]:
        if len(words) != len(names):
            raise UsageError(
                f"{path}:{number}: the row has {len(words)} columns, the header has {len(names)}",
                _REMEDY,
            )
        values = dict(zip(names, (_amount(word, path, number) for word in words), strict=True))
        for end in (values["from"], values["to"]):
            if end != int(end) or end >= MOST:
                raise UsageError(
                    f"{path}:{number}: {end:.15g} is not a rank",
                    f"Ranks are whole numbers; a run has at most {MOST}.",
                )
        found.append(
            (
                int(values["from"]),
                int(values["to"]),
                values.get("messages", 1.0),
                values.get("bytes", 0.0),
            )
        )
    size = max((max(a, b) for a, b, _, _ in found), default=-1) + 1
    if not size:
        raise UsageError(f"{path}: the file has no ranks", _REMEDY)
    return Traffic(size, _summed(found, size))


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _amount(word: str, path: Path, number: int) -> float:
    if not _is_number(word) or not 0 <= float(word) < 1e18:
        raise UsageError(f"{path}:{number}: '{word}' is not an amount", _REMEDY)
    return float(word)


def _whole(row: Sequence[Any]) -> tuple[int, int, float, float]:
    source, target, messages, size = row
    return int(source), int(target), float(messages), float(size)


def _summed(rows: Iterable[tuple[int, int, float, float]], size: int) -> dict[Pair, Volume]:
    found: dict[Pair, Volume] = {}
    for source, target, messages, amount in rows:
        if not (0 <= source < size and 0 <= target < size):
            raise ValueError(f"rank {max(source, target)} is not one of {size}")
        if source != target:
            pair = (min(source, target), max(source, target))
            found[pair] = found.get(pair, Volume()) + Volume(messages, amount)
    return found
