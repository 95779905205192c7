"""Writes what a shell and `man` want of the command: manual pages and scripts of completion.

Usage: manual.py FOLDER. FOLDER/isthmus and FOLDER/isthmus-lab get the files that these packages
install below PREFIX/share.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import commandhelp
import roff
from typer.main import get_command

from isthmus.cli import about
from isthmus.cli.cli import app
from isthmus_lab.bench.commands import bench_app
from isthmus_lab.lab.commands import lab_app

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


def man(pages: dict[str, str]) -> dict[str, str]:
    """The files of pages."""
    return {f"man/man1/{name}": text for name, text in pages.items()}


def main() -> None:
    scripts = {path: about.script_for(shell) for shell, path in COMPLETIONS.items()}
    described = {f"man/{name}": text for name, text in pages().items()}
    labs = {"lab": lab_app, "bench": bench_app}
    packages = {
        "isthmus": man(commandhelp.pages(app)) | described | scripts,
        "isthmus-lab": {
            file: text
            for name, group in labs.items()
            for file, text in man(commandhelp.page_of(name, get_command(group))).items()
        },
    }
    for package, files in packages.items():
        for path, text in files.items():
            file = Path(sys.argv[1]) / package / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)


if __name__ == "__main__":
    main()
