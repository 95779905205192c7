"""`isthmus lab mpirun`: one job of a native MPI over all nodes, for comparison."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

from isthmus.base.errors import RunError, UsageError, did_you_mean
from isthmus_lab.lab.network import Network
from isthmus_lab.lab.programs import find_nospin

_NAMES = {
    "openmpi": ("mpirun.openmpi", "mpirun"),
    "mpich": ("mpirun.mpich", "mpiexec.hydra", "mpiexec"),
}


@dataclass
class NativeJob:
    """`env` is for the launcher, which passes it on to the ranks; the user's settings win."""

    command: list[str]
    env: dict[str, str] = field(default_factory=dict)


def native_job(
    network: Network,
    mpi: str,
    n: int | None,
    program: list[str],
    interleaved: bool = False,
    on: Sequence[str] = (),
) -> NativeJob:
    """The native launcher's command over the nodes of all sites. They are in the order of the
    sites, or from each site in turn, or the nodes of `on` in its order."""
    hosts = [node.name for node in network.nodes.values() if node.kind == "node"]
    if on:
        for name in on:
            if name not in hosts:
                raise UsageError(
                    f"--hosts: testbed {network.name} has no node '{name}'"
                    f"{did_you_mean(name, hosts)}"
                )
        hosts = list(on)
    elif interleaved:
        sites = [[node.name for node in network.of_site(s, "node")] for s in network.segments]
        hosts = [host for turn in zip_longest(*sites) for host in turn if host]
    _check_open(network, hosts)
    launcher = _launcher(mpi)
    kind = _kind(launcher)
    n = n or len(hosts)
    per_host = -(-n // len(hosts))
    if kind == "hydra":
        return _hydra(launcher, hosts, n, per_host, program)
    return _open_mpi(launcher, kind, hosts, n, per_host, program)


def _open_mpi(
    launcher: str, kind: str, hosts: list[str], n: int, per_host: int, program: list[str]
) -> NativeJob:
    command = [launcher, "--host", ",".join(f"{host}:{per_host}" for host in hosts)]
    command += ["-np", str(n), "--bind-to", "none"]
    env = {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1",
        "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_pml": "ob1",
        "OMPI_MCA_btl": "tcp,self",
        "OMPI_MCA_btl_tcp_if_include": "eth0",
        "OMPI_MCA_oob_tcp_if_include": "eth0",
        "PRTE_MCA_oob_tcp_if_include": "eth0",
        "OMPI_MCA_mpi_yield_when_idle": "1",  # spinning ranks would starve the machine
        "OMPI_MCA_btl_base_warn_component_unused": "0",
    }
    if kind == "ompi4":
        for name in env:
            if name.startswith("OMPI_MCA_") and "oob" not in name:
                command += ["-x", name]
    return NativeJob([*command, *program], env)


def _hydra(launcher: str, hosts: list[str], n: int, per_host: int, program: list[str]) -> NativeJob:
    command = [launcher, "-launcher", "ssh", "-hosts", ",".join(hosts), "-ppn", str(per_host)]
    command += ["-n", str(n)]
    preload = f"{find_nospin()}:{os.environ.get('LD_PRELOAD', '')}".rstrip(":")
    command += ["-genv", "LD_PRELOAD", preload]  # MPICH has no setting for yielding
    return NativeJob([*command, *program])


def _check_open(network: Network, hosts: list[str]) -> None:
    """One job needs a connection from every rank to every other, and from the launcher to each."""
    sites = [site for site in network.segments if not {*hosts}.isdisjoint(_names(network, site))]
    nodes = [network.nodes[network.segments[site].frontend] for site in sites]
    nodes += [network.nodes[host] for host in hosts]
    for a in nodes:
        for b in nodes:
            if a is not b and network.path(a, b) is None:
                raise RunError(
                    f"{a.name} cannot connect to {b.name} in testbed {network.name}, so a native "
                    "MPI cannot run there as one job",
                    "Use a testbed whose sites are all joined and open, such as hablot.",
                )


def _names(network: Network, site: str) -> list[str]:
    return [node.name for node in network.of_site(site, "node")]


def frontend(network: Network, on: Sequence[str]) -> str:
    """The node of the launcher of a native job on these nodes; by default on all."""
    sites = (site for site in network.segments if not on or on[0] in _names(network, site))
    return network.segments[next(sites)].frontend


def _launcher(mpi: str) -> str:
    """`openmpi`, `mpich`, or the folder where an MPI is installed."""
    if mpi in _NAMES:
        found = next(filter(None, map(shutil.which, _NAMES[mpi])), None)
        if found is None:
            raise RunError(f"no launcher of '{mpi}' is installed", "Name the folder of the MPI.")
        return found
    for name in ("mpirun", "mpiexec"):
        path = Path(mpi) / "bin" / name
        if os.access(path, os.X_OK):
            return str(path)
    raise UsageError(f"--mpi {mpi}: not 'openmpi', 'mpich' or the folder of an MPI")


def _kind(launcher: str) -> str:
    done = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if "HYDRA" in said:
        return "hydra"
    if "Open MPI" in said or "OpenRTE" in said or "PRRTE" in said:
        return "ompi5" if " 5." in said or "PRRTE" in said else "ompi4"
    raise RunError(f"{launcher} belongs to an MPI that the lab does not know: {said[:80].strip()}")
