"""Writes what a shell and `man` want of the command: manual pages and scripts of completion.

Usage: manual.py FOLDER. Below FOLDER comes what belongs below PREFIX/share.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import roff

from isthmus import about, manual
from isthmus.cli import app

COMPLETIONS = {
    "bash": "bash-completion/completions/isthmus",
    "zsh": "zsh/site-functions/_isthmus",
    "fish": "fish/vendor_completions.d/isthmus.fish",
}


DOCS = Path(__file__).resolve().parents[2] / "docs"
# Pages of docs/ that are manual pages, too: section, summary.
PAGES = {
    "grid": (5, "the grid file: clusters, and how they are connected"),
    "environment": (7, "environment variables of Isthmus"),
}


def pages() -> dict[str, str]:
    """The manual pages made of pages of docs/, such as "man5/isthmus-grid.5"."""
    made = {}
    for name, (part, summary) in PAGES.items():
        text = (DOCS / f"{name}.md").read_text()
        others = [f"isthmus-{other}({where[0]})" for other, where in PAGES.items() if other != name]
        page = roff.page(f"isthmus-{name}", part, summary, text, ["isthmus-run(1)", *others])
        made[f"man{part}/isthmus-{name}.{part}"] = page
    return made


def main() -> None:
    folder = Path(sys.argv[1])
    files = {f"man/man1/{name}": text for name, text in manual.pages(app).items()}
    files |= {f"man/{name}": text for name, text in pages().items()}
    files |= {path: about.script_for(shell) for shell, path in COMPLETIONS.items()}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    main()
