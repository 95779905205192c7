"""The output of `--dry-run` and `--stats`."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from isthmus.base import ranklist
from isthmus.grid.routes import GatewayLink
from isthmus.place import legs
from isthmus.place.placement import Block
from isthmus.place.plan import Plan
from isthmus.run.stats import Stats


def _ranks(block: Block) -> str:
    return ("rank " if block.size == 1 else "ranks ") + ranklist.text(block.world_ranks)


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def dry_run(plan: Plan, commands: Sequence[Sequence[str]]) -> Iterable[str]:
    """The plan, a line for each step."""
    yield f"{_count(plan.size, 'rank')} on {_count(len(plan.clusters), 'cluster')}"
    for agent, command in zip(plan.agents, commands, strict=True):
        cluster = plan.places[agent.cluster]
        block, spec = cluster.block, cluster.spec
        yield ""
        what = _ranks(block) if agent.has_ranks else "only forwards"
        yield f"{plan.where(agent)}: {what}"
        yield f"  agent    {shlex.join(command)}"
        if agent.has_ranks:
            yield f"  MPI      {spec.mpi or 'the one that the program is linked with'}"
            if spec.launch:
                yield f"  launch   {spec.launch}"
            if block.wdir:
                yield f"  wdir     {block.wdir}"
            for n, part in block.parts:
                yield f"  start    {n} x {shlex.join(part.argv)}"
                settings = {**spec.env, **part.env}
                if settings:
                    yield "  env      " + shlex.join(f"{k}={v}" for k, v in settings.items())
        for gateway in agent.gateways:
            where = " and ".join(
                place.listen + (f", reached at {place.address}" if place.address else "")
                for place in gateway.places
            )
            yield f"  gateway  {plan.gateway_name(gateway.node)} listens on {where}"
        if agent.has_ranks and plan.gateways and not spec.encrypt:
            yield "  encrypt  off between its ranks and their gateways"
    for spare in plan.spares:
        yield ""
        yield f"cluster {spare.name}: spare, has ranks only by MPI_Comm_spawn"
    joints = [gateway for gateway in plan.gateways if len(gateway.clusters) > 1]
    if plan.links or joints:
        yield ""
    for (a, b), said in plan.pairs.items():
        yield f"{plan.places[a].name} - {plan.places[b].name}: {legs.foreseen(said)}"
    for gateway in joints:
        names = " and ".join(plan.places[cluster].name for cluster in gateway.clusters)
        yield f"gateway {plan.gateway_name(gateway.node)} joins {names} by itself"
    for link in plan.links:
        notes = [f"name {link.spec.name}" if link.spec.name else ""]
        notes += [f"rate {link.spec.rate}{_of_all(link)}" if link.spec.rate else ""]
        notes += [f"rtt {link.spec.rtt}" if link.spec.rtt else ""]
        notes += [_count(link.spec.streams, "stream") if link.spec.streams else ""]
        notes += [f"congestion {link.spec.congestion}" if link.spec.congestion else ""]
        notes += [legs.foreseen_of_gateways(link)]
        notes += ["compressed where that helps" if link.spec.compress else ""]
        notes += ["encrypted" if link.spec.encrypt else "not encrypted"]
        notes += [f"patience {link.spec.patience}"]
        ends = f"{plan.gateway_name(link.source)} -> {plan.gateway_name(link.target)}"
        yield f"link {ends}: {', '.join(filter(None, notes))}"


def _of_all(link: GatewayLink) -> str:
    return f" of all {link.sharing} together" if link.sharing > 1 else ""


def scaled(value: float, factor: float) -> str:
    """Three digits of what was measured, in the unit of its column; empty: it was not."""
    number = float(f"{value * factor:.3g}")
    return f"{number:.6f}".rstrip("0").rstrip(".") if number else ""


def direct_leg(count: Mapping[str, float]) -> str:
    """The transport of the conduits between two clusters' processes."""
    ucx, all_of_them = int(count.get("ucx", 0)), int(count["conduits"])
    return "direct" if not ucx else "ucx" if ucx == all_of_them else f"direct, {ucx} by ucx"


