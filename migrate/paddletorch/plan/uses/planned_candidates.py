"""Plans one meaning of a site: which target API it becomes by its role, and what happens to its arguments."""

from __future__ import annotations

import ast
from dataclasses import replace

from paddletorch_rules import Form, Row
from paddletorch_rules.hooks import class_check

from paddletorch.model import Edit
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.calls.fill_template import fill
from paddletorch.plan.calls.initial_values import LEFT, warned_code
from paddletorch.plan.inference.overloads import choose
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.refusals import (
    Assigned,
    LeftWithAnother,
    NeedsWholeCall,
    NoSuchUse,
    NotInRelease,
    Refused,
    ShardedScaler,
)
from paddletorch.plan.model.site import Candidate, Site
from paddletorch.plan.model.target_forms import no_counterpart, target_form, target_name
from paddletorch.plan.model.template import Template
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.written_functions import written_class
from paddletorch.plan.syntax.precedence import brackets_for
from paddletorch.plan.uses.call_hooks import CALL_HOOKS
from paddletorch.plan.uses.lookups import convert_lookup
from paddletorch.plan.uses.probes import answer_probe
from paddletorch.plan.uses.unbound import convert_unbound, is_same_method, methods
from paddletorch.plan.uses.uncalled import (
    as_constructor,
    as_lambda,
    convert_assignment,
    convert_class_member,
    convert_decorator,
    is_decorator,
    takes_constructor,
    value_warning,
)


def plan_candidate(view: FileView, site: Site, candidate: Candidate) -> Use:
    """The use of a site for one meaning of its name; left, with a finding, where it must be."""
    left = Use(site, candidate.row, None)
    try:
        use = _convert(view, site, candidate)
    except Refused as stop:
        return left.refuse(stop.refusal)
    if use.converts or use.findings:
        return use
    return left.refuse(NeedsWholeCall("this use", target_name(candidate.row, view)))


def _overload(view: FileView, site: Site, candidate: Candidate) -> Candidate:
    """The row whose signature the call fits, where several rows have the name."""
    options = view.settings.overloads(candidate.name)
    if len(options) < 2:
        return candidate
    constants = [o for o in options if o[0].kind == "constant"]
    options = [o for o in options if o[0].kind != "constant"]
    if site.role not in ("call", "partial") or site.call is None:
        emitted = view.settings.emitted
        named = [o for o in options if (f := emitted(o[0])) is not None and f.names and f.template is None]
        return Candidate(candidate.name, *[*constants, *named, (candidate.row, candidate.form)][0])
    if not options:
        return candidate
    return Candidate(candidate.name, *choose(view, site.call, options, 1 if site.role == "partial" else 0))


def _convert(view: FileView, site: Site, candidate: Candidate) -> Use:
    """The use for one meaning of its name.

    Raises:
        Refused: it must be left.
    """
    attribute = view.parent(site.node)
    if site.role == "member" and isinstance(attribute, ast.Attribute) and not attribute.attr.startswith("__"):
        options = methods(view, candidate.name, attribute.attr)
        if options and site.call is not None:
            return convert_unbound(view, site, attribute.attr, options)
        is_read = isinstance(attribute.ctx, ast.Load)
        if is_read and not all(is_same_method(view, row, attribute.attr) for row, _ in options):
            raise Refused(NeedsWholeCall(f"it before .{attribute.attr}", "the counterpart"))
    if candidate.row.receiver is not None:  # another name of a method: an operator
        if site.role != "call":
            raise Refused(NeedsWholeCall("this use", target_name(candidate.row, view)))
        return convert_unbound(view, site, candidate.form.names[0], view.settings.overloads(candidate.name))
    candidate = _overload(view, site, candidate)
    row = candidate.row
    if row.annotation and _is_cast_to(view, site):
        return Use(site, row, target_name(row, view), keeps_name=True)
    _check_annotation(view, site, row)
    if site.role == "patch":
        return _convert_store(view, site, row)
    if site.role == "probe":
        return _convert_probe(view, site, candidate)
    hook = CALL_HOOKS.get(row.hook or "")
    if hook is not None and site.role == "call" and site.call is not None:
        replaced = hook(view, site.call, row, candidate.form, candidate.name)
        if replaced is not None:
            return Use(
                site,
                row,
                replaced.name,
                tuple(replaced.edits),
                tuple(replaced.findings),
                whole=replaced.whole,
                writes_name=True,
            )
    if row.kind == "unsupported" or not row.forms(view.target):
        raise Refused(no_counterpart(row, "is not used in a way that can be converted"))
    if row.hook == "sharded_scaler":
        if site.role not in ("annotation", "check"):
            raise Refused(ShardedScaler())
        row = view.settings.table.row("GradScaler")  # a function is no class: the plain scaler is written there
    return _convert_by_role(view, site, candidate, row, target_form(row, view))


