"""The functions of the MPI standard, from the machine-readable standard (pympistandard)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class StandardFunction:
    name: str  # "MPI_Send"
    inputs: frozenset[str]  # kinds of the handles that come in: "COMMUNICATOR", "WINDOW", ...
    large: bool  # has a large-count form, NAME_c


def functions() -> list[StandardFunction]:
    """All functions with a C binding, sorted by name. ImportError without pympistandard."""
    data = files("pympistandard") / "data" / "apis.json"
    found = []
    for api in json.loads(data.read_text()).values():
        traits = api["attributes"]
        if traits["callback"] or not traits["c_expressible"] or traits["predefined_function"]:
            continue
        parameters = [p for p in api["parameters"] if "c_parameter" not in p["suppress"]]
        inputs = frozenset(p["kind"] for p in parameters if p["param_direction"] != "out")
        large = any(p["kind"].startswith("POLY") for p in parameters)
        found.append(StandardFunction(api["name"], inputs, large))
    return sorted(found, key=lambda f: f.name)
