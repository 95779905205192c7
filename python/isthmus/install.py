"""Where the compiled parts of this installation are."""

import os
import sysconfig
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from isthmus.errors import RunError

_SANITIZED = ("asan", "tsan", "ubsan")


def built(name: str) -> list[Path]:
    """Files of this name in the build trees of this checkout, the newest first. Not those that were
    built with sanitizers: they cannot be loaded into other programs, and measure nothing."""
    source = Path(__file__).parents[2]
    if not (source / "CMakePresets.json").is_file():
        return []
    trees = [tree for tree in source.glob("build/*") if tree.name not in _SANITIZED]
    found = [path for tree in trees for path in tree.glob(f"**/{name}") if path.is_file()]
    return sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)


def _candidates() -> list[Path]:
    if named := os.environ.get("ISTHMUS_PREFIX"):
        return [Path(named) / "bin" / "isthmusd"]
    found = []
    source = Path(__file__).parents[2]
    if (source / "CMakePresets.json").is_file():  # a checkout: what was built last in it, whole
        whole = {face.parents[1] for face in source.glob("build/*/lib/libisthmus-face-*.so")}
        built = [p for tree in whole for p in tree.glob("**/isthmusd") if p.is_file()]
        found += sorted(built, key=lambda p: p.stat().st_mtime, reverse=True)
    try:
        listed = files("isthmus") or []
        found += [Path(str(f.locate())).resolve() for f in listed if f.name == "isthmusd"]
    except PackageNotFoundError:
        pass
    return [*found, Path(sysconfig.get_path("data")) / "bin" / "isthmusd"]


def find_isthmusd() -> Path:
    """ISTHMUS_PREFIX/bin, else the build tree of this checkout, else what pip installed."""
    candidates = _candidates()
    for path in candidates:
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise RunError(
        f"isthmusd, the compiled part of Isthmus, was not found; looked for {candidates[0]}",
        "Install Isthmus anew, or set ISTHMUS_PREFIX to the folder that holds bin/isthmusd.",
    )


def find_nospin() -> Path:
    """The library that makes native MPI ranks sleep where they would spin."""
    folders = [find_isthmusd().parent.parent / "lib" / "isthmus"]
    folders += [path.parent for path in built("libisthmus_nospin.so")]
    if named := os.environ.get("ISTHMUS_PREFIX"):
        folders.insert(0, Path(named) / "lib" / "isthmus")
    for folder in folders:
        if (path := folder / "libisthmus_nospin.so").is_file():
            return path
    raise RunError(
        f"libisthmus_nospin.so, a part of the lab, was not found; looked in {folders[0]}",
        "Install Isthmus anew.",
    )
