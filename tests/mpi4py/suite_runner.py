# ruff: noqa: N802, PLC0415
"""Runs modules of mpi4py's own test suite on this rank and logs every test's outcome.

Usage (under an MPI launcher): python suite_runner.py SUITE_DIR LOG_DIR [--skip FILE] MODULE...

Each rank appends lines to LOG_DIR/RANK.log: ``start NAME`` when a test begins and ``OUTCOME NAME``
(ok, fail, skip) when it ends. Each line is flushed at once, so a reader can tell which test crashed
or hung. Tests named in the skip file are left out on every rank.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import unittest
from pathlib import Path
from typing import TextIO


class LoggingResult(unittest.TestResult):
    """Writes outcomes to a log; a failing subtest or expected failure counts once."""

    def __init__(self, log: TextIO) -> None:
        super().__init__()
        self.log = log
        self.outcome = "ok"

    def say(self, word: str, test: unittest.TestCase, reason: str = "") -> None:
        self.log.write(f"{word} {test.id()} {reason}".rstrip().replace("\n", " | ") + "\n")
        self.log.flush()

    def startTest(self, test: unittest.TestCase) -> None:
        self.outcome, self.reason = "ok", ""
        self.say("start", test)
        super().startTest(test)

    def stopTest(self, test: unittest.TestCase) -> None:
        self.say(self.outcome, test, self.reason)
        super().stopTest(test)

    def _bad(self, error) -> None:
        self.outcome = "fail"
        self.reason = "".join(traceback.format_exception(*error))[-600:]

    def addError(self, test, err) -> None:
        if not isinstance(test, unittest.TestCase):  # a class or module fixture failed
            self.say("fail", test, "".join(traceback.format_exception(*err))[-600:])
        self._bad(err)

    def addFailure(self, test, err) -> None:
        self._bad(err)

    def addSubTest(self, test, subtest, err) -> None:
        if err is not None:
            self._bad(err)

    def addSkip(self, test, reason) -> None:
        if isinstance(test, unittest.TestCase):
            self.outcome = "skip"

    def addUnexpectedSuccess(self, test) -> None:
        self.outcome, self.reason = "fail", "unexpected success"


def cases(suite: unittest.TestSuite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from cases(item)
        else:
            yield item


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("logs", type=Path)
    parser.add_argument("--skip", type=Path)
    parser.add_argument("modules", nargs="+")
    options = parser.parse_args()
    skip = set(options.skip.read_text().split("\n")) if options.skip else set()

    sys.dont_write_bytecode = True
    sys.path.insert(0, os.fspath(options.suite))
    sys.modules["cupy"] = sys.modules["numba"] = None  # type: ignore[assignment]
    from mpi4py import MPI

    rank = MPI.COMM_WORLD.Get_rank()
    with (options.logs / f"{rank}.log").open("a", encoding="utf-8") as log:
        result = LoggingResult(log)
        for name in options.modules:
            found = unittest.defaultTestLoader.loadTestsFromName(name)
            chosen = [case for case in cases(found) if case.id() not in skip]
            unittest.TestSuite(chosen).run(result)
        log.write("end\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
