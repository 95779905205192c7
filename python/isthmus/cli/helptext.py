"""The long texts of --help. A line here is a paragraph there."""

MAIN = """Run one MPI program on several clusters at once.

The program need not be changed or recompiled: its ranks share one MPI_COMM_WORLD, while each \
cluster keeps its own MPI library. Messages inside a cluster use that library. Messages between \
clusters go through gateways."""

MAIN_END = "See [bold]isthmus run --help[/bold] for all options of a run."

RUN = """Run an MPI program as one world over the clusters of a grid.

[bold]isthmus run -n 4 ./app[/bold]
  Two clusters on this host, with two ranks each.

[bold]isthmus run -g grid.toml -n 64 ./app input.dat[/bold]
  The clusters of a grid file.

[bold]isthmus run -g grid.toml --on a -n 4 ./x.ompi : --on b -n 4 ./x.mpich[/bold]
  Parts, separated by ':': another program, or another build of it, on each cluster.

Put options before the program. Everything after it is passed to the program."""

RUN_END = """[bold]Placement.[/bold] Parts are placed one after the other. A part without --on \
fills the clusters up to their 'slots', the fastest by 'speed' first, else in the order of the \
grid file. If no cluster has slots, the ranks are shared out by 'speed'; the first clusters take \
one more if that does not divide. Each cluster holds one block of world ranks, in the order in \
which clusters first got a rank. If all ranks come to one cluster, the run is a native job, and \
Isthmus stays out of it, unless the run is profiled or has --guests.

[bold]Input, output, signals.[/bold] Standard input goes to world rank 0. Standard output and \
error of the ranks come out unchanged. Messages of native launchers about failed ranks are shown \
only with -v. Ctrl-C and SIGTERM end all ranks on all clusters; a \
second one does not wait for that. Ctrl-Z stops the whole job, ranks too, and 'fg' continues it. \
Ctrl-\\ (SIGQUIT) shows in which MPI call each rank waits, and for which ranks; the run goes on. \
--timeout shows the same at the end; 'isthmus top' shows it at any time, from another terminal. \
SIGUSR1 and SIGUSR2 are passed on to the ranks.

[bold]Late clusters.[/bold] Ranks that have called MPI_Init wait for the other clusters as long as \
the run lasts. 'isthmus run' reports the missing clusters after 10 seconds, and then ever more \
seldom. --wait sets a limit.

[bold]Exit status.[/bold] 0 if all went well. Otherwise the status of the first rank that failed \
(128 + N for signal N, whatever the native launcher says), or the code of MPI_Abort. 124 after \
--timeout or --wait. 2 for a wrong command line or grid file. 1 if the run could not start, or if \
a part of the grid broke.

[bold]Environment.[/bold] ISTHMUS_GRID is the grid file to use without -g. Ranks find ISTHMUS_RANK \
(the world rank), ISTHMUS_SIZE, ISTHMUS_LOCAL_RANK (the number on its host) and ISTHMUS_CLUSTER. \
isthmus-environment(7) lists all variables, isthmus-grid(5) all keys of a grid file."""

SUBMIT = """Submit a job to the queues of its clusters. It runs as one world, once all have started.

[bold]isthmus submit -g grid.toml -n 64 --time 2h ./app[/bold]
  One batch script for each cluster, submitted by your ssh. You may close the terminal.

[bold]isthmus submit -g grid.toml -n 64 --dry-run ./app[/bold]
  Shows the scripts.

A process stays on this host, and the batch jobs of the clusters connect to it. Jobs that start \
early wait, idle, in their own allocation. --hold limits that wait, --wait the wait for the whole \
job. 'isthmus jobs' lists jobs, 'isthmus attach JOB' shows the output, 'isthmus cancel JOB' ends \
all parts. The options of 'isthmus run' hold here, too."""
