"""The programs that the lab needs."""

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from isthmus.base.errors import IsthmusError, RunError
from isthmus.install import built, find_isthmusd

_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}


def find_library(name: str) -> Path:
    """A library of the lab. RunError if it is missing."""
    folders = [find_isthmusd().parent.parent / "lib" / "isthmus"]
    folders += [path.parent for path in built(name)]
    if named := os.environ.get("ISTHMUS_PREFIX"):
        folders.insert(0, Path(named) / "lib" / "isthmus")
    for folder in folders:
        if (path := folder / name).is_file():
            return path
    raise RunError(
        f"{name}, a part of the lab, was not found; looked in {folders[0]}",
        "Reinstall Isthmus.",
    )


def find_nospin() -> Path:
    """The library that makes spinning ranks of native MPIs sleep."""
    return find_library("libisthmus_nospin.so")


def find_papers() -> Path:
    """The algorithms of papers, as a library for ranks."""
    return find_library("libisthmus_papers.so")


def nospin() -> Path | None:
    """libisthmus_nospin, if it exists: a lab works without it."""
    with contextlib.suppress(IsthmusError):
        return find_nospin()
    return None


def require(packages: Mapping[str, str]) -> None:
    """RunError if one of the programs is missing, with the name of its Debian package."""
    for program, package in packages.items():
        if shutil.which(program) is None:
            raise RunError(
                f"the lab needs the program '{program}', which is not installed",
                f"On Debian: apt-get install {package}",
            )


def check() -> None:
    """RunError if something is missing."""
    os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
    require(_PACKAGES)
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        raise RunError(
            f"the lab needs /dev/net/tun, which cannot be opened: {error.strerror}",
            "Run the lab as root, or where /dev/net/tun may be opened. If it does not exist, run "
            "`modprobe tun`; for a container, pass it in (--device /dev/net/tun).",
        ) from None
