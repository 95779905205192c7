"""Types for the values of a grid file. Their checks raise ValueError with a sentence that continues
behind the key's name."""

import ipaddress
import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator

from isthmus.errors import did_you_mean, listing
from isthmus.quantities import Duration

SCHEDULERS = ("slurm", "pbs", "lsf", "flux")
_PLACES = ("n", "command", "hosts")  # of a launch template
LAUNCHERS = ("mpirun", "mpiexec", "srun")
FAMILIES = ("openmpi", "mpich")
SERVICE_PORT = "7500"
WORD = r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
_PORTS = r"[0-9]{1,5}(?:-[0-9]{1,5})?"
_ADDRESS = re.compile(
    rf"(?:tcp:)?(\[[0-9A-Fa-f:.]+(?:%[^\s%/\[\]:]+|/[0-9]+)?\]|[^\s:\[\]/]+|[0-9.]+/[0-9]+)(?::({_PORTS}))?"
)


def _checked(form: str, must: str) -> AfterValidator:
    """Takes texts of the form; the error says what they must be."""

    def check(text: str) -> str:
        if not re.fullmatch(form, text):
            raise ValueError(f"must be {must}; it is '{text}'")
        return text

    return AfterValidator(check)


def _lasting(least: float, most: float, must: str) -> AfterValidator:
    def check(time: Duration) -> Duration:
        if not least <= time.seconds <= most:
            raise ValueError(f"must be {must}; it is '{time}'")
        return time

    return AfterValidator(check)


def mpi_choice(text: str) -> str:
    """Checks what `mpi` of a cluster, and --mpi, may be. Raises ValueError."""
    if text in FAMILIES or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be {listing(FAMILIES)}, or the absolute path of an MPI installation; "
        f"it is '{text}'{did_you_mean(text, FAMILIES)}"
    )


def _launch(text: str) -> str:
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
    found = _ADDRESS.fullmatch(text)
    if found and "/" in found[1]:
        _subnet(found[1].strip("[]"))
    if not found or not _are_ports(found[2] or "0"):
        raise ValueError(
            f"must be 'HOST', 'HOST:PORT' or 'HOST:FIRST-LAST', ports up to 65535; it is '{text}'"
        )
    return f"tcp:{found[1]}:{found[2] or 0}"


def _addresses(value: Any) -> Any:
    """One address, or one for each cluster of a gateway."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(text, str) for text in texts):
        raise ValueError("must be a string, or an array with one for each of 'clusters'")
    return tuple(map(_address, texts))


def is_place(host: str) -> bool:
    """Whether it is a subnet or an interface ("%eth1") in which the host has its address."""
    return "/" in host or host.startswith("%")


def _subnet(text: str) -> str:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise ValueError(f"must be a subnet such as '10.1.0.0/16'; it is '{text}'") from None
    return text if ":" not in text or text.startswith("[") else f"[{text}]"


def _ports(text: str) -> str:
    if not _are_ports(text):
        raise ValueError(f"must be a port or a range such as '7400-7419'; it is '{text}'")
    return text


def port_count(text: str) -> int:
    """The number of ports behind the last colon of a checked text; 0: any."""
    first, dash, last = text.rpartition(":")[2].partition("-")
    return int(last) - int(first) + 1 if dash else min(1, int(first))


def _env(values: dict[str, str]) -> dict[str, str]:
    for name, value in values.items():
        if not re.fullmatch(r"[^=\s]+", name) or "\0" in name + value:
            raise ValueError(f"has a name that no environment variable can have: {name!r}")
    return values


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


def _scheduler(text: str) -> str:
    if text in SCHEDULERS or text.startswith(("/", "~/")):
        return text
    raise ValueError(
        f"must be one of {listing(SCHEDULERS)}, or the path of a batch template; it is '{text}'"
        f"{did_you_mean(text, SCHEDULERS)}"
    )


def _meet(text: str) -> str:
    if _address(text).count("-") or is_place(_address(text).split(":")[1]):
        raise ValueError(f"must be 'HOST' or 'HOST:PORT'; it is '{text}'")
    return text


def _service(text: str) -> str:
    """Adds SERVICE_PORT if the port is missing."""
    host, _, port = _address(text).removeprefix("tcp:").rpartition(":")
    if is_place(host) or not port.isdecimal():
        raise ValueError(f"must be 'HOST' or 'HOST:PORT'; it is '{text}'")
    return f"{host}:{SERVICE_PORT if port == '0' else port}"


_FROM_ROOT, _BELOW = r"/(?s:.*)", r"(/|~/)(?s:.*)"

Tag = Annotated[str, _checked(WORD, "a word such as 'gpu', without spaces or '='")]
LinkName = Annotated[
    str,
    _checked(
        WORD,
        "a word such as 'wide', of at most 64 letters, digits, '_', '.' and '-', beginning with a "
        "letter or a digit",
    ),
]
Congestion = Annotated[
    str, _checked("[a-z0-9_]{1,15}", "the kernel's name of an algorithm, such as 'bbr'")
]
Host = Annotated[str, _checked(r"[^-\s]\S*", "a target of ssh, such as 'user@login.site.org'")]
PathThere = Annotated[str, _checked(_BELOW, "an absolute path, or begin with '~/'")]
Absolute = Annotated[str, _checked(_FROM_ROOT, "an absolute path")]
Mpi = Annotated[str, AfterValidator(mpi_choice)]
Launch = Annotated[str, AfterValidator(_launch)]
Env = Annotated[dict[str, str], AfterValidator(_env)]
Hosts = Annotated[str, AfterValidator(lambda text: expand_hosts(text) and text)]
Scheduler = Annotated[str, AfterValidator(_scheduler)]
Addresses = Annotated[tuple[str, ...], BeforeValidator(_addresses)]
Ports = Annotated[str, AfterValidator(_ports)]
Subnet = Annotated[str, AfterValidator(_subnet)]
Interface = Annotated[str, _checked(r"[^\s/:%]{1,15}", "the name of an interface such as 'eth1'")]
Reach = Literal["gateway", "direct", "ssh"]
Net = Literal["tcp", "ucx", "auto"]
Wait = Annotated[Duration, _lasting(1e-9, float("inf"), "a time such as '2 h'")]
Patience = Annotated[Duration, _lasting(1, 86400, "from '1 s' to '24 h'")]
Meet = Annotated[str, AfterValidator(_meet)]
Service = Annotated[str, AfterValidator(_service)]
