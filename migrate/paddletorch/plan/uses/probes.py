"""Tests whether a module has an API, by name: ``hasattr(F, "silu")``, ``getattr(torch, "compile", None)``."""

from __future__ import annotations

import ast
from typing import NamedTuple

from paddletorch_rules import Form, Row

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding, refused
from paddletorch.plan.model.refusals import NoSuchUse
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.target_forms import target_form
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.brackets import with_brackets
from paddletorch.plan.syntax.precedence import brackets_for

_MODULES = "API101"
_FALLBACK = "API236"


class _Probe(NamedTuple):
    module: ast.expr
    name: ast.Constant
    """The literal with the API's name."""
    whole: ast.expr
    present: str | None
    """The value of ``whole`` if the name exists; None if that is the API itself."""
    absent: str | ast.expr
    """Its value if the name does not exist."""


def answer_probe(view: FileView, site: Site, module: str, row: Row) -> Use | None:
    """Plan a probe of a module that has a counterpart; None if no row has the API.

    If the target's module has the API, it is probed for the new name; otherwise the probe becomes its answer. Of what
    the target lacks, the program's own fallback holds.

    Raises:
        Refused: no allowed release has the module's counterpart.
    """
    probe = _probe(view, site.call) if site.call is not None else None
    if site.call is None or probe is None or row.kind != "module":
        return None
    probed = probe.name
    api = f"{module}.{probed.value!s}"
    here = target_form(row, view)
    form = _counterpart(view, api)
    if not here.names or view.is_deselected(row.code, site.call):
        return None
    if _lacks(view, api, as_value=probe.present is None):
        answer = _absent_answer(view, probe, row.code)
        return Use(site, row, answer.written, whole=answer).with_findings(_note(view, probe, api, row))
    if form is None or probe.present is None:
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
    answered: set[ast.AST] = set()
    for call in view.tree.calls:  # an outer one before those inside
        probe = _probe(view, call)
        if probe is None or not view.is_located(call) or view.is_deselected(_MODULES, call) or call in answered:
            continue
        module = _probed_module(view, probe.module)
        if module.partition(".")[0] != view.settings.source or view.settings.lookup(module) is not None:
            continue
        name = f"{module}.{probe.name.value!s}"
        if _lacks(view, name, as_value=probe.present is None):
            edits.append(_absent_answer(view, probe, _MODULES))
            findings.append(_note(view, probe, name))
            answered.update(ast.walk(probe.module))
        elif probe.present is None:
            continue
        elif _counterpart(view, name) is None and not _leads_to_any(view, name):
            findings.append(refused(NoSuchUse(view.text(probe.whole), "not known"), call, name))
            continue
        else:
            edits.append(Edit(view.source.span(probe.whole), probe.present, _MODULES))
        conversions.append(view.conversion(_MODULES, probe.whole, name, edits[-1].written))
    return Changes(tuple(edits), tuple(conversions), tuple(findings))


def _probe(view: FileView, call: ast.Call) -> _Probe | None:
    """The probe that a call of ``hasattr``, ``getattr`` or ``dir`` is part of, if the name in it is a literal."""
    if not isinstance(call.func, ast.Name) or call.keywords or view.tree.scopes[call.func].lookup(call.func.id):
        return None
    parent = view.parent(call)
    name: ast.expr
    whole: ast.expr = call
    present: str | None = "True"
    absent: str | ast.expr = "False"
    if call.func.id == "hasattr" and len(call.args) == 2:
        name = call.args[1]
    elif call.func.id == "getattr" and len(call.args) == 3 and not _is_used_at_once(parent, call):
        _, name, absent = call.args
        is_none = isinstance(absent, ast.Constant) and not absent.value
        present = "True" if is_none and _is_tested(view, call) else None
    elif call.func.id == "dir" and len(call.args) == 1 and isinstance(parent, ast.Compare):
        if len(parent.ops) > 1 or not isinstance(parent.ops[0], ast.In | ast.NotIn) or parent.left is call:
            return None
        is_in = isinstance(parent.ops[0], ast.In)
        name, whole, present, absent = parent.left, parent, str(is_in), str(not is_in)
    else:
        return None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    text = view.source.slice(view.source.span(name))
    return _Probe(call.args[0], name, whole, present, absent) if text[1:-1] == name.value else None


