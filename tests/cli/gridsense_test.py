"""Grid files whose keys are valid one by one, but contradict each other."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.grid import grid as grids
from isthmus.place.placement import Part
from isthmus.place.plan import make_plan

TWO = "[cluster.a]\nhost = 'a0'\n[cluster.b]\nhost = 'b0'\n"  # 4 lines
JOINT = TWO + "[[gateway]]\nclusters = ['a', 'b']\n"  # 6
LINK = "[[link]]\nbetween = ['a', 'b']\n"


def refused(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        grids.parse(text, "g.toml")
    return caught.value.sentence


@pytest.mark.parametrize(
    "key",
    [
        "name = 'wide'",
        "rate = '1 Gbit/s'",
        "streams = 3",
        "congestion = 'bbr'",
        "compress = true",
        "net = 'auto'",
        "encrypt = false",
        "patience = '1 h'",
    ],
)
def test_a_link_over_a_gateway_of_both_ends_is_none(key):
    said = refused(JOINT + LINK + key)
    name = key.split()[0]
    assert said.startswith(f"g.toml:9: link[0].{name} has no effect: all gateways of 'a' and 'b'")
    grids.parse(TWO + LINK + key, "g.toml")
    # Another gateway of one of them makes the link one.
    grids.parse(JOINT + "[[gateway]]\ncluster = 'a'\n" + LINK + key, "g.toml")


@pytest.mark.parametrize(
    "keys", ["", "rtt = '5 ms'", "reach = 'gateway'", "reach = 'direct'\nrate = '1 Gbit/s'"]
)
def test_what_holds_over_a_gateway_of_both_ends_is_taken(keys):
    plan = make_plan(grids.parse(JOINT + LINK + keys, "g.toml"), [Part(["x"], 2)])
    assert plan.links == []


def test_a_link_too_many_is_told_with_its_line():
    text = TWO + LINK + LINK
    assert refused(text).startswith("g.toml:7: link[1] is one too many: 2 links join")
    grids.parse(TWO + "[[gateway]]\ncluster = 'a'\nthreads = 2\n" + LINK + LINK, "g.toml")
    said = refused(JOINT + LINK + LINK)
    assert said.startswith("g.toml:9: link[1] is one too many")
    assert "but the gateways suffice for 0" in said


def test_a_name_is_for_the_links_of_a_pair():
    """Links to other clusters may go by the same gateways."""
    three = TWO + "[cluster.c]\n" + LINK + "name = 'w'\n"
    for one in "ab":
        three += f"[[link]]\nbetween = ['{one}', 'c']\n"
    plan = make_plan(grids.parse(three, "g.toml"), [Part(["x"], 3)])
    assert [named.spec.name for named in plan.named] == ["w"]


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("streams = 4", "the one connection"),
        ("congestion = 'bbr'", "ssh makes the connection"),
        ("net = 'ucx'", "one"),
    ],
)
def test_what_ssh_does_not_do(key, word):
    more = "\nencrypt = false" if "ucx" in key else ""
    said = refused(f"{TWO}{LINK}reach = 'ssh'\n{key}{more}")
    assert said.startswith(f"g.toml:8: link[0].{key.split()[0]} ")
    assert word in said
    grids.parse(TWO + LINK + "reach = 'ssh'\nstreams = 1\nrate = '1 Gbit/s'\n", "g.toml")


def networks(one: str, other: str) -> str:
    text = f"[network.x]\nhosts = 'a0,z'\n{one}\n[network.y]\nhosts = 'b0,z'\n{other}\n"
    return TWO + text


@pytest.mark.parametrize("subnet", ["10.1.0.0/16", "10.0.0.0/8", "10.1.7.0/24"])
def test_networks_of_one_host_have_addresses_of_their_own(subnet):
    said = refused(networks("subnet = '10.1.0.0/16'", f"subnet = '{subnet}'"))
    assert said.startswith("g.toml:10: network.y.subnet overlaps with network 'x' (10.1.0.0/16)")
    assert "host 'z' is in both" in said
    grids.parse(networks("subnet = '10.1.0.0/16'", "interface = 'eth1'"), "g.toml")
    grids.parse(networks("subnet = '10.1.2.3/16'", "subnet = '10.2.2.3/16'"), "g.toml")
    apart = networks("subnet = '10.1.0.0/16'", f"subnet = '{subnet}'").replace("b0,z", "b0")
    grids.parse(apart, "g.toml")


def test_a_network_of_no_cluster():
    said = refused(TWO + "[network.x]\nhosts = 'q[1-3]'\n")
    assert said.startswith("g.toml:6: network.x.hosts names no host of any cluster")
    grids.parse(TWO + "[network.x]\nhosts = 'a0'\n", "g.toml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[cluster.a]\nspeed = 0", ["g.toml:2", "cluster.a.speed must be more than 0; it is 0"]),
        ("[[cluster]]\nname = 'a'", ["g.toml:1: cluster needs names: write [cluster.NAME]"]),
        ("[cluster.a]\n[[network]]\nhosts='a'", ["g.toml:2: network needs names: write [network"]),
        (TWO + LINK + "name = '-x'", ["link[0].name must be a word such as 'wide'", "it is '-x'"]),
        (TWO + LINK + "congestion = 'B B'", ["congestion must be the kernel's name", "'B B'"]),
        (TWO + LINK + "rate = '0 Gbit/s'", ["link[0].rate must be more than 0; it is '0 Gbit/s'"]),
        (TWO + LINK + "rate = '-1 Gbit/s'", ["rate must be more than 0; it is '-1 Gbit/s'"]),
        (TWO + LINK + "rtt = '-2 ms'", ["link[0].rtt must not be negative; it is '-2 ms'"]),
        ("[grid.x]\nfile = ''", ["grid.x.file must not be empty"]),
        (
            "[cluster.a]\nlaunch = 'mpirun -n {n} {host} {command}'",
            [
                "cluster.a.launch has '{host}', which is not a placeholder",
                "'{n}', '{command}', '{hosts}'",
            ],
        ),
    ],
)
def test_a_value_is_told_with_what_it_must_be(text, words):
    said = refused(text)
    for word in words:
        assert word in said


def test_braces_of_others_are_theirs():
    grids.parse("[cluster.a]\nlaunch = 'sh -c \"x ${y} {A1} {command}\"'\n", "g.toml")


CHANNEL = "[channel.x]\n"


def test_a_channel_names_hosts_with_ranks():
    said = refused(TWO + CHANNEL + "hosts = 'a0,b1'")
    assert said.startswith("g.toml:6: channel.x.hosts names 'b1', where no cluster has ranks")
    grids.parse(TWO + CHANNEL + "hosts = 'a0,b0'", "g.toml")


def test_a_channel_names_a_link_between_its_clusters():
    three = TWO + "[cluster.c]\n" + LINK + "name = 'wide'\n" + CHANNEL
    grids.parse(three + "clusters = ['a', 'b']\nlink = 'wide'", "g.toml")
    said = refused(three + "clusters = ['a', 'b']\nlink = 'wild'")
    assert said.startswith("g.toml:11: channel.x.link names a link 'wild' that joins no two")
    assert said.endswith("links there: 'wide'")
    said = refused(three + "clusters = ['a', 'c']\nlink = 'wide'")
    assert said.endswith("give a [[link]] between two of them name = 'wide'")


def test_a_grid_has_a_limited_number_of_channels():
    many = [f"[channel.x{i}]\nclusters = ['a']\n" for i in range(65)]
    grids.parse(TWO + "".join(many[:64]), "g.toml")
    assert "channel has 65 tables; 64 are the most" in refused(TWO + "".join(many))


def test_channels_hold_whole_clusters_and_chosen_hosts():
    text = "[cluster.a]\nhosts = 'n[1-3]'\n[cluster.b]\nhosts = 'm[1-2]'\n[cluster.c]\n"
    grid = grids.parse(text + CHANNEL + "clusters = ['c']\nhosts = 'n[2-3],m[1-2]'", "g.toml")
    plan = make_plan(grid, [Part(["x"], 1, on=name) for name in "ab"])
    assert [channel.json() for channel in plan.channels] == [
        {
            "name": "x",
            "link": "",
            "parts": [
                {"cluster": 0, "hosts": ["n2", "n3"], "others": ["n1"]},
                {"cluster": 1, "hosts": [], "others": []},
            ],
        }
    ]
