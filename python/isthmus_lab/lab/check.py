"""`isthmus lab check`: measures a testbed and compares it with its file."""

import json
import math
import os
from dataclasses import dataclass

from rich.table import Table

from isthmus.base.tables import console
from isthmus.base.units import format_rate
from isthmus_lab.lab import measure, shaping, wan
from isthmus_lab.lab.measure import Flow, Message, Pair
from isthmus_lab.lab.network import LAN_OVERHEAD, Network, Node
from isthmus_lab.lab.registry import Lab

RTT_SLACK = 0.0002  # seconds
RATE_SLACK = 0.02
FAST = 2_000_000_000  # bits per second; machines may carry less than such a link
_TRIES = 3
_SIZES = (1 << 10, 8 << 10, 64 << 10)  # of messages over the links of nodes
BUSY = 0.001  # seconds; if a WAN box is later, slow figures prove nothing

OK, SLOW, WRONG = "ok", "slow", "WRONG"


@dataclass(frozen=True)
class Finding:
    """A line of the table. A busy machine can cause SLOW, but not WRONG."""

    source: str
    target: str
    what: str
    wanted: str
    found: str
    verdict: str


def run(network: Network, lab: Lab, seconds: float, every: bool, as_json: bool) -> int:
    """Measures, prints, and returns the exit status."""
    with measure.answering(network, lab):
        pairs = measure.pairs(network, lab)
    late = lateness(network, lab)
    findings = _of_pairs(network, pairs, every)
    if seconds > 0:
        for source, target in measure.flows(network):
            findings.append(_of_flow(network, _flow(network, lab, source, target, seconds)))
        late = max(late, lateness(network, lab))
        findings += _of_losses(network, lab)
        found = [
            message
            for source, target in measure.node_links(network)
            for message in measure.messages(network, lab, source, target, _SIZES)
        ]
        findings += _of_messages(network, found, every)
    load = os.getloadavg()[0]
    busy = late > BUSY or load > (os.cpu_count() or 1)
    wrong = any(f.verdict == WRONG or (f.verdict == SLOW and not busy) for f in findings)
    if as_json:
        print(json.dumps({
            "testbed": network.name, "findings": [vars(f) for f in findings],
            "late": late, "load": load, "busy": busy, "ok": not wrong,
        }))  # fmt: skip
    else:
        _print(network, findings, late, busy)
    return int(wrong)


def _flow(network: Network, lab: Lab, source: Node, target: Node, seconds: float) -> Flow:
    """A link that was late catches up, and carries too much for a while. Only a link that carries
    too much each time has another rate."""
    for _ in range(_TRIES):
        flow = measure.flow(network, lab, source, target, seconds)
        if not _too_fast(flow):
            break
    return flow


def lateness(network: Network, lab: Lab) -> float:
    """The greatest lateness of a WAN link so far, in seconds."""
    states = [wan.ask(lab, link.name, op="get") for link in network.boxes]
    return max(
        (state[way]["late"]["most"] for state in states for way in ("ab", "ba")), default=0.0
    )


def _of_pairs(network: Network, pairs: list[Pair], every: bool) -> list[Finding]:
    """Each pair, or for each two kinds of nodes one line with the worst pair."""
    judged = [_judge(pair) for pair in pairs]
    if every:
        return judged
    groups: dict[tuple[str, str, str, str], list[Finding]] = {}
    for pair, finding in zip(pairs, judged, strict=True):
        kind = (_group(network, pair.source), _group(network, pair.target))
        groups.setdefault((*kind, finding.wanted, finding.verdict), []).append(finding)
    found = []
    for (source, target, wanted, verdict), alike in groups.items():
        values = sorted({f.found for f in alike}, key=lambda text: (len(text), text))
        text = values[0] if len(values) == 1 else f"{values[0]} .. {values[-1]}"
        found.append(Finding(source, target, alike[0].what, wanted, text, verdict))
    return found


def _group(network: Network, node: Node) -> str:
    """Nodes of a site that are alike."""
    if node.kind == "frontend":
        return node.name
    if node.kind == "zipper":
        return "z*"
    count = len(network.of_site(node.ports[0].site, "node"))
    return f"{node.ports[0].site}[1-{count}]" if count > 1 else node.name


def _judge(pair: Pair) -> Finding:
    names = (pair.source.name, pair.target.name)
    if pair.path is None:
        reached = pair.reached == pair.target.name
        return Finding(*names, "reach", "none", pair.reached or "none", WRONG if reached else OK)
    link = pair.path.link
    wanted = f"{1e3 * pair.path.rtt:.2f} ms"
    if pair.reached != pair.target.name or pair.rtt is None:
        return Finding(*names, "RTT", wanted, f"reached {pair.reached or 'nobody'}", WRONG)
    most = pair.path.rtt + RTT_SLACK + (2 * link.jitter if link else 0)
    verdict = OK if pair.rtt <= most else SLOW
    if pair.rtt < pair.path.rtt:
        verdict = WRONG
    if link and link.loss and verdict == SLOW:
        verdict = OK  # a segment may have been sent again
    return Finding(*names, "RTT", wanted, f"{1e3 * pair.rtt:.2f} ms", verdict)


