"""LAMMPS on one cluster, and on two over a long distance: the picture of the README.

Usage: python bench/two_sites.py [--passes 5] [--json FILE] [--keep] SVG

Needs root, for the processor shares of testbed `slow16`, and LAMMPS (Debian's `lammps`). Each pass
starts two labs: LAMMPS runs on four nodes of one cluster, then on four nodes of each of two
clusters. `--json` keeps the times; with --keep it only draws those that FILE has.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

INPUT = Path(__file__).with_suffix(".lammps")
ONE, SPLIT = "half-site", "split"  # of eight ranks
OURS = "isthmus-direct"
DEFAULT, EAGER = "native-*-default", "native-*-eager"
_COMMAND = (
    *(sys.executable, "-m", "isthmus", "bench", "app", "--testbed=slow16", "-n", "8"),
    *("--native=openmpi", "--name=melt", "--repetitions=1", "--no-tune"),
    f"--program=openmpi=lmp -in {INPUT} -log none",
    *("--time=^Loop time of ([0-9.]+) on", "--require=^Total wall time"),
)

Times = dict[str, list[float]]


@dataclass(frozen=True)
class Bar:
    key: str  # the layout, and the contestant without its version
    lines: tuple[str, str]
    ours: bool = False


BARS = (
    Bar(f"{ONE} default", ("one cluster, 4 nodes", "Open MPI")),
    Bar(f"{SPLIT} default", ("two clusters, 4 + 4 nodes", "Open MPI over the WAN")),
    Bar(f"{SPLIT} eager", ("two clusters, 4 + 4 nodes", "Open MPI, tuned by hand")),
    Bar(f"{SPLIT} {OURS}", ("two clusters, 4 + 4 nodes", "Isthmus, encrypted"), ours=True),
)


def measured(layout: str, contestants: tuple[str, ...], times: Times) -> None:
    """Adds one time of each contestant."""
    with tempfile.TemporaryDirectory(prefix="two-sites-") as folder:
        file = Path(folder) / "times.json"
        only = [f"--only={name}" for name in contestants]
        subprocess.run(
            [*_COMMAND, f"--layout={layout}", *only, f"--json={file}"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        for run in json.loads(file.read_text())["runs"]:
            contestant = run["contestant"]
            kind = contestant if contestant == OURS else contestant.rpartition("-")[2]
            times.setdefault(f"{layout} {kind}", []).append(run["seconds"])


def svg(times: Times) -> str:
    """The medians as bars. The text scales with the picture, and follows a dark page."""
    medians = {bar.key: statistics.median(times[bar.key]) for bar in BARS}
    scale = 300 / max(medians.values())
    rows = []
    for i, bar in enumerate(BARS):
        top = 16 + 54 * i
        width = scale * medians[bar.key]
        kind = "ours" if bar.ours else "bar"
        first, second = map(escape, bar.lines)
        rows += [
            f'  <text class="end" x="206" y="{top + 16}">{first}</text>',
            f'  <text class="end small" x="206" y="{top + 32}">{second}</text>',
            f'  <rect class="{kind}" x="216" y="{top}" width="{width:.1f}" height="38" rx="3"/>',
            f'  <text x="{224 + width:.1f}" y="{top + 24}">{medians[bar.key]:.1f} s</text>',
        ]
    said = "; ".join(f"{', '.join(bar.lines)}: {medians[bar.key]:.1f} s" for bar in BARS)
    return _PAGE.format(said=escape(said), height=54 * len(BARS) + 12, rows="\n".join(rows))


_PAGE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 580 {height}" role="img" \
aria-labelledby="title desc">
  <title id="title">LAMMPS on one and on two clusters</title>
  <desc id="desc">{said}</desc>
  <style>
    svg {{ color: #1f2933; font: 14px system-ui, "DejaVu Sans", sans-serif; }}
    text {{ fill: currentColor; }}
    .small {{ font-size: 12px; }}
    .end {{ text-anchor: end; }}
    .bar {{ fill: currentColor; fill-opacity: 0.35; }}
    .ours {{ fill: #0f766e; }}
    @media (prefers-color-scheme: dark) {{
      svg {{ color: #e4e7eb; }}
      .ours {{ fill: #5eead4; }}
    }}
  </style>
{rows}
</svg>
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("svg", type=Path)
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--keep", action="store_true")
    given = parser.parse_args()
    times: Times = json.loads(given.json.read_text()) if given.keep else {}
    for _ in range(0 if given.keep else given.passes):
        measured(ONE, (DEFAULT,), times)
        measured(SPLIT, (DEFAULT, EAGER, OURS), times)
        if given.json:
            given.json.write_text(json.dumps(times, indent=1) + "\n")
    given.svg.write_text(svg(times))


if __name__ == "__main__":
    main()
