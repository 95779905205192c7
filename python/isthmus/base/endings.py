"""Ends of programs, in words."""

import re
import signal
from collections.abc import Mapping

_OF_A_RANK = r'rank \d+ \(cluster "([^"]+)"\)'
# The words of gateways about a rank that is gone, and of a rank's watcher. Each names the host if
# it is known.
_GONE = r" ended (without MPI_Finalize|in MPI_Init) or was killed(?: on (\S+))?"
_OR_OWN = r", or ended (without MPI_Finalize|in MPI_Init), with status \d+"
# A launcher that falls over the end of its ranks has one of these.
_CRASHES = frozenset(
    {signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGTRAP}
)


def surely_killed(sentence: str) -> str:
    """The sentence for a status that is known to come from a signal."""
    return re.sub(_OR_OWN, "", sentence)


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


def cannot_start_ranks(counted: Mapping[str, object]) -> str:
    """Words for a native launcher that waits after it failed; empty for all others. `counted` is
    the agent's `count`."""
    failed = counted.get("failed")
    if not isinstance(failed, dict):
        return ""
    status, program = failed.get("status"), failed.get("program")
    how = how_ended(status if isinstance(status, int) else 1, None)
    return f"{program}, by which {failed.get('launcher')} starts ranks, {how}"


def launcher_killed(launcher: str, host: str, number: int) -> str:
    """Words for a native launcher that a signal has ended. Empty if it was rather the end of a rank
    that made it fall."""
    if number in _CRASHES:
        return ""
    return f"the native launcher {launcher} {_killed(number, host)}"


def of_the_rank(
    sentence: str, cluster: str, status: int, number: int | None, host: str = ""
) -> str:
    """A sentence about a lost rank of this cluster, completed with how the rank ended. `host` is
    used if the sentence names none."""
    found = re.search(_GONE, sentence)
    if not found or cluster_named(sentence) != cluster:
        return sentence
    what, host = found[1], found[2] or host
    where = f", on {host}" if host else ""
    during = " in MPI_Init" if what == "in MPI_Init" else ""
    if number is not None:
        how = _killed(number, host) + during
    elif status - 128 in {int(known) for known in signal.Signals}:
        how = f"{_killed(status - 128, host)}{during}, or ended {what}, with status {status}"
    else:
        how = f"ended {what}, with status {status}{where}"
    return f"{sentence[: found.start()]} {how}{sentence[found.end() :]}"


def left_the_others(sentence: str) -> str:
    """The sentence for a rank that ended early in a job whose native launcher reports success."""
    said = re.sub(
        _GONE, lambda gone: f" ended {gone[1]}" + (f" on {gone[2]}" if gone[2] else ""), sentence
    )
    return f"{said}, while the others may wait for it"


def cluster_named(sentence: str) -> str:
    """The cluster of the rank with which the sentence begins, or an empty string."""
    found = re.match(_OF_A_RANK, sentence)
    return found[1] if found else ""


def cluster_of_the_rank(sentence: str) -> str:
    """The same, if somebody may still say how that rank ended; else an empty string."""
    return cluster_named(sentence) if re.search(_GONE, sentence) else ""


def ended_in_init(sentence: str) -> bool:
    """Whether that rank ended before its cluster had joined."""
    return " ended in MPI_Init or was killed" in sentence
