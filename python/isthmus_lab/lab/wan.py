"""The WAN boxes: started, asked and changed."""

import json
import os
import select
import socket
import subprocess
from pathlib import Path
from typing import Any

from isthmus.base.errors import RunError
from isthmus_lab.lab.build import switch_name
from isthmus_lab.lab.network import Link, Network
from isthmus_lab.lab.registry import Lab

_PRIORITY = 50


def start(network: Network, lab: Lab, program: Path) -> list[subprocess.Popen[bytes]]:
    """Starts one box for each WAN link that has one; their devices exist when this returns."""
    boxes = []
    for seed, link in enumerate(network.boxes, 1):
        with (lab.folder / f"{link.name}.log").open("wb") as log:
            box = subprocess.Popen(
                _command(network, lab, program, link, seed),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
            )
        boxes.append(box)
    for link, box in zip(network.boxes, boxes, strict=True):
        assert box.stdout
        ready, _, _ = select.select([box.stdout], [], [], 10)
        if not ready or not os.read(box.stdout.fileno(), 100).startswith(b"ready"):
            said = (lab.folder / f"{link.name}.log").read_text().strip()
            raise RunError(f"the WAN box of {link.name} did not start: {said or 'no reason given'}")
        box.stdout.close()
    return boxes


def _command(network: Network, lab: Lab, program: Path, link: Link, seed: int) -> list[str]:
    settings: dict[str, dict[str, object]] = {"both": link.settings()}
    for direction, site in (("ab", link.b), ("ba", link.a)):
        if (addresses := network.open_addresses(site)) is not None:
            settings[direction] = {"open": addresses}
    ends = [
        f"{lab.namespace(switch_name(here))}:wan-{there}"
        for here, there in ((link.a, link.b), (link.b, link.a))
    ]
    return [
        str(program), "--a", ends[0], "--b", ends[1], "--link", json.dumps(settings),
        "--control", str(lab.control(link.name)), "--priority", str(_PRIORITY),
        "--seed", str(seed),
    ]  # fmt: skip


def ask(lab: Lab, name: str, /, **request: Any) -> dict[str, Any]:
    """A box's answer. RunError if it refuses, or does not exist."""
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(10)
            client.connect(str(lab.control(name)))
            client.sendall(json.dumps(request).encode() + b"\n")
            with client.makefile("rb") as answers:
                answer = json.loads(answers.readline(1 << 20))
    except (OSError, ValueError) as error:
        raise RunError(f"the WAN box of {name} in lab {lab.id} does not answer: {error}") from None
    if not answer.get("ok"):
        raise RunError(f"the WAN box of {name} refused: {answer.get('error')}")
    assert isinstance(answer, dict)
    return answer