def _is_tested(view: FileView, node: ast.expr) -> bool:
    """Whether only the truth of the value is asked: ``if getattr(torch.backends, "mps", None) and ...:``."""
    parent = view.parent(node)
    if isinstance(parent, ast.Compare):
        other = parent.comparators[0]
        return isinstance(parent.ops[0], ast.Is | ast.IsNot) and isinstance(other, ast.Constant) and other.value is None
    if isinstance(parent, ast.BoolOp):
        is_last = parent.values[-1] is node
        return (isinstance(parent.op, ast.And) and not is_last) or _is_tested(view, parent)
    if isinstance(parent, ast.UnaryOp):
        return isinstance(parent.op, ast.Not)
    return isinstance(parent, ast.If | ast.IfExp | ast.While | ast.Assert) and parent.test is node


def _is_used_at_once(parent: ast.AST | None, call: ast.Call) -> bool:
    """Whether the program counts on what ``getattr`` gives: it is called, or an attribute of it is read."""
    return isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and parent.func is call)


def _probed_module(view: FileView, node: ast.expr) -> str:
    """The module that is probed: ``torch.compiler`` for ``getattr(torch, "compiler", None)``, too."""
    inner = _probe(view, node) if isinstance(node, ast.Call) else None
    if inner is None:
        names = view.evaluator.imported_names(node)
        return next(iter(names)) if len(names) == 1 else ""
    return f"{_probed_module(view, inner.module)}.{inner.name.value!s}" if inner.present is None else ""


def _lacks(view: FileView, name: str, *, as_value: bool) -> bool:
    """Whether nothing of the target stands for what a module has by this name; ``as_value``: apart from calls of it."""
    settings = view.settings
    module, _, last = name.rpartition(".")
    if last.startswith("__") or any(part[0].isupper() for part in module.split(".")) or settings.deselects(name):
        return False
    found = settings.lookup(name)
    if found is None:
        return not settings.table.lookup(settings.source, name) and not _leads_to_any(view, name)
    if found[0].kind == "unsupported":
        return True
    form = settings.emitted(found[0])
    return as_value and found[0].kind == "function" and form is not None and not form.names


def _absent_answer(view: FileView, probe: _Probe, code: str) -> Edit:
    """What takes the place of a probe for what the target lacks, with the operands that then never count."""
    whole, answer = probe.whole, probe.absent
    negation = view.parent(whole)
    if isinstance(negation, ast.UnaryOp) and isinstance(negation.op, ast.Not) and isinstance(answer, str):
        whole, answer = negation, str(answer == "False")
    span, around = view.source.span(whole), view.parent(whole)
    if isinstance(around, ast.IfExp) and around.test is whole and isinstance(answer, str):
        kept = view.source.span(around.body if answer == "True" else around.orelse)
        return Edit(view.source.span(around), view.source.slice(kept), code, (kept,))
    if isinstance(around, ast.BoolOp) and answer == str(isinstance(around.op, ast.Or)):
        start = _operand(view, around, around.values.index(whole)).start
        return Edit(Span(start, view.source.span(around).end), str(answer), code)
    if isinstance(answer, str):
        return Edit(span, answer, code)
    if isinstance(around, ast.BoolOp) and isinstance(around.op, ast.Or) and _is_false(answer):
        place = around.values.index(whole)
        if place + 1 < len(around.values):
            operands = _operand(view, around, place), _operand(view, around, place + 1)
            return Edit(Span(operands[0].start, operands[1].start), "", code)
    kept = view.source.span(answer)
    text = view.source.slice(kept)
    before, after = brackets_for(answer, text, around, whole)
    return Edit(span, f"{before}{text}{after}", code, (before, kept, after))


def _operand(view: FileView, operation: ast.BoolOp, place: int) -> Span:
    """The operand with the brackets around it."""
    span, whole = view.source.span(operation.values[place]), view.source.span(operation)
    start = whole.start if place == 0 else view.source.span(operation.values[place - 1]).end
    return with_brackets(view.source, span, start)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not node.value


def _note(view: FileView, probe: _Probe, name: str, row: Row | None = None) -> Finding:
    return finding(_FALLBACK, probe.whole, name, row, what=view.text(probe.whole))


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
