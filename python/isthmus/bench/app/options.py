"""What is to be measured."""

from dataclasses import dataclass

CLASSES = ("S", "W", "A", "B")


@dataclass(frozen=True)
class Options:
    """Of the command line. Empty: all that there is, and `klass` empty: what a quick run takes for
    each kernel. `programs` are texts of --program; `time` and `require` are regular expressions of
    theirs. `limit` is how many seconds one execution may take."""

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

    @property
    def narrowed(self) -> bool:
        """Whether it is something else than what the limits are about."""
        chosen = self.kernels or self.klass or self.programs or self.ranks
        return bool(chosen or self.layouts or self.site or self.only or self.mpis)
