"""Batch systems: how their scripts begin, and the commands that submit jobs, ask for them, cancel
them and give them back. Slurm is tested with a real one (tests/lab). PBS follows OpenPBS' manual
pages qsub(1B), qstat(1B), qdel(1B) and qrerun(1B), and is faked in tests/grid/pbs. LSF (10.1) and
Flux (0.60) follow their manuals of 2026-11."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from isthmus.base.errors import UsageError, listing


@dataclass(frozen=True)
class Scheduler:
    """Commands are for a shell, with {script} and {id}. `batch` is the job's name inside its
    script. `states` maps the output of `state` to our words; a state that is not in it means that
    the job is over."""

    title: str
    head: tuple[str, ...]  # with {name}, {n}, {output}
    time: str  # a further line, with {hours}, {minutes}, {seconds}, {clock}, {total_minutes}
    option: str  # begins the line of a user's option
    submit: str
    identifier: str  # in the output of `submit`
    cancel: str
    state: str
    queued: tuple[str, ...]
    running: tuple[str, ...]
    batch: str
    requeue: str
    left: str = ""

    @property
    def submits_anew(self) -> bool:
        """Whether giving a job back makes another job, and prints as `submit` does."""
        return "$ISTHMUS_SCRIPT" in self.requeue or "${ISTHMUS_SCRIPT" in self.requeue


KNOWN = {
    "slurm": Scheduler(
        "Slurm",
        ("#SBATCH --job-name={name}", "#SBATCH --ntasks={n}", "#SBATCH --output={output}",
         "#SBATCH --open-mode=append", "#SBATCH --requeue"),
        "#SBATCH --time={clock}",
        "#SBATCH ",
        "sbatch --parsable {script}",
        r"^(\d+)",
        "scancel {id}",
        "squeue -h -t all -j {id} -o '%T %r'",
        ("PENDING", "REQUEUED", "CONFIGURING", "REQUEUE_HOLD", "SUSPENDED", "COMPLETING"),
        ("RUNNING",),
        "$SLURM_JOB_ID",
        "scontrol requeue $SLURM_JOB_ID",
        "$(squeue -h -j $SLURM_JOB_ID -o %L)",
    ),
    "pbs": Scheduler(
        "PBS",
        ("#PBS -N {name}", "#PBS -l select={n}:ncpus=1:mpiprocs=1", "#PBS -j oe",
         "#PBS -o {output}", "#PBS -r y", "#PBS -S /bin/bash"),
        "#PBS -l walltime={clock}",
        "#PBS ",
        "qsub {script}",
        r"^(\S+)",
        "qdel {id}",
        # For an ended job, qstat says so or that the job is unknown, and calls either an error.
        "said=$(qstat -f {id} 2>&1); case $said in *'Unknown Job'*|*'has finished'*) echo F;; *) "
        "echo \"$said\" | sed -n 's/^ *job_state = //p';; esac",
        ("Q", "H", "W", "T", "M", "S", "U"),
        ("R", "E"),
        "$PBS_JOBID",
        # Mostly only operators may do that; then the same script makes a new job.
        'qrerun "$PBS_JOBID" 2>/dev/null || '
        '{ cd "${ISTHMUS_SCRIPT%/*}" && qsub "${ISTHMUS_SCRIPT##*/}"; }',
    ),
    "lsf": Scheduler(
        "LSF",
        ("#BSUB -J {name}", "#BSUB -n {n}", "#BSUB -o {output}", "#BSUB -r"),
        "#BSUB -W {total_minutes}",
        "#BSUB ",
        "bsub < {script}",
        r"Job <(\d+)>",
        "bkill {id}",
        "bjobs -noheader -o stat {id}",
        ("PEND", "PSUSP", "WAIT", "PROV"),
        ("RUN", "USUSP", "SSUSP"),
        "$LSB_JOBID",
        "brequeue $LSB_JOBID",
    ),
    "flux": Scheduler(
        "Flux",
        ("# flux: --job-name={name}", "# flux: -n {n}", "# flux: --output={output}"),
        "# flux: -t {total_minutes}m",
        "# flux: ",
        "flux batch {script}",
        r"^(\S+)",
        "flux cancel {id}",
        "flux jobs -no '{{state}}' {id}",
        ("DEPEND", "PRIORITY", "SCHED"),
        ("RUN", "CLEANUP"),
        "$FLUX_JOB_ID",
        # Flux cannot give a job back: the same script makes a new one.
        'cd "${ISTHMUS_SCRIPT%/*}" && flux batch "$ISTHMUS_SCRIPT"',
    ),
}  # fmt: skip
_KEYS = ("submit", "identifier", "cancel", "state", "queued", "running", "batch", "requeue", "left")


def of_template(path: Path) -> tuple[Scheduler, str]:
    """A batch system that the user describes: a script with {n}, {name}, {output}, {clock} and
    {command}, and lines "#ISTHMUS KEY = VALUE" for `submit`, `cancel` and so on."""
    try:
        text = path.expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"cannot read the batch template {path}: {reason}") from None
    said: dict[str, str] = dict.fromkeys(_KEYS, "")
    for line in re.findall(r"^#ISTHMUS +(.*)$", text, re.MULTILINE):
        key, equals, value = (word.strip() for word in line.partition("="))
        if not equals or key not in _KEYS:
            raise UsageError(
                f"{path}: '#ISTHMUS {line}' is not KEY = VALUE; known keys are {listing(_KEYS)}"
            )
        said[key] = value
    if not said["submit"] or "{command}" not in text:
        missing = "'#ISTHMUS submit = COMMAND {script}'" if not said["submit"] else "{command}"
        raise UsageError(f"{path}: the batch template has no {missing}")
    scheduler = Scheduler(
        title=path.stem,
        head=(),
        time="",
        option="",
        submit=said["submit"],
        identifier=said["identifier"] or r"^(\S+)",
        cancel=said["cancel"],
        state=said["state"],
        queued=tuple(said["queued"].split()),
        running=tuple(said["running"].split()),
        batch=said["batch"],
        requeue=said["requeue"],
        left=said["left"],
    )
    return scheduler, text


def found_identifier(scheduler: Scheduler, printed: str) -> str | None:
    found = re.search(scheduler.identifier, printed, re.MULTILINE)
    return found[1] if found else None


def command(template: str, **words: str) -> str:
    """The command with its words quoted for a shell."""
    quoted = {key: shlex.quote(value) for key, value in words.items()}
    return template.format(**quoted)
