"""The options of `isthmus bench coll`."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Options of the command line. Empty: everything. `variant` is the testbed's, inside a lab."""

    quick: bool = False
    repetitions: int = 10
    passes: int = 2
    n: int | None = None
    mpis: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    collectives: tuple[str, ...] = ()
    sizes: tuple[int, ...] = ()
    algorithms: tuple[str, ...] = ()
    interleaved: bool = False
    tune: bool = True
    equally: bool = False
    variants: tuple[str, ...] = ()
    variant: str = ""
    traffic: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether it is less than everything."""
        return bool(self.only or self.collectives or self.sizes or self.variants)
