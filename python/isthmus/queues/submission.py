"""Puts the parts of a job into their clusters' queues; asks for them and cancels them there."""

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from isthmus.base.errors import RunError
from isthmus.grid.grid import ClusterSpec
from isthmus.grid.gridkeys import SCHEDULERS
from isthmus.queues import joiner, partline, schedulers
from isthmus.queues.schedulers import Scheduler
from isthmus.queues.scripts import key_of
from isthmus.run.command import isthmusd_of, shell_at, try_reach

_LIMIT = 60.0  # seconds that a scheduler has to answer
_SETTLING = 4.0  # seconds in which an ending job reaches its last state
_CONFIRMING = 2.0  # seconds between the two
_PAUSE = 0.3


def scheduler_of(spec: ClusterSpec) -> tuple[Scheduler, str]:
    """The cluster's scheduler, and the user's template if that is used."""
    assert spec.scheduler
    if spec.scheduler in SCHEDULERS:
        return schedulers.KNOWN[spec.scheduler], ""
    return schedulers.of_template(Path(spec.scheduler))


def isthmusd_there(spec: ClusterSpec) -> str:
    """The path for join.py, which understands '~/'."""
    return isthmusd_of(spec.prefix, spec.host is None)


@dataclass(frozen=True)
class Part:
    """A cluster's part of a job. `folder` is a word of a shell there; `identifier` is the
    scheduler's, None before the part is submitted."""

    cluster: str
    host: str | None
    scheduler: Scheduler
    folder: str
    identifier: str | None = None

    def bundle(self, script: str, key: str) -> str:
        """A shell's text that puts all that is needed into the folder, and submits the script."""
        name, pem, new = f"{self.cluster}.sh", key_of(self.cluster), f"{self.cluster}.new"
        files = {name: script, pem: key, "join.py": Path(joiner.__file__).read_text()}
        files["partline.py"] = Path(partline.__file__).read_text()
        lines = ["set -e", "umask 077", f"mkdir -p {self.folder}", f"cd {self.folder}"]
        lines.append(f"rm -f {new}")  # so that the shell's umask says who reads it
        # Clusters with the same home share the folder, and one part may run already. Each file
        # changes at once, so that it reads a whole one.
        for file, text in files.items():
            mark = f"ISTHMUS_END_OF_{file.replace('.', '_').upper()}"
            lines += [f"cat > {new} <<'{mark}'", text.rstrip("\n"), mark, f"mv -f {new} {file}"]
        lines += [f"command -v isthmusd > {new} || :", f"mv -f {new} isthmusd.path"]
        submitted = schedulers.command(self.scheduler.submit, script=name)
        lines.append(f"{{ {submitted}\n}} || {{ status=$?; rm -f {pem}; exit $status; }}")
        return "\n".join(lines) + "\n"

    def submit(self, bundle: str) -> str:
        """Returns the identifier. RunError with the scheduler's words."""
        command = shell_at(self.host, "exec sh")
        done = subprocess.run(
            command, input=bundle, capture_output=True, text=True,
            errors="surrogateescape", check=False,
        )  # fmt: skip
        found = schedulers.found_identifier(self.scheduler, done.stdout)
        if done.returncode == 0 and found:
            return found
        said = (done.stderr.strip() or done.stdout.strip()).replace("\n", "\n  | ")
        if self.host and done.returncode == 255:
            raise RunError(f"cluster {self.cluster}: ssh could not connect\n  | {said}",
                           try_reach(self.host, said))  # fmt: skip
        raise RunError(
            f"cluster {self.cluster}: {self.scheduler.title} did not take the job\n  | {said}"
        )

    def cancel(self) -> str:
        """Returns the error; empty when the job is cancelled, or has ended. Its key goes too."""
        if not self.identifier:
            return ""
        text = self._cancelling()
        try:
            done = subprocess.run(
                shell_at(self.host, self._with_key(text)),
                stdin=subprocess.DEVNULL, capture_output=True,
                text=True, errors="surrogateescape", timeout=_LIMIT, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"cluster {self.cluster}: `{text}` does not end"
        said = (done.stderr or done.stdout).strip().splitlines()
        return f"cluster {self.cluster}: `{text}`: {said[0]}" if done.returncode and said else ""

    async def cancel_later(self) -> None:
        """The same while others go on. It reports no errors."""
        if self.identifier:
            await self._asked(self._with_key(self._cancelling()))

    def _cancelling(self) -> str:
        if not self.scheduler.cancel:
            return ":"
        return schedulers.command(self.scheduler.cancel, id=self.identifier or "")

    def _with_key(self, text: str) -> str:
        return f"rm -f {self.folder}/{key_of(self.cluster)}; {text}"

    async def state(self) -> str:
        """The scheduler's output for the job; empty if it knows nothing."""
        if not self.identifier or not self.scheduler.state:
            return ""
        return await self._asked(schedulers.command(self.scheduler.state, id=self.identifier))

    async def _asked(self, text: str) -> str:
        """The output of the command; empty if it failed."""
        try:
            asked = await asyncio.create_subprocess_exec(
                *shell_at(self.host, text),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except OSError:
            return ""
        try:
            printed, _ = await asyncio.wait_for(asked.communicate(), _LIMIT)
        except asyncio.TimeoutError:
            asked.kill()
            return ""
        return printed.decode(errors="replace").strip() if asked.returncode == 0 else ""

    async def why_over(self) -> str:
        """The scheduler's words for a job that will not run any more; empty for others. Slurm has
        said FAILED of a job that was going back into its queue (November 2026), so a word counts
        only if it comes twice."""
        word = await self._settled()
        if self._may_run(word):
            return ""
        await asyncio.sleep(_CONFIRMING)
        word = await self._settled()
        if self._may_run(word):
            return ""
        told = f"{self.scheduler.title} says that its job {self.identifier} is {word}"
        file = f"{self.folder}/{self.cluster}.out".replace('"', "")
        return f"{told}\n  Its output is in {f'{self.host}:' if self.host else ''}{file}"

    async def why_gone(self) -> str:
        """The same once the job has begun. A job that has gone back to its queue is gone, too."""
        if why := await self.why_over():
            return why.partition("\n")[0]
        word = await self._settled()
        if word in self.scheduler.queued and word != "COMPLETING":
            title = self.scheduler.title
            return f"{title} has put its job {self.identifier} back into its queue ({word})"
        return ""

    async def _settled(self) -> str:
        """The first word of the state, once the job is no longer just completing."""
        clock = asyncio.get_running_loop().time
        deadline = clock() + _SETTLING
        while True:
            said = await self.state()
            word = said.split()[0] if said else ""
            if word != "COMPLETING" or clock() > deadline:
                return word
            await asyncio.sleep(_PAUSE)

    def _may_run(self, word: str) -> bool:
        """True also if the scheduler says nothing."""
        return not word or word in (*self.scheduler.queued, *self.scheduler.running)

    def facts(self) -> dict[str, Any]:
        return {
            "cluster": self.cluster,
            "host": self.host,
            "scheduler": self.scheduler.__dict__,
            "folder": self.folder,
            "id": self.identifier,
        }


def part_of(facts: dict[str, Any]) -> Part:
    """The inverse of `facts`."""
    said: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in facts["scheduler"].items()
    }
    return Part(
        facts["cluster"], facts["host"], Scheduler(**said), facts["folder"], facts["id"]
    )  # fmt: skip


def cancel_all(parts: Sequence[Part]) -> list[str]:
    """Returns the errors."""
    return [trouble for part in parts if (trouble := part.cancel())]
