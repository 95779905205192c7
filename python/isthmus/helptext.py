"""The long texts of --help. A line here is a paragraph there."""

MAIN = """One MPI world of several clusters.

An unmodified MPI program sees one MPI_COMM_WORLD over clusters that each have their own MPI \
library. Inside a cluster its messages take that library; between clusters they take gateways."""

MAIN_END = "[bold]isthmus run --help[/bold] tells all about running a program."

RUN = """Run an MPI program as one world over the clusters of a grid.

[bold]isthmus run -n 4 ./app[/bold]
  Two clusters on this host, with two ranks each.

[bold]isthmus run -g grid.toml -n 64 ./app input.dat[/bold]
  The clusters of a grid file.

[bold]isthmus run -g grid.toml --on a -n 4 ./x.ompi : --on b -n 4 ./x.mpich[/bold]
  Parts, with ':' between: another program, or another build of it, on each cluster.

Options end at the first word that is not an option; the rest belongs to the program."""

RUN_END = """[bold]Placement.[/bold] Parts are placed one after the other. A part without --on \
fills the clusters, the fastest by 'speed' first, else in the order of the grid file, each up to \
its 'slots'; where no cluster has slots, the ranks are shared out by 'speed', the first clusters \
taking one more. Each cluster holds \
one block of world ranks, in the order in which clusters first got a rank. A run whose ranks all \
come to one cluster is a native job there: nothing of the grid is in its way, unless it is \
profiled or has --guests.

[bold]Input, output, signals.[/bold] Standard input goes to world rank 0. Standard output and \
error of the ranks come out unchanged; what native launchers say of ranks that failed is shown \
with -v. Ctrl-C and SIGTERM end everything everywhere; a second one does not wait for it. Ctrl-Z \
stops the whole job, ranks too, and 'fg' continues it. Ctrl-\\ (SIGQUIT) tells in which MPI call \
each rank waits for whom, as --timeout does in the end, and the run goes on; so does 'isthmus top' \
from another terminal. SIGUSR1 and SIGUSR2 are passed on to the ranks.

[bold]Late clusters.[/bold] Ranks that have called MPI_Init wait for those of the other clusters \
as long as the run lasts. After 10 seconds, and then ever more seldom, 'isthmus run' says which \
cluster is missing; --wait limits it.

[bold]Exit status.[/bold] 0 when all went well; else that of the first rank that failed (128 + N \
for signal N, whatever the native launcher says) or the code of MPI_Abort; 124 after --timeout \
or --wait; 2 for a wrong command line or grid file; 1 when the run could not start or a part of \
the grid broke.

[bold]Environment of the ranks.[/bold] ISTHMUS_RANK, ISTHMUS_SIZE: the world rank, and how many \
ranks there are. ISTHMUS_LOCAL_RANK: the rank's number on its host. ISTHMUS_CLUSTER: the name of \
its cluster.

[bold]Environment.[/bold] ISTHMUS_GRID: the grid file to use \
without -g. ISTHMUS_NETWORK, ISTHMUS_COLL (passed on to all ranks): what the choice of \
collective algorithms goes by, instead of what 'isthmus tune' measured; and choices by name. \
ISTHMUS_PROGRESS (passed on): 'hook', 'thread' or 'none', how Isthmus goes on while a rank is in a \
blocking call of its own MPI library; by default the best that the library allows. \
ISTHMUS_REACH: the 'reach' of links that leave it open in the grid file, 'gateway' or 'direct'. \
ISTHMUS_LEG (passed on): 'socket': gateways share no memory with ranks of their host, nor with \
each other. \
ISTHMUS_LEND (passed on): from how many bytes on messages between clusters on one host are read \
from the sender's memory, where the system allows that; 'never': none. \
ISTHMUS_TRACE (passed on): 'net', 'match', 'coll', 'comm', 'relay', 'call', 'link', with commas \
between, or 'all': what processes note for 'isthmus trace'; ISTHMUS_TRACE_DIR: where, on each \
host, they write it; ISTHMUS_TRACE_RECORDS: how many events each of them keeps (65536). \
ISTHMUS_RUNS: the folder where 'isthmus ps' and 'isthmus top' find runs. \
ISTHMUS_LOG: 'warn', 'info' or 'debug': show, on standard error, what agents and gateways do. \
ISTHMUS_PREFIX: where Isthmus is installed, with isthmusd in its bin. \
ISTHMUS_SSH: the ssh command. ISTHMUS_START_TIMEOUT: seconds that agents have to start (60). \
ISTHMUS_GRACE: seconds that clusters have to end by themselves when one has failed (0.5 to 10, \
by what is still to be heard)."""

SUBMIT = """Put a job into the queues of its clusters; it runs, as one world, when all are there.

[bold]isthmus submit -g grid.toml -n 64 --time 2h ./app[/bold]
  One batch script for each cluster, submitted there by your ssh. No terminal needs to stay open.

[bold]isthmus submit -g grid.toml -n 64 --dry-run ./app[/bold]
  Shows the scripts.

A process is left behind on this host, to which the clusters' batch jobs dial in. Who starts first \
waits for the others, at no cost to the machine but in its own allocation: --hold limits that, \
--wait the whole. 'isthmus jobs' lists jobs, 'isthmus attach JOB' shows the output, 'isthmus \
cancel JOB' ends all parts. The options of 'isthmus run' hold as there."""