def _of_tcp(count: Mapping[str, float]) -> tuple[str, str]:
    """The lost bytes and the streams of conduits from process to process."""
    return f"{count.get('lost_bytes', 0):.0f}", f"{count.get('streams', 0):.0f}"


# Each with one unit, so that rows compare and scripts can read them.
_COLUMNS = ("messages", "bytes", "wire bytes", "lost bytes", "streams", "RTT, ms", "best, Mbit/s")
_MUCH = 100e6  # bytes, beside which what else a gateway does takes little time


def stats_table(plan: Plan, stats: Stats) -> None:
    """Prints the traffic on standard error: a row for each direction of each link. Then comes the
    traffic from process to process, by clusters."""
    # The imports for tables take 45 ms, and most runs print none (2026-11).
    from rich.console import Console  # noqa: PLC0415
    from rich.table import Table  # noqa: PLC0415

    console = Console(stderr=True)
    console.width = max(console.width, 160)  # rows stay whole in files and narrow windows
    table = Table(title="What crossed the isthmus", title_justify="left")
    table.add_column("link", no_wrap=True)
    for column in _COLUMNS:
        table.add_column(column, justify="right")
    for (source, target), count in sorted(stats.links.items()):
        table.add_row(
            f"{plan.gateway_name(source)} -> {plan.gateway_name(target)}"
            + (", ucx" if count.get("ucx") else ", memory" if count.get("memory") else ""),
            f"{count.get('messages', 0)}",
            f"{count.get('bytes', 0)}",
            f"{count.get('wire_bytes', 0)}",
            f"{count.get('lost_bytes', 0)}",
            f"{count.get('streams', 0):.0f}",
            scaled(count.get("min_rtt", 0), 1e3),
            scaled(count.get("best_rate", 0), 8e-6),
        )
    for (node, source, target), count in sorted(stats.crossings.items()):
        ends = f"{plan.cluster_name(source)} -> {plan.cluster_name(target)}"
        table.add_row(
            f"{ends}, by {plan.gateway_name(node)}",
            f"{count['messages']:.0f}",
            f"{count['bytes']:.0f}",
            f"{count['wire_bytes']:.0f}",
        )
    for (source, target), count in sorted(stats.direct.items()):
        pair = min(source, target), max(source, target)
        leg = "memory" if pair in plan.shared else direct_leg(count)
        ends = f"{plan.cluster_name(source)} -> {plan.cluster_name(target)}"
        table.add_row(
            f"{ends}, {leg} ({int(count['conduits'])})",
            f"{count['messages']:.0f}",
            f"{count['bytes']:.0f}",
            f"{count['wire_bytes']:.0f}",
            *(_of_tcp(count) if leg.startswith("direct") else ()),
        )
    # Ordinary sockets are not worth a line.
    for (node, cluster), near in sorted(stats.near.items()):
        legs = [
            f"{words} ({near[leg]} of {near['processes']})"
            for leg, words in (("memory", "memory"), ("ucx", "ucx"), ("plain", "not encrypted"))
            if near[leg]
        ]
        if legs:
            table.add_row(
                f"{plan.gateway_name(node)} -> {plan.cluster_name(cluster)}'s ranks, "
                + ", ".join(legs),
                f"{near['messages']}",
                f"{near['bytes']}",
                f"{near['wire_bytes']}",
            )
    if table.row_count:
        console.print(table)
    else:
        console.print("Nothing has crossed the isthmus.", highlight=False)
    for gateways, seconds in sorted(stats.cpu.items()):
        names = " and ".join(plan.gateway_name(node) for node in gateways)
        forwarded = stats.forwarded(gateways)
        each = f", {1e9 * seconds / forwarded:.2g} s for each GB" if forwarded >= _MUCH else ""
        console.print(f"gateway {names}: {seconds:.2f} s of processor time{each}", highlight=False)
