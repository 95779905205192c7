"""Options of mpirun, mpiexec and srun, for users who try them on `isthmus run`."""

# Names that these launchers have for options of `isthmus run`.
ALIASES = {
    "--np": "-n",
    "--ntasks": "-n",
    "-wdir": "--wdir",
    "-wd": "--wdir",
    "--wd": "--wdir",
    "--chdir": "--wdir",
    "-tag-output": "--tag-output",
    "-prepend-rank": "--tag-output",
    "--label": "--tag-output",
    "-l": "--tag-output",
    **dict.fromkeys(("-host", "--hosts", "-hosts"), "--host"),
    **dict.fromkeys(("-hostfile", "--machinefile", "-machinefile", "-f"), "--hostfile"),
    "-bind-to": "--bind-to",
    "-map-by": "--map-by",
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
_OUTPUT = "Use --output FILE.%r: each rank then writes to a file of its own."


def _launch(example: str) -> str:
    return f"Put it into 'launch' of the cluster in the grid file, as in launch = \"{example}\"."


def _batch(example: str) -> str:
    return f"Put it into 'batch' of the cluster in the grid file, as in batch = [\"{example}\"]."


_OF_MPIRUN = {
    "--mca": "btl tcp,self", "-mca": "btl tcp,self", "--pmixmca": "KEY VALUE",
    "--prtemca": "KEY VALUE", "--rank-by": "node", "--oversubscribe": "", "-oversubscribe": "",
    "--use-hwthread-cpus": "", "--allow-run-as-root": "", "--report-bindings": "",
    "--npernode": "4", "-npernode": "4", "-N": "4", "--ppr": "4",
}  # fmt: skip
_OF_MPIEXEC = {"-ppn": "4", "--ppn": "4", "-perhost": "4", "-iface": "ib0", "-launcher": "ssh"}
_OF_SRUN = {
    "-c": "4", "--cpus-per-task": "4", "--ntasks-per-node": "4", "--nodes": "2",
    "--cpu-bind": "cores", "--exclusive": "", "--gres": "gpu:1", "--gpus": "1", "--mem": "8G",
    "-p": "NAME", "--partition": "NAME", "-A": "NAME", "--account": "NAME",
}  # fmt: skip

ADVICE = {
    **dict.fromkeys(("-w", "--nodelist"), _HOSTS),
    **dict.fromkeys(("-env", "-genv", "-envlist", "-genvlist", "--export"), _VARIABLES),
    **dict.fromkeys(("--app", "-app", "-configfile", "--multi-prog"), _PARTS),
    **dict.fromkeys(("--output-filename", "-outfile-pattern"), _OUTPUT),
    **{name: _launch(f"mpirun {name} {value}".strip()) for name, value in _OF_MPIRUN.items()},
    **{name: _launch(f"mpiexec {name} {value}".strip()) for name, value in _OF_MPIEXEC.items()},
    **{name: _launch(f"srun {name} {value}".strip()) for name, value in _OF_SRUN.items()},
    "-t": "Limit the run by --timeout SECONDS.",
    "--time": "Limit the run by --timeout SECONDS.",
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
