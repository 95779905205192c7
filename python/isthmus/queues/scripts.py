"""The batch script of one cluster's part of a job."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from isthmus.queues.schedulers import Scheduler
from isthmus.run.command import SETUP_ENDED


@dataclass(frozen=True)
class PartScript:
    """`folder`, a word of a shell, holds the script, the key and join.py on the cluster; the script
    is submitted there. The ranks run in `wdir`, if it exists; `time` is in seconds."""

    name: str
    cluster: str
    n: int
    folder: str
    to: str
    isthmusd: str
    wdir: str
    time: float | None = None
    options: Sequence[str] = ()
    setup: Sequence[str] = ()

    @property
    def path(self) -> str:
        return f"{self.cluster}.sh"

    @property
    def output(self) -> str:
        return f"{self.cluster}.out"

    @property
    def key(self) -> str:
        return key_of(self.cluster)


def key_of(cluster: str) -> str:
    """The file of a part's key: clusters may share a folder."""
    return f"{cluster}.pem"


def clock(seconds: float) -> dict[str, str]:
    """A time in the forms of batch systems, rounded up to minutes."""
    minutes = max(1, -int(-seconds // 60))
    return {
        "clock": f"{minutes // 60:02d}:{minutes % 60:02d}:00",
        "total_minutes": str(minutes),
    }


def text(part: PartScript, scheduler: Scheduler, template: str = "") -> str:
    """The whole script; the user's `template` replaces what a known scheduler needs."""
    words = {
        "name": part.name,
        "n": str(part.n),
        "output": part.output,
        **clock(part.time or 86400),
    }
    if template:
        made = template.replace("{command}", _body(part, scheduler))
        for key, value in words.items():
            made = made.replace("{" + key + "}", value)
        return made
    lines = ["#!/bin/bash -l"]
    lines += [line.format(**words) for line in scheduler.head]
    if part.time:
        lines.append(scheduler.time.format(**words))
    lines += [scheduler.option + option for option in part.options]
    return "\n".join(lines) + "\n\n" + _body(part, scheduler)


def _body(part: PartScript, scheduler: Scheduler) -> str:
    """The user's lines, then the agent's command."""
    folder = part.folder
    command = [
        f"exec python3 {folder}/join.py --key {folder}/{part.key}",
        f"--to {shlex.quote(part.to)} --cluster {part.cluster}",
        f"--isthmusd {shlex.quote(part.isthmusd)}",
    ]
    if scheduler.batch:
        command.append(f'--batch "{scheduler.batch}"')
    if scheduler.left:
        command.append(f'--left "{scheduler.left}"')
    if scheduler.requeue:
        command.append(f"--requeue {shlex.quote(scheduler.requeue)}")
    lines = [f"export ISTHMUS_SCRIPT={folder}/{part.path}"]
    if part.setup:  # in sh, which templates may name
        lines.append(f"trap 'echo \"{SETUP_ENDED} $?\" >&2' EXIT; set -e")
        lines += [*part.setup, "set +e; trap - EXIT"]
    lines.append(f'cd {shlex.quote(part.wdir)} 2>/dev/null || cd "$HOME"')
    return "\n".join(lines) + "\n" + " \\\n  ".join(command) + "\n"
