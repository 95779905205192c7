"""Grid files, right and wrong."""

import pytest

from isthmus.base.errors import UsageError
from isthmus.base.units import format_bytes, format_time, parse_rate, parse_time
from isthmus.grid import grid as grids
from isthmus.grid.addresses import reachable, split_address
from isthmus.grid.gridkeys import expand_hosts
from isthmus.place.placement import Part
from isthmus.place.plan import link_json, make_plan
from isthmus.run import report

WHOLE = """
# a comment
[cluster.lyon]
host = "me@frontend.lyon.example"
mpi = "/opt/openmpi-5.0"
launch = "srun --mpi=pmix -n {n} {command}"
slots = 32
hosts = "n[08-10],gpu1"
prefix = "~/isthmus"
env = { OMP_NUM_THREADS = "4" }

[cluster.tsukuba]
launch = "srun"

[[gateway]]
cluster = "lyon"
host = "gw1.lyon.example"
address = "192.0.2.10:7400"

[[link]]
between = ["lyon", "tsukuba"]
rate = "10 Gbit/s"
rtt = "240 ms"
streams = 8
encrypt = false
patience = "30 min"
"""


LINK = "[cluster.a]\n[[link]]\nbetween=['a','b']\n"
BOTH = "[cluster.a]\n[cluster.b]\n[[link]]\nbetween=['a','b']\n"
GATEWAY = "[cluster.a]\n[[gateway]]\ncluster='a'\n"


