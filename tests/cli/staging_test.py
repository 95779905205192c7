"""Files that are brought to clusters: what is asked, and by whom."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.place.staging import staged

OF_ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


def test_what_is_told_of_a_file(tmp_path):
    file = tmp_path / "app"
    file.write_bytes(b"abc")
    file.chmod(0o750)
    found = staged(str(file))
    assert found.facts() == {"path": str(file), "size": 3, "mode": 0o750, "sha256": OF_ABC}
    assert list(found.pieces()) == [b"abc"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("none", "No such file"),
        (".", "not a regular file"),
        ("../x", "outside the working directory"),
    ],
)
def test_what_cannot_be_staged(tmp_path, monkeypatch, name, what):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as error:
        staged(name)
    assert what in str(error.value)


def test_only_who_lacks_it_is_sent_it(grid, tmp_path):
    file = tmp_path / "input"
    file.write_bytes(b"abc")
    for name, wanted in (("east", True), ("west", False)):
        answers = {
            "stage": [{"say": {"op": "stage", "wanted": wanted}}],
            "stage-data": [],
            "stage-end": [{"say": {"op": "staged", "path": "/there/input"}}],
        }
        grid.cluster(name, on=answers)
    done = grid.run("-v", "--stage", str(file), "-n", "2", "x")
    heard = {name: [m["op"] for m in grid.installs[name].heard] for name in ("east", "west")}
    assert "stage-end" in heard["east"], done.stderr
    assert "stage-end" not in heard["west"]
    assert grid.installs["east"].told("stage")["sha256"] == OF_ABC
    assert f"cluster east: copied {file} to /there/input" in done.stderr
