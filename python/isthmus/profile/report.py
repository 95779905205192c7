"""The output of `isthmus profile show`."""

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from isthmus.base.units import format_bytes
from isthmus.profile import summary
from isthmus.profile.model import Profile
from isthmus.profile.sizes import table_text
from isthmus.profile.summary import CollectiveSum, Sum

_MOST_CALLS = 12


def head(profile: Profile) -> str:
    program = " : ".join(" ".join(words) for words in profile.program)
    clusters = ", ".join(f"{each.name} {each.ranks}" for each in profile.grid.clusters)
    ranks = f"{profile.size} rank{'s' if profile.size != 1 else ''}"
    return f"{program}\n{ranks} ({clusters}), {profile.seconds:.3f} s in MPI's world"


def show(profile: Profile, console: Console) -> None:
    print_ = console.print
    print_(head(profile), highlight=False)
    if lacks := profile.lacks():
        print_(f"Incomplete: {lacks}, so their messages are missing here.", highlight=False)
    print_()
    print_(_table_2(profile))
    print_(_crossing(profile))
    print_(_times(profile))


def _table_2(profile: Profile) -> Table:
    """Type of communication, size and number of messages (Table II of Hablot et al.)."""
    table = _table("Messages of the program")
    for name in ("communication", "number and size"):
        table.add_column(name, overflow="fold")
    for name in ("bytes", "time per rank"):
        table.add_column(name, justify="right", no_wrap=True)
    messages = summary.of_rows(profile.pairs)
    _add_sum(table, "point to point", messages)
    for each in summary.collectives(profile):
        table.add_row(
            f"{each.function}{members(each)}: {_times_text(each.operations)}",
            table_text(each.given.sizes),
            format_bytes(each.given.bytes),
            f"{each.seconds:.3g} s",
        )
    _add_sum(table, "windows", summary.of_rows(profile.windows))
    if profile.files:
        read = sum(rank.read for rank in profile.files)
        written = sum(rank.written for rank in profile.files)
        words = f"read {format_bytes(read)}, written {format_bytes(written)}"
        calls = sum(rank.calls for rank in profile.files)
        calls_text = f"{calls} call{'s' if calls != 1 else ''}"
        table.add_row("files", f"{calls_text}: {words}", format_bytes(read + written), "")
    return table


def members(each: CollectiveSum) -> str:
    """The text about a collective's communicator, after its name."""
    ranks = f" of {each.size} rank{'s' if each.size != 1 else ''}" if each.size else ""
    return ranks + (f", {each.clusters} clusters" if each.clusters > 1 else "")


def _times_text(operations: float) -> str:
    return "once" if operations == 1 else f"{operations:.6g} times"


def _add_sum(table: Table, name: str, total: Sum) -> None:
    if total.messages:
        table.add_row(name, table_text(total.sizes), format_bytes(total.bytes), "")


def _crossing(profile: Profile) -> Table:
    names = [cluster.name for cluster in profile.grid.clusters]
    table = _table("Messages and operations on windows, by clusters")
    table.add_column("from -> to")
    for name in ("messages", "share", "bytes", "share"):
        table.add_column(name, justify="right")
    rows = [*profile.pairs, *profile.windows]
    total = summary.of_rows(rows)
    for (a, b), part in sorted(
        summary.by_clusters(profile, rows).items(),
        key=lambda item: (item[0][0] == item[0][1], item),
    ):
        table.add_row(
            f"{names[a]} -> {names[b]}" if a != b else f"within {names[a]}",
            str(part.messages),
            _share(part.messages, total.messages),
            format_bytes(part.bytes),
            _share(part.bytes, total.bytes),
        )
    if lost := sum(rank.lost for rank in profile.ranks):
        table.add_row("to receivers beyond the limits of the profile", str(lost), "", "", "")
    return table


def _times(profile: Profile) -> Table:
    table = _table("Time in MPI, average over ranks")
    table.add_column("call")
    for name in ("seconds", "share", "waiting for other clusters", "share"):
        table.add_column(name, justify="right")
    n = max(1, len(profile.ranks))
    whole = sum(rank.seconds for rank in profile.ranks) / n
    mpi = sum(rank.mpi for rank in profile.ranks) / n
    wan = sum(rank.wan for rank in profile.ranks) / n
    _add_time(table, "MPI, all calls", mpi, wan, whole)
    shown = summary.calls(profile)
    for call in shown[:_MOST_CALLS]:
        _add_time(table, f"  {call.function}", call.mpi, call.wan, whole)
    if profile.ranks:
        worst = max(profile.ranks, key=lambda rank: rank.wan)
        if worst.wan:
            _add_time(
                table, f"the longest wait: rank {worst.rank}", worst.mpi, worst.wan, worst.seconds
            )
    return table


def _add_time(table: Table, name: str, mpi: float, wan: float, whole: float) -> None:
    table.add_row(name, f"{mpi:.3f}", _share(mpi, whole), f"{wan:.3f}", _share(wan, whole))


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold")


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


def sentences(lines: Iterable[str], console: Console) -> None:
    for line in lines:
        console.print(line, highlight=False)
