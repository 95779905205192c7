"""examples/isthmus_client.c in Python."""

import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD
port = None
if world.rank == 0:
    print("client: looks for", sys.argv[1], flush=True)
    wait = MPI.Info.Create({"timeout": sys.argv[2]} if len(sys.argv) > 2 else {})
    port = MPI.Lookup_name(sys.argv[1], wait)
server = world.Connect(port)
if world.rank == 0:
    number = array("d", [42])
    server.Send(number, dest=0)
    server.Recv(number, source=0)
    print(f"client: half of 42 is {number[0]:g}")
server.Disconnect()
