"""What is noted of a value: its class, a dtype, a rank, names of keys; never the value itself."""

from __future__ import annotations

import os
import sys
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

from paddletorch.model import Ask, Framework

UNCLEAR = "builtins.object"
"""Noted of what cannot be told, so that no other answer counts as the only one."""

_NUMBERS = frozenset({bool, int, float, complex})

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


class Answers:
    """Answers about values of a program on ``framework``, which need not be imported yet.

    Nothing here runs code of the program: no property, no ``__getattr__``, no operator of its classes.
    """

    def __init__(self, framework: Framework) -> None:
        self.framework = framework

    def of(self, ask: Ask, value: object, file: str) -> str:
        """The answer to ``ask`` about the value of an expression in ``file``, a real path."""
        if ask is Ask.TYPE:
            return self._class_name(type(value), file)
        if ask is Ask.CLASS:
            return self._object_name(value, file)
        if ask is Ask.KEYS:
            return _keys(value)
        if self.is_tensor(type(value)):
            tensor: Any = value
            return str(tensor.dtype).rpartition(".")[2] if ask is Ask.DTYPE else str(tensor.ndim)
        if ask is Ask.DTYPE and type(value) in _NUMBERS:
            return type(value).__name__
        return self._class_name(type(value), file)

    def is_tensor(self, kind: type) -> bool:
        """Whether objects of this class are the framework's own tensors; those of a class of the program are not."""
        return self._is_of_framework(kind) and self._named("Tensor") in kind.__mro__

    def _class_name(self, kind: type, file: str) -> str:
        """The qualified name; behind a colon a class of the framework that it derives from and that users know."""
        name = self._qualified(kind, file)
        bases = [base for base in kind.__mro__ if self._is_of_framework(base)]
        if not bases:
            return name
        base = next(filter(self._is_public, bases), bases[0])
        return name if base is kind else f"{name}:{self._qualified(base, file)}"

    def _qualified(self, kind: type, file: str) -> str:
        module = str(kind.__module__)
        if self._is_of_framework(kind) and self._named(kind.__qualname__) is kind:
            module = self.framework  # torch._C.Generator is torch.Generator
        return f"{self._module(module, file)}.{kind.__qualname__}"

    def _module(self, name: str, file: str) -> str:
        """The name of a class's module; of the main one that by which the others would import it."""
        main = sys.modules["__main__"]
        path = getattr(main, "__file__", None)
        if name not in ("__main__", "__mp_main__") or path is None:
            return name
        if os.path.realpath(path) == file:
            return "__main__"
        spec = getattr(main, "__spec__", None)
        return PurePath(path).stem if spec is None else str(spec.name)

    def _object_name(self, value: object, file: str) -> str:
        if isinstance(value, type):
            return self._class_name(value, file)
        if not isinstance(value, _FUNCTIONS):
            return UNCLEAR
        name = value.__name__
        nn = self._named("nn")
        functional = getattr(nn, "__dict__", {}).get("functional")
        tensor = self._named("Tensor")
        # of its functions, the framework does not always say where they are
        for where, found in (
            ("", self._named(name)),
            (".nn.functional", getattr(functional, "__dict__", {}).get(name)),
            (".Tensor", getattr(tensor, name, None)),
        ):
            if found is value:
                return f"{self.framework}{where}.{name}"
        if isinstance(value, FunctionType) or isinstance(getattr(value, "__self__", None), ModuleType):
            return f"{self._module(str(value.__module__), file)}.{value.__qualname__}"
        return UNCLEAR

    def _is_of_framework(self, kind: type) -> bool:
        return f"{kind.__module__}.".startswith(f"{self.framework}.")

    def _is_public(self, kind: type) -> bool:
        """Whether users of the framework write the class's name."""
        name, nn = kind.__qualname__, self._named("nn")
        if kind in (self._named(name), getattr(nn, "__dict__", {}).get(name)):
            return True
        return "._" not in f"{kind.__module__}.{name}" and not self.is_tensor(kind)

    def _named(self, name: str) -> object:
        """What the framework has by this name itself, if it is imported."""
        return getattr(sys.modules.get(self.framework), "__dict__", {}).get(name)


def _keys(value: object) -> str:
    """Of a mapping that is not a dict, asking for the keys may run code of the program."""
    if not isinstance(value, dict):
        return UNCLEAR
    keys = list(dict.keys(value))
    if not all(type(key) is str and key.isidentifier() for key in keys):
        return UNCLEAR
    return ",".join(sorted(keys))
