"""The first line of every summary."""

from __future__ import annotations

from paddletorch.report.summary import Summary


def headline(summary: Summary) -> str:
    """How many files were read, hold a use, were converted and failed."""
    parts = [f"{summary.with_uses:,} with uses"] if summary.with_uses else []
    if summary.converted:
        parts.append(f"{summary.converted:,} {'converted' if summary.applied else 'would change'}")
    if summary.failed:
        parts.append(f"{summary.failed:,} failed")
    return f"{counted(summary.scanned, 'file')} scanned: {', '.join(parts) or 'nothing to convert'}."


def counted(number: int, what: str) -> str:
    """``1 file``, ``1,200 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