def test_everything_that_a_file_may_hold():
    grid = grids.parse(WHOLE, "g.toml")
    assert list(grid.cluster) == ["lyon", "tsukuba"]
    lyon = grid.cluster["lyon"]
    assert (lyon.host, lyon.slots, lyon.env) == (
        "me@frontend.lyon.example",
        32,
        {"OMP_NUM_THREADS": "4"},
    )
    assert sorted(expand_hosts(lyon.hosts)) == ["gpu1", "n08", "n09", "n10"]
    assert grid.cluster["tsukuba"].host is None
    assert grid.gateway[0].address == ("tcp:192.0.2.10:7400",)
    assert grid.link[0].streams == 8
    assert not grid.link[0].encrypt
    assert (str(grid.patience), str(grid.link[0].patience)) == ("10 min", "30 min")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, ["cluster is missing", "[cluster.NAME]"]),
        ("cluster = 3", 1, ["cluster must be a table", "the number 3"]),
        ("[cluster]", 1, ["at least one [cluster.NAME]"]),
        ("[cluster.a]\nslotz = 4", 2, ["cluster.a.slotz", "did you mean 'slots'?", "'prefix'"]),
        ("[cluster.a]\nbanana = 4", 2, ["cluster.a.banana is not a key", "allowed here: 'host'"]),
        ("[clusters.a]", 1, ["clusters is not a key", "did you mean 'cluster'?"]),
        ("[cluster.a]\nslots = '4'", 2, ["a.slots must be a whole number", "the string '4'"]),
        ("[cluster.a]\nslots = true", 2, ["a.slots must be a whole number; it is true"]),
        ("[cluster.a]\nslots = 0", 2, ["cluster.a.slots must be at least 1; it is 0"]),
        ("[cluster.a]\n\nhost = 7", 3, ["cluster.a.host must be a string; it is the number 7"]),
        ("[cluster.a]\nhost = '-oProxyCommand=x'", 2, ["cluster.a.host must be a target of ssh"]),
        ("[cluster.a]\nhost = ''", 2, ["cluster.a.host must be a target of ssh"]),
        (
            "[cluster.a]\nmpi = 'opt/mpi'",
            2,
            ["cluster.a.mpi must be 'openmpi', 'mpich', or the absolute path"],
        ),
        ("[cluster.a]\nprefix = ['x']", 2, ["cluster.a.prefix must be a string; it is an array"]),
        ("[cluster.a]\nlaunch = 'mpirum'", 2, ["did you mean 'mpirun'?", "a template"]),
        ("[cluster.a]\nlaunch = 'srun -n {n}'", 2, ["cluster.a.launch", "{command}"]),
        ("[cluster.a]\nhosts = 'n[1-'", 2, ["cluster.a.hosts must be a list of hosts"]),
        ("[cluster.a]\nhosts = ''", 2, ["cluster.a.hosts must be a list of hosts"]),
        ("[cluster.a]\nhosts = '-x'", 2, ["cluster.a.hosts must be a list of hosts"]),
        ("[cluster.a]\nenv = 'A=1'", 2, ["cluster.a.env must be a table"]),
        ("[cluster.a]\nenv = { A = 1 }", 2, ["cluster.a.env.A must be a string"]),
        ("[cluster.a.env]\n'A=B' = 'x'", 1, ["cluster.a.env has a name"]),
        ("[cluster.'a b']", 1, ["use letters"]),
        ("[[cluster.a]]", 1, ["write [cluster.a], with one pair of brackets"]),
        ("[cluster.a]\n[gateway]\ncluster = 'a'", 2, ["written [[gateway]], once for each"]),
        ("[cluster.a]\n[[gateway]]\nhost = 'x'", 2, ["gateway[0].cluster is missing"]),
        (
            "files = 'eest'\n[cluster.east]",
            1,
            ["files names a cluster 'eest' that is not in the file", "did you mean 'east'?"],
        ),
        (
            "[cluster.east]\n[[gateway]]\ncluster = 'eest'",
            3,
            ["gateway[0].cluster", "'eest' that is not in the file", "did you mean 'east'?"],
        ),
        (
            GATEWAY + "[[gateway]]\ncluster='a'\naddress='x:99999'",
            6,
            ["gateway[1].address must be 'HOST', 'HOST:PORT'"],
        ),
        (GATEWAY + "address = ':7'", 4, ["gateway[0].address"]),
        (GATEWAY + "adress = 'x'", 4, ["did you mean 'address'?"]),
        ("[cluster.a]\n[[link]]\nrate = '1 Gbit/s'", 2, ["link[0].between is missing"]),
        ("[cluster.a]\n[[link]]\nbetween = 'a'", 3, ["link[0].between must be an array"]),
        ("[cluster.a]\n[[link]]\nbetween = ['a']", 3, ["must name two clusters; it names 1"]),
        ("[cluster.a]\n[[link]]\nbetween = ['a', 'a']", 3, ["links 'a' to itself"]),
        ("[cluster.a]\n[[link]]\nbetween = ['a', 'b']", 3, ["'b' that is not in", "clusters: 'a'"]),
        (LINK + "rate = '10 Gb'", 4, ["link[0].rate must be a rate such as '10 Gbit/s'"]),
        (LINK + "rtt = 12", 4, ["link[0].rtt must be a string"]),
        (LINK + "rtt = '12'", 4, ["link[0].rtt must be a time"]),
        (
            LINK + "reach = 'far'",
            4,
            ["link[0].reach must be 'gateway', 'direct' or 'ssh'; it is 'far'"],
        ),
        (
            GATEWAY + "address='h:8-7'",
            4,
            ["gateway[0].address must be 'HOST', 'HOST:PORT' or 'HOST:FIRST-LAST'"],
        ),
        (GATEWAY + "threads=0", 4, ["gateway[0].threads must be at least 1; it is 0"]),
        (
            GATEWAY + "threads=2\naddress='h:7'",
            5,
            ["gateway[0].address has 1 of the 2 ports", "give a range, such as ':7400-7401'"],
        ),
        (
            GATEWAY + "threads=3\naddress='h'\nport='7400-7401'",
            6,
            ["gateway[0].port has 2 of the 3 ports that its 'threads' need", "such as '7400-7402'"],
        ),
        (
            "[cluster.a]\n[cluster.b]\n[[gateway]]\nclusters=['a','b']\nthreads=2\n"
            "address=['h:7-8','i']\nlisten=['j:7-8','k:9']",
            7,
            ["gateway[0].listen has 1 of the 2 ports"],
        ),
        (
            GATEWAY + "port='7400-'",
            4,
            ["gateway[0].port must be a port or a range such as '7400-7419'"],
        ),
        (
            GATEWAY + "address='h:7'\nport='7400-7419'",
            5,
            ["gateway[0].port is also given by 'address'"],
        ),
        ("patience = '0.5 s'\n[cluster.a]", 1, ["patience must be from '1 s' to '24 h'"]),
        (BOTH + "reach='direct'\ncompress=true", 6, ["link[0].compress needs gateways"]),
        (
            BOTH + "reach='direct'\nnet='ucx'",
            6,
            ["link[0].net is 'ucx', which cannot encrypt", "encrypt = false"],
        ),
        (
            BOTH + "name='gateway'",
            5,
            ["link[0].name is 'gateway', which the info key isthmus_link reserves"],
        ),
        (
            BOTH + "name='x'\n[[link]]\nbetween=['b','a']\nname='x'",
            8,
            ["link[1].name is also the name of another link between the same clusters"],
        ),
        (BOTH + "name='x'\nreach='ssh'", 5, ["link[0].name has no effect"]),
        (
            "[cluster.a]\n[channel.x]\nclusters=['a','b']",
            3,
            ["channel.x.clusters names a cluster 'b' that is not in the file", "its clusters: 'a'"],
        ),
        ("[cluster.a]\n[channel.x]\nclusters=['a','a']", 3, ["channel.x.clusters names 'a' twice"]),
        ("[cluster.a]\n[channel.x]", 2, ["channel.x.clusters is missing", "'hosts'"]),
        ("[cluster.a]\n[channel.'x y']\nclusters=['a']", 2, ["not a valid name"]),
        ("[cluster.a]\n[channel.x]\nlink=3", 3, ["channel.x.link must be a string; it is"]),
        (LINK + "patience = '10'", 4, ["link[0].patience must be a time such as '12 ms'"]),
        (LINK + "congestion = 'B B R'", 4, ["link[0].congestion"]),
        (LINK + "streams = 0", 4, ["streams must be at least 1"]),
        (LINK + "encrypt = 1", 4, ["must be true or false"]),
        ("[cluster.a]\nencrypt = 'no'", 2, ["cluster.a.encrypt", "must be true or false"]),
    ],
)
def test_wrong_files(text, line, words):
    with pytest.raises(UsageError) as caught:
        grids.parse(text, "g.toml")
    said = str(caught.value)
    assert said.startswith(f"g.toml:{line}: " if line else "g.toml: ")
    assert [word for word in words if word not in said] == [], said


