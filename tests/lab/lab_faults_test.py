"""A few rows of `make faults` (tests/faults/table), which has them all."""

import os

import faults
import pytest
from rows import LIBRARIES, ROWS


@pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="/dev/net/tun may not be opened here"
)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("row", [row for row in ROWS if row.short], ids=lambda row: row.name)
def test_row(row, library):
    seen = faults.play(faults.Case(row, library))
    assert not seen["wrong"], f"{seen['wrong']}\n{seen['said']}"
