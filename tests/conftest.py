"""What all tests of whole programs stand on."""

import os
import re
import signal

# A shell that starts this in the background, or `nohup`, hands down signals that are ignored, and
# they would stay so in everything that the tests start. Tests send them, so they start afresh.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        restored = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, restored)

# What tests start has no settings of who runs them: a narrow terminal cuts tables, a proxy is asked
# for metrics of this host, a batch job or another grid file are found where none is meant, other
# languages have other words. Where Isthmus is installed, and that root may run MPI, stays.
_OWN = ("ISTHMUS_PREFIX", "ISTHMUS_LIBDIR", "OMPI_ALLOW_RUN_AS_ROOT")
_OF_OTHERS = re.compile(
    "(ISTHMUS|SLURM|PBS|LSB|FLUX|OMPI|PRTE|PMIX|HYDRA|MPICH|MPIR|UCX)_|(LC_.*|LANGUAGE|COLUMNS|LINES"
    "|NO_COLOR|FORCE_COLOR|(?i:https?|all)_(?i:proxy)|XDG_RUNTIME_DIR)$"
)
for name in list(os.environ):
    if _OF_OTHERS.match(name) and not name.startswith(_OWN):
        del os.environ[name]
os.environ["LC_ALL"] = "C.UTF-8"
# Tests find left-over processes by their environment. Agents hide theirs from all but root.
if os.geteuid() != 0:
    os.environ["ISTHMUS_DEBUG_MEMORY"] = "1"

# Where Python is told to keep no bytecode, each `isthmus` that tests start of the checkout would
# compile its modules anew: 80 ms of 300 (2026-11).
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# With it Python writes each word of a print by itself, and native launchers mix them (2026-11).
os.environ.pop("PYTHONUNBUFFERED", None)
