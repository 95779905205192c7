"""The figures of whole programs that a release must reach, on the testbeds for them."""

from isthmus_lab.bench.app.layouts import HALF, ONE, SPLIT
from isthmus_lab.bench.app.play import QUICK_RANKS
from isthmus_lab.bench.app.programs import KERNELS, quick_name
from isthmus_lab.bench.app.results import AppResults, Cell
from isthmus_lab.bench.app.roster import DIRECT
from isthmus_lab.bench.limits import PLAIN
from isthmus_lab.bench.verdicts import Figure, Limit

TESTBED, DELAY = "hablot16", 5.8e-3  # seconds, one way

# Number of times that the longest chain of messages of a kernel crosses the wide area in a quick
# run; an exchange crosses once.
_CROSSINGS = {
    "ep": 1,  # the allreduce
    "is": 10 * 3,  # allreduce, alltoall, alltoallv
    "cg": 15 * (25 * 4 + 3),  # a step: transposition, column, two products; products besides
    "mg": 4 * 15 + 2,  # a cycle: the faces of four levels, most of them thrice
    "ft": 1 + 6 * 2,  # alltoall; the sum besides
    "lu": 50 * 3,  # a step: the wave there and back, layers
    "bt": 60 * 3,  # a step: lines there and back, layers
    "sp": 100 * 3,  # likewise
}
_EP = 0.98  # of one site's speed
# Bytes that cross each way, where they matter, and the rate for them.
_BYTES = {"ft": 7 * (1 << 20)}
_RATE = 941e6 / 8  # bytes per second of TCP payload

# The time of a split run over the time of one site, or of half of the ranks there, with crossings.
# The latter is looser: ranks of a lab share cores, which more of them keep busier.
_SLACK = {ONE: 1.25, HALF: 1.5}


def _over_best(kernel: str) -> Figure[AppResults]:
    """Our best time, over any MPI, over that of the best native one; without encryption, like
    native MPIs, if that was measured."""

    def figure(results: AppResults) -> tuple[float, str]:
        cell = Cell(quick_name(kernel), QUICK_RANKS, SPLIT)
        ours = [key for key in results.labels if key.startswith(DIRECT)]
        plain = [key for key in ours if key.startswith(PLAIN)]
        natives = [key for key in results.labels if key.startswith("native-")]
        mine, by = results.best_of(plain or ours, cell)
        best, whose = results.best_of(natives, cell)
        return mine / best, f"{results.labels[by]} over {results.labels[whose]}"

    return figure


def _over_crossings(kernel: str, layout: str) -> Figure[AppResults]:
    """The split time over that of one site plus the least time of crossing."""

    def figure(results: AppResults) -> tuple[float, str]:
        name = quick_name(kernel)
        crossing = DELAY * _CROSSINGS[kernel] + _BYTES.get(kernel, 0) / _RATE
        split = results.best(DIRECT, Cell(name, QUICK_RANKS, SPLIT))
        other = results.best(DIRECT, Cell(name, QUICK_RANKS, layout))
        return split / (other + crossing), f"{split:.3g} s over {other:.3g} + {crossing:.3g} s"

    return figure


def _speed(results: AppResults) -> tuple[float, str]:
    return results.gain(DIRECT, quick_name("ep"), QUICK_RANKS, ONE), ""


def _limits() -> list[Limit[AppResults]]:
    made = [Limit(TESTBED, "EP: speed of split over one site", "at least", _EP, _speed)]
    for kernel in KERNELS:
        name = kernel.upper()
        for layout, most in _SLACK.items():
            figure = _over_crossings(kernel, layout)
            what = f"{name}: split over {layout} and its crossings"
            made.append(Limit(TESTBED, what, "at most", most, figure))
        best = _over_best(kernel)
        made.append(Limit(TESTBED, f"{name}: split over the best native", "at most", 1.02, best))
    return made


LIMITS = _limits()


def of_testbed(testbed: str) -> list[Limit[AppResults]]:
    return [limit for limit in LIMITS if limit.testbed == testbed]
