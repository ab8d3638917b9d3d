"""Compares what the two sides of an example gave: values, shapes and dtypes, however nested."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from typing import Any

TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float16": (1e-3, 1e-3),
    "bfloat16": (1e-2, 1e-2),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float64": (1e-7, 1e-9),
    "complex128": (1e-7, 1e-9),
}
"""``(rtol, atol)`` by dtype; everything else must be equal."""


def difference(expected: Any, found: Any, *, tolerance: float | None = None, values: bool = True) -> str | None:
    """The first difference between two results, in words, or None.

    Lists and tuples (``torch.Size``, named tuples) are alike, and so are dtypes, devices and modes of the same name.

    Args:
        tolerance: replaces both the relative and the absolute tolerance of floating-point values.
        values: whether values are compared; without, only types, shapes and dtypes.
    """
    return _Comparison(tolerance, values).compare(expected, found, "")


class _Comparison:
    def __init__(self, tolerance: float | None, values: bool) -> None:
        self.tolerance, self.values = tolerance, values

    def compare(self, expected: Any, found: Any, where: str) -> str | None:
        kinds = _kind(expected), _kind(found)
        if kinds[0] != kinds[1]:
            return f"{_at(where)}{_shown(expected)} became {_shown(found)}"
        kind = kinds[0]
        if kind == "array":
            return self._arrays(expected, found, where)
        if kind == "sequence":
            return self._sequences(expected, found, where)
        if kind == "mapping":
            if list(expected) != list(found):
                return f"{_at(where)}keys {list(expected)} became {list(found)}"
            return self._first((expected[key], found[key], f"{where}[{key!r}]") for key in expected)
        if kind in ("dtype", "device"):
            names = _name(expected), _name(found)
            return None if names[0] == names[1] else f"{_at(where)}{kind} {names[0]} became {names[1]}"
        if kind == "float":
            rtol, atol = (self.tolerance,) * 2 if self.tolerance is not None else TOLERANCES["float32"]
            both_nan = math.isnan(expected) and math.isnan(found)
            same = both_nan or math.isclose(expected, found, rel_tol=rtol, abs_tol=atol)
        elif kind in ("none", "bool", "int", "complex", "str"):
            same = bool(expected == found)
        else:
            return f"{_at(where)}a {kind} cannot be compared: let the example give tensors or numbers"
        return None if same or not self.values else f"{_at(where)}{expected!r} became {found!r}"

    def _first(self, pairs: Any) -> str | None:
        return next((problem for problem in (self.compare(*pair) for pair in pairs) if problem is not None), None)

    def _sequences(self, expected: Sequence[Any], found: Sequence[Any], where: str) -> str | None:
        if len(expected) != len(found):
            return f"{_at(where)}{len(expected)} items became {len(found)}"
        pairs = enumerate(zip(expected, found, strict=True))
        return self._first((e, f, f"{where}[{number}]") for number, (e, f) in pairs)

    def _arrays(self, expected: Any, found: Any, where: str) -> str | None:
        import numpy as np

        (a, a_dtype), (b, b_dtype) = _array(expected), _array(found)
        if a.shape != b.shape:
            return f"{_at(where)}shape {list(a.shape)} became {list(b.shape)}"
        if a_dtype != b_dtype:
            return f"{_at(where)}dtype {a_dtype} became {b_dtype}"
        if not self.values:
            return None
        rtol, atol = TOLERANCES.get(a_dtype, (0.0, 0.0))
        if self.tolerance is not None and a_dtype in TOLERANCES:
            rtol = atol = self.tolerance
        close = np.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True) if a_dtype in TOLERANCES else a == b
        if np.all(close):
            return None
        worst = tuple(int(n) for n in np.argwhere(~np.asarray(close))[0])
        count = int(np.size(close) - np.count_nonzero(close))
        index = str(list(worst)) if worst else ""
        return f"{_at(where)}{count} of {np.size(close)} values differ: {a[worst]} became {b[worst]} at {index or 'it'}"


def _kind(value: Any) -> str:
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)) or _is(value, "Tensor"):
        return "array"
    for kind, plain in _PLAIN.items():  # a subclass is alike: Paddle's ``size`` is an int of its own kind
        if isinstance(value, plain):
            return kind
    if isinstance(value, Mapping):
        return "mapping"
    if isinstance(value, Sequence):
        return "sequence"
    if isinstance(value, np.dtype) or _is(value, "dtype"):
        return "dtype"
    if type(value).__name__ == "device" or "Place" in type(value).__name__:
        return "device"
    return type(value).__name__


_PLAIN: Mapping[str, type] = {
    "none": type(None),
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "str": str,
}


def is_tensor(value: Any) -> bool:
    """Whether ``value`` is a tensor of either framework."""
    return _is(value, "Tensor")


def as_array(value: Any) -> Any:
    """A tensor's values in numpy."""
    return _array(value)[0]


def _is(value: Any, name: str) -> bool:
    """Whether ``value`` is an instance of ``torch.NAME`` or ``paddle.NAME``, of those that are loaded."""
    return any(
        isinstance(value, getattr(sys.modules[framework], name, ()))
        for framework in ("torch", "paddle")
        if framework in sys.modules
    )


def _array(value: Any) -> tuple[Any, str]:
    """A tensor's values in numpy, and the name of its dtype, which numpy may lack."""
    import numpy as np

    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value), value.dtype.name
    dtype = _name(value.dtype)
    if type(value).__module__.partition(".")[0] == "torch":
        import torch

        value = value.detach().cpu()
        value = value if value.layout is torch.strided else value.to_dense()
        value = value.resolve_conj().resolve_neg()
        return (value.float() if dtype == "bfloat16" else value).numpy(), dtype
    value = value.detach()
    if value.is_sparse():
        value = value.to_dense()
    return (value.astype("float32") if dtype == "bfloat16" else value).numpy(), dtype


def _name(value: Any) -> str:
    """The name that both sides give a dtype or a device: ``float32``, ``cpu``, ``gpu:0``."""
    text = str(value).removeprefix("Place(").removesuffix(")").rpartition(".")[2]
    return text.replace("cuda", "gpu")


def _at(where: str) -> str:
    return f"result{where}: " if where else ""


def _shown(value: Any) -> str:
    text = repr(value)
    kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__name__}".removeprefix("builtins.")
    return f"{kind} {text if len(text) <= 60 else text[:57] + '...'}"
