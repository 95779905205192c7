"""Testbed files, right and wrong; what a network is made of; the grid file of a testbed."""

import pytest

from isthmus.base.errors import RunError, UsageError
from isthmus.base.units import format_rate, parse_rate, parse_size
from isthmus.grid import grid as grids
from isthmus.grid.gridkeys import expand_hosts
from isthmus_lab.lab import drawing, native, overrides, shaping, testbed
from isthmus_lab.lab.grid import grid_toml
from isthmus_lab.lab.links import ways_of
from isthmus_lab.lab.network import Network, work_out

SHIPPED = {
    "hablot", "matsuda", "zipper", "chain", "fatpipe", "lossy", "room", "trio", "walled",
    "hablot16", "matsuda16", "leiden", "queues", "distant", "slow16", "zippers",
}  # fmt: skip


def network(name: str, nodes: int | None = None, zippers: int | None = None) -> Network:
    short, model = testbed.load(name)
    return work_out(short, testbed.resized(model, nodes, zippers))


def reach(net: Network, source: str, target: str) -> bool:
    return net.path(net.nodes[source], net.nodes[target]) is not None


def test_all_are_shipped():
    assert set(testbed.shipped()) == SHIPPED


@pytest.mark.parametrize("name", sorted(SHIPPED))
def test_each_has_a_grid_file_and_a_drawing(name):
    net = network(name)
    grid = grids.parse(grid_toml(net), "grid.toml")
    assert list(grid.cluster) == list(net.segments)
    for cluster, spec in grid.cluster.items():
        assert spec.host == f"{cluster}0"
        nodes = [n.name for n in net.of_site(cluster, "node")]
        if net.segments[cluster].scheduler:
            assert (spec.launch, spec.hosts) == ("srun", None)
        else:
            assert expand_hosts(spec.hosts) == nodes
        assert spec.slots == len(nodes)
    text = "\n".join(drawing.draw(net))
    assert all(site.frontend in text for site in net.segments.values())
    assert all(f"{link.a} ══ {link.b}" in text for link in net.links)
    lengths = {len(line) for line in drawing.draw(net) if line.startswith(("┌", "│", "└"))}
    assert len(lengths) <= 2, "the boxes of a row are not of one width"


def test_the_papers_network():
    net = network("matsuda")
    assert [len(net.of_site(site, "node")) for site in "ab"] == [8, 8]
    path = net.path(net.nodes["a1"], net.nodes["b8"])
    assert path.rtt == pytest.approx(0.020)
    assert path.bottleneck(1500).rate == 100e6
    assert path.bottleneck(1500).goodput == pytest.approx(100e6 * 1448 / 1514)
    between = net.path(net.nodes["a0"], net.nodes["b0"])
    assert between.bottleneck(1500).goodput == pytest.approx(1e9 * 1448 / 1538)
    assert net.path(net.nodes["a0"], net.nodes["a1"]).bottleneck(9000).rate == 100e6
    assert net.links[0].queue == 2_500_000


def test_a_chain_joins_neighbours_only():
    net = network("chain")
    assert [link.name for link in net.links] == ["a-b", "b-c"]
    assert reach(net, "a1", "b1")
    assert reach(net, "c0", "b1")
    assert not reach(net, "a1", "c1")


def test_zipper_nodes_stand_in_both_networks():
    net = network("zipper", zippers=4)
    assert reach(net, "a1", "z4")
    assert reach(net, "z4", "b1")
    assert not reach(net, "a1", "b1")
    assert net.address_of(net.nodes["z1"], net.nodes["a1"]) == "10.1.254.1"
    assert net.address_of(net.nodes["z1"], net.nodes["b1"]) == "10.2.254.1"
    grid = grids.parse(grid_toml(net), "g")
    assert [(sorted(g.clusters), g.host) for g in grid.gateway] == [
        (["a", "b"], f"z{i}") for i in range(1, 5)
    ]


