"""Which clusters see the same files. Each leaves a file with a random name in its ranks' working
directory for a moment, and the others check whether they see it."""

import shlex
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from itertools import combinations, repeat
from pathlib import Path

from isthmus.doctor.findings import Finding
from isthmus.doctor.hosts import HostFacts
from isthmus.measuring.process import lines, started
from isthmus.place.plan import Plan
from isthmus.run.command import shell_at

_LIMIT = 20.0  # seconds that a host may take to answer
_MARK = "isthmus-doctor:"  # stands before a path, among other lines of a shell

_LEAVE = f"""
cd {{folder}} 2>/dev/null
left=$(mktemp "$PWD/.isthmus-XXXXXXXXXXXX") || exit 3
trap 'rm -f "$left"' EXIT
trap 'exit 1' HUP INT TERM
echo "{_MARK}$left"
read -r end
"""
_LOOK = f"""
for left in {{paths}}; do [ -e "$left" ] && echo "{_MARK}$left"; done
echo "{_MARK}"
"""


def check(
    plan: Plan, home: str | None, hosts: Sequence[HostFacts | None], say: Callable[[Finding], None]
) -> None:
    """A finding for each pair of clusters with ranks whose hosts are reached. `home` is the cluster
    for files, if the grid file names one."""
    agents = [
        agent
        for agent, facts in zip(plan.agents, hosts, strict=True)
        if agent.has_ranks and facts is not None
    ]
    if len(agents) < 2:
        return
    left: dict[int, str] = {}
    with ExitStack() as open_until_all_have_looked:
        for agent in agents:
            folder = plan.places[agent.cluster].spec.wdir or str(Path.cwd())
            command = shell_at(agent.host, _LEAVE.format(folder=shlex.quote(folder)))
            process, _ = open_until_all_have_looked.enter_context(started(command, None, ""))
            open_until_all_have_looked.callback(_end, process)
            if paths := _paths(lines(process, repeat(_LIMIT)), 1):
                left[agent.cluster] = paths[0]
        seen: dict[int, list[str]] = {}
        for agent in agents:
            words = shlex.join(left.values())
            with started(shell_at(agent.host, _LOOK.format(paths=words)), None) as (process, _):
                seen[agent.cluster] = _paths(lines(process, repeat(_LIMIT)), len(left) + 1)
    for one, other in combinations(left, 2):
        where = f"{plan.clusters[one].name} - {plan.clusters[other].name}"
        if left[one] in seen[other] or left[other] in seen[one]:
            text = f"shared: both see the files in {Path(left[one]).parent}"
        else:
            text = "not shared: files that both open come from " + (home or "rank 0's cluster")
        say(Finding(where, "files", "ok", text))


def _end(process: subprocess.Popen[bytes]) -> None:
    """The process removes the file that it has left."""
    assert process.stdin
    with suppress(OSError, subprocess.TimeoutExpired):
        process.stdin.close()
        process.wait(_LIMIT)


def _paths(said: Iterator[str], most: int) -> list[str]:
    """The paths that the script prints, up to `most` of them or its end."""
    found: list[str] = []
    with suppress(TimeoutError):
        for line in said:
            if line.startswith(_MARK):
                found.append(line.removeprefix(_MARK))
            if len(found) == most or (found and not found[-1]):
                break
    return found
