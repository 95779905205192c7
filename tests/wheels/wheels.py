"""The wheels of dist/ (`make wheels`), and what is in them."""

from __future__ import annotations

import platform
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HERE = f"manylinux_2_28_{platform.machine()}"
Isthmus = Callable[..., subprocess.CompletedProcess[str]]


def wheel_of(platform_tag: str) -> Path:
    found = list((ROOT / "dist").glob(f"isthmus-*-py3-none-{platform_tag}.whl"))
    assert len(found) == 1, f"one wheel for {platform_tag} in dist, not {found}: `make wheels`"
    return found[0]


def unpacked(platform_tag: str, folder: Path) -> Path:
    """The prefix that the wheel's files make: bin, lib, share."""
    with zipfile.ZipFile(wheel_of(platform_tag)) as archive:
        archive.extractall(folder)
    (prefix,) = folder.glob("isthmus-*.data/data")
    return prefix
