"""A benchmark writes tables to standard output, and files."""

import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from isthmus.base import tables
from isthmus.base.errors import UsageError
from isthmus.webpage import frame
from isthmus_lab.bench import chart, common, page, report
from isthmus_lab.bench.verdicts import Verdict, refused
from isthmus_lab.measuring.samples import Samples

Draw = Callable[[Path], list[Path]]  # draws into a folder; returns the paths


@dataclass(frozen=True)
class Output:
    """Made before the measurement: UsageError if the figures could not be drawn after it."""

    json: Path | None
    html: Path | None
    figures: Path | None = None
    began: float = field(default_factory=time.monotonic)
    sheet: page.Sheet = field(
        default_factory=lambda: page.Sheet(highlight=False, width=tables.console().width)
    )

    def __post_init__(self) -> None:
        if self.figures is not None:
            chart.pyplot()  # complains if it is missing

    def finish(
        self,
        name: str,
        results: Samples[Any],
        verdicts: Sequence[Verdict] = (),
        draw: Draw | None = None,
    ) -> int:
        """Shows limits and failures, and writes the files; returns the exit status."""
        verdicts = refused(verdicts, results.busy)
        report.verdict_table(verdicts, self.sheet)
        report.machines(results, self.sheet)
        report.failures(results, self.sheet)
        self.sheet.print(f"It took {time.monotonic() - self.began:.0f} s.")
        limits = [verdict.as_json() for verdict in verdicts]
        self.write(name, {**results.as_json(), "limits": limits}, verdicts, draw)
        well = results.runs and not results.failed and all(verdict.well for verdict in verdicts)
        return 0 if well else 1

    def write(
        self,
        name: str,
        data: Mapping[str, Any],
        verdicts: Sequence[Verdict] = (),
        draw: Draw | None = None,
    ) -> None:
        """The files that are asked for: samples, figures, and a page of what was printed."""
        known, kept = common.facts(name), [*self.sheet.kept]
        if self.json is not None:
            write_json(self.json, {**known, **data})
        with tempfile.TemporaryDirectory(prefix="isthmus-bench-") as spare:
            drawn = self._drawn(draw, Path(spare))
            if self.html is None:
                return
            pictures = None if drawn is None else page.vectors(drawn)
            title = next((str(one.title) for one in kept if not isinstance(one, str)), name)
            text = page.document(title, known, kept, verdicts, pictures)
        frame.write(text, self.html)

    def _drawn(self, draw: Draw | None, spare: Path) -> list[Path] | None:
        """Draws the figures, into `spare` if only the page shows them. None without matplotlib."""
        if draw is None or not (self.figures or self.html):
            return []
        if not chart.can_draw():
            return None
        drawn = draw(self.figures or spare)
        for path in drawn if self.figures else ():
            self.sheet.print(f"drawn: {path}")
        return drawn


def write_json(path: Path, data: Any) -> None:
    try:
        path.write_text(json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise UsageError(f"--json {path}: cannot write: {error.strerror}") from None
