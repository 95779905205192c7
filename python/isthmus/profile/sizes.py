"""Classes of sizes in words."""

from collections.abc import Mapping

_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def class_text(size: int) -> str:
    """The class of a logarithm to base 2: "8-15 B". The upper end belongs to the next class from
    1024 bytes on: "64-128 KiB"."""
    if size < 0:
        return "0 B"
    unit, rest = divmod(size, 10)
    if unit >= len(_UNITS):
        return f"2^{size} B"
    low, high = 1 << rest, 2 << rest
    if not unit:
        return f"{low} B" if low == high - 1 else f"{low}-{high - 1} B"
    if high == 1024 and unit + 1 < len(_UNITS):
        return f"{low} {_UNITS[unit]}-1 {_UNITS[unit + 1]}"
    return f"{low}-{high} {_UNITS[unit]}"


def table_text(sizes: Mapping[int, int], most: int = 6) -> str:
    """As in Table II of Hablot et al.: "126479 x 8-15 B + 86944 x 128-256 KiB". If there are more
    than `most` sizes, the rarest share an entry."""
    shown = sorted(sizes, key=lambda size: -sizes[size])[:most]
    words = [f"{sizes[size]} x {class_text(size)}" for size in sorted(shown)]
    if rest := [size for size in sizes if size not in shown]:
        low, high = class_text(min(rest)), class_text(max(rest))
        words.append(f"{sum(sizes[size] for size in rest)} from {low} to {high}")
    return " + ".join(words)
