"""bin/isthmus of an installation by pip: starts its own Python, whatever is set for another one."""

import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from running import ran

SOURCE = Path(__file__).parents[2] / "python" / "isthmus.sh"
SHOWN = """
import json, os, sys
print(json.dumps({"argv": sys.argv[1:], "ignores": sys.flags.ignore_environment,
                  "utf8": sys.flags.utf8_mode, "python": sys.executable,
                  "path": os.environ.get("PYTHONPATH")}))
"""
FOREIGN = {"PYTHONHOME": "/nowhere", "PYTHONPATH": "/other", "PYTHONUTF8": "0"}
# As pip, distlib and uv write the beginning of a script.
FORMS = {
    "plain": "#!{python}\n",
    "long": "#!/bin/sh\n'''exec' {python} \"$0\" \"$@\"\n' '''\n",
    "blank": "#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''\n",
    "single": "#!/bin/sh\n'''exec' '{python}' \"$0\" \"$@\"\n' '''\n",
}


@pytest.fixture
def script(tmp_path):
    made = tmp_path / "my bin" / "isthmus"
    made.parent.mkdir()
    shutil.copy(SOURCE, made)
    made.chmod(0o755)
    return made


def shown(command, *words):
    done = ran([command, *words], env={**os.environ, **FOREIGN})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("form", FORMS)
def test_its_own_python(script, form):
    python = sys.executable
    if form in ("blank", "single"):
        python = f"{script.parent}/python3"
        Path(python).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        Path(python).chmod(0o755)
    script.with_name("isthmus-python").write_text(FORMS[form].format(python=python) + SHOWN)
    words = ["run", "a b", "", "*", "$HOME", "-n", "--"]
    said = shown(script, *words)
    assert said == {
        "argv": words, "ignores": 1, "utf8": 1, "python": sys.executable, "path": "/other",
    }  # fmt: skip


def test_by_a_link_and_by_its_name(script, tmp_path, monkeypatch):
    script.with_name("isthmus-python").write_text(f"#!{sys.executable}\n{SHOWN}")
    link = tmp_path / "link"
    link.symlink_to(script)
    assert shown(link, "x")["argv"] == ["x"]
    monkeypatch.chdir(script.parent)
    assert shown("/bin/sh", "isthmus", "x")["argv"] == ["x"]


def test_half_an_installation(script):
    done = ran([script])
    assert done.returncode == 1
    assert done.stderr.endswith("isthmus-python is missing or empty; reinstall Isthmus.\n")
