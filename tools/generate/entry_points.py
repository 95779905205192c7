"""Writes the metadata by which Python finds the commands of isthmus-lab, as pip does.

Usage: entry_points.py FOLDER. FOLDER must be on Python's path, like the package itself.
"""

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    project = tomllib.loads((ROOT / "lab/pyproject.toml").read_text())["project"]
    found = re.search(r"project\(isthmus VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert found
    name, version = project["name"], found[1]
    lines = []
    for group, points in project["entry-points"].items():
        lines += [f"[{group}]", *(f"{point} = {place}" for point, place in points.items())]
    folder = Path(sys.argv[1]) / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "entry_points.txt").write_text("\n".join([*lines, ""]))
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


if __name__ == "__main__":
    main()
