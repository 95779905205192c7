"""A relay that is started again: what its new agent hears. All around it are fakes."""

import asyncio
from types import SimpleNamespace

from isthmus.base.outcome import Ending
from isthmus.base.relay import Voice
from isthmus.job.revival import Revival

FAILURES = [(2, 'cluster "west" has failed: its job has ended')]
NEWS = [
    {"number": 0, "cluster": "south", "state": "joined", "message": 'cluster "south": it joined'},
    {"number": 1, "cluster": "south", "state": "left", "message": 'cluster "south": it left'},
]


class Agent:
    label = "relay"

    def __init__(self):
        self.heard = []

    async def send(self, op, **keys):
        self.heard.append({"op": op, **keys})

    async def nothing(self, *_):
        pass

    start = close = nothing


def test_it_hears_which_clusters_have_failed_and_joined():
    """It waits for no gateways of those that have failed. Its metrics tell those that joined."""
    old, new = Agent(), Agent()
    member = SimpleNamespace(
        agent=old, cluster=SimpleNamespace(name="relay"), plan=SimpleNamespace(gateways=[])
    )

    def replace(member, agent):
        member.agent = agent

    async def run():
        growing = SimpleNamespace(
            plan=SimpleNamespace(relays={"relay"}, links=[], patience=5.0, survival=None),
            turn=asyncio.Lock(),
            news=NEWS,
            again=new.nothing,
        )
        members = SimpleNamespace(another=lambda _: new, replace=replace)
        steps, ways = SimpleNamespace(hear=new.nothing), SimpleNamespace(again=new.nothing)
        voice = Voice(verbose=False)
        revival = Revival(
            steps,
            growing,
            FAILURES,
            ways,
            members,
            Ending(),
            voice,
            new.nothing,
            lambda *_: None,
        )
        assert revival.takes(member, "the relay has ended", spare=False)
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    asyncio.run(run())
    assert member.agent is new
    failed = [{"op": "failed", "cluster": cluster, "message": why} for cluster, why in FAILURES]
    assert new.heard == failed + [{"op": "spare", **told} for told in NEWS]
    assert old.heard == []
