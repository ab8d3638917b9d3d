"""How much a checkpoint may hold, and the count of what one does hold once it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MIB = 2**20
GIB = 2**30

_RATIO = 20
_LEAST = 256 * MIB
_MOST = 64 * GIB

DEPTH = 100
"""How deep containers may be nested. Trainers nest fewer than ten; readers of the content are recursive."""


class LimitError(ValueError):
    """A checkpoint holds more than it may. The message names the limit and the option that raises it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a checkpoint may hold.

    Args:
        size: bytes that it may take in memory; None: 20 times the file's size, from 256 MiB to 64 GiB.
        objects: operations of its pickles, and objects in it, where an object in several places counts in each.
    """

    size: int | None = None
    objects: int = 2_000_000

    def allowed(self, file_size: int) -> int:
        """The bytes in memory that a file of ``file_size`` bytes may take."""
        return max(_LEAST, min(_RATIO * file_size, _MOST)) if self.size is None else self.size

    def check_size(self, what: str, size: int, file_size: int) -> None:
        """Raises LimitError if ``size`` bytes, of ``what``, are more than the file may take."""
        allowed = self.allowed(file_size)
        if size > allowed:
            raise LimitError(
                f"{what} would take {readable(size)} of memory, and a file of {readable(file_size)} may take "
                f"{readable(allowed)}; if you trust the file, raise the limit with --max-size {-(-size // GIB)}"
            )

    def check_objects(self, what: str, count: int) -> None:
        """Raises LimitError if ``count`` is more than the checkpoint may hold."""
        if count > self.objects:
            raise LimitError(
                f"{what} more than {self.objects:,}; if you trust the file, raise the limit with --max-objects"
            )


def readable(size: int) -> str:
    """A number of bytes for people."""
    for unit, bytes_of_it in (("GiB", GIB), ("MiB", MIB), ("KiB", 2**10)):
        if size >= bytes_of_it:
            return f"{size / bytes_of_it:,.1f} {unit}"
    return f"{size} bytes"


def check_content(content: Any, limits: Limits, file_size: int) -> None:
    """Count loaded content, each object visited once, so that whatever walks it afterwards comes to an end.

    Raises:
        LimitError: it holds too many objects or bytes, is nested too deep, or holds itself.
    """
    counted: dict[int, tuple[int, int]] = {}  # by id: objects in the container, shared ones in each place, and depth
    entered: set[int] = set()
    tensors: dict[int, int] = {}
    pending: list[tuple[Any, bool]] = [(content, False)]
    while pending:
        container, all_counted = pending.pop()
        key = id(container)
        if key in counted:
            continue
        children = _children(container)
        if not all_counted:
            if key in entered:
                raise LimitError("a list or dict in it holds itself")
            entered.add(key)
            pending.append((container, True))
            pending.extend((child, False) for child in children if _children(child))
            continue
        entered.discard(key)
        parts = [counted.get(id(child), (1, 0)) for child in children]
        objects, depth = 1 + sum(part[0] for part in parts), 1 + max((part[1] for part in parts), default=0)
        limits.check_objects("its objects, counted in each place that holds them, are", objects)
        check_depth(depth)
        tensors.update((id(child), _bytes(child)) for child in children)
        counted[key] = objects, depth
    tensors[id(content)] = _bytes(content)
    limits.check_size("its tensors", sum(tensors.values()), file_size)


def check_depth(depth: int) -> None:
    """Raises LimitError if containers are nested ``depth`` deep and that is too deep."""
    if depth > DEPTH:
        raise LimitError(
            f"its containers are nested more than {DEPTH} deep, which no option allows: save the state dicts alone"
        )


def _children(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    return list(value) if isinstance(value, (list, tuple, set, frozenset)) else []


def _bytes(value: Any) -> int:
    """The bytes that a tensor or array takes once each element is its own, as in a view that repeats some."""
    if hasattr(value, "element_size") and hasattr(value, "layout"):
        dense = str(value.layout) == "torch.strided" and not value.is_meta
        return int(value.numel() * value.element_size()) if dense else 0
    return int(value.nbytes) if hasattr(value, "nbytes") else 0