def test_the_first_error_of_the_file_is_told():
    with pytest.raises(UsageError, match=r"^g.toml:2: cluster.a.slots"):
        grids.parse("[cluster.a]\nslots = 'x'\n[cluster.b]\nslotz = 1\n", "g.toml")


def test_file_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match=r"nowhere\.toml: No such file"):
        grids.load(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes(b"# \xe9\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        grids.load(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("text", "bits"),
    [
        ("10 Gbit/s", 10e9),
        ("1.5Mbit/s", 1.5e6),
        ("100 bit/s", 100),
        ("2 GB/s", 16e9),
        ("1kbps", 1e3),
    ],
)
def test_rates(text, bits):
    assert parse_rate(text) == bits


def test_times():
    assert parse_time("12 ms") == pytest.approx(0.012)
    assert parse_time(".5 s") == pytest.approx(0.5)
    assert (parse_time("10 min"), parse_time("1.5 h")) == (600, 5400)
    shown = [format_time(seconds) for seconds in (0.2, 90, 600, 7200)]
    assert shown == ["1 s", "90 s", "10 min", "2 h"]


def test_bytes():
    shown = [format_bytes(n) for n in (999, 2048, 31_400_000)]
    assert shown == ["999 B", "2.048 kB", "31.4 MB"]


@pytest.mark.parametrize(
    ("keys", "listen", "outside"),
    [
        ("port = '7400-7419'", "tcp:127.0.0.1:7400-7419", "tcp:127.0.0.1:7403"),
        ("address = 'gw:7400-7419'", "tcp:gw:7400-7419", "tcp:gw:7403"),
        ("address = 'gw'\nport = '7400-7419'", "tcp:gw:7400-7419", "tcp:gw:7403"),
        (
            "address = 'gw:9400-9419'\nlisten = '[::1]:7400-7419'",
            "tcp:[::1]:7400-7419",
            "tcp:gw:9403",
        ),
        ("address = 'gw:9000'\nlisten = 'in:7403'", "tcp:in:7403", "tcp:gw:9000"),
        ("address = 'gw'\nlisten = 'in'\nport = '7403'", "tcp:in:7403", "tcp:gw:7403"),
        ("address = 'gw'", "tcp:gw:0", "tcp:gw:7403"),
    ],
)
def test_ports_of_gateways(keys, listen, outside):
    text = f"[cluster.a]\n[cluster.b]\n[[gateway]]\ncluster = 'a'\n{keys}"
    gateway, _ = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 2)]).gateways
    assert gateway.listen == [listen]
    host, _ = split_address(listen)
    assert reachable(gateway.place(0), [f"tcp:{host}:7403"], ["here"]) == [outside]


