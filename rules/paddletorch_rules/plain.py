"""The tables' records as plain values and back, for the compiled form: values hold no code and name no class."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from packaging.version import Version

from paddletorch_rules.schema import Form, Let, Parameter, ParameterPair, Record, Row, Signature

R = TypeVar("R")


def plain(value: Any) -> Any:
    """The value with a tuple of its fields for each record, and a release as its text."""
    if isinstance(value, Record):
        return tuple([plain(getattr(value, name)) for name in value.__match_args__])
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(map(plain, value))
    return str(value) if isinstance(value, Version) else value


class Records:
    """Makes rows of plain values. Equal signatures and parameters become one object: most stand in many rows."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Any] = {}

    def row(self, values: Sequence[Any]) -> Row:
        """The row that has these fields."""
        fields = list(values)
        fields[_TORCH] = self._forms(fields[_TORCH])
        fields[_PADDLE] = self._forms(fields[_PADDLE])
        fields[_PARAMETERS] = self._pairs(fields[_PARAMETERS])
        fields[_FORWARD] = self._pairs(fields[_FORWARD])
        return Row(*fields)

    def _forms(self, forms: Sequence[Sequence[Any]]) -> tuple[Form, ...]:
        return tuple([self._form(values) for values in forms])

    def _form(self, values: Sequence[Any]) -> Form:
        fields = list(values)
        fields[_SINCE] = _release(fields[_SINCE])
        fields[_UNTIL] = None if fields[_UNTIL] is None else _release(fields[_UNTIL])
        fields[_SIGNATURES] = self._signatures(fields[_SIGNATURES])
        fields[_LET] = None if fields[_LET] is None else Let(*fields[_LET])
        return Form(*fields)

    def _signatures(self, dated: Sequence[tuple[str, Any]]) -> tuple[tuple[Version, Signature], ...]:
        return tuple([(_release(since), self._shared(Signature, signature)) for since, signature in dated])

    def _pairs(self, pairs: Sequence[tuple[Any, ...]]) -> tuple[ParameterPair, ...]:
        return tuple([self._shared(ParameterPair, values) for values in pairs])

    def _shared(self, record: Callable[..., R], values: tuple[Any, ...]) -> R:
        key = record, values
        found: R | None = self._made.get(key)
        if found is None:
            fields = values
            if record is Signature:
                text, parameters = values
                fields = text, tuple([self._shared(Parameter, one) for one in parameters])
            found = self._made[key] = record(*fields)
        return found


_TORCH, _PADDLE, _PARAMETERS, _FORWARD = map(Row.__match_args__.index, ("torch", "paddle", "parameters", "forward"))
_SINCE, _UNTIL, _SIGNATURES, _LET = map(Form.__match_args__.index, ("since", "until", "signatures", "let"))


@cache
def _release(text: str) -> Version:
    return Version(text)