def _too_fast(flow: Flow) -> bool:
    return flow.limit is not None and flow.rate > flow.limit.goodput * (1 + RATE_SLACK)


def _of_flow(network: Network, flow: Flow) -> Finding:
    """Judged by the most that TCP can carry; the table also shows what that takes on the wire."""
    names = (flow.source.name, flow.target.name)
    limit, link = flow.limit, flow.path.link
    if limit is None:
        return Finding(*names, "rate", "unshaped", f"payload {flow.rate / 1e6:.1f} Mbit/s", OK)
    wanted = f"{format_rate(limit.rate)}, payload {limit.goodput / 1e6:.1f}"
    found = f"{flow.rate / limit.share / 1e6:.1f} Mbit/s, payload {flow.rate / 1e6:.1f}"
    if limit.rate > FAST:
        found += f", {100 * flow.rate / limit.goodput:.0f} % of the link by {os.cpu_count()} cores"
    if _too_fast(flow):
        return Finding(*names, "rate", wanted, found, WRONG)
    filled = network.tcp_buffer >= 2 * limit.rate / 8 * flow.path.rtt
    if not filled or (link and link.loss):  # TCP's rate is then not up to the lab
        return Finding(*names, "rate", f"at most {wanted}", found, OK)
    slow = flow.rate < limit.goodput * (1 - RATE_SLACK)
    return Finding(*names, "rate", wanted, found, SLOW if slow else OK)


def _of_messages(network: Network, messages: list[Message], every: bool) -> list[Finding]:
    """Each message, or for each two kinds of nodes and each size one line with the extremes."""
    groups: dict[tuple[str, str, int], list[Message]] = {}
    for one in messages:
        kind = (_group(network, one.source), _group(network, one.target))
        names = (one.source.name, one.target.name) if every else kind
        groups.setdefault((*names, one.bytes), []).append(one)
    found = []
    for (source, target, size), alike in groups.items():
        least, wire = times_of_message(network, alike[0])
        times = sorted(message.seconds for message in alike)
        verdict = SLOW if times[-1] > wire * (1 + RATE_SLACK) + RTT_SLACK else OK
        if min(message.trip for message in alike) < least * (1 - RATE_SLACK):
            verdict = WRONG
        wanted = f"{1e3 * wire:.3f} ms, at least {1e3 * least:.3f}"
        spread = " .. ".join(dict.fromkeys(f"{1e3 * t:.3f}" for t in (times[0], times[-1])))
        what = f"{size >> 10} KiB"
        found.append(Finding(source, target, what, wanted, f"{spread} ms", verdict))
    return found


def times_of_message(network: Network, message: Message) -> tuple[float, float]:
    """The least time that the link may take, since it sends its burst at once, and the time on a
    wire."""
    limit = message.path.bottleneck(network.mtu)
    assert limit
    payload = network.mtu - 52
    headers = math.ceil(message.bytes / payload) * (network.mtu - payload + LAN_OVERHEAD)
    whole = message.bytes + headers
    at_once = min(whole, shaping.burst(network, limit.rate))
    return 8 * (whole - at_once) / limit.rate, 8 * whole / limit.rate


def _of_losses(network: Network, lab: Lab) -> list[Finding]:
    found = []
    for link in network.boxes:
        state = wan.ask(lab, link.name, op="get")
        for way, names in (("ab", (link.a, link.b)), ("ba", (link.b, link.a))):
            counters = state[way]["counters"]
            count = counters["segments"] - counters["dropped_firewall"]
            if not link.loss or not count:
                continue
            share = counters["dropped_loss"] / count
            sigma = math.sqrt(link.loss * (1 - link.loss) / count)
            verdict = OK if abs(share - link.loss) <= 5 * sigma + 1 / count else WRONG
            texts = (f"{100 * link.loss:.3f} %", f"{100 * share:.3f} % of {count}")
            found.append(Finding(*names, "loss", *texts, verdict))
    return found


def _print(network: Network, findings: list[Finding], late: float, busy: bool) -> None:
    table = Table(title=f"Testbed {network.name}", title_justify="left")
    for column in ("from", "to", "", "file", "measured", ""):
        table.add_column(column, justify="right" if column in ("file", "measured") else "left")
    for f in findings:
        style = {OK: "", SLOW: "yellow", WRONG: "bold red"}[f.verdict]
        table.add_row(f.source, f.target, f.what, f.wanted, f.found, f.verdict, style=style)
    out = console()
    out.print(table)
    if network.boxes:
        out.print(f"The WAN boxes were at most {1e3 * late:.2f} ms late.")
    if busy:
        out.print("The machine was too busy for slow figures to prove anything.")
