"""Writes what a shell and `man` want of the command: manual pages and scripts of completion.

Usage: manual.py FOLDER. Below FOLDER comes what belongs below PREFIX/share.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from isthmus import about, manual
from isthmus.cli import app

COMPLETIONS = {
    "bash": "bash-completion/completions/isthmus",
    "zsh": "zsh/site-functions/_isthmus",
    "fish": "fish/vendor_completions.d/isthmus.fish",
}


def main() -> None:
    folder = Path(sys.argv[1])
    files = {f"man/man1/{name}": text for name, text in manual.pages(app).items()}
    files |= {path: about.script_for(shell) for shell, path in COMPLETIONS.items()}
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    main()
