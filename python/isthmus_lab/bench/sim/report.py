"""Tables of simulations."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from isthmus_lab.bench.sim.results import SimRun


def tables(runs: Sequence[SimRun], out: Console) -> None:
    """One table for each number of clusters and ranks."""
    for clusters, ranks in dict.fromkeys((run.clusters, run.ranks) for run in runs):
        table = Table(title=f"{clusters} clusters, {ranks:,} ranks", title_justify="left")
        table.add_column("")
        table.add_column("algorithm")
        for column in ("ms", "over bound", "estimate, ms", "over chosen", "messages"):
            table.add_column(column, justify="right")
        table.add_column("WAN link, B (messages)", justify="right")
        table.add_column("busiest link", justify="right")
        for run in runs:
            if (run.clusters, run.ranks) == (clusters, ranks):
                table.add_row(*_row(run, runs))
        out.print(table)
    out.print(
        "Simulated times last until the last rank is done. The bound is the least time of a "
        "member's link and of a link of the wide area, with its delay. 'Over chosen' compares "
        "with the algorithm that is chosen."
    )


def chosen(run: SimRun, runs: Sequence[SimRun]) -> SimRun | None:
    """The run of the chosen algorithm for the same task."""
    for one in runs:
        same = (one.what, one.clusters, one.ranks) == (run.what, run.clusters, run.ranks)
        if same and not one.asked:
            return one
    return None


def _row(run: SimRun, runs: Sequence[SimRun]) -> list[str]:
    choice = chosen(run, runs)
    share = f"{run.seconds / choice.seconds:.2f}" if choice is not None and run.asked else "-"
    most = max(run.wan, key=lambda link: link["bytes"] + link["messages"], default=None)
    return [
        run.what,
        run.asked or f"{run.algorithm} (chosen)",
        f"{1e3 * run.seconds:.2f}",
        f"{run.over_bound:.2f}",
        f"{1e3 * run.estimate:.2f}",
        share,
        f"{run.messages:,}",
        f"{most['bytes']:,} ({most['messages']:,})" if most else "-",
        f"{100 * run.busiest.load:.0f} % {run.busiest.way}",
    ]
