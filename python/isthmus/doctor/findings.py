"""The doctor's findings, and how they are printed."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from rich.console import Console

Level = Literal["ok", "warn", "fail"]
_WIDTH = 18  # of the longest name of a finding
_STYLES: dict[Level, str] = {"ok": "green", "warn": "yellow", "fail": "bold red"}


@dataclass(frozen=True)
class Finding:
    """`where` is a cluster, a link or this host; `remedy` (may be empty) may have several lines."""

    where: str
    what: str
    level: Level
    text: str
    remedy: str = ""


Say = Callable[[Finding], None]


def status(findings: Sequence[Finding]) -> int:
    return int(any(finding.level == "fail" for finding in findings))


def summary(findings: Sequence[Finding]) -> str:
    """The last line for people: "3 ok, 1 warning"."""
    names: dict[Level, tuple[str, str]] = {
        "ok": ("ok", "ok"),
        "warn": ("warning", "warnings"),
        "fail": ("failure", "failures"),
    }
    counts = {level: sum(f.level == level for f in findings) for level in names}
    return ", ".join(
        f"{counts[level]} {one if counts[level] == 1 else many}"
        for level, (one, many) in names.items()
        if counts[level]
    )


def print_json(findings: Sequence[Finding]) -> None:
    print(json.dumps({"findings": [vars(f) for f in findings], "ok": status(findings) == 0}))


def print_lines(findings: Sequence[Finding], out: Console, where: str | None = None) -> None:
    """One line for each, below the name of its subject unless that is still `where`. Remedies stand
    below their findings."""
    plain: dict[str, bool] = {"markup": False, "highlight": False, "soft_wrap": True}
    for finding in findings:
        if finding.where != where:
            where = finding.where
            out.print(where, style="bold", **plain)  # type: ignore[arg-type]
        first, *more = finding.text.split("\n")
        out.print(f"  {finding.level:<5}", style=_STYLES[finding.level], end="")
        out.print(f"{finding.what:<{_WIDTH}}  {first}", **plain)  # type: ignore[arg-type]
        for line in (*more, *finding.remedy.splitlines()):
            out.print(f"{'':9}{'':{_WIDTH}}{line}", **plain)  # type: ignore[arg-type]
