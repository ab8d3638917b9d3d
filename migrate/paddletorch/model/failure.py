"""The result of a file that could not be handled: one diagnostic, the source left alone."""

from __future__ import annotations

from paddletorch.model import Diagnostic, FileResult, Severity, Status


def failed(path: str, code: str, message: str, *, hint: str = "", source: bytes = b"") -> FileResult:
    """A FAILED result with one file-level diagnostic (line 0)."""
    diagnostic = Diagnostic(code, message, 0, 0, 0, 0, severity=Severity.ERROR, hint=hint)
    return FileResult(path, Status.FAILED, source, source, diagnostics=(diagnostic,))


def reason(error: OSError) -> str:
    """The operating system's own words, without the path that the report prints anyway."""
    return error.strerror or str(error)
