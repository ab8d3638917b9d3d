"""What the evaluator asks others: the tables about types, the index about other files of the source tree."""

from __future__ import annotations

from typing import Protocol

from paddletorch.model import Framework
from paddletorch.resolve.values import Values


class Types(Protocol):
    """What the tables say about types."""

    def makes(self, qualified_name: str) -> str | None:
        """The tracked type that a call of the name makes, if any."""

    def constant(self, qualified_name: str) -> str | None:
        """The tracked type of the object that the name is, if any."""

    def member(self, type_name: str, name: str) -> tuple[str, str | None] | None:
        """Kind of a member of a tracked type, and the type that it is or gives."""

    def bases(self, type_name: str) -> tuple[str, ...]:
        """The type and those whose members it has too."""

    def suggests(self, type_name: str, name: str) -> bool:
        """Whether a variable's name suggests the type."""

    def distinctive(self, name: str, side: Framework) -> str | None:
        """What a method makes that only tensors have, if it is one; ``side``'s before the other framework's."""


class Outside(Protocol):
    """What other files define, by the name that this file's imports give it; nothing if it is in none of them."""

    def defines(self, name: str) -> bool:
        """Whether a module of the source tree binds the name at its top level."""

    def called(self, name: str) -> Values:
        """What calling the function or class gives."""

    def instance(self, name: str) -> Values:
        """An instance of the class."""

    def held(self, name: str) -> Values:
        """The object that the name holds at the top level of its module."""

    def apis(self, name: str) -> Values:
        """The frameworks' own names that it is imported, or assigned, from."""

    def method(self, home: str, name: str) -> Values:
        """What calling a method of the class gives; ``home`` is the ``outside`` of its instance."""
