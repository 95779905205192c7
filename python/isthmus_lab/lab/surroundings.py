"""The environment of commands inside a lab."""

import contextlib
import os
import sys
from pathlib import Path

from isthmus.base.errors import IsthmusError
from isthmus.install import find_isthmusd
from isthmus_lab.lab.registry import Lab


def environment(lab: Lab) -> dict[str, str]:
    """The user's environment, changed so that all launchers start ranks on the lab's nodes."""
    ssh = str(lab.tools / "ssh")
    path = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
    with contextlib.suppress(IsthmusError):  # the lab works without it
        path = f"{find_isthmusd().parent}:{path}"
    return {
        **os.environ,
        "PATH": path,
        "ISTHMUS_LAB": str(lab.folder),
        "ISTHMUS_GRID": str(lab.grid),
        "ISTHMUS_SSH": ssh,
        # The means of native launchers to start processes on other hosts.
        "OMPI_MCA_plm_rsh_agent": ssh,
        "OMPI_MCA_plm_rsh_no_tree_spawn": "1",
        "PRTE_MCA_plm_ssh_agent": ssh,
        "PRTE_MCA_plm_ssh_no_tree_spawn": "1",
        # Open MPI 5 names a daemon's folder by its process id alone, and all labs count from 1. In
        # /tmp they took each other's folders: 10 of 300 launches by three labs at once ended with
        # status 213. /dev/shm is each node's own, and there none of 225 did (2026-11).
        "PRTE_MCA_prte_tmpdir_base": "/dev/shm",
        # Nodes share the host's cores, and the launcher of each would bind to the first one.
        "OMPI_MCA_hwloc_base_binding_policy": "none",
        "PRTE_MCA_hwloc_default_binding_policy": "none",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": ssh,
        "HYDRA_RSH": ssh,
        # UCX would find shared memory between nodes that share only their kernel.
        "UCX_TLS": "tcp,self",
        "UCX_NET_DEVICES": "eth0",
        "FI_PROVIDER": "tcp",
        "FI_TCP_IFACE": "eth0",
    }


def enter_command(lab: Lab, node: str, *command: str) -> list[str]:
    """The command that runs another on a node."""
    return [str(lab.tools / "enter"), node, *command]


def become(lab: Lab, command: list[str]) -> int:
    """Replaces this process. Returns only if the program cannot be started."""
    try:
        os.execvpe(command[0], command, environment(lab))
    except OSError as error:
        name = Path(command[0]).name
        print(f"isthmus: cannot start {name}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126
