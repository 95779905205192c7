"""Checks that a built face can be opened in any program. All of Isthmus is inside, one symbol is
visible, and its thread-local storage fits what the dynamic linker keeps for late libraries.

    check_face.py libisthmus-face-ompi.so
"""

from __future__ import annotations

import re
import subprocess
import sys

# glibc keeps about 1.6 KiB for all libraries that are opened late, and MPI libraries take of it.
MAX_TLS = 256


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def problems(undefined: str, defined: str, segments: str) -> list[str]:
    """Parses `nm -DC --undefined-only`, `nm -D --defined-only` and `readelf -lW`."""
    found = [
        f"not linked in: {line.split(maxsplit=1)[1]}"
        for line in undefined.splitlines()
        if "isthmus" in line
    ]
    visible = [line.split()[2] for line in defined.splitlines()]
    if visible != ["isthmus_face_open"]:
        found.append(f"visible: {', '.join(visible[:10])}; should be isthmus_face_open alone")
    for size in re.findall(r"^\s*TLS\s+\S+\s+\S+\s+\S+\s+\S+\s+(0x[0-9a-f]+)", segments, re.M):
        if int(size, 16) > MAX_TLS:
            found.append(f"{int(size, 16)} bytes of thread-local storage; at most {MAX_TLS}")
    return found


def main() -> None:
    face = sys.argv[1]
    found = problems(
        output("nm", "-DC", "--undefined-only", face),
        output("nm", "-D", "--defined-only", face),
        output("readelf", "-lW", face),
    )
    if found:
        sys.exit(f"{face}:\n  " + "\n  ".join(found))


if __name__ == "__main__":
    main()
