"""What evidence changed: the result with it beside the result without."""

from __future__ import annotations

from dataclasses import replace

from paddletorch.model import Diagnostic, Evidence, FileResult, Status


def with_settled(result: FileResult, bare: FileResult, evidence: Evidence) -> FileResult:
    """``result``, with how much was answered, and how many findings of ``bare``, made without evidence, are gone."""
    if Status.FAILED in (result.status, bare.status):
        return result
    asked = {question for found in bare.diagnostics for question in found.questions}
    left = set(map(_key, result.diagnostics))
    gone = [found for found in bare.diagnostics if found.questions and _key(found) not in left]
    return replace(result, answered=sum(bool(evidence.answers(q)) for q in asked), settled=len(gone))


def _key(found: Diagnostic) -> tuple[str, int, int]:
    return found.code, found.line, found.column