def _convert_by_role(view: FileView, site: Site, candidate: Candidate, row: Row, form: Form) -> Use:
    use = Use(site, candidate.row, form.names[0] if form.names else None)
    warned = view.target in row.warn
    warning = finding(warned_code(view, row), site.node, candidate.name, row) if warned else None
    if row.kind == "constant":
        if warning is not None and site.role != "annotation":
            use = use.with_findings(warning)
        if form.template is None:
            return use
        value = ast.parse(form.template, mode="eval").body
        before, after = brackets_for(value, form.template, view.parent(site.node), site.node)
        text = view.quoted(before + form.template + after, site.node)
        return replace(use, target=form.template, whole=Edit(view.source.span(site.node), text, row.code))
    if row.kind == "module":
        if site.role == "value" or isinstance(view.parent(site.node), ast.BinOp | ast.UnaryOp):
            raise Refused(NeedsWholeCall("this use", form.names[0]))
        return use
    if warning is not None and _is_warned(view, site, row):
        use = use.with_findings(warning)
    written = (
        written_class(view, form.template) if site.role in ("annotation", "base", "check", "alias", "value") else ""
    )
    if written and site.role == "annotation":
        name = Edit(view.source.span(site.node), view.quoted(written, site.node), row.code)
        return replace(use, target=written, whole=name, writes_name=True)
    if written:  # the row's names stand for the releases; and each file has a class of its own
        raise Refused(NeedsWholeCall("this use", "the counterpart"))
    if takes_constructor(view, site, candidate, form):
        return replace(use, target=form.template, keeps_name=True)
    if site.call is not None and site.role in ("call", "partial"):
        return _convert_call(view, use, candidate, form)
    if site.role == "member":
        return convert_class_member(view, use, candidate, form)
    if is_decorator(view, site.node):
        return convert_decorator(view, use, candidate, form)
    constructor = as_constructor(view, site, candidate, form)
    if constructor is not None:
        return replace(use, target=form.template, whole=constructor, writes_name=True)
    if site.role != "value":
        return use
    function = as_lambda(view, site, candidate, form)
    if function is not None:
        return replace(use, target=form.template, whole=function)
    if not form.names:
        raise Refused(NeedsWholeCall("a value that is passed on", "an expression"))
    return use.with_findings(*value_warning(view, use, candidate)) if row.kind in _CALLED else use


_NAMED = frozenset({"annotation", "base", "check", "alias", "value"})
"""Roles in which the API's name stands alone."""

_CALLED = frozenset({"class", "context", "function"})
"""Kinds of rows whose API may be called where it is used as a value."""


def _convert_call(view: FileView, use: Use, candidate: Candidate, form: Form) -> Use:
    site, call = use.site, use.site.call
    assert call is not None
    larger = _larger_expression(view, call, candidate, form)
    if larger is not None:
        return replace(use, target=form.also[0], whole=larger)
    _check_member(view, call, candidate.row, form)
    callee = Callee.PARTIAL if site.role == "partial" else Callee.NAMED
    skip = 1 if callee is Callee.PARTIAL else 0
    binding = bind(view, call, candidate.row, candidate.form, candidate.name, skip)
    is_certain = site.other is None and len({c.row.id for c in site.candidates}) == 1
    converted = convert_bound_call(binding, form, callee, is_certain=is_certain)
    if converted.initialized:
        use = use.without_finding(LEFT)
    return Use(
        site,
        use.row,
        use.target or converted.template,
        converted.edits,
        (*use.findings, *converted.findings),
        whole=converted.whole,
        writes_name=converted.template is not None,
    )


def _check_member(view: FileView, call: ast.Call, row: Row, form: Form) -> None:
    """Raise Refused if a member that is left is read from an object that becomes something else: ``os.environ``."""
    member = view.parent(call)
    if form.names or not row.instance or not isinstance(member, ast.Attribute):
        return
    options = [r for r, _ in view.settings.members(member.attr) if r.receiver == row.instance]
    if options and not any(r.forms(view.target) for r in options):
        raise Refused(LeftWithAnother(view.text(call), member.lineno))


def _is_cast_to(view: FileView, site: Site) -> bool:
    """Whether the use is a variable that names the class in ``x.type(Tensor)``: the method's row writes a dtype."""
    call = view.parent(site.node)
    if not isinstance(call, ast.Call) or not is_variable(site) or site.node not in call.args:
        return False
    return isinstance(call.func, ast.Attribute) and call.func.attr == "type"


