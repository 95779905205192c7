"""What a figure or table of a paper is had by: benchmarks that are run, and what is read off them
beside what the paper says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from isthmus.bench.app.results import AppResults
from isthmus.bench.coll.results import CollResults
from isthmus.measuring.results import Results
from isthmus.measuring.samples import NotMeasuredError, Samples

ResultsT = TypeVar("ResultsT")
Kind = Literal["p2p", "coll", "app"]
_RESULTS: dict[Kind, type[Samples[Any]]] = {"p2p": Results, "coll": CollResults, "app": AppResults}


@dataclass(frozen=True)
class Paper:
    """`key` begins the names of its recipes."""

    key: str
    title: str


@dataclass(frozen=True)
class Measurement:
    """One run of `isthmus bench`: its kind, and the words behind that; `quick` are those of the
    smallest run that shows the figure."""

    kind: Kind
    words: tuple[str, ...]
    quick: tuple[str, ...]

    def command(self, quick: bool) -> tuple[str, ...]:
        return (self.kind, *(self.quick if quick else self.words))


@dataclass
class Measured:
    """What the measurements of a recipe gave, by their names."""

    found: dict[str, Samples[Any]] = field(default_factory=dict)

    def add(self, name: str, kind: Kind, data: Mapping[str, Any]) -> None:
        """What a benchmark wrote with --json. ValueError, KeyError, TypeError for what is none."""
        results = _RESULTS[kind]()
        results.merge(dict(data))
        self.found[name] = results

    def p2p(self, name: str = "") -> Results:
        return self._of(name, Results)

    def coll(self, name: str = "") -> CollResults:
        return self._of(name, CollResults)

    def app(self, name: str = "") -> AppResults:
        return self._of(name, AppResults)

    def _of(self, name: str, kind: type[ResultsT]) -> ResultsT:
        results = self.found.get(name)
        if not isinstance(results, kind):
            raise NotMeasuredError("not measured")
        return results


@dataclass(frozen=True)
class Claim:
    """A number of the paper, in `unit` (empty for ratios), and what it is here. `sense` says on
    which side of the paper's number it is well; "" where that says nothing, since the paper's
    machines were others. `paper` None: the paper shows it as a curve only, or as work to be
    done."""

    what: str
    paper: float | None
    here: Callable[[Measured], float]
    unit: str = ""
    sense: Literal["at least", "at most", ""] = ""

    def well(self, value: float) -> bool | None:
        """None: there is nothing to say."""
        if self.paper is None or not self.sense:
            return None
        return value >= self.paper if self.sense == "at least" else value <= self.paper


@dataclass(frozen=True)
class Recipe:
    """`figure` is what the paper calls it, `about` what it shows, `remark` what is not as there."""

    name: str
    paper: Paper
    figure: str
    about: str
    measurements: Mapping[str, Measurement]
    claims: tuple[Claim, ...]
    remark: str = ""
