"""Recipes of packages say what pyproject.toml and CMakeLists.txt say."""

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from isthmus.install import find_isthmusd
from isthmus.version import VERSION

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
SPACK = ROOT / "packaging/spack/isthmus/package.py"
CONDA = ROOT / "packaging/conda/meta.yaml"
MODULE = ROOT / "packaging/modulefiles/isthmus"


def dependencies() -> dict[str, str]:
    """Of the command, with their oldest versions."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found = [re.match(r"([a-z-]+)>=([0-9.]+)", text) for text in data["project"]["dependencies"]]
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
    assert f'version = "{VERSION}"' in CONDA.read_text()
    assert f"Isthmus {VERSION}:" in MODULE.read_text()
    assert (ROOT / "debian/changelog").read_text().startswith(f"isthmus ({VERSION})")


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
    needed = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for package in needed - {"build-essential", "python3-venv"}:
        assert f" {package},\n" in control, package


MODULECMD = next(
    (p for p in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/modules/modulecmd.tcl")
     if Path(p).exists()),
    shutil.which("modulecmd"),
)  # fmt: skip


@pytest.mark.skipif(not MODULECMD, reason="environment-modules is not installed")
def test_the_modulefile_loads():
    done = subprocess.run(
        [MODULECMD, "sh", "load", str(MODULE)], capture_output=True, text=True, check=False,
        env={"PATH": "/usr/bin:/bin", "ISTHMUS_MODULE_PREFIX": "/opt/x"},
    )  # fmt: skip
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
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert [line for line in done.stderr.splitlines() if "isthmus-service" in line] == []
