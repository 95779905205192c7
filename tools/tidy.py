"""clang-tidy over what is compiled of src, lab and bench, in a build tree of its own: the release
build compiles sources together.

`tidy.py` reads everything, `tidy.py --changed` what a commit or branch changes: C++ sources, and
for a header one source that includes it; of many, a share. `base_of` decides what counts as
changed. A source that was clean is not read again in the same build tree until it, a header, its
flags or the checks change.
"""

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("src/", "lab/", "bench/")
CLANG_TIDY = "clang-tidy-19"  # older ones do not read coroutines with GCC's library
# asio decides by the compiler whether there are coroutines, and knows clang with its own library.
COROUTINES = ("-DASIO_HAS_CO_AWAIT", "-DASIO_HAS_STD_COROUTINE")
# Findings of clang-diagnostic-thread-safety-* (src/core/base/mutex.hpp).
WARNINGS = ("-Wthread-safety",)
# Tests need not be quick, cast to what no enum has, to see it refused, and may wait in asio.
IN_TESTS = (
    "--checks=-performance-*,-clang-analyzer-optin.core.EnumCastOutOfRange,"
    "-clang-analyzer-unix.BlockInCriticalSection"
)
SHARE = 12  # of all sources, one in so many is read where nothing says what changed
MAX_CHANGED = 15  # sources: a minute on two cores (2026-11)

_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)

Entry = dict[str, str]


def prepare(build: Path) -> None:
    """Makes the compile commands, and the sources that are generated; nothing is compiled."""
    configure = ["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DISTHMUS_TESTS=ON"]
    configure += ["-DISTHMUS_UNITY=OFF", f"-DPython3_EXECUTABLE={sys.executable}"]
    for words in (configure, ["cmake", "--build", build, "--target", "generated", "--", "--quiet"]):
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"tidy: {done.stdout}{done.stderr}")


