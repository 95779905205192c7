"""The report of a rank, as a model that checks it."""

from typing import Annotated

from pydantic import Field

from isthmus.base.latermodel import LaterModel

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]
Sizes = dict[int, Count]
Row = tuple[int, Count, Count, Sizes]
Range = tuple[Count, Count, Annotated[int, Field(gt=0)]]


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
