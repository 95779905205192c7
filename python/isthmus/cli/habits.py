"""Options of mpirun, mpiexec and srun, for users who try them on `isthmus run`."""

from collections.abc import Callable, Mapping

from isthmus.base.errors import UsageError

# Names that these launchers have for options of `isthmus run`.
ALIASES = {
    **dict.fromkeys(("--n", "--np", "--ntasks"), "-n"),
    **dict.fromkeys(("-wdir", "-wd", "--wd", "--chdir", "-D"), "--wdir"),
    **dict.fromkeys(("-tag-output", "-prepend-rank", "--label", "-l"), "--tag-output"),
    **dict.fromkeys(("-host", "--hosts", "-hosts"), "--host"),
    **dict.fromkeys(("-hostfile", "--machinefile", "-machinefile", "-f"), "--hostfile"),
    "-bind-to": "--bind-to",
    "-map-by": "--map-by",
    **dict.fromkeys(("-ppn", "-perhost", "--npernode", "-npernode"), "--ppn"),
    "--ntasks-per-node": "--ppn",
    **dict.fromkeys(("-oversubscribe", "--overcommit", "-O"), "--oversubscribe"),
    "-timeout": "--timeout",
    "-verbose": "--verbose",
}


def _value_beside(name: str, rest: list[str]) -> str:
    """`NAME=VALUE` of `NAME VALUE`, which mpiexec takes in both forms."""
    if len(rest) < 2 and not (rest and "=" in rest[0]):
        raise UsageError(f"{name} needs the name of a variable and its value")
    first = rest.pop(0)
    return first if "=" in first else f"{first}={rest.pop(0)}"


def _names(name: str, rest: list[str]) -> list[str]:
    if not rest:
        raise UsageError(f"{name} needs names of variables, separated by commas")
    return rest.pop(0).split(",")


def in_own_words(name: str, rest: list[str]) -> list[str] | None:
    """An option of mpiexec for variables, as options of `isthmus run`. Takes the values from the
    front of `rest`. Returns None for other options. Raises UsageError if values are missing."""
    given, equals, value = name.partition("=")
    plain = given[1:] if given.startswith("--") else given
    if plain in ("-envall", "-genvall") and not equals:
        return []  # ranks have all variables that their launcher gives them
    if equals and plain in ("-env", "-genv", "-envlist", "-genvlist"):
        rest.insert(0, value)
    if plain in ("-env", "-genv"):
        option = "-x" if plain == "-env" else "--export"
        variable, _, value = _value_beside(given, rest).partition("=")
        return [option, f"{variable}={value if option == '-x' else quoted(value)}"]
    if plain in ("-envlist", "-genvlist"):
        option = "-x" if plain == "-envlist" else "--export"
        return [word for variable in _names(given, rest) for word in (option, variable)]
    return None


def quoted(value: str) -> str:
    """A value as --export takes it, in which a comma would end it."""
    return "'" + value.replace("'", "''") + "'"


# The options that `in_own_words` knows.
OF_VARIABLES = tuple(
    f"{dash}{name}"
    for dash in ("-", "--")
    for name in ("env", "genv", "envlist", "genvlist", "envall", "genvall")
)

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
_SETUP = (
    "Write it as a shell's line into 'setup' of the cluster in the grid file, as in "
    'setup = ["export PATH=$HOME/bin:$PATH"].'
)
_NO_SERVER = "Leave it out: published names need no server."
_OUTPUT = "Use --output FILE.%r: each rank then writes to a file of its own."


def _launch(example: str) -> str:
    return f"Put it into 'launch' of the cluster in the grid file, as in launch = \"{example}\"."


def _batch(example: str) -> str:
    return f"Put it into 'batch' of the cluster in the grid file, as in batch = [\"{example}\"]."


def _table(text: str, *dashes: str) -> dict[str, str]:
    """Options with examples of their values, where + is a space. Each of `dashes` goes before every
    name."""
    words = [word.replace("+", " ").partition("=") for word in text.split()]
    return {dash + name: value for name, _, value in words for dash in dashes or ("",)}


def _mpirun(text: str) -> list[str]:
    """Names with two dashes and with one, as mpirun takes them."""
    return list(_table(text, "--", "-"))