def test_a_zipper_node_that_forwards_joins_the_sites():
    _, model = testbed.load("zipper")
    net = work_out("zipper", overrides.changed(model, ["zipper.forward=yes"]))
    assert reach(net, "a1", "b1")
    assert net.forwarder("b", "a") is net.nodes["z1"]
    path = net.path(net.nodes["a0"], net.nodes["b0"])
    assert path.bottleneck(1500).rate == 100e6  # frontends are unshaped, the zipper node is not
    job = native.native_job(net, "openmpi", 2, ["./app"], on=["a1", "b2"])
    assert "a1:1,b2:1" in job.command


def test_a_smaller_limit_of_buffers_holds_for_all_sizes():
    net = network("matsuda16")
    assert net.tcp_memory()["tcp_rmem"] == "3000000 3000000 3000000"
    assert net.tcp_memory(212_992)["tcp_rmem"] == "212992 212992 212992"
    assert network("hablot").tcp_memory() == {
        "tcp_rmem": "4096 131072 64000000",
        "tcp_wmem": "4096 65536 64000000",
    }


def test_bursts_of_node_links_are_as_small_as_the_machine_can_bear():
    assert [shaping.segments(network(name)) for name in ("zipper", "matsuda", "matsuda16")] == [
        1, 3, 6,
    ]  # fmt: skip
    net = network("zipper")
    assert 1514 < shaping.burst(net, 100_000_000) < 2 * 1514


def test_gateways_on_nodes():
    _, model = testbed.load("matsuda")
    net = work_out("matsuda", overrides.changed(model, ["site.*.gateways=4"]))
    grid = grids.parse(grid_toml(net), "g")
    assert [(g.cluster, g.host) for g in grid.gateway] == [
        (c, f"{c}{i}") for c in "ab" for i in range(1, 5)
    ]
    assert "10.2.0.1" in str(grid.gateway[4].address)


def test_firewalls_and_private_addresses():
    net = network("walled")
    assert net.nodes["a1"].ports[0].address == net.nodes["b1"].ports[0].address
    assert reach(net, "a0", "b0")
    assert not reach(net, "b0", "a0")
    assert not reach(net, "a1", "b0")
    assert net.address_of(net.nodes["b1"], net.nodes["a1"]) is None


