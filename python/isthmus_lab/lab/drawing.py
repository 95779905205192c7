"""`isthmus lab show`: a testbed drawn in characters."""

from isthmus.base.units import format_bytes, format_rate
from isthmus_lab.lab.network import Link, Network, Segment
from isthmus_lab.lab.shaping import burst

_WIDTH = 34


def draw(network: Network) -> list[str]:
    """The lines of the drawing: each site is a box, followed by what joins them."""
    lines = [f"{network.name}: {network.testbed.description}", ""]
    boxes = [_site(network, segment) for segment in network.segments.values()]
    for start in range(0, len(boxes), 3):
        row = boxes[start : start + 3]
        height = max(len(box) for box in row)
        for box in row:
            box[-1:-1] = [_line("")] * (height - len(box))
        lines += ["   ".join(parts) for parts in zip(*row, strict=True)]
    lines.append("")
    for link in network.links:
        lines.append(f"  {link.a} ══ {link.b}   {_figures(link)}")
    for zipper in network.testbed.zipper:
        a, b = zipper.between
        names = [n.name for n in network.of_site(a, "zipper") if n.sites == (a, b)]
        link_text = f", {zipper.link} to each" if zipper.link else ""
        forward = f"; {names[0]} forwards IP" if zipper.forward else ""
        lines.append(f"  {a} ─┤{' '.join(names)}├─ {b}   in both networks{link_text}{forward}")
    if not network.links and not network.testbed.zipper:
        lines.append("  no links")
    tcp = network.testbed.tcp
    first = f"from {tcp.initial_buffer} " if tcp.initial_buffer else ""
    lines += ["", f"  TCP: {tcp.congestion}, buffers {first}up to {tcp.buffer}, MTU {network.mtu}"]
    ports = [one for node in network.nodes.values() for one in node.ports]
    if rates := sorted({one.rate for one in ports if one.rate}):
        sizes = ", ".join(f"{burst(network, bits)} B ({format_rate(bits)})" for bits in rates)
        lines.append(f"  Idle node links send at once: {sizes}")
    return lines


def _line(text: str) -> str:
    return f"│ {text:<{_WIDTH - 4}} │"


def _site(network: Network, segment: Segment) -> list[str]:
    spec = network.testbed.site[segment.name]
    nodes = [node.name for node in network.of_site(segment.name, "node")]
    span = nodes[0] if len(nodes) == 1 else f"{nodes[0]} .. {nodes[-1]}"
    wall = {
        "open": "",
        "gateway": f"firewall: only {segment.frontend} is open",
        "outgoing": "firewall: only outgoing connections",
    }[segment.firewall]
    texts = [
        span,
        f"  │ {spec.link or 'unshaped'}",
        f"[switch {segment.subnet}]",
        "  │ unshaped",
        f"{segment.frontend}  (frontend, gateway)",
    ]
    if segment.private:
        texts.append(f"  outside: 10.{segment.index}.255.1")
    if wall:
        texts.append(wall)
    head = f"┌─ site {segment.name} " + "─" * _WIDTH
    return [head[: _WIDTH - 1] + "┐", *map(_line, texts), "└" + "─" * (_WIDTH - 2) + "┘"]


def _figures(link: Link) -> str:
    if not link.box:
        return "plain wire, no WAN box"
    rate = format_rate(link.rate) if link.rate else "unshaped"
    parts = [rate, f"{1e3 * link.delay:g} ms one way"]
    if link.queue:
        parts.append(f"queue {format_bytes(link.queue)}")
    if link.jitter:
        parts.append(f"jitter {1e3 * link.jitter:g} ms{', reordering' if link.reorder else ''}")
    if link.loss:
        parts.append(f"loss {100 * link.loss:g} %")
    return ", ".join(parts)
