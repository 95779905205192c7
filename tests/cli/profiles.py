"""Profiles of runs that did not take place, for tests of what is made of them."""

import json

from isthmus.grid.grid import parse, two_halves
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan
from isthmus.profile import model
from isthmus.profile.told import Told
from isthmus.profile.writing import ProfileFile
from isthmus.run.stats import Stats

MESSAGES, BYTES = 1000, 8000
SECONDS = 10.0


def of_rank(rank: int, cluster: str, to: int, **more) -> dict:
    told = {
        "rank": rank,
        "cluster": cluster,
        "host": "n",
        "seconds": SECONDS,
        "mpi": 2.0,
        "wan": 0.0,
        "calls": {"MPI_Recv": [2.0, 0.0]},
        "pairs": [[to, MESSAGES, BYTES, {"3": MESSAGES}]],
        "windows": [],
        "communicators": [{"size": 4, "ranks": [[0, 3, 1]]}],
        "collectives": [
            {
                "function": "MPI_Allreduce",
                "communicator": 0,
                "entered": 50,
                "bytes": 400,
                "sizes": {"3": 50},
                "seconds": 0.1,
            }
        ],
    }
    return told | more


def tell(told: Told, rank: dict, piece: int = 100) -> None:
    text = json.dumps(rank)
    for at in range(0, len(text), piece):
        last = at + piece >= len(text)
        request = {"do": "profile", "text": text[at : at + piece], "last": last}
        assert told.hear(rank["rank"], request) == {}


def written(tmp_path, ranks, grid=None, stats=None) -> model.Profile:
    plan = make_plan(grid or two_halves(), [Part(["app"], 4)], outward=True)
    told = Told()
    for rank in ranks:
        tell(told, rank)
    file = ProfileFile(tmp_path / "app.json", [["app", "-v"]], ["isthmus", "run"])
    said = []
    file.write(plan, stats or Stats(), told, 0, said.append)
    found = model.load(tmp_path / "app.json")
    assert bool(said) == bool(found.missing)
    return found


def ring() -> list[dict]:
    return [of_rank(rank, "east" if rank < 2 else "west", (rank + 1) % 4) for rank in range(4)]


LINKED = """
[cluster.east]
slots = 2
[cluster.west]
slots = 2
[[link]]
between = ["east", "west"]
rtt = "20 ms"
rate = "1 Gbit/s"
"""


def of_a_ring(tmp_path) -> model.Profile:
    return written(tmp_path, ring(), parse(LINKED, "grid.toml"))