def _check_annotation(view: FileView, site: Site, row: Row) -> None:
    """Raise Refused if the class's counterpart cannot be used in an annotation or ``isinstance`` test."""
    if row.annotation and site.role not in ("annotation", "check", "alias") and not _is_held(view, site):
        raise Refused(NeedsWholeCall("this use", "what only annotations and checks can hold"))
    if row.annotation and site.role == "check" and _would_accept_more(view, site, row):
        raise Refused(NoSuchUse("the check", target_form(row, view).template or "the counterpart"))
    if site.role == "check" and row.kind == "class" and _is_wider(view, row):
        raise Refused(NoSuchUse("the check", target_name(row, view)))


def _is_held(view: FileView, site: Site) -> bool:
    """Whether a collection that is no argument holds the constant, for values to be compared with or looked up."""
    node, parent = site.node, view.parent(site.node)
    if isinstance(parent, ast.Dict) and node not in parent.keys:
        return False
    while isinstance(parent, ast.Tuple | ast.List | ast.Set | ast.Dict):
        node, parent = parent, view.parent(parent)
    is_read = isinstance(parent, ast.Assign | ast.AnnAssign | ast.Compare)
    return is_read and node is not site.node and site.candidates[0].row.kind == "constant"


def _convert_store(view: FileView, site: Site, row: Row) -> Use:
    """Convert an assigned setting, ``torch.backends.cudnn.benchmark = True``; refuse to patch anything else."""
    if row.kind != "constant":
        raise Refused(Assigned(target_name(row, view)))
    if not row.forms(view.target):
        refusal = no_counterpart(row, "is assigned to")
        raise Refused(Assigned("the counterpart") if isinstance(refusal, NotInRelease) else refusal)
    if not target_form(row, view).assign:
        raise Refused(Assigned(target_name(row, view)))
    return convert_assignment(view, site, row)


def _convert_probe(view: FileView, site: Site, candidate: Candidate) -> Use:
    answered = answer_probe(view, site, candidate.name, candidate.row) if site.call is not None else None
    answered = answered or convert_lookup(view, site, candidate.name, candidate.row)
    if answered is not None:
        return answered
    what = view.text(site.call) if site.call is not None else "the probe"
    raise Refused(NoSuchUse(what, target_name(candidate.row, view)))


def _larger_expression(view: FileView, call: ast.Call, candidate: Candidate, form: Form) -> Edit | None:
    """The edit of a larger expression around the call, if the source's form has such an expression."""
    current = view.parent(call)
    for _ in range(_DEPTH):
        if not form.also or not isinstance(current, ast.expr):
            break
        for text in candidate.form.also:
            arguments = Template(text).match(current, view.tree.scopes)
            if arguments is not None and any(n is call for n in ast.walk(current)):
                parts = fill(view, form.also[0], arguments, current)
                return Edit(view.source.span(current), "", candidate.row.code, tuple(parts))
        current = view.parent(current)
    return None


_DEPTH = 4
"""How many ancestors of a call are compared with a larger expression."""


_MORE = {"str": "str", "typing.Callable": "Callable"}
"""Counterparts of which other objects are instances too, by how a test names them."""


def _would_accept_more(view: FileView, site: Site, row: Row) -> bool:
    """Whether the counterpart is ``str`` or a function, and the ``isinstance`` test does not name it already."""
    wider = _MORE.get(target_form(row, view).template or "")
    parent = view.parent(site.node)
    beside = parent.elts if isinstance(parent, ast.Tuple) else []
    return wider is not None and not any(isinstance(e, ast.Name) and e.id == wider for e in beside)


def _is_wider(view: FileView, row: Row) -> bool:
    """Whether the counterpart is the class of all layers or tensors, and the source's class is narrower."""
    target = target_name(row, view)
    found = view.settings.table.lookup(view.target, target)
    wide = found is not None and found[0].id == "nn.Module" and row.id != "nn.Module"
    return wide or (target == "paddle.Tensor" and row.annotation)


def _is_warned(view: FileView, site: Site, row: Row) -> bool:
    """Whether the row's warning applies to this use: a call, or a class statement that fails the row's check."""
    if site.role != "base":
        return site.role in ("call", "partial")
    check = class_check(row.id)
    statement = view.parent(site.node)
    return check is None or not isinstance(statement, ast.ClassDef) or check(statement, view.target)


def is_variable(site: Site) -> bool:
    """Whether the use is a variable or attribute itself, not a member of it."""
    return site.anchor.kind in ("alias", "attribute") and site.node is site.anchor.node
