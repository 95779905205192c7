"""Programs of tests, tools and benchmarks that people start by themselves find what they import,
without the paths that pytest has."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def scripts() -> list[Path]:
    """All with a `--help`."""
    files = [
        file for folder in ("bench", "tests", "tools") for file in (ROOT / folder).rglob("*.py")
    ]
    texts = [(file, file.read_text()) for file in sorted(files)]
    return [
        file
        for file, text in texts
        if '\nif __name__ == "__main__":\n' in text and "ArgumentParser(" in text
    ]


@pytest.mark.parametrize("script", scripts(), ids=lambda file: str(file.relative_to(ROOT)))
def test_it_starts(script, tmp_path):
    done = subprocess.run(
        [sys.executable, script, "--help"],
        cwd=tmp_path,
        env={},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
