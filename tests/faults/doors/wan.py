"""The control socket of a lab's WAN box."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time

from doors.door import Door, KeptOutError
from doors.strangers import Opening
from isthmus.measuring.ends import find_program


class Wan(Door):
    """A question to the box, at a unix socket of the same user."""

    held = ("isthmus-wanbox",)
    opening = Opening(b'{"op": "ge', b'{"op": "nothing"}\n')

    def open(self) -> None:
        control = self.folder / "control"
        command = [
            find_program("isthmus-wanbox"), "--a", "wan-a", "--b", "wan-b", "--control", control,
        ]  # fmt: skip
        box = subprocess.Popen(
            list(map(str, command)), env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=(self.folder / "box.err").open("w"), text=True,
        )  # fmt: skip
        self.box = box
        assert box.stdout
        if not box.stdout.readline().startswith("ready"):
            raise KeptOutError((self.folder / "box.err").read_text())
        self.ports = [str(control)]

    def come(self) -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as asking:
                asking.settimeout(10)
                asking.connect(str(self.ports[0]))
                asking.sendall(b'{"op": "get"}\n')
                with asking.makefile() as answers:
                    if (line := answers.readline()) and json.loads(line)["ok"]:
                        return
        raise KeptOutError("no answer")

    def close(self) -> None:
        self.box.terminate()
        self.box.wait(20)
        super().close()
