"""Testbeds with changes, in which collectives are measured too."""

from collections.abc import Sequence
from fnmatch import fnmatch

from isthmus.base.errors import UsageError

PLAIN, LOSSY, UNEQUAL, UNDELAYED = "", "0.05 % loss", "12 + 4 nodes", "no delay"

# Changes for `isthmus lab run --set`.
_VARIANTS = {
    "matsuda": {
        PLAIN: [],
        LOSSY: ["wan.loss=0.05%"],
        UNEQUAL: ["site.a.nodes=12", "site.b.nodes=4"],
        UNDELAYED: ["wan.delay=none"],
    }
}
_QUICK = (PLAIN, LOSSY)


def of_ranks(variant: str, ranks: int) -> str:
    """The variant's name if this number of ranks is one of several."""
    return ", ".join(filter(None, (variant, f"{ranks} ranks")))


def ranks_of(variant: str) -> tuple[str, int] | None:
    """The inverse, or None for another name."""
    before, _, last = variant.rpartition(", ")
    number = last.removesuffix(" ranks")
    return (before, int(number)) if number != last and number.isdigit() else None


def of_testbed(testbed: str, quick: bool, wanted: Sequence[str]) -> list[tuple[str, list[str]]]:
    """The labs of a testbed: the name of each variant, and options of `isthmus lab run`. `wanted`
    are patterns; without them all variants, or those of a quick run."""
    known = _VARIANTS.get(testbed, {PLAIN: []})
    names = [name for name in known if not quick or name in _QUICK]
    if wanted:
        called = {name: name or "plain" for name in known}
        names = [n for n in known if any(fnmatch(called[n], pattern) for pattern in wanted)]
        if not names:
            raise UsageError(
                f"--variant {' '.join(wanted)}: {testbed} has no such variant; variants are "
                + ", ".join(f"'{name}'" for name in called.values())
            )
    return [(name, [word for key in known[name] for word in ("--set", key)]) for name in names]
