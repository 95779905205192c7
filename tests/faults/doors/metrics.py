"""The metrics of a run."""

from __future__ import annotations

import time
import urllib.request

from doors.door import TWO, Door, KeptOutError
from doors.strangers import Opening


class Metrics(Door):
    """A scrape."""

    opening = Opening(b"GET /metrics HTTP/1.1\r\nHost: ", b"GET /metrics HTTP/1.1\r\nHost: ")

    def open(self) -> None:
        self.start(TWO, "--metrics", f"{self.shown}:{self.port}")

    def come(self) -> None:
        url = f"http://{self.shown}:{self.port}/metrics"
        deadline = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen(url, timeout=20) as answer:
                    assert b"isthmus_ranks" in answer.read()
                    return
            except OSError as error:
                if time.monotonic() > deadline:
                    raise KeptOutError(str(error)) from None
                time.sleep(0.1)
