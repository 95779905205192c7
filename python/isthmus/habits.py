"""Options of mpirun, mpiexec and srun, for users who try them on `isthmus run`."""

# Names that these launchers have for options of `isthmus run`.
ALIASES = {
    **dict.fromkeys(("--np", "--ntasks"), "-n"),
    **dict.fromkeys(("-wdir", "-wd", "--wd", "--chdir", "-D"), "--wdir"),
    **dict.fromkeys(("-tag-output", "-prepend-rank", "--label", "-l"), "--tag-output"),
    **dict.fromkeys(("-host", "--hosts", "-hosts"), "--host"),
    **dict.fromkeys(("-hostfile", "--machinefile", "-machinefile", "-f"), "--hostfile"),
    "-bind-to": "--bind-to",
    "-map-by": "--map-by",
    **dict.fromkeys(("-ppn", "-perhost", "--npernode", "-npernode"), "--ppn"),
    "--ntasks-per-node": "--ppn",
    **dict.fromkeys(("-oversubscribe", "--overcommit", "-O"), "--oversubscribe"),
    "-verbose": "--verbose",
}

_HOSTS = (
    "Name hosts by -H: each is then a cluster. Or name the hosts of each cluster by 'hosts' in the "
    'grid file, as in hosts = "n[01-16]".'
)
_VARIABLES = (
    "Pass a variable to the ranks by -x NAME=VALUE (in each part of the command line), or by "
    "'env' of a cluster in the grid file."
)
_PARTS = "Write the parts into the command line, separated by ':'."
_INHERITED = (
    "The ranks have the environment of their cluster's host. Add variables by -x NAME=VALUE, or by "
    "'env' of the cluster in the grid file."
)
_INPUT = "Rank 0 reads the standard input of isthmus: isthmus run ... < FILE"
_QUIET = "Isthmus prints only errors and the output of the ranks, unless -v is given."
_DEBUG = "Use -v to show each step, or --show-ranks to attach a debugger."
_OUTPUT = "Use --output FILE.%r: each rank then writes to a file of its own."


def _launch(example: str) -> str:
    return f"Put it into 'launch' of the cluster in the grid file, as in launch = \"{example}\"."


def _batch(example: str) -> str:
    return f"Put it into 'batch' of the cluster in the grid file, as in batch = [\"{example}\"]."


_OF_MPIRUN = {
    "--mca": "btl tcp,self", "-mca": "btl tcp,self", "--gmca": "btl tcp,self",
    "--pmixmca": "KEY VALUE", "--prtemca": "KEY VALUE", "--tune": "FILE", "--am": "FILE",
    "--rank-by": "node", "--ppr": "4", "--npersocket": "4", "-npersocket": "4",
    "--cpus-per-proc": "4", "--cpus-per-rank": "4", "--cpu-set": "0-3", "--cpu-list": "0-3",
    "--rankfile": "FILE", "-rf": "FILE", "--nolocal": "", "-nolocal": "",
    "--nooversubscribe": "", "--use-hwthread-cpus": "", "--allow-run-as-root": "",
    "--report-bindings": "", "--display-map": "", "--display-allocation": "", "--display": "map",
    "--timestamp-output": "",
}  # fmt: skip
_OF_MPIEXEC = {
    "-iface": "ib0", "-launcher": "ssh", "-bootstrap": "ssh", "-rmk": "slurm", "-rr": "",
    "-order-nodes": "ascending", "-gpus-per-proc": "1",
}  # fmt: skip
_OF_SRUN = {
    "-c": "4", "--cpus-per-task": "4", "--nodes": "2", "--ntasks-per-core": "1",
    "--ntasks-per-socket": "4", "--threads-per-core": "1", "--hint": "nomultithread",
    "--cpu-bind": "cores", "-m": "cyclic", "--distribution": "cyclic", "--exclusive": "",
    "--exact": "", "--overlap": "", "--gres": "gpu:1", "--gpus": "1", "-G": "1",
    "--gpus-per-node": "1", "--gpus-per-task": "1", "--gpu-bind": "closest", "--mem": "8G",
    "--mem-per-cpu": "1G", "--mem-bind": "local", "-p": "NAME", "--partition": "NAME",
    "-A": "NAME", "--account": "NAME", "-J": "NAME", "--job-name": "NAME", "--qos": "NAME",
    "-C": "NAME", "--constraint": "NAME", "--reservation": "NAME", "-K": "",
    "--kill-on-bad-exit": "", "-u": "", "--unbuffered": "",
}  # fmt: skip

ADVICE = {
    **dict.fromkeys(("-w", "--nodelist"), _HOSTS),
    "-N": (
        "mpirun's -N is --ppn here. The nodes that srun's -N counts are 'hosts' of the cluster in "
        "the grid file."
    ),
    **dict.fromkeys(("-env", "-genv", "-envlist", "-genvlist", "--export"), _VARIABLES),
    **dict.fromkeys(("-envall", "-genvall", "-envnone", "-genvnone"), _INHERITED),
    **dict.fromkeys(("--app", "-app", "-configfile", "--multi-prog"), _PARTS),
    **dict.fromkeys(("--output-filename", "-outfile-pattern"), _OUTPUT),
    "-errfile-pattern": "Use --error FILE.%r: each rank then writes to a file of its own.",
    "--merge-stderr-to-stdout": "Join them in the shell: isthmus run ... 2>&1",
    **dict.fromkeys(("-i", "--input", "--stdin", "-stdin"), _INPUT),
    **{f"--bind-to-{what}": f"Write: --bind-to {what}" for what in ("core", "socket", "none")},
    **dict.fromkeys(("--bynode", "-bynode"), "Write: --map-by node"),
    **dict.fromkeys(("--byslot", "-byslot"), "Write: --map-by slot"),
    **dict.fromkeys(("--pernode", "-pernode"), "Write: --ppn 1"),
    "--prefix": (
        "Name the folder of the MPI by --mpi DIR, or by 'mpi' of the cluster in the grid file."
    ),
    **dict.fromkeys(("--preload-binary", "--preload-files", "-s"), "Copy files by --stage FILE."),
    "--do-not-launch": "Write: --dry-run",
    **{name: _launch(f"mpirun {name} {value}".strip()) for name, value in _OF_MPIRUN.items()},
    **{name: _launch(f"mpiexec {name} {value}".strip()) for name, value in _OF_MPIEXEC.items()},
    **{name: _launch(f"srun {name} {value}".strip()) for name, value in _OF_SRUN.items()},
    "-t": "Limit the run by --timeout SECONDS.",
    "--time": "Limit the run by --timeout SECONDS.",
    **dict.fromkeys(("-q", "--quiet", "-Q"), _QUIET),
    **dict.fromkeys(("-d", "--debug"), _DEBUG),
    "--version": "See: isthmus --version",
    "-V": "See: isthmus --version",
}

# `isthmus submit` has a --time of its own, and asks the schedulers for nodes.
ADVICE_OF_SUBMIT = {
    **ADVICE,
    **{name: _batch(f"{name} {value}".strip()) for name, value in _OF_SRUN.items()},
    "-t": "Ask for time by --time, as in --time 2h.",
    "--queue": _batch("-q NAME"),
    "-q": _batch("-q NAME"),
}
