"""The frame of a page, and its file."""

from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from string import Template

from isthmus.base.errors import UsageError
from isthmus.webpage.markup import html


def framed(title: str, body: str, script: str = "") -> str:
    """`body` is HTML, with `script` in it. The page runs nothing else, and shows only pictures that
    it contains."""
    style = _shipped("page.css")
    policy = f"default-src 'none'; img-src data:; style-src '{_hash(style)}'"
    if script:
        policy += f"; script-src '{_hash(script)}'"
    return Template(_shipped("page.html")).substitute(
        title=html(title), policy=policy, style=style, body=body
    )


def write(text: str, path: Path) -> None:
    """UsageError if it cannot be written."""
    try:
        path.write_bytes(text.encode("utf-8", "replace"))
    except (OSError, ValueError) as error:
        what = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            f"--html {path}: cannot write: {what}", "Name a file in a folder where you may write."
        ) from None


def _shipped(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The page's policy names this text by it."""
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()
