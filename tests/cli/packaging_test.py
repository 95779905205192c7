"""Recipes of packages say what pyproject.toml and CMakeLists.txt say."""

import ast
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from running import ran

from isthmus.base import later
from isthmus.install import find_isthmusd
from isthmus.version import VERSION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SPACK = ROOT / "packaging/spack/isthmus/package.py"
CONDA = ROOT / "packaging/conda/recipe.yaml"
MODULE = ROOT / "packaging/modulefiles/isthmus"


def project(folder: str) -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())
    return data["project"]


def dependencies() -> dict[str, str]:
    """The dependencies of the command, with their oldest versions."""
    found = [re.match(r"([a-z-]+)>=([0-9.]+)", text) for text in project(".")["dependencies"]]
    return {match[1]: match[2] for match in found if match}


def test_the_manual_page_of_isthmusd():
    """Names all its subcommands, and all keys of a service's file."""
    page = (ROOT / "packaging/isthmusd.8").read_text().replace("\\", "")
    keys = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/service.md").read_text(), re.MULTILINE)
    assert len(keys) > 9
    for key in keys:
        assert f".B {key}\n" in page, key
    said = subprocess.run(
        [find_isthmusd(), "--help"], capture_output=True, text=True, check=True
    ).stdout.split("Subcommands:")[1]
    commands = re.findall(r"^  ([a-z-]+) ", said.split("Environment:")[0], re.MULTILINE)
    assert len(commands) > 6
    for command in commands:
        assert re.search(rf"\b{command}\b", page), command


def test_versions():
    assert f'version("{VERSION}"' in SPACK.read_text()
    assert f'version: "{VERSION}"' in CONDA.read_text()
    assert f"Isthmus {VERSION}:" in MODULE.read_text()
    assert f"\nversion: {VERSION}\n" in (ROOT / "CITATION.cff").read_text()
    assert (ROOT / "debian/changelog").read_text().startswith(f"isthmus ({VERSION})")
    assert project("lab")["dependencies"] == [f"isthmus=={VERSION}"]
    assert project(".")["optional-dependencies"]["lab"] == [f"isthmus-lab=={VERSION}"]


def test_isthmus_lab_is_built_with_what_isthmus_needs():
    """Its manual pages come from --help, too."""
    ours, theirs = (
        set(tomllib.loads((ROOT / at).read_text())["build-system"]["requires"])
        for at in ("pyproject.toml", "lab/pyproject.toml")
    )
    assert ours == theirs


def test_the_commands_of_isthmus_lab(tmp_path):
    """`isthmus` knows their names. A script writes them where pip did not install the package."""
    (points,) = project("lab")["entry-points"].values()
    assert {*points} == {*later.ELSEWHERE}
    script = ROOT / "tools/generate/entry_points.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, timeout=60)
    (found,) = metadata.distributions(name="isthmus-lab", path=[str(tmp_path)])
    assert found.version == VERSION
    written = found.entry_points.select(group="isthmus.commands")
    assert {point.name: point.value for point in written} == points


@pytest.mark.parametrize(("name", "version"), dependencies().items())
def test_dependencies_of_the_command(name, version):
    assert f'depends_on("py-{name}@{version}:"' in SPACK.read_text()
    assert f"- {name} >={version}" in CONDA.read_text()
    oldest = (ROOT / "tools/setup/requirements-oldest.txt").read_text().splitlines()
    assert [line.split(";")[0] for line in oldest if line.startswith(name)] == [
        f"{name}=={version}"
    ]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert [text.split(";")[0] for text in build if text.startswith(name)] == [f"{name}>={version}"]
    if name != "tomli":  # Debian 12 has Python 3.11
        assert f"python3-{name} (>= {version})" in (ROOT / "debian/control").read_text()


def test_the_spack_recipe_is_python():
    tree = ast.parse(SPACK.read_text())
    (made,) = (node for node in tree.body if isinstance(node, ast.ClassDef))
    assert made.name == "Isthmus"


def test_what_debian_builds_with():
    control = (ROOT / "debian/control").read_text()
    lines = (ROOT / "tools/setup/packages-install.txt").read_text().splitlines()
    needed = {
        re.match(r"\S+( \[\w+\])?", line)[0] for line in lines if line and not line.startswith("#")
    }
    for package in needed - {"build-essential", "python3-venv"}:
        assert f" {package},\n" in control, package


MODULECMD = next(
    (p for p in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/modules/modulecmd.tcl")
     if Path(p).exists()),
    shutil.which("modulecmd"),
)  # fmt: skip


@pytest.mark.skipif(not MODULECMD, reason="environment-modules is not installed")
def test_the_modulefile_loads():
    done = ran(
        [MODULECMD, "sh", "load", MODULE],
        env={"PATH": "/usr/bin:/bin", "ISTHMUS_MODULE_PREFIX": "/opt/x"},
    )
    assert done.returncode == 0, done.stderr
    assert re.search(r"PATH=/opt/x/bin:/usr/bin:/bin", done.stdout)
    assert "ISTHMUS_PREFIX=/opt/x" in done.stdout


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_the_unit_of_a_service(tmp_path):
    """As systemd reads it; the command is not installed here."""
    unit = tmp_path / "isthmus-service.service"
    text = (ROOT / "packaging/systemd/isthmus-service.service").read_text()
    assert "ExecStart=/usr/bin/isthmusd serve --config /etc/isthmus/service.toml\n" in text
    text = text.replace("/usr/bin/isthmusd", shutil.which("true"))
    unit.write_text(text.replace("file:///usr/share/doc/isthmus/service.md", "https://example.org"))
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    done = ran(command)
    assert [line for line in done.stderr.splitlines() if "isthmus-service" in line] == []
