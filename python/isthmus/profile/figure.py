"""The matrix of messages between ranks, as a heat map."""

from pathlib import Path
from typing import Any

from isthmus.base.errors import UsageError
from isthmus.profile.model import Profile

# Several of more ranks share a cell.
_MOST_CELLS = 1024
_VECTORS = (".pdf", ".svg")  # for papers
_KINDS = (".png", *_VECTORS)


def draw(profile: Profile, path: Path) -> None:
    """Bytes and messages side by side, with lines between clusters. UsageError if it cannot be
    drawn or written."""
    if path.suffix.lower() not in _KINDS:
        raise UsageError(
            f"--figure {path}: unknown type of picture",
            "Name a file that ends in .png, .svg or .pdf.",
        )
    pyplot = _pyplot()
    from matplotlib.colors import LogNorm  # noqa: PLC0415
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415

    rank_step = -(-profile.size // _MOST_CELLS)
    figure, both = pyplot.subplots(1, 2, figsize=(12, 5.5), layout="constrained")
    for axes, title, column in ((both[0], "bytes", 3), (both[1], "messages", 2)):
        cells = _cells(profile, column, rank_step)
        highest = max((max(row) for row in cells), default=0)
        shown = axes.imshow(
            [[count or float("nan") for count in row] for row in cells],
            norm=LogNorm(vmin=1, vmax=max(highest, 10)),
            cmap="viridis",
            interpolation="nearest",
        )
        axes.set_title(title)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("to rank" + (f" / {rank_step}" if rank_step > 1 else ""))
        axes.set_ylabel("from rank" + (f" / {rank_step}" if rank_step > 1 else ""))
        for edge in _edges(profile):
            axes.axhline(edge / rank_step - 0.5, color="red", linewidth=1)
            axes.axvline(edge / rank_step - 0.5, color="red", linewidth=1)
        figure.colorbar(shown, ax=axes, shrink=0.85)
    program = " : ".join(" ".join(words) for words in profile.program)
    figure.suptitle(program if len(program) < 80 else program[:77] + "...")
    try:
        # Cells are pixels in a vector file, too, so they need a printer's resolution there.
        dpi = 300 if path.suffix.lower() in _VECTORS else 120
        figure.savefig(path, dpi=dpi, bbox_inches="tight")  # no label is cut off
    except OSError as error:
        raise UsageError(
            f"--figure {path}: cannot write: {error.strerror}",
            "Name a file in a folder where you may write.",
        ) from None
    finally:
        pyplot.close(figure)


def _cells(profile: Profile, column: int, step: int) -> list[list[int]]:
    size = -(-profile.size // step)
    cells = [[0] * size for _ in range(size)]
    for row in (*profile.pairs, *profile.windows):
        source, target = row[0], row[1]
        if 0 <= target < profile.size and source < profile.size:
            cells[source // step][target // step] += (row[2], row[3])[column - 2]
    return cells


def _edges(profile: Profile) -> list[int]:
    """The ranks after which another cluster begins; none if clusters are interleaved."""
    home = profile.cluster_of()
    edges = [
        rank
        for rank in range(1, profile.size)
        if rank in home and rank - 1 in home and home[rank] != home[rank - 1]
    ]
    return edges if len(edges) < 4 * len(profile.grid.clusters) else []


def _pyplot() -> Any:
    try:
        import matplotlib  # noqa: PLC0415  (only used here, and slow to load)

        matplotlib.use("Agg")
        matplotlib.rcParams["pdf.fonttype"] = 42  # publishers refuse fonts of type 3
        from matplotlib import pyplot  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            "--figure needs matplotlib, which is not installed here", "Run: pip install matplotlib"
        ) from None
    return pyplot
