"""Ends of programs, in words."""

import re
import signal

_OF_A_RANK = re.compile(r'rank \d+ \(cluster "([^"]+)"\)')
WITHOUT = "ended without MPI_Finalize or was killed"  # as gateways say it of a rank that is gone
_OR_OWN = ", or ended without MPI_Finalize, with status"


def surely_killed(sentence: str) -> str:
    """The sentence for a status that is known to come from a signal."""
    return re.sub(rf"{_OR_OWN} \d+", "", sentence)


def signal_name(number: int) -> str:
    """SIGSEGV, or "signal 60" where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _killed(number: int, host: str = "") -> str:
    where = f" on {host}" if host else ""
    return f"was killed by signal {number} ({signal_name(number)}){where}"


def how_ended(status: int, number: int | None, host: str = "") -> str:
    """Words for an exit status as a shell has it. The signal and the host are added if known."""
    if number is not None:
        return _killed(number, host)
    if status - 128 in {int(known) for known in signal.Signals}:
        known = status - 128
        # It may be the program's own: MPICH aborts in MPI_Init with a status whose last byte is
        # 143.
        return (
            f"ended with status {status}, its own or that of signal {known} ({signal_name(known)})"
        )
    return f"ended with status {status}"


def of_the_rank(
    sentence: str, cluster: str, status: int, number: int | None, host: str = ""
) -> str:
    """A gateway's sentence about a lost rank of this cluster, completed with how the rank ended."""
    if f'(cluster "{cluster}") {WITHOUT}' not in sentence:
        return sentence
    if number is not None:
        return sentence.replace(WITHOUT, _killed(number, host))
    if status - 128 in {int(known) for known in signal.Signals}:
        return sentence.replace(WITHOUT, f"{_killed(status - 128)}{_OR_OWN} {status}")
    return sentence.replace(WITHOUT, f"ended without MPI_Finalize, with status {status}")


def cluster_named(sentence: str) -> str:
    """The cluster of the rank with which the sentence begins, or an empty string."""
    found = _OF_A_RANK.match(sentence)
    return found[1] if found else ""


def cluster_of_the_rank(sentence: str) -> str:
    """The same, if somebody may still say how that rank ended; else an empty string."""
    return cluster_named(sentence) if WITHOUT in sentence else ""
