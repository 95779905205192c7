"""tools/tidy.py chooses the files to check, in clones with and without a history."""

import shutil
import subprocess
from pathlib import Path

import pytest
import tidy

ROOT = Path(__file__).parents[2]


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture
def history(tmp_path: Path) -> Path:
    """Three commits on main, each with a file of its own."""
    made = tmp_path / "origin"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    for name in ("one.cpp", "two.cpp", "three.cpp"):
        (made / name).write_text("")
        git(made, "add", name)
        git(made, "commit", "-q", "-m", name)
    return made


def changed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str] | None:
    monkeypatch.setattr(tidy, "ROOT", folder)
    monkeypatch.delenv("TIDY_BASE", raising=False)
    base = tidy.base_of()
    return None if base is None else tidy.changed_since(base)


def test_on_the_main_branch_the_last_commit_counts(history, monkeypatch):
    assert changed(history, monkeypatch) == ["three.cpp"]
    (history / "new.cpp").write_text("")
    assert changed(history, monkeypatch) == ["three.cpp", "new.cpp"]


def test_on_a_branch_all_since_it_left(history, monkeypatch):
    git(history, "checkout", "-q", "-b", "mine", "HEAD^")
    for name in ("a.cpp", "b.cpp"):
        (history / name).write_text("")
        git(history, "add", name)
        git(history, "commit", "-q", "-m", name)
    assert changed(history, monkeypatch) == ["a.cpp", "b.cpp"]


@pytest.mark.parametrize("remote", [True, False])
def test_in_a_fresh_clone(history, monkeypatch, tmp_path, remote):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", f"file://{history}", str(clone))
    if not remote:
        git(clone, "remote", "remove", "origin")
    assert changed(clone, monkeypatch) == ["three.cpp"]


def test_a_shallow_clone_says_nothing_and_a_share_is_read(history, monkeypatch, tmp_path):
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "1", f"file://{history}", str(clone))
    assert changed(clone, monkeypatch) is None
    names = [f"{number}.cpp" for number in range(240)]
    share = tidy.dealt(names, 20)
    assert len(share) == 20
    assert share == tidy.dealt(names, 20)


def test_a_header_is_read_in_the_source_of_its_name(monkeypatch, tmp_path):
    monkeypatch.setattr(tidy, "ROOT", tmp_path)
    sources = {
        "src/a.hpp": "#include <vector>\n",
        "src/deep/c.hpp": '  # include "a.hpp"\n#include "none.hpp"\n',
        "src/a.cpp": '#include "a.hpp"\n',
        "src/b.cpp": '#include "deep/c.hpp"\n',
        "src/deep/d.cpp": '#include "c.hpp"\n',
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    known = [name for name in sources if name.endswith(".cpp")]
    assert tidy.includers(known) == {
        "src/a.hpp": set(known),
        "src/deep/c.hpp": {"src/b.cpp", "src/deep/d.cpp"},
    }
    assert tidy.reading(["src/a.hpp"], known) == ["src/a.cpp"]
    assert tidy.reading(["src/deep/c.hpp"], known) == ["src/b.cpp"]
    assert tidy.reading(["src/a.hpp", "src/b.cpp", "README.md"], known) == ["src/b.cpp"]
    assert tidy.reading(["src/deep/c.hpp", "src/deep/d.cpp"], known) == ["src/deep/d.cpp"]
    assert tidy.reading(["src/gone.hpp"], known) == []


COUNTER = """
#include "core/base/mutex.hpp"
class Counter {{
 public:
  void count() {{
    {lock}
    ++count_;
  }}
 private:
  isthmus::core::Mutex mutex_;
  int count_ GUARDED_BY(mutex_) = 0;
}};
void twice(Counter& counter) {{ counter.count(); }}
"""


@pytest.mark.skipif(shutil.which(tidy.CLANG_TIDY) is None, reason=f"needs {tidy.CLANG_TIDY}")
def test_data_used_without_its_mutex_is_refused(tmp_path):
    shutil.copy(ROOT / ".clang-tidy", tmp_path)
    source = tmp_path / "counter.cpp"
    words = f"c++ -std=c++20 -I{ROOT}/src -o counter.o -c {source}"
    entry = {"file": str(source), "directory": str(tmp_path), "command": words}
    source.write_text(COUNTER.format(lock="const isthmus::core::Lock lock(mutex_);"))
    assert tidy.read(entry, tmp_path / "each") == ""
    source.write_text(COUNTER.format(lock=""))
    found = tidy.read(entry, tmp_path / "each")
    assert "requires holding mutex 'mutex_'" in found
    assert "clang-diagnostic-thread-safety-analysis" in found
