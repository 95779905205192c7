"""A Slurm for every site that asks for one: a controller and munge on the frontend, a slurmd on
every node, all from Debian's packages. They are children of the lab's first process, and all their
files are in the lab's folder, so that nothing outlives the lab.

It uses no cgroups: a lab may not be allowed to make any, and its nodes share one kernel.
"""

import os
import secrets
import subprocess
import time
from pathlib import Path

from isthmus.base.errors import RunError
from isthmus_lab.lab.network import Network, Segment
from isthmus_lab.lab.registry import Lab
from isthmus_lab.lab.surroundings import enter_command, environment

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client"}
_LONGEST_SOCKET = 107  # bytes of a path, sockaddr_un without its last zero
_PATIENCE = 30.0  # seconds in which all nodes must be up; they take two or three
_SETTINGS = """\
ClusterName={site}
SlurmctldHost={frontend}({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
MailProg=/bin/true
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin={task}
TaskPluginParam=None
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,sched_interval=5,batch_sched_delay=0
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=10
SlurmdTimeout=40
KillWait=2
MinJobAge=600
"""


def on(network: Network) -> list[Segment]:
    """The sites that have a Slurm."""
    return [s for s in network.segments.values() if s.scheduler == "slurm"]


def configuration(network: Network, segment: Segment, folder: Path) -> str:
    """The site's slurm.conf; its daemons write everything to `folder`."""
    frontend = network.nodes[segment.frontend]
    lines = [
        _SETTINGS.format(
            site=segment.name,
            frontend=segment.frontend,
            address=frontend.ports[0].address,
            folder=folder,
            # Nodes of one slot would all bind to the first core.
            task="task/affinity" if segment.slots > 1 else "task/none",
        )
    ]
    nodes = network.of_site(segment.name, "node")
    lines += [
        f"NodeName={node.name} NodeAddr={node.ports[0].address} CPUs={segment.slots}\n"
        for node in nodes
    ]
    names = ",".join(node.name for node in nodes)
    lines.append(f"PartitionName=main Nodes={names} Default=YES MaxTime=INFINITE State=UP\n")
    return "".join(lines)


def check(network: Network, lab: Lab) -> None:
    """RunError if a socket of Slurm would have too long a path. Slurm itself would say "task could
    not be launched" about each job."""
    step = "99999.4294967291"  # a job, and its batch script
    sockets = [
        _folder(lab, segment) / f"spool-{node.name}" / f"{node.name}_{step}"
        for segment in on(network)
        for node in network.of_site(segment.name, "node")
    ]
    more = max((len(os.fsencode(socket)) for socket in sockets), default=0) - _LONGEST_SOCKET
    if more > 0:
        raise RunError(
            f"the folder of labs, {lab.folder.parent}, is {more} byte{'s' * (more > 1)} too long "
            "for the sockets of Slurm: set ISTHMUS_HOME to a folder with a shorter path"
        )


def _folder(lab: Lab, segment: Segment) -> Path:
    return lab.folder / "slurm" / segment.name


def start(network: Network, lab: Lab) -> dict[int, str]:
    """Every node takes jobs when this returns. Returns, by process id, the daemons that a site's
    scheduler cannot do without."""
    started = {}
    for segment in on(network):
        folder = _folder(lab, segment)
        (folder / "state").mkdir(parents=True)
        key = folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        conf = folder / "slurm.conf"
        conf.write_text(configuration(network, segment, folder))
        (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        # The default is /tmp, which the nodes share, under names without the node's.
        (folder / "mpi.conf").write_text("PMIxCliTmpDirBase=/dev/shm\n")
        for node in network.of_site(segment.name):
            (lab.folder / "slurm" / f"{node.name}.conf").symlink_to(conf)

        def run(
            name: str, node: str, *words: str, site: str = segment.name, folder: Path = folder
        ) -> None:
            with (folder / f"{name}-{node}.out").open("wb") as out:
                daemon = subprocess.Popen(
                    enter_command(lab, node, *words),
                    env=environment(lab), stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                )  # fmt: skip
            if name != "slurmd":  # a node may fail
                started[daemon.pid] = f"{name} of site {site}"

        files = [f"--{kind}-file={folder}/munge.{kind}" for kind in ("pid", "log", "seed", "key")]
        socket = f"--socket={folder}/munge.socket"
        run("munged", segment.frontend, "munged", "-F", "--force", socket, *files)
        _await(lambda f=folder: (f / "munge.socket").exists(), segment, folder)
        run("slurmctld", segment.frontend, "slurmctld", "-D", "-f", str(conf))
        for node in network.of_site(segment.name, "node"):
            (folder / f"spool-{node.name}").mkdir()
            run("slurmd", node.name, "slurmd", "-D", "-N", node.name, "-f", str(conf))
    for segment in on(network):
        folder = _folder(lab, segment)
        _await(lambda s=segment: _ready(network, lab, s), segment, folder)
    return started


def _ready(network: Network, lab: Lab, segment: Segment) -> bool:
    said = subprocess.run(
        enter_command(lab, segment.frontend, "sinfo", "-h", "-N", "-o", "%T"),
        env=environment(lab), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    states = said.stdout.split()
    return states == ["idle"] * len(network.of_site(segment.name, "node"))


def _await(so: object, segment: Segment, folder: Path) -> None:
    assert callable(so)
    deadline = time.monotonic() + _PATIENCE
    while not so():
        if time.monotonic() > deadline:
            raise RunError(
                f"the Slurm of site {segment.name} did not start within {_PATIENCE:g} s"
                + _last_words(folder)
            )
        time.sleep(0.1)


def _last_words(folder: Path) -> str:
    """Errors that daemons wrote."""
    found: list[str] = []
    for file in sorted([*folder.glob("*.out"), *folder.glob("*.log")]):
        lines = file.read_text(errors="replace").splitlines()
        found += [f"\n  | {file.stem}: {x}" for x in lines if "error" in x.lower()][-3:]
    return "".join(found[-10:])
