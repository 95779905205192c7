"""`isthmus map`: what it reads, profiles and tables."""

import json

import pytest

from isthmus.base.errors import UsageError
from isthmus.cli.cli import main
from isthmus.mapping import traffic
from isthmus.mapping.traffic import Traffic, Volume


def profile(**more):
    return {
        "format": "isthmus-profile",
        "version": 1,
        "size": 4,
        "pairs": [
            [0, 2, 10, 1000, {"6": 10}],
            [2, 0, 5, 500, {"6": 5}],
            [1, 1, 9, 9, {}],
            [1, -1, 9, 9, {}],
        ],
        "windows": [[1, 3, 2, 64, {"5": 2}]],
        "communicators": [],
        "collectives": [],
    } | more


def read(tmp_path, text, name="p"):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return traffic.load(path)


def test_a_profile_is_read(tmp_path):
    found = read(tmp_path, profile())
    assert found.size == 4
    assert found.pairs == {(0, 2): Volume(15, 1500), (1, 3): Volume(2, 64)}


def test_of_a_profile_that_is_not_whole_it_is_said_who_is_missing(tmp_path, capsys):
    path, out = tmp_path / "p", tmp_path / "out"
    path.write_text(json.dumps(profile(missing=[0, 3])))
    what = "the messages of ranks 0, 3 are unknown"
    assert main(["map", str(path)]) == 0
    told = capsys.readouterr()
    assert f"# {what}" in told.out
    assert f"isthmus: {path}: {what}" in told.err
    assert main(["map", str(path), "-o", str(out)]) == 0
    assert what in capsys.readouterr().out
    assert f"# {what}" in out.read_text()


def test_those_that_have_told_say_how_often_a_collective_was(tmp_path):
    found = read(
        tmp_path,
        profile(
            missing=[2],
            communicators=[{"size": 3, "clusters": 1, "ranks": [[0, 2, 1]]}],
            collectives=[_collective("MPI_Allreduce", 0, 20, 200)],
        ),
    )
    assert (found.collectives[0].operations, found.collectives[0].bytes) == (10, 100)


def test_collectives_of_few_ranks_count_as_who_must_exchange(tmp_path):
    found = read(
        tmp_path,
        profile(
            pairs=[],
            windows=[],
            communicators=[
                {"size": 3, "clusters": 1, "ranks": [[0, 2, 1]]},
                {"size": 4, "clusters": 2, "ranks": [[0, 3, 1]]},
            ],
            collectives=[
                _collective("MPI_Allreduce", 0, 30, 300),
                _collective("MPI_Allreduce", 1, 4000, 10**9),
                _collective("MPI_Bcast", None, 1, 1),
            ],
        ),
    )
    # 10 operations of 10 bytes each: a group that is cut off costs them once.
    assert found.with_collectives(3) == dict.fromkeys([(0, 1), (0, 2), (1, 2)], Volume(5, 50))
    assert len(found.with_collectives(4)) == 6


def _collective(function, communicator, entered, size):
    return {
        "function": function,
        "communicator": communicator,
        "entered": entered,
        "bytes": size,
        "sizes": {},
        "seconds": 1.0,
    }


def test_what_an_alltoall_gives_is_spread():
    collective = traffic.Collective((0, 1, 2, 3), operations=3, bytes=400, spread=True)
    assert dict(collective.pairs())[0, 3] == Volume(1, 200)


@pytest.mark.parametrize(
    "text",
    [
        "from,to,messages,bytes\n0,1,2,30\n1,0,1,12\n",
        "# a comment\nto,from,bytes,messages\n1,0,42,3\n",
        "\ufefffrom,to,messages,bytes\r\n0,1,3,42\r\n",
    ],
)
def test_tables_of_edges(tmp_path, text):
    assert read(tmp_path, text) == Traffic(2, {(0, 1): Volume(3, 42)})


def test_squares_of_bytes(tmp_path):
    found = read(tmp_path, "0,5,0\n6,0,0\n0,0,3\n")
    assert found == Traffic(3, {(0, 1): Volume(2, 11)})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("from,to,messages,bytes\n", "the file has no ranks"),
        ("from,bytes\n0,1\n", ":1: the columns 'from' and 'to' are needed"),
        ("from,to,size\n0,1,2\n", ":1: 'size' is not a column"),
        ("from,to\n0,1,2\n", ":2: the row has 3 columns, the header has 2"),
        ("from,to\n0,x\n", ":2: 'x' is not an amount"),
        ("from,to\n0,1\n0,1.5\n", ":3: 1.5 is not a rank"),
        ("from,to\n0,99999999\n", ":2: 99999999 is not a rank"),
        (profile(size=1 << 25), "a run has at most 16777216 ranks"),
        ("0,1\n1\n", ":2: the row has 1 columns, but there are 2 rows"),
        ("{", "not JSON"),
        ("{}", "is not a profile"),
        (profile(version=2), "is a profile of version 2"),
        (profile(pairs=[[0, 9, 1, 1, {}]]), "not a complete profile: rank 9 is not one of 4"),
        (profile(size=None), "not a complete profile"),
        ({k: v for k, v in profile().items() if k != "size"}, "'size' is missing"),
        (profile(collectives=[_collective("MPI_Bcast", 3, 1, 1)]), "not a complete profile"),
    ],
)
def test_what_cannot_be_read(tmp_path, text, message):
    with pytest.raises(UsageError) as error:
        read(tmp_path, text)
    assert message in str(error.value)
