"""The options of `isthmus bench app`."""

from dataclasses import dataclass

CLASSES = ("S", "W", "A", "B")


@dataclass(frozen=True)
class Options:
    """Options of the command line. Empty: everything; `klass` empty: the class of a quick run for
    each kernel. `programs` are texts of --program; `time` and `require` are their regular
    expressions. One execution may take `limit` seconds."""

    quick: bool = False
    kernels: tuple[str, ...] = ()
    klass: str = ""
    programs: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    time: str | None = None
    require: str | None = None
    ranks: tuple[int, ...] = ()
    layouts: tuple[str, ...] = ()
    site: str | None = None
    repetitions: int = 5
    limit: float = 600.0
    mpis: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    tune: bool = True
    traffic: bool = False

    @property
    def narrowed(self) -> bool:
        """Whether it differs from what the limits cover."""
        chosen = self.kernels or self.klass or self.programs or self.ranks
        return bool(chosen or self.layouts or self.site or self.only or self.mpis)
