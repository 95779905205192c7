"""Plays one row inside of a lab that was made for it, and prints what was seen as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from rows import Row, named
from scene import NATIVE, Scene, Seen


def play(row: Row, scene: Scene) -> Seen:
    seen = Seen()
    options = list(row.options)
    scene.grid = row.grid
    if row.prepare:
        row.prepare(scene)
    if scene.grid:
        grid = scene.folder / "grid.toml"
        grid.write_text(scene.grid)
        options += ["-g", str(grid)]
    scene.start(*options)
    up = scene.up()
    began = time.monotonic()
    if up:
        row.doing(scene)
        began = time.monotonic() if row.status == 0 else began
    elif row.status == 0:
        seen.wrong = "the run did not begin"
    if row.status == 0 and up:
        if not scene.goes_on(row.patience):
            seen.wrong = f"nothing went on within {row.patience:g} s"
        seen.seconds = time.monotonic() - began
        seen.status = scene.finish()
    else:
        seen.status = scene.status(20 if row.or_goes_on else row.patience)
        seen.seconds = time.monotonic() - began
        if seen.status is None and row.or_goes_on and scene.goes_on(row.patience):
            seen.status = scene.finish()
            seen.went_on = True
    judge(row, scene, seen)
    return seen


def judge(row: Row, scene: Scene, seen: Seen) -> None:
    """Fills in what was said and what is left, and why the row is wrong, if it is."""
    out, seen.said = (path.read_text(errors="replace") for path in (scene.out, scene.err))
    told = [line for line in seen.said.splitlines() if line.startswith("isthmus: ")]
    seen.sentence = told[-1].removeprefix("isthmus: ") if told else ""
    goes_on = row.status == 0 or seen.went_on
    if row.says and not seen.went_on:
        fitting = [line for line in told if all(word in line for word in row.says)]
        seen.sentence = fitting[-1].removeprefix("isthmus: ") if fitting else seen.sentence
        if not fitting and not seen.wrong and seen.status is not None:
            seen.wrong = f"no line says {' ... '.join(row.says)}"
    if seen.status is None:
        seen.wrong = seen.wrong or "the run did not end"
        seen.said += scene.there()
    elif seen.went_on and seen.status == 0:
        pass
    elif row.status is None and seen.status == 0:
        seen.wrong = "the run ended well"
    elif row.status is not None and seen.status != row.status:
        seen.wrong = f"status {seen.status}, not {row.status}; {seen.wrong}".rstrip("; ")
    if goes_on and not seen.wrong and "every byte right" not in out:
        seen.wrong = "the program did not get to its end"
    if not goes_on and seen.status not in (None, 137) and not told:
        seen.wrong = seen.wrong or "nothing is said"
    if "Traceback" in seen.said:
        seen.wrong = "a traceback"
    if "wrong byte" in out:
        seen.wrong = "a wrong byte"
    seen.left = scene.left() if seen.status is not None else []
    if ours := [thing for thing in seen.left if thing != NATIVE]:
        seen.wrong = seen.wrong or f"left behind: {', '.join(ours)}"


def main() -> None:
    name, library, program, folder = sys.argv[1:]
    row = named(name)
    scene = Scene(library, Path(program), Path(folder))
    seen = play(row, scene)
    scene.clear()
    print(json.dumps(seen.as_json()))


if __name__ == "__main__":
    main()