def test_stars_and_meshes():
    text = "".join(f"[site.{s}]\n" for s in "abcd")
    wan = "[[wan]]\nsites = ['a', 'b', 'c', 'd']\nshape = '{}'\n"
    names = [
        [link.name for link in work_out("x", testbed.parse(text + wan.format(s), "x")).links]
        for s in ("star", "mesh", "chain")
    ]
    assert names == [
        ["a-b", "a-c", "a-d"],
        ["a-b", "a-c", "a-d", "b-c", "b-d", "c-d"],
        ["a-b", "b-c", "c-d"],
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["site is missing"]),
        ("[site]", ["1 to 100 tables"]),
        ("[site.a]\nnodez = 3", ["x.toml:2", "site.a.nodez is not a key", "did you mean 'nodes'?"]),
        ("[site.a]\nnodes = 0", ["x.toml:2", "site.a.nodes"]),
        ("[site.a]\nnodes = 500", ["site.a.nodes", "250"]),
        ("[site.a]\ngateways = 1\nprivate = true", ["x.toml:2", "reached from outside"]),
        ("[site.a]\nlink = 'fast'", ["site.a.link must be a rate", "'fast'"]),
        ("[site.a1]", ["is not a name for a site"]),
        ("[site.z]", ["'z' is reserved for zipper nodes"]),
        ("[site.abcdefghijkl]", ["at most 10"]),
        ("[site.a]\nfirewall = 'hot'", ["site.a.firewall", "'outgoing'"]),
        ("[site.a]\n[[wan]]\nsites = ['a']", ["wan[0].sites"]),
        ("[site.a]\n[[wan]]\nsites = ['a', 'b']", ["wan[0].sites names a site 'b'"]),
        ("[site.a]\n[[wan]]\nsites = ['a', 'a']", ["links 'a' to itself"]),
        (
            "[site.a]\n[site.b]\n[[wan]]\nsites = ['a', 'b']\n[[zipper]]\nbetween = ['b', 'a']",
            ["zipper[0].between", "which wan[0] links already"],
        ),
        ("[site.a]\n[site.b]\n[[wan]]\nsites = ['a', 'b']\nloss = 2", ["wan[0].loss"]),
        ("[site.a]\n[site.b]\n[[wan]]\nsites = ['a', 'b']\ndelay = '90 s'", ["at most 60 s"]),
        ("[site.a]\n[site.b]\n[[wan]]\nsites = ['a', 'b']\nqueue = '9'", ["must be a size"]),
        (
            "[site.a]\n[site.b]\n[[wan]]\nsites = ['a', 'b']\nbox = false\ndelay = '1 ms'",
            ["x.toml:6", "wan[0].delay", "remove `box = false`"],
        ),
        (
            "[site.a]\n[site.b]\nprivate = true\n[[wan]]\nsites = ['a', 'b']\nbox = false",
            ["wan[0].box needs a WAN box", "site 'b'"],
        ),
        ("[site.a]\n[tcp]\ncongestion = 'a b'", ["tcp.congestion"]),
        (
            "[site.a]\n[tcp]\nleast_buffer = '2 MB'\ninitial_buffer = '1 MB'",
            ["x.toml:3: tcp.least_buffer is more than tcp.initial_buffer"],
        ),
        (
            "[site.a]\n[site.b]\nprivate = true\n[[zipper]]\nbetween = ['a', 'b']\nforward = true",
            ["x.toml:6: zipper[0].forward needs open sites", "'b' is not one"],
        ),
        ("mtu = 100\n[site.a]", ["mtu"]),
        ("[site.a", ["x.toml:1:8: the header", "Write: [site.a]"]),
        ("[site.a]\nnodes = 4\n[wan]\nsites: 2\nnodes = four", ["x.toml:4:6", "x.toml:5:9"]),
        (
            "[site.a]\nnodes = '4'\nslot = 2\n[site.b]\ncores = 'x'",
            ["x.toml:2: site.a.nodes must be a whole number", "x.toml:3: site.a.slot is not",
             "x.toml:5: site.b.cores"],
        ),
        (
            "[site.a]\ngateways = 9\n[site.B]\n[[wan]]\nsites = ['a', 'c', 'a']",
            ["x.toml:2: site.a.gateways", "x.toml:3: site.B", "site 'c'", "'a' to itself"],
        ),
    ],
)  # fmt: skip
def test_wrong_files(text, words):
    with pytest.raises(UsageError) as caught:
        testbed.parse(text, "x.toml")
    for word in words:
        assert word in str(caught.value)


def test_wrong_names_and_sizes(tmp_path):
    with pytest.raises(UsageError, match="did you mean 'hablot'"):
        testbed.load("hablott")
    with pytest.raises(UsageError, match="cannot read the testbed file"):
        testbed.load(str(tmp_path / "none.toml"))
    with pytest.raises(UsageError, match="no \\[\\[zipper\\]\\]"):
        network("hablot", zippers=2)
    with pytest.raises(UsageError, match="1 to 250 nodes"):
        network("hablot", nodes=0)


