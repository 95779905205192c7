"""Files and folders that go when this process ends, even by SIGKILL."""

import subprocess
from contextlib import suppress
from pathlib import Path

# It has a session of its own: no signal for the group of this process is for it.
_REMOVE = 'read -r _; exec rm -rf -- "$@"'


class Leftovers:
    """Starts a shell that removes files and folders once this process has gone. Without a process
    to spare, only `remove` does that."""

    def __init__(self, *files: Path | str) -> None:
        self._files = [Path(file) for file in files]
        self._shell: subprocess.Popen[bytes] | None = None
        with suppress(OSError):
            self._shell = subprocess.Popen(
                ["/bin/sh", "-c", _REMOVE, "isthmus-sweep", *map(str, self._files)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )

    def remove(self) -> None:
        """Removes them now. Folders are left to the shell, which ends."""
        folders = [file for file in self._files if file.is_dir()]
        for file in {*self._files}.difference(folders):
            file.unlink(missing_ok=True)
        if self._shell:
            if not folders:  # there is nothing to start rm for
                self._shell.kill()
            self._shell.communicate()
            self._shell = None
