"""The models of pydantic that check the tables of a grid file. Importing pydantic takes a third of
the time in which `isthmus run` starts (2026-11), so runs without a grid file do without them."""

from typing import Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from isthmus.grid import gridtables, gridtypes
from isthmus.grid.gridtables import Table

_Kind = TypeVar("_Kind", bound=Table)
_STRICT = ConfigDict(extra="forbid", strict=True, frozen=True)


_models: dict[str, type[BaseModel]] = {}


def model_of(table: type[Table]) -> type[BaseModel]:
    """The model with the annotations and defaults of a table."""
    if table.__name__ not in _models:
        _models[table.__name__] = _made(table)
    return _models[table.__name__]


def _made(table: type[Table]) -> type[BaseModel]:
    others = [
        kind for kind in vars(gridtables).values()
        if isinstance(kind, type) and issubclass(kind, Table) and kind not in (Table, table)
    ] if table is gridtables.Grid else []  # fmt: skip
    names = {**vars(gridtypes), **{kind.__name__: model_of(kind) for kind in others}}
    hints = get_type_hints(table, localns=names, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints[name], Field() if default is gridtables.REQUIRED else default)
        for name, default in table.model_fields.items()
    }
    return create_model(table.__name__, __config__=_STRICT, **fields)


def validated(table: type[_Kind], data: object) -> _Kind:
    """Raises pydantic's ValidationError."""
    found = _as_table(table, model_of(table).model_validate(data))
    assert isinstance(found, table)
    return found


_TABLES = {
    kind.__name__: kind
    for kind in vars(gridtables).values()
    if isinstance(kind, type) and issubclass(kind, Table)
}


def _as_table(table: type[Table], model: BaseModel) -> Table:
    """The table with the values of a model. Defaults stay what they are."""
    return table(**{name: _plain(getattr(model, name)) for name in model.model_fields_set})


def _plain(value: Any) -> Any:
    """A value with tables in place of models."""
    if isinstance(value, BaseModel):
        return _as_table(_TABLES[type(value).__name__], value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
