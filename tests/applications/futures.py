"""A pool of mpi4py.futures: `pool` under `python -m mpi4py.futures`, where rank 0 has the others
work, and `comm` (MPICommExecutor), where the last rank does. Their results are printed once."""

import sys

from mpi4py import MPI
from mpi4py.futures import MPICommExecutor, MPIPoolExecutor, as_completed, wait


def area(step: int, steps: int = 64) -> float:
    """A slice of pi, by the midpoint rule."""
    return 4.0 / (1.0 + ((step + 0.5) / steps) ** 2) / steps


def long_list(length: int) -> list[int]:
    return list(range(length))


def fails(number: int) -> None:
    raise ValueError(f"no {number}")


def use(pool: MPIPoolExecutor, workers: list[int]) -> None:
    print("pi", f"{sum(pool.map(area, range(64), chunksize=3)):.12f}")
    print("powers", list(pool.starmap(pow, [(n, 3) for n in range(20)])))
    lists = [pool.submit(long_list, n) for n in (0, 1, 50_000)]
    print("lists", sorted(len(future.result()) for future in as_completed(lists)))
    futures = [pool.submit(fails, n) for n in range(5)]
    wait(futures)
    print("failures", [str(future.exception()) for future in futures])
    meetings = [pool.submit(meet, workers) for _ in workers]
    print("workers", sorted(future.result() for future in meetings))


def meet(workers: list[int]) -> int:
    """Returns when every worker is in such a call."""
    world = MPI.COMM_WORLD
    others = [rank for rank in workers if rank != world.rank]
    sent = [world.isend(None, dest=rank, tag=9) for rank in others]
    for rank in others:
        world.recv(source=rank, tag=9)
    MPI.Request.waitall(sent)
    return world.rank


def main() -> None:
    everyone = list(range(MPI.COMM_WORLD.size))
    if sys.argv[1] == "pool":
        with MPIPoolExecutor() as pool:
            use(pool, everyone[1:])
    else:
        with MPICommExecutor(MPI.COMM_WORLD, root=everyone[-1]) as pool:
            if pool is not None:
                use(pool, everyone[:-1])


if __name__ == "__main__":
    main()
