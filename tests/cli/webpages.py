"""Pages that commands write, for tests."""

import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser


class Page(HTMLParser):
    """Elements with their attributes and the text directly inside."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None], list[str]]] = []
        self.open: list[tuple[str, list[str]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.found.append((tag, dict(attrs), []))
        if tag not in ("meta", "input", "img"):
            self.open.append((tag, self.found[-1][2]))

    def handle_endtag(self, tag) -> None:
        assert self.open.pop()[0] == tag

    def handle_startendtag(self, tag, attrs) -> None:
        self.found.append((tag, dict(attrs), []))

    def handle_data(self, data) -> None:
        if self.open:
            self.open[-1][1].append(data)

    def all(self, tag: str) -> list[tuple[dict[str, str | None], str]]:
        return [(attrs, "".join(text)) for name, attrs, text in self.found if name == tag]

    @property
    def ids(self) -> set[str | None]:
        return {attrs.get("id") for _, attrs, _ in self.found}


def alone(page: Page) -> str:
    """The script of a page. Fails if the page uses the network, or runs anything else."""
    tags = {tag for tag, _, _ in page.found}
    assert not tags & {"link", "iframe", "object", "base", "form"}
    for tag, attrs, _ in page.found:
        assert not {"href", "xlink:href", "style", "srcset"} & attrs.keys()
        assert "src" not in attrs or (tag == "img" and attrs["src"].startswith("data:image/svg"))
        assert not any(name.startswith("on") for name in attrs)
    (policy,) = (
        attrs["content"]
        for attrs, _ in page.all("meta")
        if attrs.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; img-src data:;")
    ((_, style),) = page.all("style")
    scripts = [text for attrs, text in page.all("script") if "type" not in attrs]
    assert len(scripts) <= 1
    for text in (style, *scripts):
        assert f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
        assert not re.search(r"url\(|@import|fetch\(|https?:", text)
    return "".join(scripts)


def check_accessible(page: Page) -> None:
    assert len(page.all("table")) == len(page.all("caption"))
    assert all(attrs.get("scope") in ("row", "col") for attrs, _ in page.all("th"))
    for attrs, _ in page.all("svg"):
        assert attrs.get("aria-hidden") == "true" or (
            attrs["role"] == "img" and attrs["aria-label"]
        )
    assert all(attrs["alt"] for attrs, _ in page.all("img"))
    for attrs, _ in page.all("section"):
        assert attrs["aria-labelledby"] in page.ids
    assert page.all("html")[0][0] == {"lang": "en"}
