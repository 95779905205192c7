"""Dataclasses that are made quickly, for the modules of a run. The standard ones compile up to six
methods for each class: 25 of the 52 ms in which these modules load (2026-11)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414  (others import it here)
else:
    import dataclasses
    from operator import attrgetter

    def dataclass(cls=None, *, frozen=False):
        """As the standard one. But only type checkers find who changes a frozen record."""
        if cls is None:
            return lambda cls: dataclass(cls, frozen=frozen)
        cls.__doc__ = cls.__doc__ or cls.__name__  # it would be made of the signature
        made = dataclasses.dataclass(cls, repr=False, eq=False)
        compared = [field.name for field in dataclasses.fields(made) if field.compare]
        made._compared = attrgetter(*compared or ["__class__"])
        made.__repr__, made.__eq__, made.__hash__ = _repr, _eq, _hash if frozen else None
        return made


def _repr(self: Any) -> str:
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
    return f"{type(self).__qualname__}({shown})"


def _eq(self: Any, other: object) -> Any:
    same = type(self) is type(other)
    return self._compared(self) == self._compared(other) if same else NotImplemented


def _hash(self: Any) -> int:
    return hash(self._compared(self))
