"""The version that agents must share. CMakeLists.txt defines it."""

import re
from pathlib import Path


def _find() -> str:
    source = Path(__file__).parents[2] / "CMakeLists.txt"
    if source.is_file():  # a checkout: the installed version may differ
        found = re.search(r"project\(isthmus VERSION (\S+)", source.read_text())
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
