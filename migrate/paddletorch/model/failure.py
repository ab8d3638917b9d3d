"""The result of a file that could not be handled: one diagnostic, the source left alone."""

from __future__ import annotations

from paddletorch.model import Diagnostic, FileResult, Severity, Status


def failed(
    path: str, code: str, message: str, *, hint: str = "", source: bytes = b"", examined: bool = False
) -> FileResult:
    """A FAILED result with one file-level diagnostic (line 0)."""
    diagnostic = Diagnostic(code, message, 0, 0, 0, 0, severity=Severity.ERROR, hint=hint, examined=examined)
    return FileResult(path, Status.FAILED, source, source, diagnostics=(diagnostic,))


def too_large(path: str, limit: int, *, source: bytes = b"") -> FileResult:
    """The result of a file that is larger than ``limit``."""
    message = f"is larger than max-file-size ({limit:,} bytes); it was left alone"
    hint = "Leave it out with --exclude, or take it with a greater --max-file-size; 0 lifts the limit."
    return failed(path, "SRC017", message, hint=hint, source=source)


def too_slow(path: str, limit: float, *, source: bytes = b"") -> FileResult:
    """The result of a file that took longer than ``limit``."""
    message = f"took longer than max-file-seconds ({limit:g} CPU seconds); it was left alone"
    hint = "Leave it out with --exclude, or give it more with --max-file-seconds; 0 lifts the limit."
    return failed(path, "SRC018", message, hint=hint, source=source)


def reason(error: OSError) -> str:
    """The operating system's own words, without the path that the report prints anyway."""
    return error.strerror or str(error)
