"""isthmus_survival (docs/surviving.md), for an environment that has both Isthmus and mpi4py."""

import importlib.util
import sys

from isthmus.install import includedir

_NAME = "isthmus_survival"
if _NAME not in sys.modules:
    _spec = importlib.util.spec_from_file_location(_NAME, includedir() / f"{_NAME}.py")
    assert _spec is not None
    assert _spec.loader is not None
    sys.modules[_NAME] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[_NAME])
sys.modules[__name__] = sys.modules[_NAME]  # one and the same
