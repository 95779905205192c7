"""The tables of clusters that join a run which goes on."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.grid import more, relays

BASE = grids.parse("[cluster.east]\n[cluster.west]\n[cluster.idle]\n", "grid.toml")
LINKED = grids.parse(
    '[cluster.east]\n[cluster.west]\n[[relay]]\nhost = "hub"\nbetween = ["east"]\n'
    '[[link]]\nbetween = ["east", "west"]\n',
    "grid.toml",
)
RUNNING = ["east", "west"]
SOUTH = '[cluster.south]\nhost = "s1"\n'


def parsed(text: str, *wanted: str, base=BASE, survives: bool = False) -> more.More:
    return more.parse(text, "more.toml", base, RUNNING, wanted, survives=survives)


def between(grid: grids.Grid) -> list[list[str]]:
    return [link.between for link in grid.link]


def test_a_cluster_without_links_joins_a_grid_without_links():
    found = parsed(SOUTH)
    assert found.names == ["south"]
    assert [*found.grid.cluster] == ["east", "west", "idle", "south"]
    assert found.grid.cluster["south"].host == "s1"
    assert found.grid.link == []


def test_a_link_leaves_those_that_were_implied():
    """Without any link, each two are linked; that stays so for those that were there."""
    found = parsed(SOUTH + '[[link]]\nbetween = ["west", "south"]\nrtt = "10ms"\n')
    pairs = [["east", "west"], ["east", "idle"], ["west", "idle"], ["west", "south"]]
    assert between(found.grid) == pairs
    assert found.grid.link[-1].rtt.seconds == 0.01


def test_gateways_come_with_their_cluster():
    found = parsed(SOUTH + '[[gateway]]\ncluster = "south"\naddress = "192.0.2.1:7400"\n')
    assert [spec.serves for spec in found.grid.gateway] == [["south"]]
    again = more.without(found.grid, "south")
    assert [*again.cluster] == [*BASE.cluster]
    assert again.gateway == []


def test_some_clusters_of_a_whole_grid_file():
    """The tables that the run began with are not looked at."""
    text = (
        'patience = "3s"\n[cluster.east]\n[cluster.south]\n[cluster.north]\n[[gateway]]\n'
        'cluster = "east"\n[[link]]\nbetween = ["north", "south"]\n'
        '[[link]]\nbetween = ["east", "north"]\n[[link]]\nbetween = ["east", "south"]\n'
    )
    found = parsed(text, "south")
    assert found.names == ["south"]
    assert "north" not in found.grid.cluster
    assert between(found.grid)[-1] == ["east", "south"]
    assert found.grid.patience == BASE.patience
    both = parsed(text, "south", "north")
    assert between(both.grid)[-3:] == [["north", "south"], ["east", "north"], ["east", "south"]]


def test_a_relay_of_the_run_may_be_an_end():
    text = SOUTH + '[[link]]\nbetween = ["south", "relay"]\n'
    found = more.parse(text, "more.toml", relays.expanded(LINKED), [*RUNNING, "relay"])
    assert between(found.grid)[-1] == ["south", "relay"]


@pytest.mark.parametrize(
    ("text", "wanted", "why"),
    [
        ("", [], "more.toml: cluster is missing: name the cluster that joins by"),
        ("[cluster.east]\n", [], "more.toml:1: cluster.east is the name of a cluster or relay"),
        ("[cluster.east]\n", ["east"], "more.toml:1: cluster.east is the name of a cluster"),
        (SOUTH, ["suoth"], "--cluster suoth: more.toml has no such cluster; did you mean 'south'"),
        (SOUTH + "slot = 3\n", [], r"more.toml:3: cluster.south.slot .*did you mean 'slots'"),
        ("[cluster.'so uth']\n", [], "is not a valid name"),
        (SOUTH + "[cluster.east]\n", [], "more.toml:3: cluster.east is the name"),
        ('files = "south"\n' + SOUTH, [], "more.toml:1: files cannot change while the run goes on"),
        (SOUTH + '[[relay]]\nhost = "x"\n', [], "more.toml:3: relay cannot change"),
        (SOUTH + "may_leave = true\n", [], r"more.toml:3: cluster.south.may_leave needs a run"),
        (
            SOUTH + '[[link]]\nbetween = ["south", "noth"]\n',
            [],
            r"more.toml:4: link\[0\].between names a cluster 'noth' that is not in the file",
        ),
        (
            '[[link]]\nbetween = ["east", "west"]\n' + SOUTH,
            [],
            r"more.toml:2: link\[0\].between names none of the clusters that join: 'south'",
        ),
        (
            '[[link]]\nbetween = ["east", "x"]\n[[link]]\nbetween = ["south", "x"]\n'
            + SOUTH
            + "[cluster.x]\n",
            ["south"],
            r"more.toml:5: cluster.south has no link to a cluster that runs: 'east', 'west'",
        ),
        (
            SOUTH + '[[link]]\nbetween = ["south", "idle"]\n',
            [],
            "more.toml:1: cluster.south has no link to a cluster that runs",
        ),
        (
            SOUTH + '[[link]]\nbetween = ["south", "east"]\nreach = "ssh"\n',
            [],
            r"more.toml:5: link\[0\].reach is 'ssh', which is not for a cluster that joins",
        ),
        (
            SOUTH + '[[gateway]]\nclusters = ["south", "east"]\n',
            [],
            r"more.toml:4: gateway\[0\].clusters names several clusters",
        ),
        (
            SOUTH + '[[gateway]]\ncluster = "east"\n',
            [],
            r"more.toml:4: gateway\[0\].cluster is not for one of the clusters that join",
        ),
        (
            SOUTH + '[[gateway]]\nhost = "login"\n',
            [],
            r"more.toml:3: gateway\[0\].cluster is missing; name the cluster that joins",
        ),
        (
            SOUTH + '[[gateway]]\nhost = "login"\n',
            ["south"],
            r"more.toml:3: gateway\[0\].cluster is missing",
        ),
        (
            '[[gateway]]\ncluster = "east"\n[[gateway]]\ncluster = "south"\nstart = ["x"]\n'
            'host = "y"\n' + SOUTH,
            ["south"],
            r"more.toml:5: gateway\[1\].start and 'host' are both given",
        ),
    ],
)
def test_what_cannot_join(text, wanted, why):
    with pytest.raises(UsageError, match=why):
        parsed(text, *wanted)


def test_a_cluster_needs_a_link_where_others_have_some():
    with pytest.raises(UsageError, match=r"add a \[\[link\]\] between the two"):
        parsed(SOUTH, base=LINKED)


def test_a_cluster_that_may_leave():
    assert parsed(SOUTH + "may_leave = true\n", survives=True).grid.cluster["south"].may_leave
