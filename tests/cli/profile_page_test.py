"""The page of `isthmus profile show --html`.

The page's script only looks predictions up in a table. Tests compare the table with the predictions
of the command, in Python. A browser is not needed for that, and none has to be installed. The
script itself also runs, where node is installed."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from profiles import LINKED, of_a_ring, ring, written
from webpages import Page, alone, check_accessible

from isthmus.cli import cli
from isthmus.grid.grid import parse
from isthmus.profile import model, replay, scenario
from isthmus.profile.page import document, matrix, whatif

SCRIPT = Path(document.__file__).with_name("page.js")


def show(tmp_path, *options: str) -> int:
    return cli.main(["profile", "show", str(tmp_path / "app.json"), *options])


def page(tmp_path, *options: str) -> Page:
    path = tmp_path / "app.html"
    assert show(tmp_path, "--html", str(path), *options) == 0
    return Page(path.read_text())


def waited() -> list[dict]:
    ranks = ring()
    for index, rank in enumerate(ranks):
        rank |= {"wan": 3.0 + index, "mpi": 7.0, "seconds": 15.0}
        rank["calls"] = {"MPI_Recv": [5.0, 3.0 + index], "MPI_Send": [2.0, 0.0]}
    return ranks


def edited(tmp_path, **keys) -> model.Profile:
    path = tmp_path / "app.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | keys))
    return model.load(path)


@pytest.mark.parametrize("ranks", [ring, waited])
@pytest.mark.parametrize("link", ["20 ms", "100 us"])
@pytest.mark.parametrize("places", [None, "east=0,west=1-2,north=3"])
def test_every_stop_has_the_prediction_of_the_command(tmp_path, ranks, link, places) -> None:
    profile = written(tmp_path, ranks(), parse(LINKED.replace("20 ms", link), "grid.toml"))
    wanted = scenario.usual(profile)
    if places:
        wanted = scenario.with_places(profile, wanted, places)
    table = whatif.model(profile, wanted)
    assert len(table["points"]) >= 25
    for i, j in ((0, 0), (7, 12), (13, 3), (len(table["rtts"]) - 1, 6), table["start"]):
        text = f"rtt={table['rtts'][i]['text']},rate={table['rates'][j]['text']}"
        expected = replay.predict(profile, scenario.with_link(wanted, text))
        span, waits = expected.seconds, expected.waits
        point = table["points"][i][j]
        assert point["seconds"] == pytest.approx([span.least, span.likely, span.most], rel=1e-6)
        assert point["waits"] == pytest.approx(
            [waits.messages.likely, waits.collectives.likely, waits.bytes], rel=1e-6
        )
        assert expected.certainty in point["times"]


def test_the_sliders_start_at_the_links_of_the_verdict(tmp_path) -> None:
    grid = LINKED.replace("20 ms", "23.7 ms").replace("1 Gbit/s", "3.3 Gbit/s")
    profile = written(tmp_path, waited(), parse(grid, "grid.toml"))
    wanted = scenario.usual(profile)
    table = whatif.model(profile, wanted)
    rtt, rate = table["start"]
    assert (table["rtts"][rtt]["text"], table["rates"][rate]["text"]) == ("23.7 ms", "3.3 Gbit/s")
    likely = replay.predict(profile, wanted).seconds.likely
    assert table["points"][rtt][rate]["seconds"][1] == pytest.approx(likely)


def test_the_script_shows_what_the_command_prints(tmp_path, capsys) -> None:
    node = shutil.which("node")
    if not node:
        pytest.skip("node is not installed; the table itself is tested in Python")
    written(tmp_path, waited(), parse(LINKED, "grid.toml"))
    data = next(text for attrs, text in page(tmp_path).all("script") if attrs.get("id") == "model")
    capsys.readouterr()
    (tmp_path / "model.json").write_text(data)
    program = (
        f"{SCRIPT.read_text()}\n"
        "const table = JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'));\n"
        "curve(table, 0, 0);\n"
        "console.log(JSON.stringify([[3, 4], [14, 9]].map(([i, j]) => shown(table, i, j))));\n"
    )
    done = subprocess.run(
        [node, "-e", program, str(tmp_path / "model.json")],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    for texts in json.loads(done.stdout):
        option, link = texts["command"].split()
        assert show(tmp_path, option, link) == 0
        printed = capsys.readouterr().out
        assert f"{texts['likely']} {texts['bounds']}\n" in printed
        for words in (texts["times"].split(" (")[0], texts["judgement"]):
            assert words in printed.replace("\n", " ")


def test_a_page_needs_no_network_and_runs_no_other_script(tmp_path) -> None:
    of_a_ring(tmp_path)
    found = page(tmp_path)
    assert alone(found) == SCRIPT.read_text()
    assert not found.all("img")


EVIL = "<script>alert(1)</script>"


def test_text_of_a_profile_stays_text(tmp_path) -> None:
    parts = of_a_ring(tmp_path).model_dump()
    parts["grid"]["clusters"][0]["name"] = EVIL
    parts["ranks"][0]["calls"] = {EVIL: [1.0, 1.0], "MPI_Recv$style": [1.0, 0.5]}
    parts["collectives"][0]["function"] = EVIL
    edited(
        tmp_path, **parts | {"program": [[EVIL, '"&amp;']], "command": [EVIL, "$title", "\ud800"]}
    )
    found = page(tmp_path)
    assert [attrs.get("type") for attrs, _ in found.all("script")] == ["application/json", None]
    ((_, heading),) = found.all("h1")
    assert heading.strip() == f'{EVIL} "&amp;'
    assert EVIL in [text for _, text in found.all("th")]
    assert f"{EVIL} $title ?" in [text for _, text in found.all("code")]


def test_data_cannot_end_its_element() -> None:
    text = whatif.as_script_data({"name": "</script><!--"})
    assert not set(text) & set("<>&")
    assert json.loads(text) == {"name": "</script><!--"}


@pytest.mark.parametrize("options", [(), ("--place", "east=0,west=1,north=2-3")])
def test_a_page_is_accessible(tmp_path, options) -> None:
    written(tmp_path, waited(), parse(LINKED, "grid.toml"))
    found = page(tmp_path, *options)
    labels = {attrs["for"] for attrs, _ in found.all("label")}
    sliders = {attrs["id"] for attrs, _ in found.all("input")}
    assert labels == sliders == {"rtt", "rate"}
    assert len(found.all("table")) >= 4
    check_accessible(found)


def test_the_script_fills_elements_that_exist(tmp_path) -> None:
    of_a_ring(tmp_path)
    ids = page(tmp_path).ids
    script = SCRIPT.read_text()
    texts = script.split("return {", 1)[1].split("};", 1)[0]
    names = re.findall(r'^    "?([\w-]+)"?: ', texts, re.MULTILINE)
    names += re.findall(r'getElementById\("([\w-]+)"\)', script)
    assert len(names) > 10
    assert set(names) <= ids


def test_a_call_that_waited_longest_is_first(tmp_path) -> None:
    written(tmp_path, waited(), parse(LINKED, "grid.toml"))
    found = page(tmp_path)
    heads = [text for attrs, text in found.all("th") if attrs.get("scope") == "row"]
    assert heads.index("MPI_Recv") < heads.index("MPI_Send")
    assert "rank 3, the longest wait" in heads
    assert not any("No rank was seen waiting" in text for _, text in found.all("p"))


def test_a_profile_without_measured_waits(tmp_path) -> None:
    of_a_ring(tmp_path)
    assert any("No rank was seen waiting" in text for _, text in page(tmp_path).all("p"))


@pytest.mark.parametrize(
    ("ranks", "options", "said"),
    [
        (ring, ("--place", "east=0-3"), "All ranks are in one cluster"),
        (lambda: ring()[1:2], (), "is unknown, because the profile is incomplete"),
    ],
)
def test_without_a_prediction_there_are_no_sliders(tmp_path, ranks, options, said) -> None:
    written(tmp_path, ranks(), parse(LINKED, "grid.toml"))
    found = page(tmp_path, *options)
    assert any(said in text for _, text in found.all("p"))
    assert not found.all("input")
    assert not found.all("script")


def test_links_that_differ_are_said_so(tmp_path) -> None:
    of_a_ring(tmp_path)
    said = page(tmp_path, "--place", "east=0,west=1,north=2-3").all("p")
    assert any("The links differ." in text for _, text in said)


@pytest.mark.parametrize(
    ("name", "said"), [("none/app.html", "No such file or directory"), (".", "Is a directory")]
)
def test_pages_that_cannot_be_written(tmp_path, capsys, name, said) -> None:
    of_a_ring(tmp_path)
    assert show(tmp_path, "--html", str(tmp_path / name)) == 2
    told = capsys.readouterr()
    assert f"cannot write: {said}\n  Name a file in a folder" in told.err
    assert not told.out


# -- the matrix -----------------------------------------------------------------------------


def cells(svg: str) -> list[str]:
    return [text for attrs, text in Page(svg).all("title") if " to " in text]


def test_the_matrix_names_ranks_and_clusters(tmp_path) -> None:
    svg = matrix.matrix(of_a_ring(tmp_path))
    assert cells(svg) == [
        "rank 0 (east) to rank 1 (east): 1000 messages, 8 kB",
        "rank 1 (east) to rank 2 (west): 1000 messages, 8 kB",
        "rank 2 (west) to rank 3 (west): 1000 messages, 8 kB",
        "rank 3 (west) to rank 0 (east): 1000 messages, 8 kB",
    ]
    assert svg.count('class="edge"') == 2


def test_the_ranks_of_a_cluster_stand_together(tmp_path) -> None:
    ranks = ring()
    for rank in ranks:
        rank["cluster"] = "east" if rank["rank"] % 2 == 0 else "west"
    svg = matrix.matrix(written(tmp_path, ranks, parse(LINKED, "grid.toml")))
    assert svg.count('class="edge"') == 2
    assert cells(svg)[0].startswith("rank 0 (east) to rank 1 (west)")


def test_many_ranks_share_cells(tmp_path) -> None:
    parts = of_a_ring(tmp_path).model_dump()
    one, n = parts["ranks"][0], 1000
    profile = edited(
        tmp_path,
        **parts
        | {
            "size": n,
            "ranks": [one | {"rank": rank, "cluster": rank % 2} for rank in range(n)],
            "pairs": [[rank, (rank + 1) % n, 1, 8, {"3": 1}] for rank in range(n)],
        },
    )
    texts = cells(matrix.matrix(profile))
    assert len(texts) < 200
    assert sum(int(re.search(r": (\d+) messages", text)[1]) for text in texts) == n
