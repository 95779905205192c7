"""Rates and times as people write them in a grid file ("10 Gbit/s", "1.2 GB/s", "12 ms"), and other
figures as they are shown."""

import re

_NUMBER = r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z/]+)\s*"
_PREFIX = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_TIME = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}


def parse_rate(text: str) -> int:
    """Bits per second. Raises ValueError with a sentence fragment."""
    found = re.fullmatch(_NUMBER, text)
    unit = re.fullmatch(r"([kKMGT]?)(bit/s|bps|B/s)", found[2]) if found else None
    if (found and unit and float(found[1]) == 0) or _is_negative(text):
        raise ValueError(f"must be more than 0; it is '{text}'")
    if not found or not unit:
        raise ValueError(f"must be a rate such as '10 Gbit/s' or '1.2 GB/s'; it is '{text}'")
    bits = 8 if unit[2] == "B/s" else 1
    return max(1, round(float(found[1]) * _PREFIX[unit[1]] * bits))


def _is_negative(text: str) -> bool:
    """Whether it is a quantity except for its sign."""
    return text.lstrip().startswith("-") and bool(re.fullmatch(_NUMBER, text.lstrip()[1:]))


def parse_time(text: str) -> float:
    """Seconds. Raises ValueError with a sentence fragment."""
    found = re.fullmatch(_NUMBER, text)
    if _is_negative(text):
        raise ValueError(f"must not be negative; it is '{text}'")
    if not found or found[2] not in _TIME:
        raise ValueError(f"must be a time such as '12 ms', '80 us' or '0.1 s'; it is '{text}'")
    return float(found[1]) * _TIME[found[2]]


def version_line(text: object) -> str:
    """The name of an MPI library in the answer of MPI_Get_library_version, which is a page long for
    MPICH: "MPICH Version: 4.0.2". Empty without an answer."""
    lines = str(text or "").strip().splitlines()
    words = lines[0].split(":", 1) if lines else [""]
    return ": ".join(word.strip() for word in words).split(", package", 1)[0]


def format_time(seconds: float) -> str:
    """Whole seconds, as `parse_time` reads them: "30 s", "10 min", "2 h"."""
    whole = max(1, round(seconds))
    for size, unit in ((3600, "h"), (60, "min")):
        if whole % size == 0:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def format_bytes(count: float) -> str:
    """Three or four digits and a decimal unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.4g} {unit}"
        count /= 1000
    return f"{count:.4g} TB"


def parse_size(text: str) -> int:
    """Bytes: "500 kB", "16 MB", "2 MiB". Raises ValueError with a sentence fragment."""
    found = re.fullmatch(_NUMBER, text)
    unit = re.fullmatch(r"([kKMGT]?)(i?)B", found[2]) if found else None
    if not found or not unit or (unit[2] and not unit[1]):
        raise ValueError(f"must be a size such as '500 kB' or '16 MB'; it is '{text}'")
    step = 1024 ** "_kMGT".index(unit[1].replace("K", "k") or "_") if unit[2] else _PREFIX[unit[1]]
    return round(float(found[1]) * step)


def format_rate(rate: float) -> str:
    """As `parse_rate` reads it."""
    for limit, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate >= limit:
            return f"{rate / limit:g} {unit}"
    return f"{rate:g} bit/s"


def length(seconds: float) -> str:
    """A long time in one or two units."""
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