def test_with_threads_as_many_gateways_stand_in_one_place():
    text = """
        [cluster.a]
        [cluster.b]
        [[gateway]]
        cluster = "a"
        address = "192.0.2.1:7400-7409"
        threads = 3
        [[gateway]]
        cluster = "b"
        host    = "b-gate"
        threads = 2
    """
    plan = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 2)])
    assert [gateway.listen for gateway in plan.gateways[:3]] == [["tcp:192.0.2.1:7400-7409"]] * 3
    assert [len(agent.gateways) for agent in plan.agents] == [3, 0, 2]
    names = plan.gateway_name
    assert [f"{names(link.source)} {names(link.target)}" for link in plan.links] == [
        "a/0 b/0",
        "a/1 b/1",
        "a/2 b/0",
    ]
    shown = "\n".join(report.dry_run(plan, [["isthmusd"]] * 3))
    assert shown.count("listens on tcp:192.0.2.1:7400-7409") == 3


@pytest.mark.parametrize(("threads", "rate"), [((2, 2), 0.5e9), ((1, 1), 1e9), ((2, 1), 0.5e9)])
def test_links_of_the_threads_of_two_gateways_share_the_rate(threads, rate):
    tables = [
        f"[[gateway]]\ncluster='{c}'\nthreads={n}" for c, n in zip("ab", threads, strict=True)
    ]
    link = "[[link]]\nbetween=['a','b']\nrate='8 Gbit/s'"
    text = "\n".join(["[cluster.a]", "[cluster.b]", *tables, link])
    plan = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 2)])
    assert [link_json(link, ())["rate"] for link in plan.links] == [rate] * max(threads)
    shown = "\n".join(report.dry_run(plan, [["isthmusd"]] * 2))
    assert ("of all 2 together" in shown) == (max(threads) == 2)


@pytest.mark.parametrize(
    ("keys", "way", "leg"),
    [
        (
            "",
            "shared memory if the processes of both are on one host, else gateways",
            "memory or TCP",
        ),
        ("reach = 'gateway'", "gateways", "memory or TCP"),
        ("reach = 'gateway'\nrate = '1 Gbit/s'", "gateways", "TCP"),
        (
            "reach = 'direct'",
            "direct, from process to process by TCP, encrypted; else gateways",
            "memory or TCP",
        ),
        (
            "reach = 'direct'\nencrypt = false\nnet = 'ucx'",
            "direct, from process to process by UCX, not encrypted; else gateways",
            "UCX",
        ),
        (
            "reach = 'gateway'\nencrypt = false\nnet = 'auto'",
            "gateways",
            "memory or UCX where both hosts have it, else TCP",
        ),
    ],
)
def test_a_dry_run_tells_the_ways_and_the_legs_of_links(keys, way, leg):
    text = f"[cluster.a]\n[cluster.b]\n[[link]]\nbetween = ['a', 'b']\n{keys}\n"
    plan = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 2)])
    shown = list(report.dry_run(plan, [["isthmusd"]] * 2))
    assert f"a - b: {way}" in shown
    (link,) = [line for line in shown if line.startswith("link ")]
    wanted = leg.replace("memory or", "shared memory on one host, else")
    assert f", {wanted}, {'not ' * ('false' in keys)}encrypted" in link.replace(": ", ", ")


def test_a_dry_run_names_direct_conduits_beside_a_gateway_of_both():
    text = "[cluster.a]\n[cluster.b]\n[[gateway]]\nclusters = ['a', 'b']\n"
    text += "[[link]]\nbetween = ['a', 'b']\nreach = 'direct'\n"
    plan = make_plan(grids.parse(text, "g.toml"), [Part(["x"], 2)])
    shown = "\n".join(report.dry_run(plan, [["isthmusd"]] * 2))
    assert "a - b: direct, from process to process by TCP" in shown
    assert "gateway a+b joins a and b by itself" in shown


@pytest.mark.parametrize(
    ("keys", "far", "listen"),
    [
        ("", False, "tcp:127.0.0.1:0"),
        ("", True, "tcp:[::]:0"),
        ("hosts = 'n[1-2]'", False, "tcp:[::]:0"),
        ("launch = '/opt/slurm/bin/srun --exclusive'", False, "tcp:[::]:0"),
        ("launch = 'flux run'", False, "tcp:[::]:0"),
        ("launch = 'start -n {n} {command}'", False, "tcp:[::]:0"),
        ("launch = 'mpirun'", False, "tcp:127.0.0.1:0"),
    ],
)
def test_gateways_are_reached_by_who_may_be_elsewhere(keys, far, listen):
    grid = grids.parse(f"[cluster.a]\n{keys}\n[cluster.b]\n", "g.toml")
    plan = make_plan(grid, [Part(["x"], 2)], far=far)
    assert [gateway.listen for gateway in plan.gateways] == [[listen]] * 2
