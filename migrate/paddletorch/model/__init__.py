"""The frozen records that flow through a run: options in, edits, diagnostics and results out. Imports no other room."""

from paddletorch.model.diagnostics import Applicability, CellPosition, Diagnostic, Severity
from paddletorch.model.edits import Edit, Placeholder, Span
from paddletorch.model.options import Framework, Options, ShimMode
from paddletorch.model.results import CellText, Conversion, FileResult, Status, Uses

__all__ = [
    "Applicability",
    "CellPosition",
    "CellText",
    "Conversion",
    "Diagnostic",
    "Edit",
    "FileResult",
    "Framework",
    "Options",
    "Placeholder",
    "Severity",
    "ShimMode",
    "Span",
    "Status",
    "Uses",
]
