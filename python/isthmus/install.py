"""The places of the compiled parts of this installation."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from isthmus.base.errors import RunError

# Builds with sanitizers cannot be loaded into other programs, and their times mean nothing. The
# others are for another machine.
_NOT_FOR_USE = ("asan", "tsan", "ubsan", "aarch64", "aarch64-sysroot", "s390x", "s390x-sysroot")


def _build_trees() -> list[Path]:
    """The build trees of this checkout, if it is one, with programs that run here."""
    source = Path(__file__).parents[2]
    if not (source / "CMakePresets.json").is_file():
        return []
    return [tree for tree in source.glob("build/*") if tree.name not in _NOT_FOR_USE]


def _newest_first(files: Iterable[Path]) -> list[Path]:
    return sorted(filter(Path.is_file, files), key=lambda path: path.stat().st_mtime, reverse=True)


def built(name: str) -> list[Path]:
    """Files of this name in the build trees, the newest first."""
    return _newest_first(path for tree in _build_trees() for path in tree.glob(f"**/{name}"))


def _installed() -> Iterator[Path]:
    """The files that pip installed: below the prefix in whose lib/pythonX.Y/*-packages this module
    is, else according to pip's list of files."""
    above = Path(__file__).parents
    if len(above) > 4 and above[3].name in ("lib", "lib64"):
        yield above[4] / "bin" / "isthmusd"
    from importlib.metadata import PackageNotFoundError, files  # noqa: PLC0415  takes 40 ms

    try:
        listed = files("isthmus") or []
    except PackageNotFoundError:
        return
    yield from (Path(str(f.locate())).resolve() for f in listed if f.name == "isthmusd")


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("ISTHMUS_PREFIX"):
        yield Path(named) / "bin" / "isthmusd"
        return
    whole = [tree for tree in _build_trees() if any(tree.glob("lib/libisthmus-face-*.so"))]
    yield from _newest_first(path for tree in whole for path in tree.glob("**/isthmusd"))
    yield from _installed()
    import shutil  # noqa: PLC0415  (seldom needed)
    import sysconfig  # noqa: PLC0415

    if on_path := shutil.which("isthmusd"):  # from a package of the system
        yield Path(on_path)
    yield Path(sysconfig.get_path("data")) / "bin" / "isthmusd"


def find_isthmusd() -> Path:
    """ISTHMUS_PREFIX/bin, else the build tree of this checkout, else what pip installed, else the
    one on the PATH."""
    sought = []
    for path in _candidates():
        if path.is_file() and os.access(path, os.X_OK):
            return path
        sought.append(path)
    raise RunError(
        f"isthmusd, the compiled part of Isthmus, is missing on this host; looked for {sought[0]}",
        "Clusters on this host need it: install Isthmus for this system (README.md, Installing), "
        "or set ISTHMUS_PREFIX to the folder that holds bin/isthmusd. A cluster on another host "
        "('host' in the grid file) needs it there, not here.",
    )


def includedir() -> Path:
    """The folder of isthmus.h, isthmus.f90 and the modules for mpi4py."""
    import sysconfig  # noqa: PLC0415

    folders = [
        Path(sysconfig.get_path("data")) / "include" / "isthmus",
        Path(__file__).parents[2] / "include",  # of a checkout
    ]
    with suppress(RunError):  # the launcher alone has the files, too
        folders.insert(0, find_isthmusd().parent.parent / "include" / "isthmus")
    for folder in folders:
        if (folder / "isthmus.h").is_file():
            return folder
    raise RunError(f"isthmus.h was not found; looked in {folders[0]}", "Reinstall Isthmus.")
