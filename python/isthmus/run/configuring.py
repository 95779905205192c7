"""The first message to each agent: its secret, its gateways, how to start ranks, and settings
(docs/control.md, `configure`)."""

import os
from collections.abc import Mapping

from isthmus.base import hostport
from isthmus.grid import services
from isthmus.grid.gridkeys import expand_hosts
from isthmus.place.plan import AgentPlan, Plan
from isthmus.place.traceoptions import TraceOptions
from isthmus.version import VERSION, WIRE

# Variables that agents get as settings, with the names of these settings.
OF_AGENTS = {
    "ISTHMUS_LOG": "log",
    "ISTHMUS_TRACE": "trace",
    "ISTHMUS_TRACE_DIR": "trace_dir",
    "ISTHMUS_TRACE_RECORDS": "trace_records",
}
OF_AGENTS_TRACED = "link"  # the subsystem that they trace for --trace


class Configuring:
    """For one run."""

    def __init__(
        self,
        plan: Plan,
        secret: str,
        metrics: tuple[str, int] | None,
        traced: TraceOptions | None,
        native: Mapping[str, object] | None = None,
    ) -> None:
        """Agents serve metrics at `metrics`, each at the next port; if the port is 0, each at
        any."""
        self._plan = plan
        self._secret = secret
        self._metrics = metrics
        self._traced = traced
        self._native = native or {}
        self._keys = services.Keys(plan.services, plan.job)

    def of(self, spec: AgentPlan) -> dict[str, object]:
        cluster = self._plan.places[spec.cluster]
        ports = {"ISTHMUS_PORTS": cluster.spec.ports} if cluster.spec.ports else {}
        return {
            "version": VERSION,
            "wire": WIRE,
            "job": self._plan.job,
            "secret": self._secret,
            "cluster": cluster.name,
            "env": self._grids() | self._survival() | self._spares() | ports | cluster.spec.env,
            "mpi": cluster.spec.mpi,
            "launch": cluster.spec.launch,
            "hosts": expand_hosts(cluster.spec.hosts) if cluster.spec.hosts else None,
            "wdir": (cluster.block.wdir or cluster.spec.wdir) if spec.has_ranks else None,
            "gateways": [
                {"node": g.node, "listen": g.listen} | self._awaits(g.node) for g in spec.gateways
            ],
            "services": self._keys.for_agent(self._services(spec)),
            "settings": self.settings(spec),
        }

    def _grids(self) -> dict[str, str]:
        """The clusters with ranks in each inner grid, if there are inner grids."""
        members: dict[str, list[str]] = {}
        for cluster in self._plan.clusters:
            for grid in cluster.spec.grids:
                members.setdefault(grid, []).append(cluster.name)
        entries = (f"{grid}={','.join(names)}" for grid, names in members.items())
        return {"ISTHMUS_GRIDS": ";".join(entries)} if members else {}

    def _survival(self) -> dict[str, str]:
        return {"ISTHMUS_SURVIVE": "1"} if self._plan.survival else {}

    def _spares(self) -> dict[str, str]:
        names = ",".join(spare.name for spare in self._plan.spares)
        return {"ISTHMUS_SPARE": names} if names else {}

    def _awaits(self, node: int) -> dict[str, list[str]]:
        """The services at which others call a gateway, if any."""
        at = [
            of for link in self._plan.links if link.target == node for of in services.of_link(link)
        ]
        return {"awaits": list(dict.fromkeys(at))} if at else {}

    def _services(self, spec: AgentPlan) -> list[str]:
        """The services that the links of an agent's gateways use."""
        own = {gateway.node for gateway in spec.gateways}
        links = [link for link in self._plan.links if own & {link.source, link.target}]
        return [at for link in links for at in services.of_link(link)]

    def settings(self, spec: AgentPlan) -> dict[str, object]:
        """Settings that an agent cannot find out by itself."""
        settings: dict[str, object] = dict(self._native)
        own = {gateway.node for gateway in spec.gateways}
        if any(link.target in own and not link.spec.encrypt for link in self._plan.links):
            settings["accept_plain"] = True
        served = {cluster for gateway in spec.gateways for cluster in gateway.clusters}
        if not all(self._plan.places[cluster].spec.encrypt for cluster in served):
            settings["accept_plain_ranks"] = True
        if self._plan.alone:
            settings["alone"] = True
        if self._plan.survival:
            settings["survives"] = True
        for variable, key in OF_AGENTS.items():
            if value := os.environ.get(variable):
                settings[key] = value
        if self._traced:
            also = os.environ.get("ISTHMUS_TRACE")
            settings["trace"] = f"{also},{OF_AGENTS_TRACED}" if also else OF_AGENTS_TRACED
            settings["trace_records"] = str(self._traced.records)
            settings["gather_traces"] = True
        if self._metrics and spec in self._plan.agents:  # not for spawned processes
            host, port = self._metrics
            number = self._plan.agents.index(spec)
            at = hostport.join(host, port + number if port else 0)
            settings["metrics"] = f"tcp:{at}"
        return settings
