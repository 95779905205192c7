"""The dashboard for Grafana asks for metrics that exist, and has the parts that Grafana needs."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "packaging/grafana"
DASHBOARD = json.loads((FOLDER / "isthmus.json").read_text())
PANELS = DASHBOARD["panels"]
CHARTS = [panel for panel in PANELS if panel["type"] != "row"]
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
# A row of a table in docs/metrics.md: name, type, unit, labels.
ROW = re.compile(r"^\| `(isthmus_\w+)` \| (\w+) \| [^|]+ \| ([^|]+) \|", re.MULTILINE)


def documented() -> dict[str, tuple[str, set[str]]]:
    """Types and labels by metric."""
    text = (ROOT / "docs/metrics.md").read_text()
    return {
        name: (kind, {*re.findall(r"`(\w+)`", labels)}) for name, kind, labels in ROW.findall(text)
    }


def queries() -> Iterator[tuple[str, str]]:
    """With their legends."""
    for panel in CHARTS:
        for target in panel["targets"]:
            yield target["expr"], target["legendFormat"]


def metrics(query: str) -> list[str]:
    return re.findall(r"isthmus_\w+", query)


@pytest.mark.parametrize(("query", "legend"), list(queries()))
def test_queries_name_documented_metrics_and_their_labels(query, legend) -> None:
    known = documented()
    assert metrics(query)
    assert set(metrics(query)) <= known.keys()
    used = set(re.findall(r"(\w+)=~", query)) | set(re.findall(r"\{\{(\w+)\}\}", legend))
    for names in re.findall(r"by \(([^)]+)\)", query):
        used |= set(names.split(", "))
    for name in metrics(query):
        kind, labels = known[name]
        assert used <= labels, name
        assert (kind == "counter") == (f"rate({name}" in query), name


def test_what_the_dashboard_shows() -> None:
    shown = {name for query, _ in queries() for name in metrics(query)}
    for part in (
        "link_wire",
        "link_waiting",
        "link_silence",
        "link_rtt",
        "ranks_joined",
        "direct_",
    ):
        assert any(name.startswith(f"isthmus_{part}") for name in shown), part
    assert any("user" in query and "isthmus_service_bytes_total" in query for query, _ in queries())


def test_variables_come_from_metrics() -> None:
    variables = {each["name"]: each for each in DASHBOARD["templating"]["list"]}
    assert (variables["datasource"]["type"], variables["datasource"]["query"]) == (
        "datasource",
        "prometheus",
    )
    known = documented()
    for name in ("run", "user"):
        metric, label = re.fullmatch(
            r"label_values\((\w+), (\w+)\)", variables[name]["query"]["query"]
        ).groups()
        assert label == name
        assert label in known[metric][1]
        assert variables[name]["datasource"] == SOURCE
    used = {name for query, _ in queries() for name in re.findall(r"\$(\w+)", query)}
    assert used - {"__rate_interval"} <= variables.keys()


def test_the_dashboard_has_the_parts_that_grafana_needs() -> None:
    assert DASHBOARD["title"]
    assert DASHBOARD["uid"]
    assert isinstance(DASHBOARD["schemaVersion"], int)
    assert {"from", "to"} <= DASHBOARD["time"].keys()
    assert "id" not in DASHBOARD  # Grafana gives it
    ids = [panel["id"] for panel in PANELS]
    assert len(ids) == len(set(ids))
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        assert panel["title"]
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert max(x for x, _ in cells) < 24
        assert not cells & taken, panel["title"]
        taken |= cells
    for panel in CHARTS:
        assert panel["datasource"] == SOURCE
        assert panel["fieldConfig"]["defaults"]["unit"]
        assert panel["description"]
        names = [target["refId"] for target in panel["targets"]]
        assert names
        assert len(names) == len(set(names))
        assert all(target["datasource"] == SOURCE for target in panel["targets"])


def test_targets_are_for_discovery_by_file() -> None:
    groups = json.loads((FOLDER / "targets.json").read_text())
    for group in groups:
        assert group.keys() == {"targets", "labels"}
        assert all(re.fullmatch(r"[\w.-]+:\d+", target) for target in group["targets"])
        assert not {"job", "instance", "run"} & group["labels"].keys()
    assert "targets.json" in (FOLDER / "prometheus.yml").read_text()


@pytest.mark.skipif(not shutil.which("promtool"), reason="Prometheus is not installed")
def test_prometheus_reads_all(tmp_path) -> None:
    rules = [
        {"record": f"r{index}", "expr": query.replace("$__rate_interval", "1m")}
        for index, (query, _) in enumerate(queries())
    ]
    # YAML includes JSON.
    (tmp_path / "rules.yml").write_text(json.dumps({"groups": [{"name": "g", "rules": rules}]}))
    for what, file in (("rules", tmp_path / "rules.yml"), ("config", FOLDER / "prometheus.yml")):
        subprocess.run(["promtool", "check", what, str(file)], check=True, timeout=60)
