"""Makes a network out of namespaces. Runs as the first process of the lab, in its own mount, PID
and network namespaces. Everything made here goes away with the lab's last process."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterable
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus_lab.lab import cpus, kernel, shaping
from isthmus_lab.lab.network import Link, Network, Node, Port
from isthmus_lab.lab.registry import Lab

_PORT_BUFFER = 512_000  # bytes that a switch holds for one node
_NODE_BUFFER = 4_000_000


def switch_name(site: str) -> str:
    """The namespace that is a site's switch and router."""
    return f"switch-{site}"


def build(network: Network, lab: Lab) -> None:
    """Makes all but the WAN boxes and their devices. RunError says what the kernel refused."""
    _check_congestion(network)
    try:
        for site in network.segments:
            _make_namespace(lab, switch_name(site))
        for node in network.nodes.values():
            _make_namespace(lab, node.name)
            _settle_tcp(network, lab, node)
        kernel.mount("tmpfs", lab.folder / "shm", "tmpfs")
        (lab.folder / "hosts").mkdir()
        for node in network.nodes.values():
            (lab.folder / "shm" / node.name).mkdir(mode=0o1777)
            (lab.folder / "hosts" / node.name).write_text(_hosts(network, node))
            _limit_cores(network, lab, node)
    except OSError as error:
        raise RunError(f"cannot make the lab's namespaces: {error.strerror}") from None
    _ip("link set lo up")
    for site in network.segments:
        _wire_site(network, lab, site)
    _ip(*(_wire(network, lab, link) for link in network.links if not link.box))
    for node in network.nodes.values():
        _configure_node(network, lab, node)
    for name in ("enter", "ssh"):
        shutil.copyfile(Path(__file__).with_name("tools") / name, lab.tools / name)
        (lab.tools / name).chmod(0o755)


def attach_wans(network: Network, lab: Lab) -> None:
    """Routes to other sites, once the WAN boxes have made their devices and the wires theirs."""
    for link in network.links:
        for here, there in ((link.a, link.b), (link.b, link.a)):
            device = f"wan-{there}"
            far = network.segments[there]
            commands = [f"link set {device} mtu {network.mtu} txqueuelen 5000 up"]
            if link.box:
                commands.append(f"route add {far.public_subnet} dev {device}")
            else:
                mac = _wire_mac(network, there, here)
                commands += [
                    f"neigh replace {far.router} lladdr {mac} dev {device} nud permanent",
                    f"route add {far.public_subnet} via {far.router} dev {device} onlink",
                ]
            with kernel.inside(lab.namespace(switch_name(here))):
                _ip(*commands)


def _limit_cores(network: Network, lab: Lab, node: Node) -> None:
    """Its group is seen in the lab's folder, since nodes have a /sys of their own."""
    cores = network.testbed.site[node.sites[0]].cores if node.kind == "node" else None
    if cores is None:
        return
    there = lab.folder / "cpus" / node.name
    there.mkdir(parents=True)
    kernel.bind(cpus.limited(f"{lab.cpus}-{node.name}", cores), there)


def _check_congestion(network: Network) -> None:
    wanted = network.testbed.tcp.congestion
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    if wanted not in known:
        raise RunError(
            f"this kernel has no TCP congestion control '{wanted}'; it has {' '.join(known)}",
            f"Run `modprobe tcp_{wanted}`, or choose another by [tcp] congestion in the testbed "
            "file.",
        )


def _make_namespace(lab: Lab, name: str) -> None:
    """Network, host name and shared memory of one host, kept by files in the lab's folder."""
    home = {
        kind: os.open(f"/proc/self/ns/{kind}", os.O_RDONLY | os.O_CLOEXEC)
        for kind in ("net", "uts", "ipc")
    }
    try:
        kernel.unshare(kernel.NEW_NET | kernel.NEW_UTS | kernel.NEW_IPC)
        socket.sethostname(name)
        for kind in home:
            file = lab.namespace(name, kind)
            file.touch()
            kernel.bind(Path(f"/proc/self/ns/{kind}"), file)
        _write_sysctl("ipv6/conf/all/disable_ipv6", "1")
        _write_sysctl("ipv6/conf/default/disable_ipv6", "1")
        _write_sysctl("ipv4/conf/all/rp_filter", "0")
        _write_sysctl("ipv4/conf/default/rp_filter", "0")
        if name.startswith("switch-"):
            _write_sysctl("ipv4/ip_forward", "1")
            # Packets that cross a switch must pass no firewall, if the kernel has this setting.
            for table in ("iptables", "ip6tables", "arptables"):
                _write_sysctl(f"bridge/bridge-nf-call-{table}", "0")
    finally:
        for fd in home.values():
            kernel.set_namespace(fd, 0)
            os.close(fd)


def _write_sysctl(name: str, value: str) -> None:
    path = Path("/proc/sys/net") / name
    if path.exists() or not name.startswith(("ipv6", "bridge")):
        path.write_text(value)


def _settle_tcp(network: Network, lab: Lab, node: Node) -> None:
    tcp = network.testbed.tcp
    with kernel.inside(lab.namespace(node.name)):
        for name, sizes in network.tcp_memory().items():
            _write_sysctl(f"ipv4/{name}", sizes)
        _write_sysctl("ipv4/tcp_no_metrics_save", "1")
        _write_sysctl("ipv4/tcp_slow_start_after_idle", str(int(tcp.slow_start_after_idle)))
        if any(port.rate for port in node.ports):
            _write_sysctl("ipv4/tcp_min_tso_segs", str(shaping.segments(network)))
        if node.kind == "zipper" and network.forwarder(*node.sites) is node:
            _write_sysctl("ipv4/ip_forward", "1")


