"""Makes asyncio notice the end of child processes without threads."""

import asyncio
import functools
import os
import sys


@functools.cache
def without_threads() -> None:
    """asyncio before Python 3.12 starts a thread for each child, which a limit may refuse. Linux
    before 5.3 has no other way."""
    if sys.version_info < (3, 12):
        try:
            os.close(os.pidfd_open(os.getpid()))
        except (AttributeError, OSError):
            return
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())  # later loops attach by themselves
        asyncio.set_child_watcher(watcher)
