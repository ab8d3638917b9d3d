"""Uses of an API without a call: as a value, a decorator, a class's member, an assigned setting."""

from __future__ import annotations

import ast
import re

from packaging.version import Version
from paddletorch_rules import Form, Parameter, ParameterPair, Row, Signature

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.bind import bind
from paddletorch.plan.calls.binding import Bound, CallBinding
from paddletorch.plan.calls.convert_call import Callee, convert_bound_call
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.calls.fill_template import compose, fill
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import Assigned, NeedsWholeCall, NotInRelease, Refused
from paddletorch.plan.model.site import Candidate, Site
from paddletorch.plan.model.target_forms import target_form, target_name
from paddletorch.plan.model.use import Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.statements import remove_statement


def convert_assignment(view: FileView, site: Site, row: Row) -> Use:
    """Replace the statement ``torch.backends.cudnn.benchmark = True`` by that of the target's form.

    Raises:
        Refused: another value, or another kind of assignment, has no counterpart.
    """
    statement = view.parent(site.node)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        raise Refused(Assigned(target_name(row, view)))
    for text, template in target_form(row, view).assign.items():
        if text not in ("*", ast.unparse(statement.value)):
            continue
        warnings = (finding(row.warn[view.target], site.node, site.name, row),) if view.target in row.warn else ()
        if template:
            parts = fill(view, template, {"value": statement.value}, site.node)
            whole = Edit(view.source.span(statement), "", row.code, tuple(parts))
        else:
            whole = remove_statement(view, statement)
        return Use(site, row, template, findings=warnings, whole=whole, writes_name=True)
    raise Refused(Assigned(target_name(row, view)))


def is_decorator(view: FileView, node: ast.expr) -> bool:
    """Whether ``node`` decorates a function, without a call."""
    parent = view.parent(node)
    return isinstance(parent, ast.FunctionDef | ast.AsyncFunctionDef) and node in parent.decorator_list


def convert_decorator(view: FileView, use: Use, candidate: Candidate, form: Form) -> Use:
    """``@custom_fwd`` becomes ``@custom_fwd(device_type='cuda')`` if the target requires the implied argument."""
    row, node = candidate.row, use.site.node
    if view.target in row.warn:
        use = use.with_findings(finding(row.warn[view.target], node, candidate.name, row))
    signature = form.signature(view.settings.target_releases.newest)
    given = [
        f"{target}={value}"
        for name, value in candidate.form.fixed.items()
        for pair in row.parameters
        if pair.name(view.settings.source) == name and (target := pair.name(view.target)) is not None
        if signature is not None and (p := signature.get(target)) is not None and p.default is None
    ]
    needs_call = row.kind == "context" and signature is not None and view.target == "paddle"
    if not (given or needs_call):
        return use
    end = view.source.span(node).end
    return use.with_edits(Edit(Span(end, end), view.quoted(f"({', '.join(given)})", node), row.code))


def convert_class_member(view: FileView, use: Use, candidate: Candidate, form: Form) -> Use:
    """``GradScaler.__init__(self, ...)`` and other uses of the class's members.

    Raises:
        Refused: the counterpart's member is different.
    """
    attribute, call = view.parent(use.site.node), use.site.call
    assert isinstance(attribute, ast.Attribute)
    if call is not None and attribute.attr == "__init__":
        binding = bind(view, call, candidate.row, candidate.form, candidate.name, 1)
        converted = convert_bound_call(binding, form, Callee.PARENT)
        return use.with_edits(*converted.every_edit).with_findings(*converted.findings)
    if not isinstance(attribute.ctx, ast.Load):
        raise Refused(Assigned(use.target or "the counterpart"))
    if view.settings.members(attribute.attr):
        _check_member(view, candidate, attribute.attr, call, use.target or "the counterpart")
    return use


