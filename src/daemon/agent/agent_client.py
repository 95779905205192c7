"""Speaks docs/control.md with a real `isthmusd agent`, for its tests."""

import json
import os
import select
import subprocess
import time

DEADLINE = 60.0  # generous: only a failing test ever waits this long


class Agent:
    """An agent over pipes; `lines` remembers every message it sent."""

    def __init__(self, program, mode="agent", env=None):
        self.process = subprocess.Popen(
            [program, mode],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            env={**os.environ, **(env or {})},
        )
        self.buffer = b""
        self.messages = []

    def send(self, op, payload=b"", **keys):
        if payload:
            keys["n"] = len(payload)
        self.raw(json.dumps({"op": op, **keys}).encode() + b"\n" + payload)

    def raw(self, data):
        self.process.stdin.write(data)

    def _fill(self, deadline):
        left = deadline - time.monotonic()
        ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, left))
        if not ready:
            raise AssertionError(f"the agent said nothing more; so far: {self.messages}")
        data = os.read(self.process.stdout.fileno(), 65536)
        if not data:
            raise EOFError(f"the agent ended; it had said: {self.messages}")
        self.buffer += data

    def receive(self):
        """The next message; its raw bytes under "bytes"."""
        deadline = time.monotonic() + DEADLINE
        while b"\n" not in self.buffer:
            self._fill(deadline)
        line, self.buffer = self.buffer.split(b"\n", 1)
        message = json.loads(line)
        size = message.get("n", 0)
        while len(self.buffer) < size:
            self._fill(deadline)
        message["bytes"], self.buffer = self.buffer[:size], self.buffer[size:]
        self.messages.append(message)
        return message

    def expect(self, op):
        """The next message, which must be `op`."""
        message = self.receive()
        if message["op"] != op:
            raise AssertionError(f"expected {op}, got {message}")
        return message

    def until(self, op):
        """Messages up to and with `op`, as (its message, {1: stdout, 2: stderr} before it)."""
        output = {1: b"", 2: b""}
        while True:
            message = self.receive()
            if message["op"] == "output":
                output[message["fd"]] += message["bytes"]
            elif message["op"] == op:
                return message, output
            elif message["op"] == "error":
                raise AssertionError(f"error instead of {op}: {message}")

    def close(self):
        """Ends its input and waits; returns its exit status."""
        if self.process.stdin and not self.process.stdin.closed:
            self.process.stdin.close()
        try:
            return self.process.wait(DEADLINE)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()
