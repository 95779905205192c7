"""What Prometheus reads of a job, while the program runs."""

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

SENT = 20 * 200_000
# Sends, then reads the metrics until they have what it has sent.
SCRAPE = r"""
import re, sys, time, urllib.request
from mpi4py import MPI
world = MPI.COMM_WORLD
data = bytearray(200_000)
for i in range(20):
    if world.rank == 0:
        world.Send(data, 1)
    else:
        world.Recv(data, 0)
world.barrier()
if world.rank == 0:
    end = time.monotonic() + 60
    payload = r'_payload_bytes_total{run="[^"]*",from="east(?:/0)?",to="west(?:/0)?".*} (\S+)'
    while time.monotonic() < end:
        text = urllib.request.urlopen(sys.argv[1], timeout=10).read().decode()
        if sum(map(float, re.findall(payload, text))) >= int(sys.argv[2]):
            break
        time.sleep(0.1)
    print(text)
world.barrier()
"""


def samples(text: str) -> dict[str, float]:
    """Of one direction, by the metric and the way."""
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
def test_what_ranks_send_is_counted_while_they_run(isthmus, tmp_path: Path, reach, way) -> None:
    program = tmp_path / "scrape.py"
    program.write_text(SCRAPE)
    grid = tmp_path / "grid.toml"
    grid.write_text(GRID.format(reach=reach))
    port = free_port(2)  # one for each agent
    url = f"http://127.0.0.1:{port}/metrics"
    python = mpis.ALL["mpich5"].python
    words = ("-g", grid, "--metrics", port, "-n", 2, python, program, url, SENT)
    done = isthmus("run", *words, timeout=240)
    assert done.returncode == 0, done.stderr
    found = samples(done.stdout)
    direct = f"direct_payload_bytes_total {way}"
    assert found["link_payload_bytes_total"] + found.get(direct, 0) >= SENT, done.stdout
    assert found["link_streams"] == 1
    if way:
        assert found[direct] > SENT / 2
        assert found[f"direct_messages_total {way}"] >= 10
    assert not any(f'way="{other}"' in done.stdout for other in {"memory", "network"} - {way})
    with pytest.raises(urllib.error.URLError):  # it ends with the job
        urllib.request.urlopen(url, timeout=5)
