"""The grid file of a testbed."""

from pathlib import Path

from isthmus.base.units import format_rate
from isthmus_lab.lab.network import Network


def grid_toml(network: Network, nospin: Path | None = None) -> str:
    """Sites become clusters. Each has its agent on the frontend, and its gateway too, unless the
    testbed wants several on nodes. A site's scheduler, if it has one, chooses the nodes. Zipper
    nodes are the gateways of the sites that they join.

    If `nospin` (libisthmus_nospin), ranks of old MPICHs do not hang at their end. They spin as
    usual, since Isthmus knows when to sleep."""
    out = [f"# Testbed {network.name}, written by the lab."]
    for segment in network.segments.values():
        nodes = [node.name for node in network.of_site(segment.name, "node")]
        span = f"{segment.name}[1-{len(nodes)}]" if len(nodes) > 1 else nodes[0]
        out += [
            "",
            f"[cluster.{segment.name}]",
            f'host = "{segment.frontend}"',
            'launch = "srun"' if segment.scheduler == "slurm" else f'hosts = "{span}"',
            f"slots = {len(nodes) * segment.slots}",
        ]
        if segment.scheduler:
            out.append(f'scheduler = "{segment.scheduler}"')
        if segment.mpi:
            out.append(f'mpi = "{segment.mpi}"')
        if nospin:
            out.append(f'env = {{ LD_PRELOAD = "{nospin}", ISTHMUS_NOSPIN_EMPTY = "0" }}')
    for segment in network.segments.values():
        zippers = network.of_site(segment.name, "zipper")
        if not zippers or any(segment.name in (x.a, x.b) for x in network.links):
            for node in network.of_site(segment.name, "node")[: segment.gateways]:
                out += _gateway(segment.name, node.name, node.ports[0].address)
            if not segment.gateways:
                out += _gateway(segment.name, None, f"10.{segment.index}.255.1")
    for zipper in (node for node in network.nodes.values() if node.kind == "zipper"):
        sites = ", ".join(f'"{site}"' for site in zipper.sites)
        addresses = ", ".join(f'"{port.address}"' for port in zipper.ports)
        out += ["", "[[gateway]]", f"clusters = [{sites}]", f'host = "{zipper.name}"']
        out.append(f"address = [{addresses}]")
    for link in network.links:
        out += ["", "[[link]]", f'between = ["{link.a}", "{link.b}"]']
        if link.rate:
            out.append(f'rate = "{format_rate(link.rate)}"')
        if link.delay:
            out.append(f'rtt = "{2000 * link.delay:g} ms"')
    pairs = {tuple(zipper.between) for zipper in network.testbed.zipper}
    for a, b in sorted(pairs):
        out += ["", "[[link]]", f'between = ["{a}", "{b}"]']
    return "\n".join(out) + "\n"


def _gateway(cluster: str, host: str | None, address: str) -> list[str]:
    lines = ["", "[[gateway]]", f'cluster = "{cluster}"']
    if host:
        lines.append(f'host = "{host}"')
    return [*lines, f'address = "{address}"']
