"""The transport of each part of a path, in the words of `--stats`."""

from isthmus.doctor.findings import Finding
from isthmus.grid.grid import LinkSpec
from isthmus.grid.routes import GatewayLink
from isthmus.place import legs
from isthmus.place.plan import ClusterPlan, GatewayPlan, Plan


def of_pair(plan: Plan, pair: tuple[int, int], spec: LinkSpec) -> Finding:
    """The transport between the processes of two clusters, in the words of `--stats`."""
    where = " - ".join(plan.clusters[i].name for i in pair)
    if pair in plan.shared:
        text = "memory: the processes of both are on one host"
    elif spec.reach == "direct":
        text = f"direct: from process to process by {legs.net(spec)}"
    else:
        joints = [g for g in plan.gateways if set(pair) <= set(g.clusters)]
        names = " and ".join(plan.gateway_name(g.node) for g in joints)
        text = f"gateway {names}, which serves both" if joints else "gateways"
    return Finding(where, "leg", "ok", text)


def of_gateways(plan: Plan, link: GatewayLink) -> Finding:
    """The transport between two linked gateways."""
    source, target = (gateway_of(plan, node) for node in (link.source, link.target))
    where = f"link {name_of(plan, source)} -> {name_of(plan, target)}"
    if (link.source, link.target) in plan.by_memory:
        text = "memory: both gateways are on one host"
    else:
        text = legs.of_gateways(link)
    return Finding(where, "leg", "ok", text)


def inside(cluster: ClusterPlan) -> Finding:
    """The transport between a cluster's ranks and their gateways, if it is not the usual one."""
    net = "UCX" if cluster.spec.net == "ucx" else "UCX where both hosts have it, else TCP"
    text = "TCP" if cluster.spec.net == "tcp" else net
    text += ", not encrypted between hosts"
    return Finding(f"cluster {cluster.name}, ranks - gateways", "leg", "ok", text)


def gateway_of(plan: Plan, node: int) -> GatewayPlan:
    return next(gateway for gateway in plan.gateways if gateway.node == node)


def name_of(plan: Plan, gateway: GatewayPlan) -> str:
    name = plan.gateway_name(gateway.node)
    host = plan.agents[gateway.agent].host
    return f"{name} on {host}" if host else name
