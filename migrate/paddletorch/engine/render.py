"""Makes a diagnostic of a finding: fills in its text and place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from paddletorch.model import Applicability, Diagnostic, Severity
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView


def render(view: FileView, finding: Finding) -> Diagnostic:
    """Fill in a finding's text and place."""
    spec = view.settings.table.diagnostics[finding.code]
    span = view.source.span(finding.node)
    line, column = view.source.position(span.start)
    end_line, end_column = view.source.position(span.end)
    holes = _Holes(
        finding.details,
        source=view.settings.source,
        target=view.settings.target,
        api=finding.name or "the API",
    )
    hint = spec.hint.format_map(holes)
    return Diagnostic(
        code=finding.code,
        message=spec.message.format_map(holes),
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        severity=Severity(spec.severity),
        applicability=Applicability.DISPLAY if finding.applied else Applicability(spec.applicability),
        name=finding.name,
        hint=re.sub("; --unsafe .*", ".", hint) if finding.applied else hint,
        formerly=spec.formerly,
    )


class _Holes(dict[str, str]):
    """Holes that a message leaves unfilled stay readable."""

    def __init__(self, holes: Iterable[tuple[str, str]], **more: str) -> None:
        super().__init__({**more, **dict(holes)})

    def __missing__(self, key: str) -> str:
        return "…"
