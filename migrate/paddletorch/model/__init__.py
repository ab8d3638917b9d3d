"""The frozen records that flow through a run: options in, edits, diagnostics and results out. Imports no other room."""

from paddletorch.model.diagnostics import Applicability, CellPosition, Diagnostic, Severity
from paddletorch.model.edits import DeferredText, Edit, Span
from paddletorch.model.fates import Fate, Fates
from paddletorch.model.options import PACKAGES, Framework, InitialValues, Options, ShimMode
from paddletorch.model.questions import NO_EVIDENCE, NOTHING_RECORDED, Ask, Evidence, Question
from paddletorch.model.results import CellText, Conversion, FileResult, Status
from paddletorch.model.statement_changes import StatementChange

__all__ = [
    "NOTHING_RECORDED",
    "NO_EVIDENCE",
    "PACKAGES",
    "Applicability",
    "Ask",
    "CellPosition",
    "CellText",
    "Conversion",
    "DeferredText",
    "Diagnostic",
    "Edit",
    "Evidence",
    "Fate",
    "Fates",
    "FileResult",
    "Framework",
    "InitialValues",
    "Options",
    "Question",
    "Severity",
    "ShimMode",
    "Span",
    "StatementChange",
    "Status",
]