def _hosts(network: Network, node: Node) -> str:
    lines = ["127.0.0.1 localhost"]
    for other in network.nodes.values():
        if address := network.address_of(other, node):
            lines.append(f"{address} {other.name}")
    return "\n".join(lines) + "\n"


# -- wires ---------------------------------------------------------------------------------------


def _wire_site(network: Network, lab: Lab, site: str) -> None:
    """The bridge, a veth pair to every node, and the site's side of routing."""
    segment = network.segments[site]
    commands = [
        "link set lo up",
        "link add lan type bridge stp_state 0 mcast_snooping 0 forward_delay 0",
        f"link set lan mtu {network.mtu} address 02:00:00:{segment.index:02x}:ff:fe up",
        f"addr add {segment.router}/16 dev lan",
    ]
    shapers = []
    for node in network.of_site(site):
        port = node.port_in(site)
        assert port
        far = f"name {port.device} netns {lab.namespace(node.name)} address {port.mac}"
        commands += [
            f"link add {node.name} mtu {network.mtu} type veth peer {far} mtu {network.mtu}",
            f"link set {node.name} master lan",
            f"neigh replace {port.address} lladdr {port.mac} dev lan nud permanent",
        ]
        if port.public:
            commands += [
                f"route add {port.public}/32 dev lan",
                f"neigh replace {port.public} lladdr {port.mac} dev lan nud permanent",
            ]
        if port.rate:
            commands.append(f"link set {node.name} gso_max_segs {shaping.segments(network)}")
            shapers.append(shaping.shaped(network, node.name, port.rate, _PORT_BUFFER))
        commands.append(f"link set {node.name} up")
    with kernel.inside(lab.namespace(switch_name(site))):
        _ip(*commands)
        _tc(*shapers)


def _wire(network: Network, lab: Lab, link: Link) -> str:
    """A veth pair between two sites' routers, with ends named like a WAN box's devices."""
    near, far = (
        f"name wan-{there} netns {lab.namespace(switch_name(here))} "
        f"address {_wire_mac(network, here, there)}"
        for here, there in ((link.a, link.b), (link.b, link.a))
    )
    return f"link add {near} type veth peer {far}"


def _wire_mac(network: Network, here: str, there: str) -> str:
    """The address of the wire to another site, at its end in the router of `here`."""
    a, b = (network.segments[site].index for site in (here, there))
    return f"02:00:00:{a:02x}:fd:{b:02x}"


def _configure_node(network: Network, lab: Lab, node: Node) -> None:
    congestion = f"congctl {network.testbed.tcp.congestion}"
    commands = ["link set lo up"]
    shapers = []
    for port in node.ports:
        segment = network.segments[port.site]
        device = port.device
        if port.rate:
            commands.append(f"link set {device} gso_max_segs {shaping.segments(network)}")
            shapers.append(shaping.shaped(network, device, port.rate, _NODE_BUFFER))
        commands += [
            f"addr add {port.address}/16 dev {device} noprefixroute",
            f"link set {device} up",
            f"route add {segment.subnet} dev {device} src {port.address} {congestion}",
        ]
        commands += _neighbours(network, node, port)
        if node.kind != "zipper":
            commands += _over_zippers(network, port, congestion)
        outside = f"via {segment.router} dev {device} {congestion}"
        if port.public:
            commands += [
                f"addr add {port.public}/32 dev {device} noprefixroute",
                f"route add 10.0.0.0/8 {outside} src {port.public}",
            ]
        elif segment.private:
            gateway = f"10.{segment.index}.255.1"
            commands.append(f"route add {gateway}/32 dev {device} src {port.address} {congestion}")
        elif node.kind != "zipper":
            commands.append(f"route add 10.0.0.0/8 {outside} src {port.address}")
    with kernel.inside(lab.namespace(node.name)):
        _ip(*commands)
        _tc(*shapers)


def _over_zippers(network: Network, port: Port, congestion: str) -> Iterable[str]:
    """Routes to sites that a zipper node forwards to."""
    for far in network.segments.values():
        zipper = network.forwarder(port.site, far.name) if far.name != port.site else None
        if zipper and (door := zipper.port_in(port.site)):
            outside = f"via {door.address} dev {port.device} src {port.address} {congestion}"
            yield f"route add {far.subnet} {outside}"


def _neighbours(network: Network, node: Node, port: Port) -> Iterable[str]:
    """Known from the start, so that no packet waits for ARP."""
    segment = network.segments[port.site]
    router = f"02:00:00:{segment.index:02x}:ff:fe"
    known = [(segment.router, router)]
    for other in network.of_site(port.site):
        far = other.port_in(port.site)
        if other is not node and far:
            known += [(address, far.mac) for address in (far.address, far.public) if address]
    for address, mac in known:
        yield f"neigh replace {address} lladdr {mac} dev {port.device} nud permanent"


def _ip(*commands: str) -> None:
    _batch(["ip", "-batch", "-"], commands)


def _tc(*commands: str) -> None:
    if commands:
        _batch(["tc", "-batch", "-"], commands)


def _batch(program: list[str], commands: Iterable[str]) -> None:
    text = "\n".join(commands) + "\n"
    done = subprocess.run(program, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().replace("\n", "; ")
        raise RunError(
            f"the kernel refused a part of the lab's network: {program[0]}: {said}",
            "The lab needs veth, bridge, tun and, for shaped node links, sch_tbf.",
        )


def facts(network: Network) -> dict[str, object]:
    """The facts about the lab for other terminals."""
    return {
        "testbed": network.name,
        "nodes": list(network.nodes),
        "links": [link.name for link in network.links],
        "model": json.loads(network.testbed.model_dump_json()),
    }
