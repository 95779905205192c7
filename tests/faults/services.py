"""A service on this host: `isthmusd serve`, with users and their keys."""

import json
import re
import subprocess
import urllib.request
from pathlib import Path

import pytest
from ports import free_port
from running import Running
from waiting import eventually

GRID = "[cluster.east]\n[cluster.west]\n[[relay]]\nservice = '{at}'\nkey = '{key}'\n"  # both here


class Service:
    def __init__(
        self,
        isthmusd: str,
        folder: Path,
        environment: dict[str, str],
        host: str = "127.0.0.1",
        **more,
    ) -> None:
        self.host = host
        self.isthmusd = isthmusd
        self.folder = folder
        self.keys = folder / "keys"
        self.audit = folder / "audit.log"
        self.config = folder / "service.toml"
        self.environment = environment
        self.port = free_port()
        self.configure(**more)
        self.start()

    def configure(self, **more) -> None:
        """The file: the usual, and `more`."""
        usual = {
            "listen": [f"{self.host}:{self.port}"], "keys": str(self.keys),
            "audit": str(self.audit), "metrics": "127.0.0.1:0",
        }  # fmt: skip
        lines = [f"{key} = {json.dumps(value)}\n" for key, value in {**usual, **more}.items()]
        self.config.write_text("# of a test\n" + "".join(lines))

    def start(self) -> None:
        self.process = Running(
            [self.isthmusd, "serve", "--config", self.config],
            env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip
        said = self.process.stderr.readline()
        found = re.search(r"listens at tcp:\S+:(\d+), metrics at tcp:(\S+),", said)
        assert found, said + self.process.stderr.read()
        self.port, self.metrics_at = int(found[1]), found[2]

    @property
    def at(self) -> str:
        return f"{self.host}:{self.port}"

    def key(self, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.isthmusd, "key", *map(str, words), "--keys", self.keys],
            capture_output=True, text=True, check=True,
        )  # fmt: skip

    def user(self, name: str) -> Path:
        """A new user's key."""
        file = self.folder / f"{name}.key"
        self.key("add", name, "--out", file)
        return file

    def grid(self, key: Path) -> str:
        return GRID.format(at=self.at, key=key)

    def events(self) -> list[dict]:
        if not self.audit.exists():
            return []
        return [json.loads(line) for line in self.audit.read_text().splitlines()]

    def said(self, event: str, **more: object) -> bool:
        """Whether the audit log has such a line."""
        return any(
            line["event"] == event and all(str(v) in str(line.get(k)) for k, v in more.items())
            for line in self.events()
        )

    def metrics(self) -> str:
        with urllib.request.urlopen(f"http://{self.metrics_at}/metrics", timeout=60) as answer:
            return answer.read().decode()

    def of(self, name: str, user: str) -> float:
        """A figure of the metrics."""
        found = re.search(rf'^isthmus_service_{name}{{user="{user}"}} (\S+)$', self.metrics(), re.M)
        return float(found[1]) if found else 0.0

    def of_key(self, name: str, user: str, key: str) -> float:
        of = rf'user="{user}",key="{key}"'
        found = re.search(rf"^isthmus_service_key_{name}{{{of}}} (\S+)$", self.metrics(), re.M)
        return float(found[1]) if found else 0.0

    def wait_for(self, so, limit: float = 60) -> None:
        try:
            eventually(so, "what the service was to do", limit)
        except pytest.fail.Exception as failed:
            pytest.fail(f"{failed}: {self.events()}")

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(3)
            except subprocess.TimeoutExpired:
                self.process.terminate()  # asked twice, it ends at once
        self.process.communicate(timeout=60)


def found_isthmusd() -> str:
    from isthmus.install import find_isthmusd  # noqa: PLC0415

    return str(find_isthmusd())
