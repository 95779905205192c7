"""`--trace FILE` and `--trace-size SIZE` of `isthmus run`."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.errors import UsageError
from isthmus.units import parse_size

RECORD = 64  # bytes
USUAL_RECORDS, MOST_RECORDS = 1 << 16, 1 << 22
OF_RANKS = "call,coll,match,comm"  # subsystems


@dataclass(frozen=True)
class TraceOptions:
    """`records` is how many events each rank keeps: a power of two."""

    file: Path
    records: int = USUAL_RECORDS


def traced(file: str | None, size: str | None) -> TraceOptions | None:
    """Of `--trace FILE` and `--trace-size SIZE`. UsageError, also where there is no such folder."""
    if file is None:
        if size is not None:
            raise UsageError("--trace-size is of --trace", "Name the file by --trace FILE.")
        return None
    path = Path(file)
    if trouble := _trouble(path):
        raise UsageError(f"--trace {file[:200]}: {trouble}", "Name a file, such as run.json.gz.")
    if size is None:
        return TraceOptions(path)
    try:
        records = parse_size(size) // RECORD
    except ValueError as error:
        raise UsageError(f"--trace-size {error}") from None
    if not 64 <= records <= MOST_RECORDS:
        raise UsageError(
            f"--trace-size {size}: it is from 4 KiB to 256 MiB, for each process",
            "An event takes 64 bytes; without it there is room for 65536.",
        )
    return TraceOptions(path, 1 << (records - 1).bit_length())


def _trouble(path: Path) -> str:
    """Why there can be no such file, as far as can be seen before it is made."""
    try:
        if path.is_dir():
            return "is a folder"
        return "" if path.parent.is_dir() else f"there is no folder {path.parent}"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()


def told_ranks(options: TraceOptions | None, own: str) -> dict[str, str]:
    """Of their environment. `own` is what the user has them trace anyway."""
    if options is None:
        return {}
    named = ",".join(filter(None, (own, OF_RANKS)))
    return {"ISTHMUS_TRACE": named, "ISTHMUS_TRACE_RECORDS": str(options.records)}
