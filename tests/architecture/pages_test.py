"""The pages of the documentation: links lead somewhere, the site has every page, commands in
examples parse, and tables name what the code has."""

import ast
import contextlib
import re
import shlex
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import grid_keys
import manual as manual_pages
import pytest
import typer
import yaml
from pages import commands, indexes, keys, links, messages, testbeds

from isthmus import pages as installed
from isthmus.base.errors import UsageError
from isthmus.cli import habits
from isthmus.cli.cli import app, parse_run, parse_submit
from isthmus.grid import grid as grids
from isthmus.job import argv

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PAGES = links.pages()
TEXTS = {page: (ROOT / page).read_text() for page in PAGES}
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
TUTORIALS = ("docs/first-run.md", "docs/two-clusters.md")
DRAWINGS = sorted((ROOT / "docs/drawings").glob("*.svg"))


def test_links_are_found():
    found = list(links.links("docs/a.md", "[x\ny](b.md#c) `[no](d.md)`\n\n    [no](e.md)\n"))
    assert found == [links.Link(1, "docs/b.md", "c")]
    assert links.slug('`reach = "direct"`') == "reach--direct"
    text = "See docs/grid.md, `docs/lab.md` and [it](../SECURITY.md); [sources](../lab).\n"
    assert links.for_site("docs/doctor.md", text) == (
        "See [grid.md](grid.md), `docs/lab.md` and [it](SECURITY.md); sources.\n"
    )


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    wrong = []
    for link in links.links(page, TEXTS[page]):
        made = link.target.removeprefix("docs/") in links.MADE
        if not made and not (ROOT / link.target).exists():
            wrong.append(f"{page}:{link.line}: {link.target} does not exist")
        elif link.anchor and link.anchor not in links.anchors(TEXTS.get(link.target, "")):
            wrong.append(f"{page}:{link.line}: {link.target} has no heading #{link.anchor}")
    assert wrong == []


def in_nav(entries) -> list[str]:
    """The pages of a list of mkdocs.yml, in order."""
    found = []
    for entry in entries:
        value = entry if isinstance(entry, str) else next(iter(entry.values()))
        found += in_nav(value) if isinstance(value, list) else [value]
    return found


def test_the_site_has_every_page_once():
    named = in_nav(SITE["nav"])
    lists = {f"{folder}/index.md" for folder in links.INDEXES}
    wanted = {links.place(page) for page in PAGES} | set(links.MADE) | lists
    assert sorted(named) == sorted(page for page in wanted if "/" not in page or page in lists)


def test_pages_that_are_made():
    """Each has a title, and a row for what it lists."""
    made = commands.pages()
    assert set(made) > {"commands.md", "commands/run.md", "commands/lab.md"}
    assert "`-g FILE`, `--grid FILE`" in made["commands/run.md"]
    assert "## isthmus lab run" in made["commands/lab.md"]
    assert "| `streams` | whole number, 1 to 256 |" in keys.page()
    assert "## hablot\n" in testbeds.page()
    assert "'90' is" not in messages.page()
    assert messages.page().count("\n| ") > 100
    assert "(0001-libraries.md)" in indexes.page("decisions")
    assert {*links.MADE} <= {*made, "grid-keys.md", "messages.md", "testbeds.md"}


# ---- tables and the code ------------------------------------------------------------------------


def test_the_page_of_the_grid_file_has_all_keys():
    assert grid_keys.differences() == []


def variables(page: str) -> set[str]:
    """Names in the tables of a page."""
    rows = re.findall(r"^\| ([^|]*)\|", TEXTS[page], re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}


def test_environment_variables():
    """The pages have all that the command reads, and mark those that reach the ranks."""
    for_users = {v for v in variables("docs/environment.md") if v.startswith("ISTHMUS")}
    for_defects = {v for v in variables("docs/debugging.md") if v.startswith("ISTHMUS_DEBUG_")}
    assert len(for_users) <= 25
    assert not any(name.startswith("ISTHMUS_DEBUG_") for name in for_users)
    documented = for_users | for_defects
    sources = [path.read_text() for path in (ROOT / "python").rglob("*.py")]
    read = {
        name
        for text in sources
        for name in re.findall(r'(?:environ(?:\.get)?[\[(]|_environment\()"(ISTHMUS_\w+)"', text)
    }
    assert len(read) > 8
    assert read - documented == set()
    pages = TEXTS["docs/environment.md"] + TEXTS["docs/debugging.md"]
    marked = re.findall(r"^\| `(\w+)` \| \*Ranks\.\*", pages, re.MULTILINE)
    assert sorted(marked) == sorted(argv._PASSED_ON)
    everything = "".join(sources) + "".join(
        path.read_text(errors="replace")
        for folder in ("src", "lab")
        for path in (ROOT / folder).rglob("*.[ch]pp")
    )
    assert {name for name in documented if name not in everything} == set()


def test_options_of_other_launchers():
    page = TEXTS["docs/coming-from.md"]
    named = {*re.findall(r"(?<![\w-])--?([A-Za-z][\w-]*)", page)}
    known = {*habits.ALIASES, *habits.ADVICE, *habits.ADVICE_OF_SUBMIT, *habits.OF_VARIABLES}
    known -= {*habits.OF_MPIRUN, *habits.OF_MPIEXEC, *habits.OF_SRUN, *habits.OF_SBATCH}
    assert {name.lstrip("-") for name in known} - named == set()


