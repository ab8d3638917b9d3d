"""What one pass returns, and what all passes so far have decided."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import NamedTuple

from paddletorch.model import Conversion, Edit, Fate
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.naming import Naming
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Use, Uses
from paddletorch.plan.model.view import FileView


class Import(NamedTuple):
    """A module that new text at ``node`` needs imported."""

    node: ast.expr | ast.stmt
    module: str
    site: Site | None = None
    """The site that the text belongs to; the module is imported beside the site's own import."""


class Changes(NamedTuple):
    """What a pass returns."""

    edits: tuple[Edit, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    findings: tuple[Finding, ...] = ()
    imports: tuple[Import, ...] = ()
    uses: tuple[Use, ...] = ()
    """Uses that the pass added or revised."""
    handled: frozenset[ast.AST] = frozenset()
    """Members that later passes must not edit, since the statement around them was rewritten."""
    unlisted: tuple[tuple[str, Fate], ...] = ()
    """Uses of which neither a conversion nor a finding tells: the name and the fate of each."""
    naming: Naming | None = None
    """How names are written; only one pass decides it."""


NOTHING = Changes()
"""The changes of a pass that has nothing to do."""


def joined(many: Iterable[Changes]) -> Changes:
    """All of the changes in one value, in order."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    imports: list[Import] = []
    uses: list[Use] = []
    handled: set[ast.AST] = set()
    unlisted: list[tuple[str, Fate]] = []
    naming: Naming | None = None
    for one in many:
        if one is NOTHING:
            continue
        edits += one.edits
        conversions += one.conversions
        findings += one.findings
        imports += one.imports
        uses += one.uses
        handled |= one.handled
        unlisted += one.unlisted
        naming = one.naming or naming
    return Changes(
        tuple(edits),
        tuple(conversions),
        tuple(findings),
        tuple(imports),
        tuple(uses),
        frozenset(handled),
        tuple(unlisted),
        naming,
    )


@dataclass(frozen=True)
class Planned:
    """What is decided about a file so far. Each pass reads it and returns changes."""

    uses: Uses = field(default_factory=Uses)
    parts: tuple[Changes, ...] = ()
    """The changes of the passes so far, in order."""

    def with_changes(self, changes: Changes) -> Planned:
        """What is decided once a pass has returned its changes."""
        if changes is NOTHING:
            return self
        return Planned(self.uses.with_uses(changes.uses), (*self.parts, changes))

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """The edits of all passes so far."""
        return tuple(chain.from_iterable([part.edits for part in self.parts]))

    @property
    def conversions(self) -> list[Conversion]:
        """What was converted so far."""
        return [conversion for part in self.parts for conversion in part.conversions]

    @property
    def findings(self) -> list[Finding]:
        """The findings that belong to no use."""
        return [finding for part in self.parts for finding in part.findings]

    @property
    def imports(self) -> list[Import]:
        """The modules that new text names."""
        return [one for part in self.parts for one in part.imports]

    @cached_property
    def handled(self) -> frozenset[ast.AST]:
        """Members that the passes so far have dealt with."""
        return frozenset().union(*[part.handled for part in self.parts])

    @property
    def unlisted(self) -> list[tuple[str, Fate]]:
        """The uses of which neither a conversion nor a finding tells: the name and the fate of each."""
        return [one for part in self.parts for one in part.unlisted]

    @cached_property
    def naming(self) -> Naming:
        """How names are written, once it is decided."""
        return next((part.naming for part in self.parts if part.naming is not None), Naming({}))


Plan = Callable[[FileView, Planned], Changes]
"""What a pass does."""

Condition = Callable[[FileView, Planned], bool]
"""Whether a pass may have anything to do."""


class Pass(NamedTuple):
    """One step of planning a file: a function of the file and the decisions so far, without side effects."""

    name: str
    plan: Plan
    leaves_uses: bool = False
    """It may leave uses that a pass before it converts; such passes run again without those."""
    codes: tuple[str, ...] = ()
    """All codes of its edits and findings; where none is asked for, neither is the pass. Empty: it always is."""
    when: tuple[Condition, ...] = ()
    """What must hold for it to have anything to do."""

    def is_needed(self, view: FileView, planned: Planned) -> bool:
        """Whether it may have anything to do."""
        if self.codes and not any(map(view.settings.is_asked, self.codes)):
            return False
        for condition in self.when:  # noqa: SIM110 -- asked of every pass: a generator would show
            if not condition(view, planned):
                return False
        return True


@dataclass(frozen=True)
class Later:
    """A function of a pass by its place, ``module:name`` below ``paddletorch.plan``; it is imported to run."""

    place: str

    @cached_property
    def function(self) -> Plan:
        """The function itself."""
        module, _, name = self.place.partition(":")
        found: Plan = getattr(import_module(f"paddletorch.plan.{module}"), name)
        return found

    def __call__(self, view: FileView, planned: Planned) -> Changes:
        return self.function(view, planned)
