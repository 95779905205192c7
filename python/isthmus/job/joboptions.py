"""Options of the command line that concern the whole run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from isthmus.base.limits import Limits
from isthmus.place.staging import StagedFile
from isthmus.place.traceoptions import TraceOptions

if TYPE_CHECKING:
    from isthmus.profile.writing import ProfileFile
    from isthmus.run.batch import Batch


@dataclass(frozen=True)
class JobOptions:
    timeout: float | None = None
    wait: float | None = None
    tag_output: bool = False
    stats: bool = False
    profile: "ProfileFile | None" = None
    metrics: tuple[str, int] | None = None
    guests_at: tuple[str, int] | None = None
    trace: TraceOptions | None = None
    stage: Sequence[StagedFile] = ()
    native: Mapping[str, object] = field(default_factory=dict)
    """Settings of agents for their native launchers (binding.py)."""
    limits: Limits = field(default_factory=Limits)
    batch: "Batch | None" = None
    """The batch jobs of a submitted run."""
