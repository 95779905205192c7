"""Errors that end a command early. Each has a sentence for the user; none shows a traceback."""

from collections.abc import Callable, Iterable, Iterator, Sequence

EXIT_USAGE = 2
EXIT_TIMEOUT = 124
_MOST = 20  # errors that are shown together
_PLACES = 3  # in a sentence about an error at several places


class IsthmusError(Exception):
    """`sentence` says what is wrong and where, `remedy` (may be empty) what to do."""

    status = 1

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.sentence}\n  {self.remedy}" if self.remedy else self.sentence


class UsageError(IsthmusError):
    """The command line or the grid file is wrong; nothing was started."""

    status = EXIT_USAGE


class RunError(IsthmusError):
    """The run cannot start or go on."""


class PlacedError(RunError):
    """An error at a place, such as "cluster east". The sentence begins with the place."""

    def __init__(self, place: str, what: str, remedy: str = "") -> None:
        super().__init__(f"{place}: {what}", remedy)
        self.place, self.what = place, what


class JointError(RunError):
    """Errors of one kind at several places, each with its own sentence and remedy. An error that
    several places share is printed once. All but the first follow a "isthmus: " of their own; the
    printer adds the first one."""

    def __init__(self, errors: Sequence[IsthmusError]) -> None:
        super().__init__("\nisthmus: ".join(str(error) for error in _once(errors)))
        self.status = max(error.status for error in errors)


def _once(errors: Sequence[IsthmusError]) -> Iterator[IsthmusError]:
    places: dict[tuple[str, str], list[str]] = {}
    for error in errors:
        if isinstance(error, PlacedError):
            places.setdefault((error.what, error.remedy), []).append(error.place)
        else:
            yield error
    for (what, remedy), at in places.items():
        more = [f"{len(at) - _PLACES} more"] if len(at) > _PLACES else []
        yield PlacedError(" and ".join([*at[:_PLACES], *more]), what, remedy)


def joined(errors: Sequence[UsageError]) -> UsageError:
    """Several errors as one. All but the first begin with "isthmus: ", as in JointError."""
    if len(errors) == 1:
        return errors[0]
    texts = [str(error) for error in errors[:_MOST]]
    if len(errors) > _MOST:
        texts.append(f"and {len(errors) - _MOST} more errors")
    return UsageError("\nisthmus: ".join(texts))


def all_errors(steps: Iterable[Callable[[], object]]) -> list[UsageError]:
    """The errors of steps that do not depend on each other."""
    errors = []
    for step in steps:
        try:
            step()
        except UsageError as error:
            errors.append(error)
    return errors


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or nothing when no known word is near."""
    from difflib import get_close_matches  # noqa: PLC0415  (seldom needed)

    near = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def listing(words: Iterable[str]) -> str:
    """`'a', 'b'` in the given order."""
    return ", ".join(f"'{word}'" for word in words)
