"""The command line of `isthmus run`: parts separated by `:`, as for mpirun.

Each part is parsed like a command of its own; its options end at the first word that is not one.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isthmus.base import hostport
from isthmus.base.errors import UsageError, all_errors, joined
from isthmus.base.units import parse_time
from isthmus.grid import hostlist
from isthmus.grid.gridkeys import mpi_choice
from isthmus.grid.hostlist import Host
from isthmus.job.joboptions import JobOptions
from isthmus.place import binding, exports, rankmap
from isthmus.place.partoptions import PartOptions, of_the_run
from isthmus.place.placement import Part
from isthmus.place.rankmap import RankMap
from isthmus.place.staging import staged
from isthmus.place.traceoptions import TraceOptions, told_ranks, traced
from isthmus.run.portname import place_of


@dataclass(frozen=True)
class RunOptions:
    """The whole command line. `job` has what the running job needs; its profile is not yet set."""

    parts: list[Part]
    grid: Path | None
    map: RankMap | None
    dry_run: bool
    profile: Path | None
    guests: bool
    verbose: bool
    job: JobOptions
    hosts: list[Host] | None = None  # instead of a grid file
    oversubscribe: bool = False  # more ranks than slots
    survive: bool = False  # go on without clusters that fail
    min_clusters: int | None = None
    spares: tuple[str, ...] = ()  # clusters without ranks at the start


# Isthmus's own variables that all ranks need with the same value, without -x.
_PASSED_ON = (
    "ISTHMUS_COLL",
    "ISTHMUS_DEBUG_ALGORITHMS",
    "ISTHMUS_DEBUG_LEG",
    "ISTHMUS_DEBUG_LEND",
    "ISTHMUS_DEBUG_OFF",
    "ISTHMUS_NETWORK",
    "ISTHMUS_PROGRESS",
    "ISTHMUS_REPRODUCIBLE",
    "ISTHMUS_TRACE",
    "ISTHMUS_TRACE_DIR",
    "ISTHMUS_TRACE_RECORDS",
)


def split_parts(words: Sequence[str]) -> list[list[str]]:
    """Splits at each word `:`. The result has at least one part; parts may be empty."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ":":
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def combine(parts: Sequence[PartOptions], environ: Mapping[str, str] = os.environ) -> RunOptions:
    """UsageError has all errors of the command line."""
    first = parts[0]
    try:
        _check_later(parts)
        trace = _traced(first)
        settings = _settings(first, environ) | told_ranks(trace, environ.get("ISTHMUS_TRACE", ""))
        return RunOptions(
            parts=[_part(part, i, environ, settings) for i, part in enumerate(parts)],
            grid=first.grid,
            map=_map(first),
            dry_run=first.dry_run,
            profile=first.profile,
            guests=first.guests or first.guests_at is not None,
            verbose=first.verbose,
            job=JobOptions(
                timeout=first.timeout,
                wait=seconds_of("--wait", first.wait),
                tag_output=first.tag_output,
                stats=first.stats,
                metrics=_metrics(first.metrics),
                guests_at=_guests_at(first),
                trace=trace,
                stage=[staged(text) for text in first.stage],
                native=binding.wishes(first),
            ),
            hosts=_hosts(first),
            oversubscribe=first.oversubscribe,
            survive=first.survive,
            min_clusters=first.min_clusters,
            spares=_spares(first.spare),
        )
    except UsageError as error:
        raise joined(all_errors(_steps(parts, environ)) or [error]) from None


def _steps(
    parts: Sequence[PartOptions], environ: Mapping[str, str]
) -> Iterator[Callable[[], object]]:
    """The steps of `combine` that may fail."""
    first = parts[0]
    yield partial(_check_later, parts)
    yield partial(_traced, first)
    for name, pattern in _output_files(first):
        yield partial(_file_pattern, name, pattern)
    for part in parts:
        yield partial(exports.of_part, part.exports, environ)
        yield partial(_mpi, part.mpi)
    yield partial(exports.of_run, first.export, environ)
    yield partial(_map, first)
    yield partial(_hosts, first)
    yield partial(binding.check_both, first)
    yield from (partial(binding.setting, *given) for given in binding.given_options(first))
    yield partial(seconds_of, "--wait", first.wait)
    yield partial(_metrics, first.metrics)
    yield partial(_guests_at, first)
    yield from (partial(staged, text) for text in first.stage)


def _check_later(parts: Sequence[PartOptions]) -> None:
    """UsageError for options of the run in a later part."""
    errors = []
    for number, part in enumerate(parts[1:], 2):
        for name in of_the_run():
            if getattr(part, name):
                option = f"--{name.replace('_', '-')}"
                errors.append(
                    UsageError(
                        f"part {number} ('{part.argv[0]}') has {option}, which is for the whole "
                        "run",
                        f"Put {option} before the first program.",
                    )
                )
    if errors:
        raise joined(errors)


