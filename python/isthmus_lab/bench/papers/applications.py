"""Hablot et al.'s comparison (Figures 5 to 7) with larger problems, and with a real application,
which they leave to future work."""

from pathlib import Path

from isthmus_lab.bench.app.layouts import ONE, QUARTER
from isthmus_lab.bench.limits import DIRECT
from isthmus_lab.bench.papers.hablot import PAPER
from isthmus_lab.bench.papers.readings import as_fast, gain, mean_over_native, only, repeated
from isthmus_lab.bench.papers.recipe import Claim, Measurement, Recipe

_BELOW = "below"  # the measurement on one site, and on a quarter of it
_LAB = ("--testbed=hablot16", "-n", "8", "--repetitions=1", "--no-tune")
_MPIS = ("--native=mpich", "--native=openmpi", *only(DIRECT, "native-*-default"))
_LAYOUTS = repeated("--layout", ("one-site", "split", "quarter-site"))
# BT and SP of this size take minutes for each execution on two cores.
_LARGE = ("--class=A", *repeated("--kernel", ("ep", "ft", "is", "mg", "cg", "lu")))
_LARGE_QUICK = ("--class=A", *repeated("--kernel", ("is", "mg", "cg")))

_MELT = (
    *("--native=openmpi", "--name=lammps.melt"),
    f"--program=openmpi=lmp -in {Path(__file__).with_name('melt.lammps')} -log none",
    *("--time=^Loop time of ([0-9.]+) on", "--require=^Total wall time"),
    *_LAYOUTS,
    *only(DIRECT, "native-*-default"),
)

# Each node has a tenth of a core, so that sixteen are four times as fast as four, like real nodes.
_SLOW = (
    *("--testbed=slow16", "-n", "16", "--native=mpich", *only(DIRECT)),
    *("--layout=split", "--layout=quarter-site", "--repetitions=1", "--no-tune"),
    *repeated("--kernel", ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")),
)

RECIPES = (
    Recipe(
        "hablot-class-a",
        PAPER,
        "Figures 5 to 7",
        "the same with class A, on 4 + 4 nodes",
        {
            "": Measurement(
                "app",
                (*_LAB, *_LARGE, *_MPIS, "--layout=split"),
                (*_LAB, *_LARGE_QUICK, *_MPIS, "--layout=split"),
            ),
            _BELOW: Measurement(
                "app",
                (*_LAB, *_LARGE, *_LAYOUTS, *only(DIRECT)),
                (*_LAB, *_LARGE_QUICK, *_LAYOUTS, *only(DIRECT)),
            ),
        },
        (
            Claim("kernels at most 1.02 times the best native MPI's time", None, as_fast),
            Claim("time over the best native MPI's, geometric mean", None, mean_over_native),
            *(Claim(f"{kernel.upper()}, split over one site (Figure 6)", None,
                    gain(DIRECT, kernel, ONE, _BELOW)) for kernel in ("is", "mg", "cg")),
        ),
        "The paper has class B. One execution each.",
    ),
    Recipe(
        "hablot-fig7",
        PAPER,
        "Figure 7",
        "8 + 8 nodes against 4 of one site, each with processors of its own, in slow motion",
        {
            "": Measurement(
                "app", (*_SLOW, "--class=A", "--timeout=1800"), (*_SLOW, "--class=W")
            )
        },
        (
            Claim("LU, split over a quarter (near 4)", 4, gain(DIRECT, "lu", QUARTER)),
            Claim("BT, split over a quarter (near 4)", 4, gain(DIRECT, "bt", QUARTER)),
            Claim("FT, split over a quarter", 3, gain(DIRECT, "ft", QUARTER), "", "at least"),
            Claim("SP, split over a quarter", 3, gain(DIRECT, "sp", QUARTER), "", "at least"),
            *(Claim(f"{kernel.upper()}, split over a quarter", None,
                    gain(DIRECT, kernel, QUARTER)) for kernel in ("ep", "cg", "is", "mg")),
        ),
        "Nodes have a tenth of a core, links and the wide area a tenth of the rate and ten times "
        "the delay. The paper has class B and processors of 2007: there is less to compute here "
        "for each byte that crosses.",
    ),
    Recipe(
        "hablot-applications",
        PAPER,
        "Section V",
        "a real application in the layouts of Figures 5 to 7: LAMMPS (future work there)",
        {"": Measurement("app", (*_LAB, *_MELT, "--repetitions=3"), (*_LAB, *_MELT))},
        (
            Claim("time over the best native MPI's, split", None, mean_over_native),
            Claim("split over one site (as Figure 6)", None, gain(DIRECT, "lammps", ONE)),
            Claim("split over a quarter (as Figure 7)", None, gain(DIRECT, "lammps", QUARTER)),
        ),
        "Debian's LAMMPS, a Lennard-Jones melt of 32,000 atoms for 100 steps on 4 + 4 nodes, which "
        "share the host's processors.",
    ),
)  # fmt: skip
