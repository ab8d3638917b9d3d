"""Why no copy of a tree is made; apart, so that a run without one need not import how it is."""

from __future__ import annotations


class OutputError(Exception):
    """DIR cannot be used, or the copy could not be made; DIR is as it was."""
