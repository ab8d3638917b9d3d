"""Questions that a conversion leaves open, and what a recorded run of the program answers.

A place is ``ast``'s: lines from 1, columns from 0 in UTF-8 bytes, of the expression that the question is about.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from types import MappingProxyType

Place = tuple[int, int, int, int]
"""Line, column, end line and end column."""


class Ask(str, Enum):
    """What is asked about an expression."""

    TYPE = "type"
    """The qualified name of its value's class: ``torch.Tensor``, ``torch.nn.modules.conv.Conv2d``, ``builtins.int``.

    Behind a colon is the framework's class that it derives from, if any: ``zoo.Net:torch.nn.modules.module.Module``.
    """
    DTYPE = "dtype"
    """A tensor's dtype by its plain name: ``float32``; of a Python number its type: ``int``."""
    RANK = "rank"
    """How many axes a tensor has, in digits."""
    SHARED = "shared"
    """Whether something else held the tensor or its memory when it was written in place: ``yes`` or ``no``."""
    CLASS = "class"
    """The qualified name of the class or function that the expression is: what ``norm_layer`` was."""
    KEYS = "keys"
    """The keys of an unpacked mapping, sorted and joined by commas."""


def place_of(node: ast.expr) -> Place:
    """The place of an expression of a parsed file."""
    return node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or node.col_offset


@dataclass(frozen=True, slots=True, order=True)
class Question:
    """An open question about the expression at ``place``."""

    ask: Ask
    place: Place


@dataclass(frozen=True, slots=True)
class Evidence:
    """What runs of a program showed of one file; how often each answer was seen, by question."""

    digest: str
    """SHA-256 of the file's bytes that ran, in hexadecimal digits; for other bytes nothing here holds."""
    seen: Mapping[Question, Mapping[str, int]] = field(default_factory=dict)

    def answers(self, question: Question) -> frozenset[str]:
        """All answers that were seen; empty if that place never ran."""
        return frozenset(self.seen.get(question, ()))

    def is_of(self, data: bytes) -> bool:
        """Whether the file that ran held these bytes."""
        return self.digest == sha256(data).hexdigest()


NO_EVIDENCE = Evidence("")
"""Of a file that was never recorded."""

NOTHING_RECORDED: Mapping[str, Evidence] = MappingProxyType({})
"""The evidence by path of a project that was never recorded."""