def _check_member(view: FileView, candidate: Candidate, member: str, call: ast.Call | None, target: str) -> None:
    """Raise Refused unless the counterpart's member has this name too and takes what the call gives alike."""
    made = view.settings.table.makes(candidate.name)
    receivers = (made, *view.settings.table.bases(made)) if made else ()
    own = [(row, form) for row, form in view.settings.members(member) if row.receiver in receivers]
    refusal = NeedsWholeCall(f"it before .{member}", target)
    if len(own) != 1 or own[0][0].kind != "method" or call is None:
        raise Refused(refusal)
    row, form = own[0]
    if not row.forms(view.target):
        raise Refused(refusal)
    other = target_form(row, view)
    taken = form.signature(view.settings.source_releases.newest)
    if other.template is not None or member not in other.names or taken is None:
        raise Refused(refusal)
    given = [p.name for p in taken.positional[: len(call.args) - 1]]
    if any(isinstance(a, ast.Starred) for a in call.args) or len(given) != len(call.args) - 1:
        raise Refused(refusal)
    given += [k.arg or "" for k in call.keywords]
    named = {p.name(view.settings.source): p for p in row.parameters}
    for position, name in enumerate(given):
        pair = named.get(name)
        if pair is not None and (pair.name(view.target) != name or pair.values is not None):
            raise Refused(refusal)
        for release in view.settings.target_releases.versions:
            there = other.signature(release)
            if there is None or there.get(name) is None:
                newest = other.signature(view.settings.target_releases.newest)
                if newest is None or newest.get(name) is None:
                    raise Refused(refusal)
                since = min(v for v in view.settings.target_releases.versions if _takes(other, v, name))
                raise Refused(NotInRelease(f"parameter '{name}' of .{member}", str(since)))
            if position < len(call.args) - 1 and there.positional[position].name != name:
                raise Refused(refusal)


def _takes(form: Form, release: Version, name: str) -> bool:
    signature = form.signature(release)
    return signature is not None and signature.get(name) is not None


def value_warning(view: FileView, use: Use, candidate: Candidate) -> tuple[Finding, ...]:
    """Report different parameters of an API that is used as a value and may be called."""
    row = candidate.row
    if not row.parameters or _calls_mean_the_same(view, candidate):
        return ()
    differing = renamed_parameters(view, row)
    details = {"replacement": use.target or "", "arguments": differing}
    return (finding("API204", use.site.node, candidate.name, row, **details),)


def renamed_parameters(view: FileView, row: Row) -> str:
    """The parameters that have other names in the target, for messages."""
    pairs = [(p.name(view.settings.source), p.name(view.target)) for p in row.parameters]
    return ", ".join(f"{a} is {b}" for a, b in pairs if a and b and a != b) or "the parameters differ"


def as_lambda(view: FileView, site: Site, candidate: Candidate, form: Form) -> Edit | None:
    """A lambda of the required parameters, where the counterpart is an expression: ``map(torch.square_, xs)``."""
    own = candidate.form.signature(view.settings.source_releases.newest)
    if own is None or form.template is None or form.results or candidate.row.hook or candidate.form.fixed:
        return None
    if candidate.row.instance != "tensor" or len(view.settings.overloads(candidate.name)) > 1:
        return None
    required = [p.name for p in own.parameters if p.default is None]
    if not required or any(p.variadic or p.keyword_only for p in own.parameters if p.name in required):
        return None
    rest = {p.name for p in own.parameters} - set(required)
    source = view.settings.source
    if any(pair.name(source) in rest and pair.name(view.target) for pair in candidate.row.parameters):
        return None  # callers may pass those too
    call = ast.copy_location(ast.Call(site.node, [], []), site.node)
    given = {name: Bound(site.node, 0, text=name) for name in required}
    binding = CallBinding(view, candidate.row, candidate.form, candidate.name, call, given, {})
    (edit, *others), _ = compose(binding, Decisions(), form, form.template, site.node)
    if others or any(isinstance(part, Span) for part in edit.parts):
        return None  # the text would not be the function's own
    text = f"lambda {', '.join(required)}: {''.join(map(str, edit.parts))}"
    in_list = isinstance(view.parent(site.node), ast.Call | ast.keyword | ast.List | ast.Tuple | ast.Dict)
    return Edit(edit.span, text if in_list else f"({text})", candidate.row.code)


_CONSTRUCTOR = re.compile(r"(?P<name>[\w.]+)\(\{(?P<given>\w+)\}(?P<more>(?:, \w+=[^{}()]+)*)\)")
"""A template that constructs another class with further arguments: ``paddle.nn.Pad2D({padding}, mode='constant')``."""


