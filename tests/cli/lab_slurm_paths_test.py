"""Slurm's sockets lie in a lab's folder, and their paths may have 107 bytes. No lab runs here."""

import re
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from isthmus.base.errors import RunError
from isthmus_lab.lab import network, registry, slurm, testbed


def _check(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("ISTHMUS_HOME", str(home))
    lab, _ = registry.create(name)
    slurm.check(network.work_out(*testbed.load(name)), lab)


@pytest.mark.parametrize("extra", ["a" * 80, "ä" * 40])
def test_a_long_folder_is_refused(tmp_path, monkeypatch, extra):
    with pytest.raises(RunError, match="bytes too long for the sockets of Slurm: set ISTHMUS_HOME"):
        _check(tmp_path / extra, monkeypatch, "queues")


def test_the_longest_path_counts():
    """A folder that is shorter by the bytes of the message holds all sockets."""
    sites = {"a": ["a1", "a2"], "berlin": ["berlin9", "berlin10"], "c": ["c1"]}
    segments = {name: SimpleNamespace(name=name, scheduler="slurm") for name in sites}

    def of_site(name, _):
        return [SimpleNamespace(name=node) for node in sites[name]]

    def check(length):
        folder = Path("/" + "x" * (length - 1)) / "labs" / "lab"
        slurm.check(SimpleNamespace(segments=segments, of_site=of_site), registry.Lab(folder))

    with pytest.raises(RunError) as refusal:
        check(100)
    more = int(re.search(r"is (\d+) bytes too long", str(refusal.value))[1])
    check(100 - more)
    with pytest.raises(RunError, match="is 1 byte too long"):
        check(101 - more)


def test_a_lab_without_slurm_may_have_one(tmp_path, monkeypatch):
    _check(tmp_path / ("a" * 80), monkeypatch, "hablot")


def test_a_short_folder_is_taken(monkeypatch):
    with tempfile.TemporaryDirectory(dir="/tmp") as home:
        _check(Path(home), monkeypatch, "queues")
