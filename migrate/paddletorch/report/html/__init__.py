"""One self-contained page for people: coverage, findings, conversions and diffs, without any request."""

from paddletorch.report.html.page import render

__all__ = ["render"]