# Options that only the native launcher can obey.
OF_MPIRUN = _table(
    """
    mca=btl+tcp,self gmca=btl+tcp,self pmixmca=KEY+VALUE gpmixmca=KEY+VALUE prtemca=KEY+VALUE
    tune=FILE am=FILE runtime-options=WHAT rank-by=node ppr=4 npersocket=4 cpus-per-proc=4
    cpus-per-rank=4 cpu-set=0-3 cpu-list=0-3
    rankfile=FILE rf=FILE cartofile=FILE cf=FILE nolocal nooversubscribe use-hwthread-cpus pset=NAME
    allow-run-as-root report-bindings hetero-nodes use-regexp do-not-resolve max-vm-size=4 novm
    display=map display-map display-allocation display-devel-map display-devel-allocation
    display-diffable-map display-topo timestamp-output xml xml-file=FILE stream-buffering=1
    noprefix no-app-prefix pmix-prefix=DIR app-pmix-prefix=DIR tmpdir=DIR launch-agent=PATH
    personality=ompi leave-session-attached forward-signals=SIGUSR1 set-sid keepalive=4
    enable-recovery disable-recovery continuous max-restarts=1 terminate index-argv-by-rank
    report-child-jobs-separately report-events=URI report-uri=FILE show-progress test-suicide
    dvm dvm-master-port=4000 hnp=URI singleton=ID system-server debug-daemons debug-daemons-file
    debug-devel enable-instant-on-support fwd-mpirun-port
    """,
    "--",
    "-",
)
OF_MPIEXEC = _table(
    """
    -iface=ib0 -launcher=ssh -launcher-exec=PATH -bootstrap=ssh -bootstrap-exec=PATH -rmk=slurm -rr
    -enable-x -disable-x -topolib=hwloc -membind=firsttouch -demux=poll -print-all-exitcodes
    -disable-auto-cleanup -disable-hostname-propagation -order-nodes=ascending -localhost=NAME
    -usize=8 -profile -pmi-port -skip-launch-node -gpus-per-proc=1
    """
)
OF_SRUN = _table(
    """
    --accel-bind=g --bcast-exclude=DIR --compress --cpu-bind=cores -X --disable-status
    --epilog=PATH --exact -I --immediate --jobid=1 -K --kill-on-bad-exit --msg-timeout=30 -Z
    --no-allocate --overlap -E --preserve-env --prolog=PATH --quit-on-interrupt -r=1 --relative=1
    --resv-ports --send-libs --slurmd-debug=info --task-epilog=PATH --task-prolog=PATH -T=1
    --threads=1 -u --unbuffered -W=30 --x11
    """
)
OF_SBATCH = _table(
    """
    -A=NAME --account=NAME --acctg-freq=30 --bb=SPEC --bbf=FILE -b=now --begin=now
    --cluster-constraint=NAME -M=NAME --clusters=NAME --comment=TEXT -C=NAME --constraint=NAME
    --container=DIR --contiguous -S=1 --core-spec=1 --cores-per-socket=4 --cpu-freq=high
    --cpus-per-gpu=4 -c=4 --cpus-per-task=4 --deadline=17:00 --delay-boot=5 --dependency=afterok:1
    -m=cyclic --distribution=cyclic --exclude=HOST --exclusive -B=2 --extra-node-info=2 --gid=GROUP
    --gpu-bind=closest --gpu-freq=high -G=1 --gpus=1 --gpus-per-node=1 --gpus-per-socket=1
    --gpus-per-task=1 --gres=gpu:1 --gres-flags=enforce-binding --hint=nomultithread --hold -J=NAME
    --job-name=NAME -L=NAME --licenses=NAME --mail-type=END --mail-user=NAME --mcs-label=NAME
    --mem=8G --mem-bind=local --mem-per-cpu=1G --mem-per-gpu=8G --mincpus=4 --network=NAME --nice -k
    --no-kill --nodes=2 --ntasks-per-core=1 --ntasks-per-gpu=1 --ntasks-per-socket=4
    --open-mode=append -p=NAME --partition=NAME --power=level --prefer=NAME --priority=TOP
    --propagate --qos=NAME --reboot --reservation=NAME --signal=USR1 --sockets-per-node=2
    --spread-job --switches=1 --thread-spec=1 --threads-per-core=1 --time-min=60 --tmp=8G --uid=USER
    --use-min-nodes --wckey=NAME
    """
)


def _in(
    where: Callable[[str], str], options: Mapping[str, str], launcher: str = ""
) -> dict[str, str]:
    return {
        name: where(" ".join(filter(None, (launcher, name, value))))
        for name, value in options.items()
    }


