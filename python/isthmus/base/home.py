"""The folder that ISTHMUS_HOME names. It has `runs`, `jobs` and `labs`; without it each of them has
a usual place of its own."""

import os
from pathlib import Path


def below(kind: str) -> Path | None:
    named = os.environ.get("ISTHMUS_HOME")
    return Path(named) / kind if named else None
