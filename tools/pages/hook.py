"""Adds to the site what is not in docs/: pages of the repository's root, and pages that are made.
mkdocs calls these functions."""

import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tools", "tools/generate")]

from pages import commands, indexes, keys, links, messages, testbeds  # noqa: E402


def on_config(config: Any) -> Any:
    config.mdx_configs["toc"]["slugify"] = lambda text, _separator: links.slug(text)
    return config


def on_files(files: Files, config: Any) -> Files:
    made = {
        **commands.pages(),
        **{f"{folder}/index.md": indexes.page(folder) for folder in links.INDEXES},
        "grid-keys.md": keys.page(),
        "messages.md": messages.page(),
        "testbeds.md": testbeds.page(),
    }
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    for source, name in links.OUTSIDE.items():
        files.append(File.generated(config, name, content=(ROOT / source).read_text()))
    for source in _linked_files():
        files.append(File.generated(config, source, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    name = page.file.src_uri
    if name.startswith(links.INDEXES):  # found last
        page.meta["search"] = {"boost": 0.3}
    outside = {place: source for source, place in links.OUTSIDE.items()}
    source = outside.get(name, f"docs/{name}")
    return links.for_site(source, markdown) if (ROOT / source).is_file() else markdown


def _linked_files() -> list[str]:
    """Files outside of docs/ that pages link to, such as examples."""
    found = {
        link.target
        for page in links.pages()
        for link in links.links(page, (ROOT / page).read_text())
        if not link.target.startswith("docs/") and link.target not in links.OUTSIDE
    }
    return sorted(name for name in found if (ROOT / name).is_file())
