"""A master and its workers over several clusters. Clusters may fail, and no task is lost: the
master gives the tasks of failed workers to others. The tasks are parts of the sum
4/1 - 4/3 + 4/5 - 4/7 + ..., which is pi.

    export PYTHONPATH=$(isthmus config --includedir)
    isthmus run --survive -g grid.toml -n 8 python isthmus_workers.py

For a trial, the workers of clusters that you name end with their third task:

    isthmus run --survive -g grid.toml -n 8 python isthmus_workers.py west north
"""

import contextlib
import itertools
import os
import signal
import sys

import isthmus_survival as survival
from mpi4py import MPI

TASKS, TERMS, MASTER = 400, 1000, 0


def do_task(task: int) -> float:
    terms = range(task * TERMS, (task + 1) * TERMS)
    return sum((-4 if term % 2 else 4) / (2 * term + 1) for term in terms)


def work(comm: MPI.Intracomm) -> None:
    """Does tasks until there are none."""
    fails = os.environ.get("ISTHMUS_CLUSTER") in sys.argv[1:]
    for number in itertools.count(1):
        task = comm.recv(source=MASTER)
        if task is None:
            return
        if fails and number == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        comm.send(do_task(task), dest=MASTER)


class Master:
    def __init__(self, comm: MPI.Intracomm) -> None:
        self.comm = comm
        self.waiting = list(range(TASKS))  # tasks that no worker has
        self.task_of: dict[int, int | None] = dict.fromkeys(range(1, comm.size))  # living workers
        self.pi = 0.0
        self.done = 0

    def lead(self) -> None:
        self.give_tasks()
        while self.done < TASKS:
            try:
                status = MPI.Status()
                result = self.comm.recv(source=MPI.ANY_SOURCE, status=status)
            except MPI.Exception:
                self.take_back()
            else:
                if status.source in self.task_of:  # otherwise another worker has that task
                    self.pi += result
                    self.done += 1
                    self.task_of[status.source] = None
            self.give_tasks()
        for worker in self.task_of:
            self.send(None, worker)

    def give_tasks(self) -> None:
        """Gives each idle worker a task, while there are some."""
        for worker, task in self.task_of.items():
            if task is None and self.waiting:
                self.task_of[worker] = self.waiting.pop()
                self.send(self.task_of[worker], worker)

    def send(self, task: int | None, worker: int) -> None:
        with contextlib.suppress(MPI.Exception):  # if it has failed, the next receive says so
            self.comm.send(task, dest=worker)

    def take_back(self) -> None:
        """Takes back the tasks of workers that have failed."""
        survival.failure_ack(self.comm)  # from now on, ANY_SOURCE means the others
        failed = survival.failure_get_acked(self.comm)
        ranks = failed.Translate_ranks(range(failed.size), self.comm.Get_group())
        for worker in ranks:
            task = self.task_of.pop(worker, None)
            if task is not None:
                self.waiting.append(task)


def main() -> None:
    comm = MPI.COMM_WORLD
    comm.Set_errhandler(MPI.ERRORS_RETURN)  # errors are exceptions, and do not end the run
    comm.Barrier()  # a cluster that fails while others are in MPI_Init ends the run
    if comm.rank == MASTER:
        master = Master(comm)
        master.lead()
        left = len(master.task_of)
        print(f"pi is {master.pi:.5f}; {left} of {comm.size - 1} workers are left", flush=True)
    else:
        work(comm)


main()
