"""The figures of whole programs that a release has to reach, on the testbeds for them."""

from isthmus.bench.app.results import AppResults
from isthmus.bench.verdicts import Limit


def of_testbed(testbed: str) -> list[Limit[AppResults]]:
    return [limit for limit in LIMITS if limit.testbed == testbed]


LIMITS: list[Limit[AppResults]] = []
