"""The programs that the lab needs."""

import contextlib
import os
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from isthmus.errors import IsthmusError, RunError
from isthmus.install import built, find_isthmusd, find_nospin

_PACKAGES = {"ip": "iproute2", "tc": "iproute2", "nsenter": "util-linux", "unshare": "util-linux"}


def find_wanbox() -> Path:
    """ISTHMUS_PREFIX/bin, else the build tree of this checkout, else where pip installs."""
    candidates = []
    if named := os.environ.get("ISTHMUS_PREFIX"):
        candidates.append(Path(named) / "bin" / "isthmus-wanbox")
    candidates += built("isthmus-wanbox")
    with contextlib.suppress(IsthmusError):
        candidates.append(find_isthmusd().with_name("isthmus-wanbox"))
    candidates.append(Path(sysconfig.get_path("data")) / "bin" / "isthmus-wanbox")
    for path in candidates:
        if os.access(path, os.X_OK):
            return path
    raise RunError(
        f"isthmus-wanbox, the lab's compiled part, was not found; looked for {candidates[-1]}",
        "Reinstall Isthmus, or set ISTHMUS_PREFIX to the folder that holds bin/isthmus-wanbox.",
    )


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
