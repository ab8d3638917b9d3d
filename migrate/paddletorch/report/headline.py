"""The first line of every summary."""

from __future__ import annotations

from paddletorch.model import Options
from paddletorch.report.printable import printable
from paddletorch.report.summary import Summary

_PACKAGES = 6
"""How many packages the summary names."""


def headline(summary: Summary) -> str:
    """How many files were read, hold a use, were converted and failed."""
    parts = [f"{summary.with_uses:,} with uses"] if summary.with_uses else []
    if summary.converted:
        parts.append(f"{summary.converted:,} {'converted' if summary.applied else 'would change'}")
    if summary.failed:
        parts.append(f"{summary.failed:,} failed")
    return f"{counted(summary.scanned, 'file')} scanned: {', '.join(parts) or 'nothing to convert'}."


def packages_line(summary: Summary, options: Options) -> str:
    """The packages without which the program cannot run; those that fewest files import are only counted."""
    named, more = list(summary.packages)[:_PACKAGES], len(summary.packages) - _PACKAGES
    rest = f" and {more} more" if more > 0 else ""
    return f"Cannot run without {', '.join(map(printable, named))}{rest}, built on {options.source}."


def findings_line(summary: Summary) -> str:
    """How many findings are left, and how many uses they are about; what is left without one is said, too."""
    found, more = sum(summary.left.values()), summary.coverage.total.left - summary.left_uses
    why = "stays, is ignored or is in the baseline" if summary.known else "stays or is ignored"
    kept = f"; {counted(more, 'more use')} left because of what {why}" if more else ""
    about = f" about {counted(summary.left_uses, 'use')}" if more or found != summary.left_uses else ""
    return f"{counted(found, 'finding')}{about}{kept}"


def counted(number: int, what: str) -> str:
    """``1 file``, ``1,200 files``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
