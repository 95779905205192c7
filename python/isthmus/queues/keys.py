"""The key of one job: a certificate of its own with its private key, in one PEM file. Who holds the
file may join, and both sides of a connection show that they hold it (decision 0023)."""

import ssl
import subprocess
from pathlib import Path

from isthmus.errors import RunError
from isthmus.queues import joiner

_DAYS = 400  # longer than any queue


def make_key() -> str:
    """A new key's text. RunError where there is no openssl."""
    try:
        made = subprocess.run(
            [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", str(_DAYS),
                "-subj", "/CN=isthmus", "-keyout", "-", "-out", "-",
            ],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        raise RunError(
            f"the job's key cannot be made: openssl: {error.strerror}", "Install openssl here."
        ) from None
    if made.returncode != 0:
        raise RunError(f"the job's key cannot be made: openssl says: {made.stderr.strip()}")
    return made.stdout


def server_context(key: Path) -> ssl.SSLContext:
    """Of the orchestrator's door."""
    made = joiner.context(str(key), True)
    assert isinstance(made, ssl.SSLContext)
    return made
