"""A recipe for a figure or table of a paper: the benchmarks to run, and the numbers to read off
them beside the paper's."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from isthmus_lab.bench.app.results import AppResults
from isthmus_lab.bench.coll.results import CollResults
from isthmus_lab.bench.cost.results import CostResults
from isthmus_lab.bench.sim.results import SimResults
from isthmus_lab.measuring.results import Results
from isthmus_lab.measuring.samples import NotMeasuredError, Samples

ResultsT = TypeVar("ResultsT")
Kind = Literal["p2p", "coll", "app", "cost", "sim"]
RESULTS: dict[Kind, type[Samples[Any]] | type[SimResults]] = {
    "p2p": Results,
    "coll": CollResults,
    "app": AppResults,
    "cost": CostResults,
    "sim": SimResults,
}


@dataclass(frozen=True)
class Paper:
    """The names of its recipes begin with `key`."""

    key: str
    title: str


@dataclass(frozen=True)
class Measurement:
    """One run of `isthmus bench`: its kind, and the words behind that. `quick` has the words of the
    smallest run that shows the figure."""

    kind: Kind
    words: tuple[str, ...]
    quick: tuple[str, ...]

    @classmethod
    def shortened(cls, kind: Kind, words: Iterable[str], quick: Iterable[str]) -> "Measurement":
        """The smallest run has the same words and `quick`."""
        return cls(kind, (*words,), (*words, *quick))

    @property
    def draws(self) -> bool:
        """Whether the benchmark draws."""
        return self.kind != "cost"

    def command(self, quick: bool) -> tuple[str, ...]:
        return (self.kind, *(self.quick if quick else self.words))


@dataclass
class Measured:
    """The results of a recipe's measurements, by their names."""

    found: dict[str, Samples[Any] | SimResults] = field(default_factory=dict)

    def add(self, name: str, kind: Kind, data: Mapping[str, Any]) -> None:
        """Adds the --json of a benchmark. ValueError, KeyError, TypeError if it is malformed."""
        results = RESULTS[kind]()
        results.merge(dict(data))
        self.found[name] = results

    def p2p(self, name: str = "") -> Results:
        return self._of(name, Results)

    def coll(self, name: str = "") -> CollResults:
        return self._of(name, CollResults)

    def app(self, name: str = "") -> AppResults:
        return self._of(name, AppResults)

    def cost(self, name: str = "") -> CostResults:
        return self._of(name, CostResults)

    def sim(self, name: str = "") -> SimResults:
        return self._of(name, SimResults)

    def _of(self, name: str, kind: type[ResultsT]) -> ResultsT:
        results = self.found.get(name)
        if not isinstance(results, kind):
            raise NotMeasuredError("not measured")
        return results


@dataclass(frozen=True)
class Claim:
    """A number of the paper, in `unit` (empty for ratios), and its value here. `sense` says on
    which side of the paper's number a value is good; it is "" if the side means nothing, since the
    paper's machines were different. `paper` None: the paper has no number for it. `noise` is for
    differences of times: how far the value may be off, from one pass to another."""

    what: str
    paper: float | None
    here: Callable[[Measured], float]
    unit: str = ""
    sense: Literal["at least", "at most", ""] = ""
    noise: Callable[[Measured], float] | None = None

    @property
    def judged(self) -> bool:
        return self.paper is not None and bool(self.sense)

    def well(self, value: float, noise: float = 0.0) -> bool | None:
        """Returns None without a judgement: if there is none, or if the noise could turn it."""
        if self.paper is None or not self.sense:
            return None
        if self.noise is not None and (value <= 0 or abs(value - self.paper) < noise):
            return None
        return value >= self.paper if self.sense == "at least" else value <= self.paper


@dataclass(frozen=True)
class Recipe:
    """`figure` is its name in the paper, `about` its subject, `remark` the differences from
    there. `draw` draws what several measurements show together."""

    name: str
    paper: Paper
    figure: str
    about: str
    measurements: Mapping[str, Measurement]
    claims: tuple[Claim, ...]
    remark: str = ""
    draw: Callable[[Measured, Path], list[Path]] | None = None