def _map(first: PartOptions) -> RankMap | None:
    return rankmap.load(first.map) if first.map is not None else None


def _hosts(first: PartOptions) -> list[Host] | None:
    if first.host is None and first.hostfile is None:
        return None
    option = "-H" if first.host is not None else "--hostfile"
    if first.host is not None and first.hostfile is not None:
        raise UsageError("-H and --hostfile both name hosts", "Give one of them.")
    if first.grid is not None:
        raise UsageError(
            f"{option} is for runs without a grid file, but there is {first.grid}",
            f"Leave out {option}, or -g. A grid file names hosts by 'host' and 'hosts'.",
        )
    if first.host is not None:
        return hostlist.of_option(first.host)
    assert first.hostfile is not None
    return hostlist.of_file(first.hostfile)


def _guests_at(first: PartOptions) -> tuple[str, int] | None:
    return place_of(first.guests_at) if first.guests_at is not None else None


def _traced(first: PartOptions) -> TraceOptions | None:
    trace = traced(first.trace, first.trace_size)
    if trace and first.profile and trace.file.resolve() == first.profile.resolve():
        raise UsageError(
            f"--trace and --profile name the same file, {first.profile}", "Give each its own."
        )
    return trace


def seconds_of(option: str, text: str | None) -> float | None:
    """Seconds of a duration; a number without a unit counts seconds."""
    if text is None:
        return None
    try:
        seconds = float(text) if re.fullmatch(r"[0-9.]+", text) else parse_time(text)
    except ValueError:
        seconds = 0.0
    if seconds <= 0:
        raise UsageError(
            f"{option} {text}: '{text}' is not a duration", "Write it as 90, 20min or 2h."
        )
    return seconds


def _spares(text: str | None) -> tuple[str, ...]:
    return tuple(name for each in (text or "").split(",") if (name := each.strip()))


def _metrics(text: str | None) -> tuple[str, int] | None:
    """Host and port of `[ADDRESS:]PORT`; without an address only this host can read them."""
    if text is None:
        return None
    host, port = hostport.split(text)
    if port is None:
        host, port = "", text
    if not port.isdecimal() or int(port) > 65535:
        raise UsageError(
            f"--metrics {text}: '{port}' is not a port",
            "Give a number up to 65535, or ADDRESS:PORT to serve other hosts. Put an IPv6 address "
            "into brackets.",
        )
    return host or "127.0.0.1", int(port)


def _settings(run: PartOptions, environ: Mapping[str, str]) -> dict[str, str]:
    """Options of the run that ranks find in their environment."""
    settings = exports.of_run(run.export, environ)
    settings |= {"ISTHMUS_STATS": "1"} if run.stats else {}
    settings |= {"ISTHMUS_PROFILE": "1"} if run.profile else {}
    settings |= {"ISTHMUS_REORDER": "1"} if run.reorder else {}
    settings |= {"ISTHMUS_REPRODUCIBLE": "1"} if run.reproducible else {}
    settings |= {"ISTHMUS_GUESTS": "1"} if run.guests or run.guests_at else {}
    settings |= {"ISTHMUS_SHOW_RANK": "1"} if run.show_ranks else {}
    for option, pattern in _output_files(run):
        settings[f"ISTHMUS_{option[2:].upper()}"] = _file_pattern(option, pattern)
    return settings


def _output_files(run: PartOptions) -> Iterator[tuple[str, str]]:
    for option, pattern in (("--output", run.output), ("--error", run.error)):
        if pattern is not None:
            yield option, pattern


def _file_pattern(option: str, pattern: str) -> str:
    letters = re.findall(r"%(.?)", pattern)
    if wrong := [letter for letter in letters if letter not in ("r", "h", "j", "%")]:
        raise UsageError(
            f"{option} {pattern}: '%{wrong[0]}' has no meaning",
            "Use %r (world rank), %h (host), %j (the run's name) or %%.",
        )
    if "r" not in letters:
        raise UsageError(
            f"{option} {pattern}: all ranks would write to one file",
            f"Put the world rank into its name: {option} {pattern}.%r",
        )
    return pattern


def _part(
    part: PartOptions, number: int, environ: Mapping[str, str], settings: Mapping[str, str]
) -> Part:
    return Part(
        argv=part.argv,
        n=part.n,
        on=part.on,
        env={name: environ[name] for name in _PASSED_ON if name in environ}
        | dict(settings)
        | exports.of_part(part.exports, environ),
        wdir=part.wdir,
        mpi=_mpi(part.mpi),
        number=number,
    )


def _mpi(text: str | None) -> str | None:
    try:
        return mpi_choice(text) if text is not None else None
    except ValueError as error:
        raise UsageError(f"--mpi {error}") from None
