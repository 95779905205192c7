"""The build lists everything that is missing at once, and all lists of requirements agree."""

import re
from pathlib import Path

from running import ran

ROOT = Path(__file__).parents[2]
CMAKE = (ROOT / "cmake/Dependencies.cmake").read_text()


def packages(name: str) -> set[str]:
    lines = (ROOT / "tools/setup" / name).read_text().splitlines()
    return {line.split()[0] for line in lines if line and not line.startswith("#")}


def test_all_that_is_missing_is_told_at_once(tmp_path):
    absent = ["fmt", "CLI11", "nlohmann_json"]
    options = ["-DISTHMUS_TESTS=OFF"]
    options += [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in absent]
    done = ran(["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *options], timeout=120)
    assert done.returncode != 0
    said = " ".join(done.stderr.split())
    assert said.count("CMake Error") == 1
    assert "these libraries are missing: fmt, nlohmann-json, CLI11." in said
    assert "apt-get install libfmt-dev nlohmann-json3-dev libcli11-dev" in said


def test_lists_agree():
    named = re.findall(r'^needs\("[^"]+" (\S+) ', CMAKE, re.MULTILINE)
    assert len(named) == 7
    assert set(named) <= packages("packages-install.txt")
    readme = (ROOT / "README.md").read_text()
    assert packages("packages-install.txt") <= set(re.findall(r"[\w+-]+", readme))


def test_what_is_required_is_used():
    """Each library that CMake looks for is linked or included by something."""
    sources = "".join(
        path.read_text()
        for folder in ("src", "lab", "bench")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".hpp", ".txt", ".cmake")
    )
    libraries = set(re.findall(r"find_package\((\w+)", CMAKE)) - {"Python3", "GTest"}
    assert not [name for name in libraries if f"{name}::" not in sources]
