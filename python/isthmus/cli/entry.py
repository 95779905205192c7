"""The beginning of the command `isthmus`. A run starts before the other commands are imported."""

import errno
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from isthmus.base.errors import IsthmusError

COMPLETE = "_ISTHMUS_COMPLETE"  # set by the scripts of shells: print completions, run nothing

_NO_PROCESS = (
    "this host refuses another process or thread\n"
    "  Raise the limit (ulimit -u, or pids.max of the control group)."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Returns the exit status. A mistake of the user ends in a sentence, not in a traceback."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words[:1] == ["run"] and COMPLETE not in os.environ:
        from isthmus.cli import quickrun  # noqa: PLC0415  (a run needs it, all others do not)

        if (parts := quickrun.parts(words[1:])) is not None:
            from isthmus.cli import nested  # noqa: PLC0415
            from isthmus.job import argv as arguments  # noqa: PLC0415
            from isthmus.job import execution  # noqa: PLC0415

            def run() -> int:
                nested.check(os.environ)
                return execution.run(arguments.combine(parts))

            return guarded(run)
    from isthmus.cli import cli  # noqa: PLC0415  (it takes a while)

    return cli.main(words)


def guarded(command: Callable[[], int]) -> int:
    """The status of a command. Errors that users can understand become sentences."""
    try:
        return command()
    except IsthmusError as error:
        print(f"isthmus: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 141
    except OSError as error:
        if why := _no_working_directory() or (_NO_PROCESS if error.errno == errno.EAGAIN else ""):
            print(f"isthmus: {why}", file=sys.stderr)
            return 1
        raise
    except RuntimeError as error:
        if "start new thread" in str(error):  # as threading says it
            print(f"isthmus: {_NO_PROCESS}", file=sys.stderr)
            return 1
        if "home directory" not in str(error):  # as pathlib says it
            raise
        print("isthmus: this user has no home directory\n  Set HOME.", file=sys.stderr)
        return 1


def _no_working_directory() -> str:
    """Why the working directory cannot be used, else empty. Errors about it name no file."""
    try:
        Path.cwd()
    except OSError as error:
        return (
            f"the working directory cannot be used: {error.strerror}\n"
            "  Change to a directory that exists (cd), and start again."
        )
    return ""