ADVICE = {
    **_in(_launch, OF_MPIRUN, "mpirun"),
    **_in(_launch, OF_MPIEXEC, "mpiexec"),
    **_in(_launch, {**OF_SRUN, **OF_SBATCH}, "srun"),
    **dict.fromkeys(("-w", "--nodelist", "-F", "--nodefile"), _HOSTS),
    **dict.fromkeys(_mpirun("default-hostfile add-host add-hostfile"), _HOSTS),
    "-N": (
        "mpirun's -N is --ppn here. The nodes that srun's -N counts are 'hosts' of the cluster in "
        "the grid file."
    ),
    "-c": f"mpirun's -c is -n here. For srun's -c: {_launch('srun -c 4')}",
    **dict.fromkeys(_mpirun("set-env"), _VARIABLES),
    **dict.fromkeys(_mpirun("envnone genvnone"), _INHERITED),
    **dict.fromkeys(_mpirun("unset-env append-env prepend-env path"), _SETUP),
    **dict.fromkeys(("--app", "-app", "-configfile", "--multi-prog"), _PARTS),
    "--het-group": "Write --on CLUSTER: each group of a heterogeneous job is a cluster.",
    **dict.fromkeys((*_mpirun("output-filename output-directory"), "-outfile-pattern"), _OUTPUT),
    "-errfile-pattern": "Use --error FILE.%r: each rank then writes to a file of its own.",
    **dict.fromkeys(
        _mpirun("merge-stderr-to-stdout"), "Join them in the shell: isthmus run ... 2>&1"
    ),
    "-prepend-pattern": "Use --tag-output: each line then begins with the world rank.",
    **dict.fromkeys(("-i", "--input", "--stdin", "-stdin", "--pty"), _INPUT),
    **{
        f"{dash}bind-to-{what}": f"Write: --bind-to {what}"
        for what in ("core", "socket", "none")
        for dash in ("--", "-")
    },
    **{
        f"{dash}by{what}": f"Write: --map-by {what}"
        for what in ("core", "node", "slot")
        for dash in ("--", "-")
    },
    **dict.fromkeys(_mpirun("pernode"), "Write: --ppn 1"),
    "--prefix": (
        "Name the folder of the MPI by --mpi DIR, or by 'mpi' of the cluster in the grid file."
    ),
    **dict.fromkeys(
        (*_mpirun("preload-binary preload-files"), "--bcast"), "Copy files by --stage FILE."
    ),
    "-s": "mpirun's -s is --stage FILE here. srun's -s is --oversubscribe.",
    **dict.fromkeys(_mpirun("set-cwd-to-session-dir"), "Name the directory by --wdir DIR."),
    **dict.fromkeys((*_mpirun("do-not-launch placement"), "--test-only"), "Write: --dry-run"),
    **dict.fromkeys(
        _mpirun("xterm"), "Start the program by xterm: isthmus run -n 4 xterm -e ./app"
    ),
    **dict.fromkeys((*_mpirun("ompi-server"), "-nameserver"), _NO_SERVER),
    **dict.fromkeys(_mpirun("report-pid"), "See: isthmus ps"),
    **dict.fromkeys(_mpirun("output-proctable"), _DEBUG),
    **dict.fromkeys(
        _mpirun("get-stack-traces report-state-on-timeout"),
        "When --timeout ends the run, Isthmus shows where its ranks are.",
    ),
    **dict.fromkeys(
        _mpirun("spawn-timeout"), "Limit the time until all ranks are in MPI_Init by --wait TIME."
    ),
    "-t": "Limit the run by --timeout SECONDS.",
    "--time": "Limit the run by --timeout SECONDS.",
    **dict.fromkeys(("-q", "--quiet", "-Q"), _QUIET),
    **dict.fromkeys(
        ("-d", *_mpirun("debug debugger tv stop-on-exec stop-in-init stop-in-app")), _DEBUG
    ),
    **dict.fromkeys(("--version", "-V", "-info"), "See: isthmus --version"),
    "--usage": "See: isthmus run --help",
}

# `isthmus submit` has a --time of its own, and asks the schedulers for nodes.
ADVICE_OF_SUBMIT = {
    **ADVICE,
    **_in(_batch, OF_SBATCH),
    "-d": _batch("-d afterok:1"),
    "-t": "Ask for time by --time, as in --time 2h.",
    "--queue": _batch("-q NAME"),
    "-q": _batch("-q NAME"),
}