def as_constructor(view: FileView, site: Site, candidate: Candidate, form: Form) -> Edit | None:
    """What constructs the counterpart of a class that is another class with some arguments given.

    ``functools.partial(paddle.nn.Pad2D, mode="replicate")`` where it may be called, the class in an annotation.
    """
    if candidate.row.kind != "class" or form.names or site.role not in ("alias", "annotation", "value"):
        return None
    if site.role == "alias" and not _is_in_display(view, site) and not _is_only_form(view, candidate):
        return None  # calls of the variable choose between the forms
    found = _constructor(view, candidate, form)
    if found is None:
        return None
    called = site.role != "annotation" and found["more"]
    text = f"functools.partial({found['name']}{found['more']})" if called else found["name"]
    return Edit(view.source.span(site.node), view.quoted(text, site.node), candidate.row.code)


def takes_constructor(view: FileView, site: Site, candidate: Candidate, form: Form) -> bool:
    """Whether a variable is read or called that holds what ``as_constructor`` writes, and takes what it is given."""
    if site.anchor.kind not in ("alias", "attribute") or site.node is not site.anchor.node or form.names:
        return False
    found, call = _constructor(view, candidate, form), site.call
    if found is None or site.role not in ("call", "value") or not _is_only_form(view, candidate):
        return False
    if call is None or site.role == "value":
        return True
    if any(isinstance(a, ast.Starred) for a in call.args):
        return False
    return [k.arg for k in call.keywords] == [found["given"]] * (1 - len(call.args))


def _is_in_display(view: FileView, site: Site) -> bool:
    return isinstance(view.parent(site.node), ast.Tuple | ast.List | ast.Dict)


def _is_only_form(view: FileView, candidate: Candidate) -> bool:
    """Whether no other row has the class too, for calls with other arguments: ``torch.FloatTensor(2, 3)``."""
    return len(view.settings.overloads(candidate.name)) == 1


def _constructor(view: FileView, candidate: Candidate, form: Form) -> re.Match[str] | None:
    """The template's parts, if it gives another class the one argument that this class takes."""
    found = _CONSTRUCTOR.fullmatch(form.template or "")
    own = candidate.form.signature(view.settings.source_releases.newest)
    return found if found and own is not None and [p.name for p in own.parameters] == [found["given"]] else None


_LABEL = "name"
"""What Paddle's APIs take for messages and print nowhere else; nobody hands it to a class that a variable holds."""


def _calls_mean_the_same(view: FileView, candidate: Candidate) -> bool:
    own = candidate.form.signature(view.settings.source_releases.newest)
    form = target_form(candidate.row, view)
    is_plain = not form.template and candidate.row.hook is None
    if is_plain and own is not None and all(p.name == _LABEL for p in own.parameters):
        return True  # it takes nothing that could be called otherwise
    is_function = candidate.row.instance == "tensor" or candidate.row.kind == "function"
    if not is_function or len(view.settings.overloads(candidate.name)) > 1:
        return False
    return renames_only(view, candidate.row, candidate.form, form)


def renames_only(view: FileView, row: Row, own_form: Form, form: Form) -> bool:
    """Whether calls with only the required positional arguments mean the same on both sides: ``act = F.relu``."""
    target = form.signature(view.settings.target_releases.newest)
    own = own_form.signature(view.settings.source_releases.newest)
    if form.template or form.results or target is None or own is None or row.hook is not None:
        return False
    pairs = {p.name(view.settings.source): p for p in row.parameters}
    required = [p for p in own.parameters if p.default is None]
    if any(p.variadic for p in required):
        return False
    by_position = list(zip(required, target.parameters, strict=False))
    same = all((pair := pairs.get(a.name)) is not None and pair.name(view.target) == b.name for a, b in by_position)
    rest = [p for p in own.parameters if p.default is not None and not p.variadic]
    meant = {p.name(view.target): p.name(view.settings.source) for p in row.parameters}
    for one, other in zip(own.positional, target.positional, strict=False):
        if meant.get(other.name) not in (None, one.name):
            return False  # another parameter has this position in the target
    if not same or len(by_position) < len(required):
        return False
    return all(_same_default(pairs.get(p.name), p, target, view) for p in rest)


def _same_default(pair: ParameterPair | None, parameter: Parameter, target: Signature, view: FileView) -> bool:
    if pair is None or pair.ignore:
        return True
    name = pair.name(view.target)
    other = target.get(name) if name is not None else None
    if other is None:
        return pair.neutral == parameter.default
    return pair.values is None and other.default == parameter.default
