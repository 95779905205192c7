"""Rates, times and sizes of grid files and testbeds: read once, and shown as they were written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from isthmus.base.units import format_rate, parse_rate, parse_size, parse_time

if TYPE_CHECKING:
    from pydantic_core.core_schema import CoreSchema
    from typing_extensions import Self


@dataclass(frozen=True)
class _Quantity:
    """Two quantities are equal if they mean the same. In models of pydantic a string becomes a
    quantity, and a quantity becomes its string in JSON."""

    text: str = field(compare=False, kw_only=True)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError with a sentence fragment."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> CoreSchema:
        from pydantic_core import core_schema  # noqa: PLC0415  (takes 10 ms)

        return core_schema.no_info_after_validator_function(
            cls.parse,
            core_schema.str_schema(),
            serialization=core_schema.to_string_ser_schema(when_used="always"),
        )


@dataclass(frozen=True)
class Rate(_Quantity):
    """The rate of a link: "10 Gbit/s", "1.2 GB/s"."""

    bits: int  # per second

    @classmethod
    def parse(cls, text: str) -> Rate:
        return cls(parse_rate(text), text=text)

    @classmethod
    def of(cls, bits: int) -> Rate:
        return cls(bits, text=format_rate(bits))

    @property
    def bytes(self) -> float:
        """Per second."""
        return self.bits / 8


@dataclass(frozen=True)
class Duration(_Quantity):
    """A time: "12 ms", "10 min"."""

    seconds: float

    @classmethod
    def parse(cls, text: str) -> Duration:
        return cls(parse_time(text), text=text)


@dataclass(frozen=True)
class Size(_Quantity):
    """The size of a buffer or queue: "500 kB", "2 MiB"."""

    bytes: int

    @classmethod
    def parse(cls, text: str) -> Size:
        return cls(parse_size(text), text=text)