@pytest.mark.parametrize(
    ("changes", "seen"),
    [
        (["tcp.buffer=208 KiB"], lambda net: net.tcp_buffer == 212_992),
        (["tcp.initial_buffer=1 MB"], lambda net: " 1000000 " in net.tcp_memory()["tcp_wmem"]),
        (["mtu=9000"], lambda net: net.mtu == 9000),
        (["wan.rate=none"], lambda net: net.links[0].rate is None),
        (["wan.delay=10ms", "wan.0.loss=1%"], lambda net: net.links[0].loss == 0.01),
        (["wan.reorder=yes"], lambda net: net.links[0].reorder),
        (["wan.*.delay='7 ms'"], lambda net: net.links[0].delay == 0.007),
        (["site.*.nodes=4", "site.b.nodes=1"], lambda net: len(net.nodes) == 2 + 4 + 1),
        (["site.*.link=1 Gbit/s"], lambda net: net.nodes["a1"].ports[0].rate == 1e9),
    ],
)  # fmt: skip
def test_changes_of_a_testbed(changes, seen):
    _, model = testbed.load("hablot")
    assert seen(work_out("hablot", overrides.changed(model, changes)))
    assert not seen(work_out("hablot", model))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("tcp.buffer", ["--set tcp.buffer: not a KEY=VALUE", "For example"]),
        ("tcp.bufer=1 MB", ["--set tcp.bufer=1 MB", "tcp.bufer is not a key", "'buffer'?"]),
        ("tcp.buffer=much", ["tcp.buffer must be a size", "'much'"]),
        ("site.c.nodes=3", ["no 'c' here", "'a', 'b'"]),
        ("wann.rate=none", ["no 'wann' here", "did you mean 'wan'?"]),
        ("wan.7.rate=none", ["the list ends at 0, counted from 0"]),
        ("mtu.x=1", ["no 'mtu' here"]),
        ("wan.sites=['a', 'a']", ["links 'a' to itself"]),
        ("site.a.nodes=0", ["site.a.nodes"]),
        ("site.a.gateways=3", ["site.a.gateways is more than the site's 2 nodes"]),
    ],
)
def test_wrong_changes(change, words):
    _, model = testbed.load("hablot")
    with pytest.raises(UsageError) as caught:
        overrides.changed(model, [change])
    for word in words:
        assert word in str(caught.value)


def test_ways_to_name_a_link():
    net = network("chain")
    assert ways_of(net, "b-a") == [("a-b", "both")]
    assert ways_of(net, "a>b") == [("a-b", "ab")]
    assert ways_of(net, "b>a") == [("a-b", "ba")]
    assert ways_of(net, "all") == [("a-b", "both"), ("b-c", "both")]
    with pytest.raises(UsageError, match="unknown WAN link 'a-c'"):
        ways_of(net, "a-c")
    with pytest.raises(UsageError, match="a-b is a plain wire"):
        ways_of(network("room"), "b>a")


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_hosts_of_a_native_job(mpi):
    net = network("hablot")
    for interleaved, wanted in ((False, "a1 a2 b1 b2"), (True, "a1 b1 a2 b2")):
        job = native.native_job(net, mpi, 4, ["./app"], interleaved)
        hosts = next(word for word in job.command if word.startswith("a1"))
        assert hosts.replace(":1", "").split(",") == wanted.split()
        assert job.command[-1] == "./app"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_a_native_job_on_chosen_nodes(mpi):
    net = network("hablot16")
    job = native.native_job(net, mpi, 4, ["./app"], on=["b2", "b1", "a16", "a3"])
    hosts = next(word for word in job.command if word.startswith("b2"))
    assert hosts.replace(":1", "").split(",") == ["b2", "b1", "a16", "a3"]
    assert native.frontend(net, ["b2", "a1"]) == "b0"
    with pytest.raises(UsageError, match="no node 'c1'"):
        native.native_job(net, mpi, 4, ["./app"], on=["a1", "c1"])


def test_a_native_job_on_one_site_of_several_that_are_not_joined():
    net = network("zipper")
    job = native.native_job(net, "openmpi", 2, ["./app"], on=["b1", "b2"])
    assert "b1:1,b2:1" in job.command
    assert native.frontend(net, ["b1", "b2"]) == "b0"
    with pytest.raises(RunError, match="cannot connect to"):
        native.native_job(net, "openmpi", 2, ["./app"], on=["a1", "b2"])


def test_units():
    assert [parse_size(t) for t in ("12 B", "500 kB", "16MB", "2 MiB")] == [
        12, 500_000, 16_000_000, 2 << 20,
    ]  # fmt: skip
    for text in ("12", "2 iB", "x MB", "-1 B"):
        with pytest.raises(ValueError, match="must be a size"):
            parse_size(text)
    for rate in (7, 5_000, 100_000_000, 10_000_000_000):
        assert parse_rate(format_rate(rate)) == rate