def test_the_manual_pages():
    made = manual_pages.pages()
    assert {*made} == {"man5/isthmus-grid.5", "man7/isthmus-environment.7"}
    grid = made["man5/isthmus-grid.5"].replace("\\-", "-")
    for key in grid_keys.all_keys():
        assert f"\\fB{key.name}\\fP" in grid, key
    environment = made["man7/isthmus-environment.7"]
    assert "\n.TP\n\\fBISTHMUS_GRID\\fP\n" in environment
    assert "\nThe grid file" not in grid.split(".SH DESCRIPTION")[0]


# ---- messages -----------------------------------------------------------------------------------


def test_messages_name_pages_that_are_installed(tmp_path, monkeypatch):
    """Never by their place in the project, which users do not have."""
    named = set()
    for path in (ROOT / "python/isthmus").rglob("*.py"):
        tree = ast.parse(path.read_text())
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and node.body
            and isinstance(node.body[0], ast.Expr)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                in_project = re.search(r"docs/[a-z-]+\.md", node.value)
                assert id(node) in docstrings or not in_project, f"{path}: {node.value}"
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "page":
                named.add(node.args[0].value)
    assert len(named) > 3
    assert [name for name in named if not (ROOT / "docs" / name).is_file()] == []
    monkeypatch.setenv("ISTHMUS_PREFIX", str(tmp_path))
    assert Path(installed.page("grid.md")).is_file()
    there = tmp_path / "share/doc/isthmus/grid.md"
    there.parent.mkdir(parents=True)
    there.write_text("")
    assert installed.page("grid.md") == str(there)
    assert installed.page("none.md") == "docs/none.md"


def test_no_help_names_a_page_of_the_project():
    for path in (ROOT / "src/daemon").rglob("*.cpp"):
        assert not re.search(r'"[^"\n]*docs/[a-z-]+\.md', path.read_text()), path
    for name, text in commands.pages().items():
        assert not re.search(r"docs/[a-z-]+\.md", text), name


# ---- examples -----------------------------------------------------------------------------------


def typed(page: str) -> list[str]:
    """The commands of a page's examples for a terminal."""
    blocks = re.findall(r"^```console\n(.*?)^```", TEXTS[page], re.MULTILINE | re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def files(page: str) -> dict[str, str]:
    """The files that a page tells to save."""
    found = re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', TEXTS[page], re.MULTILINE | re.DOTALL)
    return dict(found)


def indented(page: str) -> list[str]:
    """The command lines of a page's indented examples."""
    code = [piece for _, is_code, piece in links.pieces(TEXTS[page]) if is_code]
    text = "".join(piece for piece in code if piece.startswith("    ")).replace("\\\n", " ")
    return re.findall(r"^    (isthmus [a-z]+.*)$", text, re.MULTILINE)


NOT_EXAMPLES = ("CHANGELOG.md", "docs/architecture.md")
EXAMPLES = [
    (page, line)
    for page in PAGES
    if page not in NOT_EXAMPLES
    for line in typed(page) + indented(page)
    if line.startswith("isthmus ")
]


def parse(words: list[str]) -> None:
    """Raises an error for words that the command refuses."""
    command, *rest = words
    if command == "run":
        parse_run(rest)
    elif command == "submit":
        parse_submit(rest)
    elif command != "join":  # it has a parser of its own
        found = typer.main.get_command(app)
        while hasattr(found, "get_command"):
            command, *rest = words
            found, words = found.get_command(None, command), rest
            assert found is not None, command
        with contextlib.suppress(typer.Exit):
            found.make_context(command, words)


def test_there_are_examples():
    assert len(EXAMPLES) > 50
    assert {page for page, _ in EXAMPLES} >= {*TUTORIALS, "README.md", "docs/lab.md"}


@pytest.mark.parametrize(("page", "line"), EXAMPLES, ids=[f"{p}: {t}" for p, t in EXAMPLES])
def test_examples_parse(page, line, tmp_path, monkeypatch):
    """Commands that stand in pages, with their options. Files that they name need not be there."""
    monkeypatch.chdir(tmp_path)
    for name in re.findall(r"[\w-]+\.(?:toml|json|map)", line):
        Path(name).write_text("0-3 east" if name.endswith("map") else "")
    words = shlex.split(line, comments=True)[1:]
    with contextlib.suppress(typer.Exit):
        parse([word for word in words if word != "..."])


def test_a_wrong_example_is_found():
    with pytest.raises(UsageError, match="no option --frobnicate"):
        parse(["run", "--frobnicate", "./app"])
    with pytest.raises(UsageError, match="no option --nodez"):
        parse(["lab", "run", "hablot", "--nodez", "3", "--", "true"])


def test_the_grid_file_of_the_tutorial():
    text = files("docs/two-clusters.md")["grid.toml"]
    assert list(grids.parse(text, "grid.toml").cluster) == ["lyon", "tsukuba"]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        (page, text)
        for page in ("README.md", "docs/grid.md", "docs/queues.md", "docs/service.md")
        for text in re.findall(r"^```toml\n(.*?)^```", TEXTS[page], re.MULTILINE | re.DOTALL)
    ],
)
def test_grid_files_in_pages_are_toml(page, text):
    tomllib.loads(text)


# ---- drawings -----------------------------------------------------------------------------------


@pytest.mark.parametrize("file", DRAWINGS, ids=[file.stem for file in DRAWINGS])
def test_drawings(file):
    """They scale, say what they show, have text as text, and suit light and dark pages."""
    text = file.read_text()
    root = ET.fromstring(text)
    assert root.get("viewBox")
    assert root.get("width") is None
    names = [child.tag.rpartition("}")[2] for child in root]
    assert names[:3] == ["title", "desc", "style"]
    assert "text" in names
    assert "prefers-color-scheme: dark" in text
    assert any(
        f"drawings/{file.name}" in TEXTS[page] for page in ("README.md", "docs/how-it-works.md")
    )
