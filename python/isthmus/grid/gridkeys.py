"""Checks of the values of a grid file. They raise ValueError with a sentence that continues behind
the key's name. gridtypes.py makes types of them."""

import ipaddress
import re
from typing import Any, Literal

from isthmus.base.errors import did_you_mean, listing
from isthmus.base.quantities import Duration

SCHEDULERS = ("slurm", "pbs", "lsf", "flux")
Reach = Literal["gateway", "direct", "ssh"]
Net = Literal["tcp", "ucx", "auto"]
_PLACES = ("n", "command", "hosts")  # of a launch template
SPREADING = ("srun", "flux")  # launchers that choose hosts by themselves
LAUNCHERS = ("mpirun", "mpiexec", *SPREADING)
FAMILIES = ("openmpi", "mpich")
SERVICE_PORT = "7500"
_PORTS = r"[0-9]{1,5}(?:-[0-9]{1,5})?"
_ADDRESS = (
    r"(?:tcp:)?(\[[0-9A-Fa-f:.]+(?:%[^\s%/\[\]:]+|/[0-9]+)?\]|[^\s:\[\]/]+|[0-9.]+/[0-9]+)"
    rf"(?::({_PORTS}))?"
)


def check_host(text: str) -> str:
    if not text or text.startswith("-") or re.search(r"\s", text):
        raise ValueError(f"must be a target of ssh, such as 'user@login.site.org'; it is '{text}'")
    return text


def check_path(text: str) -> str:
    if not text.startswith(("/", "~/")):
        raise ValueError(f"must be an absolute path, or begin with '~/'; it is '{text}'")
    return text


def check_absolute(text: str) -> str:
    if not text.startswith("/"):
        raise ValueError(f"must be an absolute path; it is '{text}'")
    return text


def mpi_choice(text: str) -> str:
    """Checks what `mpi` of a cluster, and --mpi, may be. Raises ValueError."""
    if text in FAMILIES or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be {listing(FAMILIES)}, or the absolute path of an MPI installation; "
        f"it is '{text}'{did_you_mean(text, FAMILIES)}"
    )


def check_launch(text: str) -> str:
    name = text.split(None, 1)[0] if text.strip() else ""
    known = name in LAUNCHERS or name.startswith("/")
    if "{command}" in text or (known and "{n}" not in text):
        # Other braces, such as a shell's ${x}, are kept.
        for word in re.findall(r"(?<!\$)\{([a-z]+)\}", text):
            if word not in _PLACES:
                places = listing(f"{{{place}}}" for place in _PLACES)
                raise ValueError(
                    f"has '{{{word}}}', which is not a placeholder; placeholders are {places}"
                )
        return text
    raise ValueError(
        f"must be one of {listing(LAUNCHERS)}, or the path of one, with or without options "
        f"('srun --exclusive'), or a template such as 'srun --mpi=pmix -n {{n}} {{command}}'; "
        f"it is '{text}'{did_you_mean(name, LAUNCHERS)}"
    )


def _are_ports(text: str) -> bool:
    """Whether it is a port, 0 for any, or a range of ports."""
    if not re.fullmatch(_PORTS, text):
        return False
    first, dash, last = text.partition("-")
    return int(first) <= 65535 if not dash else 1 <= int(first) <= int(last) <= 65535


def _address(text: str) -> str:
    """Checks an address and returns it as "tcp:HOST:PORT" or "tcp:HOST:FIRST-LAST"; port 0 is any.
    HOST may also be a place as of `is_place`."""
    found = re.fullmatch(_ADDRESS, text)
    if found and "/" in found[1]:
        check_subnet(found[1].strip("[]"))
    if not found or not _are_ports(found[2] or "0"):
        raise ValueError(
            f"must be 'HOST', 'HOST:PORT' or 'HOST:FIRST-LAST', ports up to 65535; it is '{text}'"
        )
    return f"tcp:{found[1]}:{found[2] or 0}"


