"""By which transport each part of a way goes, in the words of `--stats`."""

from isthmus import services
from isthmus.doctor.findings import Finding
from isthmus.grid import LinkSpec
from isthmus.plan import ClusterPlan, GatewayPlan, Plan
from isthmus.routes import GatewayLink


def of_pair(plan: Plan, pair: tuple[int, int], spec: LinkSpec) -> Finding:
    """By which the processes of two clusters reach each other, in the words of `--stats`."""
    where = " - ".join(plan.clusters[i].name for i in pair)
    if pair in plan.shared:
        text = "memory: the processes of both are on one host"
    elif spec.reach == "direct":
        net = "UCX" if spec.net == "ucx" else "UCX where both hosts have it, else TCP"
        text = "direct: from process to process by "
        text += "TCP" if spec.net == "tcp" or spec.encrypt else net
    else:
        text = "gateways"
    return Finding(where, "leg", "ok", text)


def of_gateways(plan: Plan, link: GatewayLink) -> Finding:
    """By which two linked gateways reach each other."""
    source, target = (gateway_of(plan, node) for node in (link.source, link.target))
    where = f"link {name_of(plan, source)} -> {name_of(plan, target)}"
    if (link.source, link.target) in plan.by_memory:
        text = "memory: both gateways are on one host"
    elif service := services.of_link(link):
        text = f"TCP, through the service {service[0]}"
    elif link.spec.reach == "ssh":
        text = "ssh"
    elif link.spec.encrypt or link.spec.net == "tcp":
        text = "TCP"
    else:
        text = "UCX" if link.spec.net == "ucx" else "UCX where both hosts have it, else TCP"
    return Finding(where, "leg", "ok", text)


def inside(cluster: ClusterPlan) -> Finding:
    """By which the ranks of a cluster reach their gateways, where that is not as ever."""
    net = "UCX" if cluster.spec.net == "ucx" else "UCX where both hosts have it, else TCP"
    text = "TCP" if cluster.spec.net == "tcp" else net
    text += ", between hosts not encrypted"
    return Finding(f"cluster {cluster.name}, ranks - gateways", "leg", "ok", text)


def gateway_of(plan: Plan, node: int) -> GatewayPlan:
    return next(gateway for gateway in plan.gateways if gateway.node == node)


def name_of(plan: Plan, gateway: GatewayPlan) -> str:
    name = plan.gateway_name(gateway.node)
    host = plan.agents[gateway.agent].host
    return f"{name} on {host}" if host else name
