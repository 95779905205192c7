"""The version and the commit of this installation, and the number of its wire protocol."""

import re
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

# Agents must have the same number. src/core/wire/wire.hpp has it, too.
# tests/architecture/wire_test.py compares the two, and says when it changes.
WIRE = 3


def _checkout() -> Path | None:
    """The checkout that has this module, if one has."""
    above = Path(__file__).parents
    return above[2] if len(above) > 2 and (above[2] / "CMakeLists.txt").is_file() else None


def _find() -> str:
    if source := _checkout():  # the installed version may differ
        text = (source / "CMakeLists.txt").read_text()
        found = re.search(r"project\(isthmus VERSION (\S+)", text)
        if found:
            return found[1]
    for info in Path(__file__).parents[1].glob("isthmus-*.dist-info"):  # as pip names it
        return info.stem.partition("-")[2]
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415  takes 50 ms

    try:
        return version("isthmus")
    except PackageNotFoundError:
        return "unknown"


VERSION = _find()


@cache
def commit() -> str:
    """The commit of git that this module comes from, with "-dirty" if files had changed; or
    "unknown". A build leaves it in share/isthmus (CMakeLists.txt)."""
    if source := _checkout():
        words = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
        with suppress(OSError, subprocess.SubprocessError):
            said = subprocess.run(
                ["git", "-C", source, *words],
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10, check=True,
            )  # fmt: skip
            return said.stdout.strip()
        return "unknown"
    for folder in list(Path(__file__).parents)[1:5]:
        with suppress(OSError):
            return (folder / "share" / "isthmus" / "commit").read_text().strip()
    return "unknown"


def build_text(version: object, commit: object, wire: object) -> str:
    """Words about a build."""
    about = [f"commit {commit}"] if commit else []
    return ", ".join([str(version), *about, f"wire protocol {wire or 'unknown'}"])
