"""The tables of the page."""

from collections.abc import Iterator

from isthmus.base.units import format_bytes
from isthmus.profile import report, summary
from isthmus.profile.model import Profile, Rank
from isthmus.webpage.markup import Html, bar, table

_MOST_CALLS = 12


def times(profile: Profile) -> Html:
    """The parts of the ranks' time."""
    heads = [
        "ranks",
        "",
        _key("work", "outside MPI"),
        _key("mpi", "MPI, within the cluster"),
        _key("wan", "waiting for other clusters"),
    ]
    return table("Time between MPI_Init and MPI_Finalize, averages", heads, _times(profile))


def _key(kind: str, text: str) -> Html:
    return Html(f'<span class="key {kind}" aria-hidden="true"></span>{text}')


def _times(profile: Profile) -> Iterator[tuple[object, ...]]:
    yield "all", *_shares(profile.ranks)
    if len(profile.grid.clusters) > 1:
        for index, cluster in enumerate(profile.grid.clusters):
            if members := [rank for rank in profile.ranks if rank.cluster == index]:
                yield cluster.name, *_shares(members)
    worst = max(profile.ranks, key=lambda rank: rank.wan)
    if worst.wan and len(profile.ranks) > 1:
        yield f"rank {worst.rank}, the longest wait", *_shares([worst])


def _shares(ranks: list[Rank]) -> Iterator[object]:
    n = len(ranks)
    whole = sum(rank.seconds for rank in ranks) / n
    mpi = min(whole, sum(rank.mpi for rank in ranks) / n)
    wan = min(mpi, sum(rank.wan for rank in ranks) / n)
    parts = [("work", whole - mpi), ("mpi", mpi - wan), ("wan", wan)]
    yield bar(parts, whole)
    for _, part in parts:
        yield f"{part:.3f} s ({_share(part, whole)})"


def calls(profile: Profile) -> Html:
    """The calls that waited longest for other clusters."""
    n = len(profile.ranks)
    whole = sum(rank.seconds for rank in profile.ranks) / n
    found = summary.calls(profile)
    heads = ["call", "waiting for other clusters", "share", "all its time", "share"]
    rows = [
        (
            call.function,
            f"{call.wan:.3f} s",
            _share(call.wan, whole),
            f"{call.mpi:.3f} s",
            _share(call.mpi, whole),
        )
        for call in found[:_MOST_CALLS]
    ]
    return table("Calls of an average rank", heads, rows)


def traffic(profile: Profile) -> Html:
    """Messages and operations on windows by clusters."""
    rows = [*profile.pairs, *profile.windows]
    total = summary.of_rows(rows)
    names = [cluster.name for cluster in profile.grid.clusters]
    found = summary.by_clusters(profile, rows)
    lines: list[tuple[object, ...]] = [
        (
            f"{names[a]} to {names[b]}" if a != b else f"within {names[a]}",
            part.messages,
            _share(part.messages, total.messages),
            format_bytes(part.bytes),
            _share(part.bytes, total.bytes),
        )
        for (a, b), part in sorted(found.items(), key=lambda item: (item[0][0] == item[0][1], item))
    ]
    if lost := sum(rank.lost for rank in profile.ranks):
        lines.append(("to receivers beyond the limits of the profile", lost, "", "", ""))
    heads = ["clusters", "messages", "share", "bytes", "share"]
    return table("Messages and operations on windows, by clusters", heads, lines)


def collectives(profile: Profile) -> Html:
    rows = [
        (
            f"{each.function}{report.members(each)}",
            f"{each.operations:.6g}",
            format_bytes(each.given.bytes),
            f"{each.seconds:.3f} s",
        )
        for each in summary.collectives(profile)
    ]
    heads = ["collective", "operations", "bytes", "time per rank"]
    return table("Collectives", heads, rows)


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""
