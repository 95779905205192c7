"""The file of a profile (docs/profile.md), read once into types."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from isthmus.base import ranklist
from isthmus.base.errors import UsageError
from isthmus.base.latermodel import LaterModel
from isthmus.profile.ranktold import Collective, Count, Files, Members, Seconds, Sizes
from isthmus.run.whereabouts import ranks_text

FORMAT, VERSION = "isthmus-profile", 1

Pair = tuple[Count, Annotated[int, Field(ge=-1)], Count, Count, Sizes]


class Cluster(LaterModel):
    name: str
    slots: int | None
    ranks: Count
    world: str = ""  # its first ranks, as rank maps write them

    @field_validator("world")
    @classmethod
    def _are_ranks(cls, text: str) -> str:
        if text:
            ranklist.parse(text)
        return text


class Figures(LaterModel):
    """Seconds and bytes a second."""

    rtt: float | None = None
    rate: float | None = None


class Link(Figures):
    between: tuple[Count, Count]
    measured: Figures = Field(default_factory=Figures)
    memory: bool = False


class Wires(LaterModel):
    clusters: list[Cluster]
    links: list[Link]


class Rank(LaterModel):
    rank: Count
    cluster: Count
    host: str
    seconds: Seconds
    mpi: Seconds
    wan: Seconds
    calls: dict[str, tuple[Seconds, Seconds]]
    lost: Count = 0


class Communicator(Members):
    clusters: Count

    def members(self) -> list[int]:
        return [rank for first, last, step in self.ranks for rank in range(first, last + 1, step)]


class FilesOfRank(Files):
    rank: Count


class Profile(LaterModel):
    format: Literal["isthmus-profile"] = "isthmus-profile"
    version: int = VERSION
    program: list[list[str]]
    command: list[str]
    job: str
    status: int
    seconds: Seconds
    size: Count
    missing: list[int]
    grid: Wires
    ranks: list[Rank]
    pairs: list[Pair]
    communicators: list[Communicator]
    collectives: list[Collective]
    windows: list[Pair]
    files: list[FilesOfRank]

    def cluster_of(self) -> dict[int, int]:
        """The clusters by world rank, also of ranks that have not reported, if the file gives
        it."""
        began = {
            rank: index
            for index, cluster in enumerate(self.grid.clusters)
            if self.missing and cluster.world
            for rank in ranklist.parse(cluster.world)
        }
        return began | {rank.rank: rank.cluster for rank in self.ranks}

    def operations(self, call: Collective) -> float:
        """The number of times that the members that have reported did it."""
        told = {rank.rank for rank in self.ranks}
        if call.communicator is not None:
            told.intersection_update(self.communicators[call.communicator].members())
        return call.entered / max(1, len(told))

    def lacks(self) -> str:
        """The start of a sentence about ranks that have not reported; empty if all have."""
        who = ranks_text(self.missing)
        return (
            f"{who} {'has' if len(self.missing) == 1 else 'have'} not reported"
            if self.missing
            else ""
        )


_REMEDY = "`isthmus run --profile FILE` writes profiles."


def load(path: Path) -> Profile:
    """UsageError with a sentence."""
    try:
        profile = Profile.model_validate(read(path))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{path}: '{where}' is wrong: {first['msg']}", _REMEDY) from None
    for what in _missing_in(profile):
        raise UsageError(f"{path} is not a complete profile: {what}", _REMEDY)
    return profile


def _missing_in(profile: Profile) -> Iterator[str]:
    """Parts that others name but that are missing."""
    clusters, told = len(profile.grid.clusters), {rank.rank for rank in profile.ranks}
    for rank, cluster in profile.cluster_of().items():
        if rank >= profile.size:
            yield f"rank {rank} is not one of {profile.size}"
        if cluster >= clusters:
            yield f"rank {rank} is in cluster {cluster}, but there are only {clusters}"
    for link in profile.grid.links:
        if max(link.between) >= clusters:
            yield f"a link joins cluster {max(link.between)}, but there are only {clusters}"
    for source, target, *_ in (*profile.pairs, *profile.windows):
        if source not in told:
            yield f"rank {source} has sent messages, but has not reported"
        if target >= profile.size:
            yield f"rank {target} is not one of {profile.size}"
    for each in profile.collectives:
        if each.communicator is not None and each.communicator >= len(profile.communicators):
            yield f"there is no communicator {each.communicator}"


def read(path: Path, remedy: str = _REMEDY) -> dict[str, Any]:
    """The JSON of a profile of this version. UsageError names the file."""
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}", remedy) from None
    except ValueError:
        raise UsageError(f"{path} is not a profile (not JSON)", remedy) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise UsageError(f"{path} is not a profile", remedy)
    if found.get("version") != VERSION:
        raise UsageError(
            f"{path} is a profile of version {found.get('version')}, but this Isthmus reads "
            f"version {VERSION}",
            "Read it with the Isthmus that wrote it, or write it again.",
        )
    if found.get("ranks") == []:
        raise UsageError(
            f"{path} has no data from any rank: all ended without MPI_Finalize, or were killed",
            "Profile a run that reaches its end.",
        )
    return found