def entries_of(build: Path) -> dict[str, list[Entry]]:
    """The compile commands by source. The faces compile the same sources once for each ABI:
    MPICH's, whose MPI is the newest, stands for all, but for what asks for Open MPI."""
    found: dict[str, list[Entry]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = Path(entry["file"])
        if path.is_relative_to(ROOT) and not path.is_relative_to(build):
            found.setdefault(str(path.relative_to(ROOT)), []).append(entry)
    return {
        name: chosen(entries, ROOT / name)
        for name, entries in sorted(found.items())
        if name.startswith(FOLDERS)
    }


def chosen(entries: Sequence[Entry], source: Path) -> list[Entry]:
    mpich = [entry for entry in entries if "_face_mpich.dir" in object_of(entry)]
    ompi = [entry for entry in entries if "_face_ompi.dir" in object_of(entry)]
    picked = mpich[:1] or list(entries[:1])
    if mpich and ompi and "OPEN_MPI" in source.read_text():
        picked.append(ompi[0])
    return picked


def object_of(entry: Entry) -> str:
    found = re.search(r" -o (\S+)", entry["command"])
    return found[1] if found else entry["file"]


def git(*words: str) -> list[str] | None:
    """Lines of output; None when git fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def base_of() -> str | None:
    """What to compare with: TIDY_BASE of the environment; else where this branch left the main one;
    else, on the main branch itself, the commit before. Returns None if history is too short, as in
    a shallow clone."""
    if named := os.environ.get("TIDY_BASE"):
        return named
    head = git("rev-parse", "--verify", "-q", "HEAD")
    for main in ("refs/remotes/origin/HEAD", "origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base and base != head:
            return base[0]
    parent = git("rev-parse", "--verify", "-q", "HEAD^1")
    return parent[0] if parent else None


def changed_since(base: str) -> list[str]:
    """Files that differ, with what is not committed yet."""
    differing = git("diff", "--name-only", "--diff-filter=d", "--no-renames", base)
    if differing is None:
        sys.exit(f"tidy: git knows no '{base}' to compare with; TIDY_BASE names another")
    return [*differing, *(git("ls-files", "--others", "--exclude-standard") or [])]


def included(name: str) -> set[str]:
    """Files of ours that a source or header includes itself."""
    beside = (ROOT / name).parent
    folders = [beside, *(ROOT / folder for folder in FOLDERS)]
    return {
        str(found.relative_to(ROOT))
        for path in _INCLUDE.findall((ROOT / name).read_text())
        if (found := next((f / path for f in folders if (f / path).is_file()), None))
    }


def includers(sources: Iterable[str]) -> dict[str, set[str]]:
    """For each of our headers, which of these sources include it, by others too."""
    direct: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    for source in sources:
        seen = {source}
        waiting = [source]
        while waiting:
            name = waiting.pop()
            if name not in direct:
                direct[name] = included(name)
            waiting += direct[name] - seen
            seen |= direct[name]
        for header in seen - {source}:
            found.setdefault(header, set()).add(source)
    return found


def reading(changed: Iterable[str], sources: Iterable[str]) -> list[str]:
    """The sources to read for these changes, each header in the source of its name if that
    includes it."""
    changed, known = list(changed), set(sources)
    wanted = {name for name in changed if name in known}
    headers = [name for name in changed if name.endswith((".hpp", ".h"))]
    by_header = includers(sorted(known)) if headers else {}
    for header in headers:
        found = by_header.get(header, set())
        if found and not found & wanted:
            own = {str(Path(header).with_suffix(".cpp"))} & found
            wanted.add(min(own or found))
    return sorted(wanted)


def dealt(sources: Iterable[str], count: int) -> list[str]:
    """Chooses `count` of them: others for each commit, the same for one commit."""
    head = "".join(git("rev-parse", "HEAD") or [])
    return sorted(sorted(sources, key=lambda name: zlib.crc32(f"{head}{name}".encode()))[:count])


def digest_of(entry: Entry, words: Sequence[str]) -> str | None:
    """A digest of everything that decides what these words find: the checks, and the source with
    its headers. Returns None if it is unknown, as for a source that does not compile."""
    command = [w for w in shlex.split(entry["command"]) if w not in ("-o", object_of(entry), "-c")]
    done = subprocess.run(
        [*command, "-E", *COROUTINES],
        cwd=entry["directory"],
        capture_output=True,
        check=False,
    )
    if done.returncode != 0:
        return None
    made = hashlib.sha256(" ".join([*words, *command]).encode())
    made.update((ROOT / ".clang-tidy").read_bytes())
    made.update(done.stdout)
    return made.hexdigest()


def read(entry: Entry, folder: Path) -> str:
    """Returns the findings of clang-tidy, or nothing."""
    name = re.sub(r"\W+", "-", object_of(entry))
    (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / name / "compile_commands.json").write_text(json.dumps([entry]))
    words = [CLANG_TIDY, "-p", str(folder / name), "--quiet"]
    words += [f"--extra-arg={flag}" for flag in (*COROUTINES, *WARNINGS)]
    words += [IN_TESTS] if entry["file"].endswith("_test.cpp") else []
    clean = folder / name / "clean"
    digest = digest_of(entry, words)
    if digest is not None and clean.is_file() and clean.read_text() == digest:
        return ""
    done = subprocess.run([*words, entry["file"]], capture_output=True, text=True, check=False)
    if done.returncode == 0:
        clean.write_text(digest or "")
        return ""
    return done.stdout or done.stderr or f"{CLANG_TIDY} ended with status {done.returncode}\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--changed", action="store_true", help="only what has changed")
    parser.add_argument("-j", type=int, default=os.cpu_count(), metavar="N", help="at a time")
    parser.add_argument("files", nargs="*", help="only these sources and folders")
    options = parser.parse_args()
    build = ROOT / "build/tidy"
    prepare(build)
    entries = entries_of(build)
    wanted, why = list(entries), "all sources"
    if options.files:
        wanted = [
            name for name in entries if any(Path(name).is_relative_to(f) for f in options.files)
        ]
        why = "as named"
    elif options.changed and (base := base_of()) is not None:
        wanted, why = reading(changed_since(base), entries), f"changed since {base[:12]}"
        if len(wanted) > MAX_CHANGED:
            why = f"of {len(wanted)} {why}; `make tidy` reads all"
            wanted = dealt(wanted, MAX_CHANGED)
    elif options.changed:
        wanted = dealt(entries, len(entries) // SHARE)
        why = f"one in {SHARE}: no history says what changed"
    print(f"tidy: {len(wanted)} of {len(entries)} sources ({why})", flush=True)
    jobs = [entry for name in wanted for entry in entries[name]]
    bad = 0
    with ThreadPoolExecutor(max_workers=options.j) as pool:
        for found in pool.map(lambda entry: read(entry, build / "each"), jobs):
            bad += bool(found)
            sys.stdout.write(found)
            sys.stdout.flush()
    print(f"tidy: {'clean' if not bad else f'{bad} sources with findings'}")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
