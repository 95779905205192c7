"""The transports between processes and gateways, in words."""

from isthmus.grid import services
from isthmus.grid.grid import LinkSpec
from isthmus.grid.routes import GatewayLink
from isthmus.place.plan import memory_wanted, names_no_network

_EITHER = "UCX where both hosts have it, else TCP"


def net(spec: LinkSpec) -> str:
    """The transport between hosts, for gateways or processes of a link."""
    if spec.net == "ucx":
        return "UCX"
    return "TCP" if spec.net == "tcp" or spec.encrypt else _EITHER


def of_gateways(link: GatewayLink) -> str:
    """The transport between two gateways that share no memory."""
    if service := services.of_link(link):
        return f"TCP, through the service {service[0]}"
    return "ssh" if link.spec.reach == "ssh" else net(link.spec)


def foreseen(spec: LinkSpec) -> str:
    """The transports that processes of two clusters will use, before their hosts are known."""
    if spec.reach == "direct":
        plain = "encrypted" if spec.encrypt else "not encrypted"
        return f"direct, from process to process by {net(spec)}, {plain}; else gateways"
    if spec.reach is None:
        return "shared memory if the processes of both are on one host, else gateways"
    return "gateways"


def foreseen_of_gateways(link: GatewayLink) -> str:
    """As `of_gateways`, before hosts are known."""
    memory = memory_wanted() and names_no_network(link)
    return ("shared memory on one host, else " if memory else "") + of_gateways(link)