def check_addresses(value: Any) -> Any:
    """One address, or one for each cluster of a gateway."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError("must be a string, or an array with one for each of 'clusters'")
    return tuple(map(_address, texts))


def is_place(host: str) -> bool:
    """Whether it is a subnet or an interface ("%eth1") in which the host has its address."""
    return "/" in host or host.startswith("%")


def check_subnet(text: str) -> str:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"must be a subnet such as '10.1.0.0/16'; it is '{text}'") from None
    return text if ":" not in text or text.startswith("[") else f"[{text}]"


def check_interface(text: str) -> str:
    if not re.fullmatch(r"[^\s/:%]{1,15}", text):
        raise ValueError(f"must be the name of an interface such as 'eth1'; it is '{text}'")
    return text


def check_ports(text: str) -> str:
    if not _are_ports(text):
        raise ValueError(f"must be a port or a range such as '7400-7419'; it is '{text}'")
    return text


def port_count(text: str) -> int:
    """The number of ports behind the last colon of a checked text; 0: any."""
    first, dash, last = text.rpartition(":")[2].partition("-")
    return int(last) - int(first) + 1 if dash else min(1, int(first))


def check_env(values: dict[str, str]) -> dict[str, str]:
    for name, value in values.items():
        if not re.fullmatch(r"[^=\s]+", name) or "\0" in name + value:
            raise ValueError(f"has a name that no environment variable can have: {name!r}")
    return values


def check_hosts(text: str) -> str:
    expand_hosts(text)
    return text


def expand_hosts(text: str) -> list[str]:
    """The names that a host list such as "n[01-16],gpu3" stands for. Raises ValueError."""
    from ClusterShell.NodeSet import NodeSet, NodeSetException  # noqa: PLC0415  (takes 6 ms)

    try:
        hosts = list(NodeSet(text))
    except NodeSetException as error:
        raise ValueError(f"must be a list of hosts such as 'n[01-16]': {error}") from None
    if not hosts or not all(re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]*", host) for host in hosts):
        raise ValueError(f"must be a list of hosts such as 'n[01-16]'; it is '{text}'")
    return hosts


def check_patience(time: Duration) -> Duration:
    if not 1 <= time.seconds <= 86400:
        raise ValueError(f"must be from '1 s' to '24 h'; it is '{time}'")
    return time


def check_wait(time: Duration) -> Duration:
    if time.seconds <= 0:
        raise ValueError(f"must be a time such as '2 h'; it is '{time}'")
    return time


def check_scheduler(text: str) -> str:
    if text in SCHEDULERS or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be one of {listing(SCHEDULERS)}, or the path of a batch template; it is '{text}'"
        f"{did_you_mean(text, SCHEDULERS)}"
    )


def check_meet(text: str) -> str:
    if _address(text).count("-") or is_place(_address(text).split(":")[1]):
        raise ValueError(f"must be 'HOST' or 'HOST:PORT'; it is '{text}'")
    return text


def check_service(text: str) -> str:
    """Adds SERVICE_PORT if the port is missing."""
    host, _, port = _address(text).removeprefix("tcp:").rpartition(":")
    if is_place(host) or not port.isdecimal():
        raise ValueError(f"must be 'HOST' or 'HOST:PORT'; it is '{text}'")
    return f"{host}:{SERVICE_PORT if port == '0' else port}"


def check_tag(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text):
        raise ValueError(f"must be a word such as 'gpu', without spaces or '='; it is '{text}'")
    return text


def check_link_name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", text):
        raise ValueError(
            "must be a word such as 'wide', of at most 64 letters, digits, '_', '.' and '-', "
            f"beginning with a letter or a digit; it is '{text}'"
        )
    return text


def check_congestion(text: str) -> str:
    if not re.fullmatch(r"[a-z0-9_]{1,15}", text):
        raise ValueError(
            f"must be the kernel's name of an algorithm, such as 'bbr'; it is '{text}'"
        )
    return text
