"""What `isthmus bench ablation` measures: the benchmarks that a mechanism may change."""

from dataclasses import dataclass

_P2P = ("--only", "isthmus", "--only", "isthmus-direct", "--passes", "1")
_MEMORY = ("--only", "isthmus-memory")
_COLL = ("--passes", "1", "--no-tune")


@dataclass(frozen=True)
class Cell:
    """A run of `isthmus bench WORDS`, and the mechanisms of ISTHMUS_DEBUG_OFF that it may show."""

    name: str
    words: tuple[str, ...]
    mechanisms: frozenset[str]


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _p2p(testbed: str, *words: str) -> tuple[str, ...]:
    return ("p2p", "--testbed", testbed, *_P2P, *words)


_STREAMS = _names(
    "after-pause bulk-streams express gathering held-streams landing late-frames pacing "
    "share-unsent turns"
)
_HOST = _names(
    "borrowing commons core-sharing gateway-looks gathering landing "
    "lending looks-near looks-on-one-host native-yield several-looks "
    "socket-looks"
)
_SIZES = ("--size", "64 KiB", "--size", "1 MiB", "--size", "4 MiB")
_NEAR_SIZES = ("--size", "8 B", "--size", "4 KiB", "--size", "64 KiB", "--size", "1 MiB")

CELLS = (
    Cell("hablot", _p2p("hablot", "--rounds", "40", *_SIZES, "--figure", "pingpong"), _STREAMS),
    Cell(
        "hablot, one way",
        _p2p("hablot", "--seconds", "1", "--figure", "stream", "--figure", "rate",
             "--size", "1 MiB", "--size", "64 MiB"),
        _names("bulk-streams express gathering landing pacing share-unsent turns"),
    ),
    Cell(
        "hablot, after a pause",
        _p2p("hablot", "--rounds", "10", "--figure", "paused", "--size", "4 MiB"),
        _names("after-pause held-streams late-frames"),
    ),
    Cell(
        "hablot, small beside bulk",
        _p2p("hablot", "--seconds", "1", "--figure", "loaded"),
        _names("express gathering share-unsent turns"),
    ),
    Cell(
        "lossy",
        _p2p("lossy", "--seconds", "2", "--figure", "stream", "--size", "1 MiB"),
        _names("avoid-late bulk-streams express late-frames pacing"),
    ),
    Cell(
        "lossy, small beside bulk",
        _p2p("lossy", "--seconds", "2", "--figure", "loaded"),
        _names("avoid-late express late-frames share-unsent"),
    ),
    Cell(
        "fatpipe",
        _p2p("fatpipe", "--seconds", "2", "--figure", "stream", "--size", "1 MiB"),
        _names("bulk-streams express landing pacing share-unsent turns"),
    ),
    Cell(
        "matsuda",
        ("coll", "--testbed", "matsuda", *_COLL, "--only", "isthmus-direct", "--repetitions", "5",
         "--variant", "plain", "--collective", "bcast", "--collective", "allreduce",
         "--collective", "alltoall", "--size", "1 MiB"),
        _names(
            "crowd gathering held-streams pacing streaming-naps bulk-streams "
            "after-pause core-sharing late-frames"
        ),
    ),
    Cell(
        "room",
        _p2p("room", "--rounds", "400", *_NEAR_SIZES, "--figure", "pingpong"),
        _HOST,
    ),
    Cell(
        "loopback",
        _p2p("loopback", *_MEMORY, "--rounds", "400", "--seconds", "1", *_NEAR_SIZES,
             "--figure", "pingpong", "--figure", "rate"),
        _HOST,
    ),
    Cell(
        "loopback, collectives",
        ("coll", "--testbed", "loopback", *_COLL, *_MEMORY, "-n", "4", "--repetitions", "200",
         "--collective", "barrier", "--collective", "allreduce", "--collective", "bcast",
         "--collective", "alltoall", "--size", "8 B", "--size", "16 KiB"),
        _HOST | {"streaming-naps"},
    ),
)  # fmt: skip

MECHANISMS = sorted(frozenset().union(*(cell.mechanisms for cell in CELLS)))
