"""Grids over which plans run: libraries, numbers of ranks, and the ways between the clusters."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import building
import mpis


@dataclass(frozen=True)
class Layout:
    name: str
    ranks: tuple[int, ...]  # of each cluster
    libraries: tuple[str, ...]
    env: dict[str, str] = field(default_factory=dict)
    mapped: bool = False  # neighbours in rank are in different clusters

    @property
    def size(self) -> int:
        return sum(self.ranks)

    @property
    def clusters(self) -> list[str]:
        return [f"c{i}" for i in range(len(self.ranks))]

    def command(self, folder: Path, arguments: list[str]) -> list[str]:
        """The words behind `isthmus run`. Writes the files that they name."""
        grid = folder / "grid.toml"
        programs = [str(building.program(library)) for library in self.libraries]
        grid.write_text(
            "".join(
                f"[cluster.{name}]\nprogram = '{program}'\n"
                for name, program in zip(self.clusters, programs, strict=True)
            )
        )
        words = ["-g", str(grid)]
        if self.mapped:
            ranks = folder / "ranks.map"
            ranks.write_text(self.map_text())
            return [*words, "--map", str(ranks), programs[0], *arguments]
        for i, (name, program) in enumerate(zip(self.clusters, programs, strict=True)):
            words += [":"] * (i > 0)
            words += ["--on", name, "-n", str(self.ranks[i]), program, *arguments]
        return words

    def map_text(self) -> str:
        """Ranks are dealt out to the clusters in turns."""
        left = dict(zip(self.clusters, self.ranks, strict=True))
        lines = []
        for rank in range(self.size):
            name = max(left, key=lambda cluster: left[cluster])
            left[name] -= 1
            lines.append(f"{rank} {name}\n")
        return "".join(lines)


GATEWAY = {"ISTHMUS_REACH": "gateway"}
SOCKETS = GATEWAY | {"ISTHMUS_DEBUG_LEG": "socket"}
DIRECT = {"ISTHMUS_REACH": "direct"}

LAYOUTS = [
    Layout("openmpi", (2, 2), ("openmpi4", "openmpi4")),
    Layout("mpich", (2, 2), ("mpich4", "mpich4")),
    Layout("mixed-gateways", (2, 2), ("openmpi4", "mpich4"), GATEWAY),
    Layout("three-uneven", (1, 3, 2), ("mpich4", "openmpi4", "mpich4")),
    Layout("mixed-sockets", (3, 1), ("mpich4", "openmpi4"), SOCKETS),
    Layout("mpich-direct", (2, 2), ("mpich4", "mpich4"), DIRECT),
    Layout("openmpi-lent", (1, 2), ("openmpi4", "openmpi4"), {"ISTHMUS_DEBUG_LEND": "1024"}),
    Layout("three-mapped", (2, 2, 1), ("openmpi4", "mpich4", "openmpi4"), mapped=True),
    Layout("newer", (2, 2), ("openmpi5", "mpich5")),
    Layout("newer-gateways", (2, 3), ("mpich5", "mpich5"), GATEWAY),
    Layout("rings", (2, 2), ("mpich4", "openmpi4"), {"ISTHMUS_DEBUG_LEND": "never"}),
    Layout("one-each", (1, 1), ("openmpi4", "openmpi4")),
]
BY_NAME = {layout.name: layout for layout in LAYOUTS}

# It has played all plans so far (2026-11). A plan that fails with it may be illegal, or the library
# may be wrong. Others fail more often: MPICH 4.0 has defects that the sources of the program name,
# and Open MPI 4.1 has no windows with MPI_THREAD_MULTIPLE.
ORACLE = mpis.ALL["mpich5"]
