"""Keeps the observer out of what ``torch.compile`` compiles: it is told so when its module is imported."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType

from paddletorch_shim.recording.observer import leave_out_of_graphs

_DYNAMO = "torch._dynamo"


def watch_for_compiler() -> None:
    """Tell the compiler when it is imported, or now if it was."""
    if _DYNAMO in sys.modules:
        leave_out_of_graphs(sys.modules[_DYNAMO])
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See ``importlib.abc.MetaPathFinder``; does nothing but for one module, once."""
        if fullname != _DYNAMO:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _tell_when_loaded(spec.loader)
        return spec


def _tell_when_loaded(loader: Loader) -> None:
    plain = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        plain(module)
        leave_out_of_graphs(module)

    loader.exec_module = exec_module  # type: ignore[method-assign]
