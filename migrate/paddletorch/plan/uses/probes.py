"""Tests whether a module has an API, by name: ``hasattr(F, "silu")``, ``"silu" in dir(F)``."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from paddletorch_rules import Form, Row

from paddletorch.model import Conversion, Edit
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, refused
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView

_MODULES = "API101"


@dataclass(frozen=True, slots=True)
class _Probe:
    name: ast.Constant
    """The literal with the API's name."""
    whole: ast.expr
    present: str
    """The value of ``whole`` if the name exists."""


def answer_probe(view: FileView, site: Site, module: str, row: Row) -> Use | None:
    """Plan a probe of a module that has a counterpart; None if no row has the API.

    If the target's module has the API, it is probed for the new name; otherwise the probe becomes its answer.

    Raises:
        Refused: no allowed release has the module's counterpart.
    """
    probe = _probe(view, site.call) if site.call is not None else None
    if site.call is None or probe is None or row.kind != "module":
        return None
    probed = probe.name
    here = target_form(row, view)
    form = _counterpart(view, f"{module}.{probed.value!s}")
    if form is None or not here.names or view.is_deselected(row.code, site.call):
        return None
    holder, _, name = form.names[0].rpartition(".") if form.names and form.template is None else ("", "", "")
    if holder != here.names[0]:
        answer = Edit(view.source.span(probe.whole), probe.present, row.code)
        return Use(site, row, probe.present, whole=answer)
    span = view.source.span(probed)
    quote = view.source.slice(span)[-1]
    return Use(site, row, here.names[0], () if name == probed.value else (Edit(span, quote + name + quote, row.code),))


def plan_probes(view: FileView, planned: Planned) -> Changes:
    """Replace probes of the framework and of modules without a row by their answer: ``hasattr(torch, "compile")``."""
    edits: list[Edit] = []
    conversions: list[Conversion] = []
    findings: list[Finding] = []
    for call in view.tree.calls:
        probe = _probe(view, call)
        if probe is None or not view.is_located(call) or view.is_deselected(_MODULES, call):
            continue
        module = next(iter(view.evaluator.imported_names(call.args[0])), "")
        if module.partition(".")[0] != view.settings.source or view.settings.lookup(module) is not None:
            continue
        name = f"{module}.{probe.name.value!s}"
        if _counterpart(view, name) is None and not _leads_to_any(view, name):
            findings.append(refused(NoSuchUse(view.text(probe.whole), "not known"), call, name))
            continue
        edits.append(Edit(view.source.span(probe.whole), probe.present, _MODULES))
        conversions.append(view.conversion(_MODULES, probe.whole, name, probe.present))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _probe(view: FileView, call: ast.Call) -> _Probe | None:
    """The probe that a call of ``hasattr`` or ``dir`` is part of, if the name in it is a literal."""
    if not isinstance(call.func, ast.Name) or call.keywords or view.tree.scopes[call.func].lookup(call.func.id):
        return None
    parent = view.parent(call)
    name: ast.expr
    whole: ast.expr
    if call.func.id == "hasattr" and len(call.args) == 2:
        name, whole, present = call.args[1], call, "True"
    elif call.func.id == "dir" and len(call.args) == 1 and isinstance(parent, ast.Compare):
        if len(parent.ops) > 1 or not isinstance(parent.ops[0], ast.In | ast.NotIn) or parent.left is call:
            return None
        name, whole, present = parent.left, parent, str(isinstance(parent.ops[0], ast.In))
    else:
        return None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    text = view.source.slice(view.source.span(name))
    return _Probe(name, whole, present) if text[1:-1] == name.value else None


def _counterpart(view: FileView, name: str) -> Form | None:
    """The API's counterpart, if every allowed release of the target has it."""
    found = view.settings.lookup(name)
    return view.settings.emitted(found[0]) if found is not None else None


def _leads_to_any(view: FileView, module: str) -> bool:
    """Whether any API in the module has a counterpart: ``torch.backends.mps``."""
    settings = view.settings
    if module not in settings.spellings[1]:
        return False

    def ask() -> bool:
        names = {name for row in settings.rows for form in row.forms(settings.source) for name in form.names}
        written = (name for name in names if name.startswith(module + "."))
        modules = settings.table.aliases.modules(module)
        derived = (name for path in modules for names in settings.exported(path).values() for name in names)
        return any(_counterpart(view, name) is not None for name in (*written, *derived))

    return settings.cached("leads to any", module, ask)
