"""Which of a file's findings are shown: what is selected, and neither suppressed nor ignored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from paddletorch_rules import Table

from paddletorch.model import Options
from paddletorch.plan.model.changes import Planned
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.planner import findings_of


class Findings(NamedTuple):
    """What was found in a file."""

    every: list[Finding]
    shown: list[Finding]
    """What is selected and neither suppressed nor ignored; of a code that is said once a file, the first."""
    ignored: list[Finding]
    """What a comment or an option keeps away."""


class Selection(NamedTuple):
    """What the options select, by a finding's code, its former code and the code of its row."""

    options: Options
    former_codes: Mapping[str, str]
    """The earlier names of codes, by code."""

    @classmethod
    def by(cls, options: Options, table: Table) -> Selection:
        """The selection of these options, with the former codes of the table."""
        return cls(options, {code: spec.formerly for code, spec in table.diagnostics.items() if spec.formerly})

    def of(self, view: FileView, planned: Planned) -> Findings:
        """The findings of a planned file; suppressing one marks its comment as used."""
        every = findings_of(view, planned)
        shown: list[Finding] = []
        ignored: list[Finding] = []
        for f in every:
            if f.code in view.settings.inapplicable or not self._is_selected(f):
                continue
            wanted = (
                not any(code.startswith(self.options.ignore) for code in self._codes(f))
                and any(self.options.wants(code) for code in self._codes(f, with_row=True))
                and not view.suppressed(f.code, f.node)
            )
            (shown if wanted else ignored).append(f)
        once = {c for c in {f.code for f in shown} if view.settings.table.diagnostics[c].once}
        first: dict[str, Finding] = {}
        for finding in sorted(shown, key=lambda f: (f.node.lineno, f.node.col_offset)) if once else ():
            first.setdefault(finding.code, finding)
        return Findings(every, [f for f in shown if f.code not in once or f is first[f.code]], ignored)

    def _is_selected(self, finding: Finding) -> bool:
        select = self.options.select
        return not select or any(code.startswith(select) for code in self._codes(finding, with_row=True))

    def _codes(self, finding: Finding, *, with_row: bool = False) -> list[str]:
        """The finding's code and its former code; ``with_row``: the code of its row too."""
        former = self.former_codes.get(finding.code)
        row = [finding.row.code] if with_row and finding.row is not None else []
        return [finding.code, *([former] if former else []), *row]
