"""Standard input of a rank on another host."""

from __future__ import annotations

import re
import socket
from pathlib import Path

from faulty import processes
from waiting import eventually

from doors.door import TESTS, Door, compiled
from doors.strangers import by_challenge


class Stdin(Door):
    """Rank 0 fetches its standard input. The native launcher waits at a gate, so that strangers
    come first."""

    opening = by_challenge("standard input")

    def open(self) -> None:
        gate = self.gate = self.folder / "gate"
        launcher = self.folder / "mpirun"
        launcher.write_text(
            f'#!/bin/sh\ncase " $* " in *" --version "*) ;; *)\n'
            f'while [ ! -e {gate} ]; do sleep 0.05; done;; esac\nexec mpirun.openmpi "$@"\n'
        )
        launcher.chmod(0o755)
        # Ranks at a named host may be on another one: their input comes by TCP.
        here = f"launch = '{launcher}'\nhosts = '{socket.gethostname()}'\n"
        grid = f"[cluster.east]\n{here}[cluster.west]\n"
        (self.folder / "grid.toml").write_text(grid)
        program = compiled(self.folder.parent, TESTS / "faults/faults.c")
        self.number = len(self.started)
        reading = 'read -r said && echo "heard $said" && exec "$@"'
        words = ["sh", "-c", f'[ "$ISTHMUS_RANK" != 0 ] || {{ {reading}; }}; exec "$@"', "sh"]
        (self.folder / "words").write_text("all\n")
        with (self.folder / "words").open() as given:
            self.serving = self.isthmus(
                "run", "-g", "grid.toml", "-n", 2, *words, program, "fine", 0, self.bell,
                stdin=given,
            )  # fmt: skip
        eventually(self._listens, "an agent listens for the rank", 60)

    def _listens(self) -> bool:
        """Finds the port: the agent's only one at TCP, since its gateways have unix sockets."""
        self.ports = [
            port
            for pid, line in processes(self.mark).items()
            if "isthmusd agent" in line
            for port in _listening(pid)
        ]
        return bool(self.ports)

    def come(self) -> None:
        self.gate.touch()
        self.wait(lambda: "heard all" in self.said(self.number), self.serving, self.number)


def _listening(pid: int) -> list[int]:
    """The TCP ports at which a process listens."""
    try:
        mine = {str(file.readlink()) for file in Path(f"/proc/{pid}/fd").iterdir()}
    except OSError:
        return []
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in mine:
                found.append(int(re.split(":", words[1])[1], 16))
    return found
