"""Environment variables for ranks: what -x and --export say."""

import re
from collections.abc import Iterable, Iterator, Mapping

from isthmus.base.errors import UsageError, joined

_ENTRY = re.compile(r"([^,=']*)(=(?:'((?:[^']|'')*)'|((?!')[^,]*)))?(?:,|$)")


def of_part(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `-x NAME[=VALUE]`. UsageError has all errors."""
    found = []
    for text in texts:
        name, equals, value = text.partition("=")
        found.append((f"-x {text}", name, value if equals else None))
    return _checked(found, environ)


def of_run(texts: Iterable[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of `--export [ALL,]NAME[=VALUE],...`, as srun writes them."""
    found = []
    for text in texts:
        for name, value in _entries(text):
            if value is None and name in ("NONE", "NIL"):
                raise UsageError(
                    f"--export {text}: ranks have the environment of their cluster's host",
                    "Leave it out, or name variables: --export NAME=VALUE",
                )
            if value is not None or name not in ("ALL", ""):
                found.append((f"--export {text}", name, value))
    return _checked(found, environ)


def _entries(text: str) -> Iterator[tuple[str, str | None]]:
    at = 0
    while at < len(text):
        entry = _ENTRY.match(text, at)
        if entry is None:
            raise UsageError(
                f"--export {text}: a quote is not closed",
                "A value with a comma stands in single quotes: --export \"NAME='a,b'\"",
            )
        name, given, in_quotes, bare = entry.groups()
        quoted = in_quotes is not None
        yield name, in_quotes.replace("''", "'") if quoted else bare if given else None
        at = entry.end()


def _checked(
    found: Iterable[tuple[str, str, str | None]], environ: Mapping[str, str]
) -> dict[str, str]:
    """The values; each that is not given is that of this environment."""
    values: dict[str, str] = {}
    errors = []
    for place, name, value in found:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
            errors.append(
                UsageError(f"{place}: '{name}' is not a name for an environment variable")
            )
        elif value is None and name not in environ:
            option = place.partition(" ")[0]
            errors.append(
                UsageError(
                    f"{place}: the variable{'' if option == '-x' else ' ' + name} is not set here",
                    f"Set it, or give the value: {option} {name}=VALUE",
                )
            )
        else:
            values[name] = environ[name] if value is None else value
    if errors:
        raise joined(errors)
    return values
