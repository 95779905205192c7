"""`isthmus doctor` as the tests of it run it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from running import ran

PYTHON = Path(__file__).parents[2] / "python"


class Doctor:
    """Runs the command on a grid file; `findings` are those of the last run."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "grid.toml"
        self.env = {**os.environ, "PYTHONPATH": str(PYTHON)}
        self.env.pop("ISTHMUS_GRID", None)
        self.findings: list[dict[str, str]] = []

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        return ran([sys.executable, "-m", "isthmus", "doctor", *words], env=self.env)

    def __call__(self, grid: str) -> int:
        self.file.write_text(grid)
        done = self.run("-g", str(self.file), "--json")
        assert done.stderr == ""
        said = json.loads(done.stdout)
        self.findings = said["findings"]
        assert said["ok"] is (done.returncode == 0)
        return done.returncode

    def of(self, where: str, what: str) -> dict[str, str]:
        found = [f for f in self.findings if where in f["where"] and f["what"] == what]
        assert len(found) == 1, self.findings
        return found[0]

    def level(self, where: str, what: str) -> str:
        return self.of(where, what)["level"]

    def finds(self, where: str, what: str, *texts: str, level: str = "", remedy: str = "") -> None:
        found = self.of(where, what)
        assert level in ("", found["level"])
        assert all(text in found["text"] for text in texts), found
        assert remedy in found.get("remedy", ""), found
