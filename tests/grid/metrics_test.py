"""Metrics of a job, while the program runs."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from pathlib import Path

import mpis
import pytest
from ports import free_port

GRID = """
[cluster.east]
[cluster.west]
[[link]]
between = ["east", "west"]
{reach}
"""

# Sends until the metrics have LEAST bytes by the way of interest, and all that it has sent.
SCRAPE = r"""
import re, sys, time, urllib.request
from mpi4py import MPI
world = MPI.COMM_WORLD
url, way, least = sys.argv[1], sys.argv[2], float(sys.argv[3])
data, sent, end = bytearray(200_000), 0, time.monotonic() + 60
payload = r'_%s_payload_bytes_total{run="[^"]*",from="east(?:/0)?",to="west(?:/0)?".*} (\S+)'
wants, more = True, True  # bytes by that way; anything
while more:
    if wants and world.rank == 0:
        world.Send(data, 1)
        sent += len(data)
    elif wants:
        world.Recv(data, 0)
    if world.rank == 0:
        time.sleep(0.1)
        text = urllib.request.urlopen(url, timeout=10).read().decode()
        found = {of: sum(map(float, re.findall(payload % of, text))) for of in ("link", "direct")}
        wants = found[way] < least
        more = (wants or sum(found.values()) < sent) and time.monotonic() < end
    wants, more = world.bcast((wants, more), 0)
if world.rank == 0:
    print(sent)
    print(text)
world.barrier()
"""


def samples(text: str) -> dict[str, float]:
    """The samples of one direction, by the metric and the way."""
    row = (
        r'^isthmus_(\w+)\{run="[^"]*",from="east(?:/0)?",to="west(?:/0)?"(?:,way="(\w+)")?\} (\S+)$'
    )
    return {
        f"{name} {way}".strip(): float(value)
        for name, way, value in re.findall(row, text, re.MULTILINE)
    }


@pytest.mark.parametrize(
    ("reach", "way"),
    [('reach = "gateway"', ""), ('reach = "direct"', "network"), ("", "memory")],
    ids=["gateway", "direct", "memory"],
)
def test_what_ranks_send_is_counted_while_they_run(
    isthmus, tmp_path: Path, reach, way, grid_with
) -> None:
    program = tmp_path / "scrape.py"
    program.write_text(SCRAPE)
    grid = grid_with(GRID.format(reach=reach))
    port = free_port(2)  # one for each agent
    url = f"http://127.0.0.1:{port}/metrics"
    python = mpis.ALL["mpich5"].python
    words = ("-g", grid, "--metrics", port, "-n", 2, python, program)
    done = isthmus.well("run", *words, url, "direct" if way else "link", 600_000)
    sent, _, text = done.stdout.partition("\n")
    found = samples(text)
    direct = f"direct_payload_bytes_total {way}"
    assert found["link_payload_bytes_total"] + found.get(direct, 0) >= int(sent), text
    assert found["link_streams"] == 1
    if way:
        assert found[direct] >= 600_000
        assert found[f"direct_messages_total {way}"] >= 3
    assert not any(f'way="{other}"' in text for other in {"memory", "network"} - {way})
    assert re.search(r'^isthmus_door_dropped_total\{run="[^"]*",door="gateway east/0"\} 0$',
                     text, re.MULTILINE)  # fmt: skip
    with pytest.raises(urllib.error.URLError):  # it ends with the job
        urllib.request.urlopen(url, timeout=5)
