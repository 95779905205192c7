"""Checks that the project's text is plain English: comments, docstrings, messages and pages.

    python tools/plain                compares each folder with its limit

    python tools/plain FILE...        lists the sentences to look at in these files

    python tools/plain --change main  lists them only on lines that are new since then

    python tools/plain --lower        lowers limits to today's shares

A sentence that breaks a rule may still read well. So folders have limits, in percent of their
sentences. Limits only go down. `allowed` in limits.toml lists exceptions.
"""

import argparse
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
LIMITS = Path(__file__).with_name("limits.toml")
sys.path.insert(0, str(ROOT / "tools"))

from plain import prose, rules  # noqa: E402

_SLACK = 3  # percent below its limit from which a folder's limit should go down


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*")
    parser.add_argument("--change", metavar="BASE")
    parser.add_argument("--lower", action="store_true")
    wanted = parser.parse_args()
    if wanted.files or wanted.change:
        names = wanted.files or _tracked()
        return _show(names, _new_lines(wanted.change) if wanted.change else None)
    limits = tomllib.loads(LIMITS.read_text())
    shares = _shares(limits["allowed"])
    if wanted.lower:
        _lower(limits["percent"], shares)
        return 0
    return _compare(limits["percent"], shares)


def folder_of(name: str) -> str:
    """The folder whose limit holds for a file."""
    parts = name.split("/")
    if len(parts) == 1:
        return name
    deep = parts[0] in ("src", "tests", "tools", "python", "docs") and len(parts) > 2
    return "/".join(parts[:2]) if deep else parts[0]


def _tracked() -> list[str]:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    return [name for name in listed.splitlines() if name.endswith(prose.KINDS)]


def _hard(name: str, allowed: list[str]) -> Iterator[tuple[prose.Sentence, list[tuple[str, str]]]]:
    """The sentences of a file, each with the rules that it breaks."""
    text = (ROOT / name).read_text(errors="replace")
    for sentence in prose.sentences(name, text):
        is_allowed = any(words in sentence.text for words in allowed)
        yield sentence, [] if is_allowed else rules.broken(sentence.text)


def _shares(allowed: list[str]) -> dict[str, float]:
    """The percentage of sentences that break a rule, by folder."""
    count, bad = Counter[str](), Counter[str]()
    for name in _tracked():
        for _, broken in _hard(name, allowed):
            count[folder_of(name)] += 1
            bad[folder_of(name)] += bool(broken)
    return {folder: 100 * bad[folder] / number for folder, number in sorted(count.items())}


def _compare(limits: dict[str, int], shares: dict[str, float]) -> int:
    """Folders without a limit have that of "new"."""
    above = {
        folder: share
        for folder, share in shares.items()
        if share > limits.get(folder, limits["new"])
    }
    for folder, share in above.items():
        limit = limits.get(folder, limits["new"])
        print(f"{folder}: {share:.1f} % of the sentences are hard to read; its limit is {limit} %")
    if above:
        print("  See which: .venv/isthmus/bin/python tools/plain --change main")
    low = [
        folder
        for folder in limits
        if max(shares.get(folder, 100), limits["new"]) < limits[folder] - _SLACK
    ]
    if low and not above:
        print(f"limits can go down (tools/plain --lower): {', '.join(low)}")
    return 1 if above else 0


def _lower(limits: dict[str, int], shares: dict[str, float]) -> None:
    text = LIMITS.read_text()
    for folder, share in shares.items():
        limit = max(-int(-share // 1), limits["new"])
        if folder in limits and limit < limits[folder]:
            text = re.sub(
                rf'^"{re.escape(folder)}" = \d+$', f'"{folder}" = {limit}', text, flags=re.M
            )
    LIMITS.write_text(text)


def _show(names: list[str], new: dict[str, set[int]] | None) -> int:
    allowed = tomllib.loads(LIMITS.read_text())["allowed"]
    for name in names:
        for sentence, broken in _hard(name, allowed):
            if new is not None and not new.get(name, set()) & set(_span(sentence)):
                continue
            for rule, remedy in broken:
                print(f"{name}:{sentence.line}: {rule} ({remedy}): {sentence.text[:160]}")
    return 0


def _span(sentence: prose.Sentence) -> range:
    """The lines on which the sentence may stand: its block begins at the first one."""
    return range(sentence.line, sentence.line + 12)


def _new_lines(base: str) -> dict[str, set[int]]:
    """Lines that are new since a commit, by file."""
    diff = subprocess.run(
        ["git", "diff", "-U0", base, "--"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    found: dict[str, set[int]] = {}
    name = ""
    for line in diff.splitlines():
        if line.startswith("+++ b/"):
            name = line[6:]
        elif hunk := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(name, set()).update(range(first, first + count))
    return found


if __name__ == "__main__":
    sys.exit(main())
