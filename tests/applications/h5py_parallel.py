"""Writes a file of parallel HDF5, contiguous and in chunks, and reads it back: `h5py_parallel.py
FILE`."""

import sys

import h5py
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size
rows, columns = 24, 40
with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
    plain = file.create_dataset("plain", (rows * size, columns), "f8")
    chunks = file.create_dataset("chunks", (rows * size, columns), "i4", chunks=(rows, 8))
    strided = file.create_dataset("group/strided", (columns, size * 10), "u2")
    file.attrs["title"] = "over two clusters"
    mine = slice(rows * rank, rows * (rank + 1))
    plain[mine] = np.arange(rows * columns).reshape(rows, columns) + rank * 1e6
    with chunks.collective:
        chunks[mine] = np.full((rows, columns), rank, "i4")
    with strided.collective:
        strided[:, rank::size] = rank * 100 + np.arange(10, dtype="u2")
comm.Barrier()
with h5py.File(sys.argv[1], "r", driver="mpio", comm=comm) as file:
    sums = [float(file["plain"][:].sum()), int(file["chunks"][:].sum())]
    other = (rank + 1) % size
    with file["group/strided"].collective:
        sums.append(int(file["group/strided"][:, other::size].sum()) - other * 100 * 400)
every = comm.gather(sums)
if rank == 0:
    print("sums", *every[0][:2], "the same" if all(e == every[0] for e in every) else every)
