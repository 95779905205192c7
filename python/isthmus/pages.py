"""The pages of the documentation, which are installed beside the command."""

import os
from pathlib import Path

_BELOW = Path("share") / "doc" / "isthmus"


def page(name: str) -> str:
    """The path of an installed page, such as "grid.md". If it is not installed, its place in the
    project."""
    import sysconfig  # noqa: PLC0415  (few sentences name a page)

    named = os.environ.get("ISTHMUS_PREFIX")
    folders = [
        *([Path(named) / _BELOW] if named else []),
        Path(__file__).parents[2] / "docs",  # of a checkout
        Path(sysconfig.get_path("data")) / _BELOW,
        Path("/usr") / _BELOW,
    ]
    found = (str(folder / name) for folder in folders if (folder / name).is_file())
    return next(found, f"docs/{name}")
