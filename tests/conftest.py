"""What all tests of whole programs stand on."""

import signal

# A shell that starts this in the background, or `nohup`, hands down signals that are ignored, and
# they would stay so in everything that the tests start. Tests send them, so they start afresh.
for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    if signal.getsignal(number) is signal.SIG_IGN:
        restored = signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL
        signal.signal(number, restored)
