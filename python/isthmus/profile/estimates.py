"""The times of collectives by the formulas that choose their algorithms: `isthmusd estimate`
(docs/collectives.md)."""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from isthmus.base.errors import RunError
from isthmus.install import find_isthmusd

# A thousand communicators with a thousand sizes each take some seconds.
_PATIENCE = 120
# A latency has to be more than nothing.
_LEAST_LATENCY = 1e-7


@dataclass(frozen=True)
class Problem:
    """`bytes` in the sense of src/coll/engine/algorithm.hpp. `homes` are the clusters of its ranks,
    in their order. Between two clusters: seconds both ways, and bytes a second."""

    kind: str
    bytes: int
    homes: tuple[int, ...]
    rtt: float
    rate: float

    def line(self) -> str:
        layout = ",".join(f"{home}x{len(list(run))}" for home, run in groupby(self.homes))
        latency = max(self.rtt / 2, _LEAST_LATENCY)
        return (
            f"{self.kind} {self.bytes} {layout} "
            f"wan-latency={latency * 1e6:.9f}us,wan-rate={self.rate * 8 / 1e3:.9f}K"
        )


def seconds(problems: Iterable[Problem]) -> dict[Problem, float]:
    asked = list(dict.fromkeys(problems))
    if not asked:
        return {}
    lines = "".join(problem.line() + "\n" for problem in asked)
    command = [str(find_isthmusd()), "estimate"]
    try:
        done = subprocess.run(
            command, input=lines, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(f"{' '.join(command)} failed: {error}", _REMEDY) from None
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != len(asked):
        said = done.stderr.strip() or f"it ended with status {done.returncode}"
        raise RunError(f"{' '.join(command)} failed: {said}", _REMEDY)
    return {
        problem: float(answer.split()[1]) for problem, answer in zip(asked, answers, strict=True)
    }


_REMEDY = "Reinstall Isthmus: this command and isthmusd must have one version."
