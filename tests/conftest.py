"""What all tests of whole programs stand on."""

import os
import signal

# A shell that starts this in the background, or `nohup`, hands down signals that are ignored, and
# they would stay so in everything that the tests start. Tests send them, so they start afresh.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        restored = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, restored)

# Where Python is told to keep no bytecode, each `isthmus` that tests start of the checkout would
# compile its modules anew: 80 ms of 300 (2026-11).
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# With it Python writes each word of a print by itself, and native launchers mix them (2026-11).
os.environ.pop("PYTHONUNBUFFERED", None)
