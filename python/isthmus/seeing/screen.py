"""What `isthmus ps` and `isthmus top` print."""

import time
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from isthmus.seeing.runs import Run
from isthmus.seeing.sight import Rank, Sight, Traffic
from isthmus.units import format_bytes
from isthmus.whereabouts import ranks_text

_STATES = {
    "waiting": "in MPI, waiting for another cluster",
    "native": "in the native library",
    "computing": "computing, or in MPI within their cluster",
    "running": "running, not in MPI yet or native",
    "silent": "silent",
    "starting": "starting",
    "ended": "ended",
    "lost": "lost with their agent",
}


def runs_table(found: Sequence[Run]) -> Table:
    table = _table("run", "process", "since", "ranks", "clusters", "program")
    for run in found:
        about = run.about
        clusters = [str(c.get("name")) for c in about.get("clusters") or []]
        table.add_row(
            run.job,
            str(about.get("pid", "")),
            _clock(float(about.get("started") or 0)) if about else "",
            str(about.get("size", "")),
            ", ".join(clusters) if about else "does not answer: it is stopped",
            str(about.get("program", "")),
        )
    return table


def ranks_table(ranks: Iterable[Rank]) -> Table:
    table = _table("rank", "cluster", "host", "process", "state", "program")
    table.columns[0].justify = table.columns[3].justify = "right"
    for rank in ranks:
        pid = "?" if rank.pid is None else str(rank.pid)
        table.add_row(
            str(rank.rank), rank.cluster, rank.host or "?", pid, rank.state, rank.program or "?"
        )
    return table


def live(sight: Sight, *, room: int | None = None) -> RenderableType:
    """All of a look; of what ranks wait for, as much as `room` lines hold."""
    parts: list[RenderableType] = [_head(sight), "", _clusters(sight)]
    if sight.alone:
        parts += ["", "One cluster: a native job, in whose messages Isthmus has no part."]
    if sight.traffic:
        parts += ["", _traffic(sight)]
    waits = _waits(sight)
    if waits:
        used = 8 + len(sight.clusters) + len(sight.traffic)
        shown = waits if room is None else waits[: max(3, room - used)]
        parts += ["", "waiting:", *(Text("  " + line) for line in shown)]
        if len(shown) < len(waits):
            parts.append(f"  and {len(waits) - len(shown)} more; --where tells all")
    return Group(*parts)


def _head(sight: Sight) -> Text:
    runs = _length(sight.time - sight.started)
    return Text(
        f"{sight.job}  {sight.size} ranks  for {runs}  {sight.program}", overflow="ellipsis"
    )


def _clusters(sight: Sight) -> Table:
    table = _table("cluster", "host", "ranks", "joined", "what they do")
    for column in table.columns[2:4]:
        column.justify = "right"
    for cluster in sight.clusters:
        states = [rank.state for rank in sight.ranks if rank.cluster == cluster.name]
        counts = [(states.count(state), text) for state, text in _STATES.items()]
        doing = ", ".join(f"{count} {text}" for count, text in counts if count)
        table.add_row(cluster.name, cluster.host, str(cluster.size), str(cluster.joined), doing)
    return table


def _traffic(sight: Sight) -> Table:
    columns = ("rate", "round trip", "backlog", "lost", "streams", "messages", "bytes")
    table = _table("link", *columns, "")
    for column in table.columns[1 : 1 + len(columns)]:
        column.justify = "right"
    for one in sight.traffic:
        table.add_row(
            f"{one.source} -> {one.target}" + ("" if one.way == "link" else f", {one.way}"),
            _rate(one.rate),
            f"{1000 * one.rtt:.3g} ms" if one.rtt else "",
            _bytes(one.waiting),
            _lost(one),
            "" if one.streams is None else str(one.streams),
            str(one.messages),
            format_bytes(one.bytes),
            f"silent for {one.silence:.0f} s" if one.silence else "",
        )
    return table


def _lost(one: Traffic) -> str:
    text = _bytes(one.lost)
    return f"{text} (+{format_bytes(one.lost_now)})" if one.lost_now else text


def _waits(sight: Sight) -> list[str]:
    """Ranks that say the same share a line; who waits longest comes first."""
    alike: dict[str, list[Rank]] = {}
    for rank in sight.ranks:
        if rank.state == "waiting":
            alike.setdefault(rank.waits_for, []).append(rank)
    groups = [(max(r.seconds for r in ranks), text, ranks) for text, ranks in alike.items()]
    return [
        f"{ranks_text([r.rank for r in ranks])}: {text}, for {_length(longest)}"
        for longest, text, ranks in sorted(groups, key=lambda group: -group[0])
    ]


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def _rate(rate: float | None) -> str:
    return "" if rate is None else f"{format_bytes(rate)}/s"


def _bytes(count: int | None) -> str:
    return "" if count is None else format_bytes(count)


def _clock(since_1970: float) -> str:
    then = time.localtime(since_1970)
    today = time.strftime("%F", then) == time.strftime("%F")
    return time.strftime("%T" if today else "%F %T", then)


def _length(seconds: float) -> str:
    whole = max(0, int(seconds))
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
