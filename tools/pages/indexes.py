"""Lists of the pages in a folder."""

from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
TITLES = {
    "decisions": "# Decisions\n\nEach page has one decision, its reasons and what it costs.\n",
    "measured": "# Measurements\n\nEach page has what was measured until that day. The machine and "
    "the commands stand in it.\n",
}


def page(folder: str) -> str:
    lines = [TITLES[folder]]
    for file in sorted((DOCS / folder).glob("*.md")):
        title = file.read_text().splitlines()[0].lstrip("# ")
        number = file.name.partition("-")[0]
        name = f"{int(number)}: {title}" if folder == "decisions" else file.stem
        lines.append(f"- [{name}]({file.name})")
    return "\n".join(lines) + "\n"
