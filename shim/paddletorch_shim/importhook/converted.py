"""The code of modules that run on the other framework: kept from before, or converted now."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable
from types import CodeType
from typing import TYPE_CHECKING, Any

from paddletorch_shim.importhook.findings import ConversionError, ConversionWarning, Finding
from paddletorch_shim.importhook.settings import Settings
from paddletorch_shim.importhook.store import Store

if TYPE_CHECKING:
    from paddletorch_shim.importhook.conversion import ModuleConverter


class ConvertedModules:
    """Converts the modules of one hook, each once."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._store = Store(settings.options, "to")
        self._converter: ModuleConverter | None = None
        self._lock = threading.RLock()

    def code(self, fullname: str, source: bytes, file: str) -> CodeType:
        """See :class:`paddletorch_shim.importhook.settings.ModuleCode`."""
        kept: tuple[CodeType, list[tuple[Any, ...]]] | None = self._store.load(file, source)
        if kept is not None:
            code, findings = kept[0], tuple(Finding(*finding) for finding in kept[1])
        else:
            with self._lock:
                code, findings = self._convert(fullname, source, file)
        self._judge(fullname, file, findings)
        return code

    def forget(self) -> None:
        """See :class:`paddletorch_shim.importhook.settings.ModuleCode`."""
        self._converter, self._lock = None, threading.RLock()

    def _convert(self, fullname: str, source: bytes, file: str) -> tuple[CodeType, tuple[Finding, ...]]:
        from paddletorch_shim.importhook.conversion import ModuleConverter

        if self._converter is None:
            self._converter = ModuleConverter(self._settings.options)
        made = self._converter.convert(fullname, source, file, self._settings.place(file))
        self._store.save(file, source, (made.code, [tuple(one) for one in made.findings]), made.dependencies)
        return made.code, made.findings

    def _judge(self, fullname: str, file: str, findings: Iterable[Finding]) -> None:
        shown = [finding for finding in findings if not self._settings.allows(finding.code)]
        blocking = [finding for finding in shown if finding.blocks]
        if blocking:
            raise ConversionError(fullname, file, self._settings.options.target, blocking)
        for finding in shown:
            text = f"{finding.code} {finding.message}"
            warnings.warn_explicit(text, ConversionWarning, file, finding.line, module=fullname)
