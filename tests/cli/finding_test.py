"""Names that are looked for before somebody has published them."""

import asyncio

import pytest

from isthmus.meeting import finding
from isthmus.run.ports import Ports


@pytest.fixture(autouse=True)
def alone(monkeypatch, tmp_path):
    monkeypatch.setenv("ISTHMUS_HOME", str(tmp_path))


def test_a_name_is_waited_for():
    ports = Ports("job-1")

    async def look():
        asked = asyncio.create_task(finding.waited_for("ocean", "job-1", 60, ports))
        await asyncio.sleep(0)
        assert not asked.done()
        ports.publish("ocean", "port")
        return await asked

    assert asyncio.run(look()) == {"port": "port"}


@pytest.mark.parametrize(
    ("limit", "said"),
    [(0.1, "is not published within 0.1 s in this run"), (0, "the info key timeout of MPI_Lookup")],
)
def test_a_name_that_nobody_publishes_is_told(limit, said):
    answer = asyncio.run(finding.waited_for("ocean", "job-1", limit, Ports("job-1")))
    assert answer["error"] == "name"
    assert said in answer["message"]
