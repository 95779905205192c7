"""`--trace FILE` and `--trace-size SIZE` of `isthmus run`."""

from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import UsageError
from isthmus.base.units import parse_size

RECORD = 64  # bytes
USUAL_RECORDS, MOST_RECORDS = 1 << 16, 1 << 22
OF_RANKS = "call,coll,match,comm"  # subsystems


@dataclass(frozen=True)
class TraceOptions:
    """`records` is how many events each rank keeps: a power of two."""

    file: Path
    records: int = USUAL_RECORDS


def traced(file: str | None, size: str | None) -> TraceOptions | None:
    """Reads `--trace FILE` and `--trace-size SIZE`. UsageError, also if the folder does not
    exist."""
    if file is None:
        if size is not None:
            raise UsageError("--trace-size needs --trace", "Name a file by --trace FILE.")
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
            f"--trace-size {size}: it must be from 4 KiB to 256 MiB, for each process",
            "An event takes 64 bytes; by default there is room for 65536.",
        )
    return TraceOptions(path, 1 << (records - 1).bit_length())


def _trouble(path: Path) -> str:
    """Why there can be no such file, as far as that is visible before it is made."""
    try:
        if path.is_dir():
            return "is a folder"
        return "" if path.parent.is_dir() else f"the folder {path.parent} does not exist"
    except (OSError, ValueError) as error:
        return (getattr(error, "strerror", None) or str(error)).lower()


def told_ranks(options: TraceOptions | None, own: str) -> dict[str, str]:
    """Variables for the ranks. `own` is what the user lets them trace anyway."""
    if options is None:
        return {}
    named = ",".join(filter(None, (own, OF_RANKS)))
    return {"ISTHMUS_TRACE": named, "ISTHMUS_TRACE_RECORDS": str(options.records)}
