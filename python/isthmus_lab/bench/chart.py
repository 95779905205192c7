"""A picture of curves over one pair of axes, by matplotlib, which may be missing."""

import re
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError


def can_draw() -> bool:
    return find_spec("matplotlib") is not None


def pyplot() -> Any:
    """matplotlib's, without a screen; UsageError if it is missing."""
    try:
        import matplotlib  # noqa: PLC0415  (only used here, and slow to load)

        matplotlib.use("Agg")
        from matplotlib import pyplot as found  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "--figures needs matplotlib, which is not installed here",
            "Run: pip install matplotlib. Or use --json, which has every sample.",
        ) from None
    return found


def folder_for(folder: Path) -> None:
    """Makes the folder if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--figures {folder}: cannot make the folder: {error.strerror}") from None


def save(plot: Any, figure: Any, path: Path) -> list[Path]:
    """As PNG and SVG; closes the figure."""
    files = [path.with_name(f"{path.name}.{kind}") for kind in ("png", "svg")]
    for file in files:
        figure.savefig(file, dpi=150, bbox_inches="tight")
    plot.close(figure)
    return files


def slug(text: str) -> str:
    """The text as a part of a file's name."""
    return re.sub(r"[^\w.]+", "-", text)


class Chart:
    """The vertical axis is logarithmic, or begins with 0."""

    def __init__(self, title: str, vertical: str, *, log: bool = False) -> None:
        self._plot = pyplot()
        self._figure, self.axes = self._plot.subplots(figsize=(8, 5))
        self._log = log
        self.axes.set_title(title)
        self.axes.set_ylabel(vertical)

    def curve(self, points: Iterable[tuple[float, float]], label: str, **style: Any) -> None:
        """Nothing without points."""
        if found := list(points):
            self.axes.plot(*zip(*found, strict=True), label=label, **style)

    def over(self, what: str, marks: Iterable[float], names: Iterable[str] | None = None) -> None:
        """The horizontal axis, and its marks."""
        self.axes.set_xlabel(what)
        self.axes.set_xticks(list(marks), names and list(names))
        self.axes.minorticks_off()

    def save(self, path: Path) -> list[Path]:
        """As PNG and SVG; nothing without curves."""
        if not self.axes.lines:
            self._plot.close(self._figure)
            return []
        if self._log:
            self.axes.set_yscale("log")
        else:
            self.axes.set_ylim(bottom=0)
        self.axes.grid(visible=True, alpha=0.3)
        self.axes.legend(fontsize="small")
        return save(self._plot, self._figure, path)
