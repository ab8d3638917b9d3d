"""Calls whose API only the running program knows, ``norm_layer(width, eps=1e-6)``: with the shim they are asked then.

The arguments stay torch's. ``torch_args`` of the shim makes them Paddle's if a layer or function of Paddle's is
called, and leaves the call alone if it is anything else.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.keywords import shared_items
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Site
from paddletorch.resolve import Binding, NoneValue, Partial, Unknown

MODULE = "paddletorch_shim.paddle"
ASK = f"{MODULE}.torch_args"
CODE = "API227"

_ANSWERED = frozenset({"API201", "API202", "API203"})
"""Why a call is left that the shim can make."""

_LAYER_WORDS = frozenset(
    "inplace eps affine elementwise_affine track_running_stats bias device dtype momentum padding_mode "
    "count_include_pad return_indices batch_first".split()
)
"""Parameters of torch's layers that Paddle's have under another name, or not at all."""

_HOLDERS = re.compile(r"(?:^|_)(?:layer|cls|class|norm|act|activation|conv|pool|linear)(?:_layer|_cls|_class|_fn)?$")
"""Names of variables and attributes that hold classes of layers."""


def asked(view: FileView, site: Site, outcome: Outcome) -> Outcome:
    """The outcome of a site whose call the shim answers, or the one that was planned."""
    call = site.call
    if not view.settings.at_run_time or call is None or site.role not in ("call", "partial"):
        return outcome
    if site.role == "partial" and outcome.target is not None:
        return outcome
    if not (_is_answered(site, outcome) if outcome.target is None else _is_open(site, outcome)):
        return outcome
    if view.leaves(CODE, call) or not all(_is_callable(view, c.row) for c in site.candidates):
        return outcome
    known = site.anchor.kind in ("import", "free") and site.other is None and len(site.candidates) == 1
    form = view.settings.emitted(site.candidates[0].row)
    target = form.names[0] if known and form is not None else ASK
    view.report(CODE, call, view.text(site.node))
    made = Outcome(outcome.row, target, wrapped(view, site.node), keeps_name=not known, needs=MODULE)
    made.findings = [f for f in outcome.findings if outcome.target is not None]
    return made


def _is_answered(site: Site, outcome: Outcome) -> bool:
    """Whether the shim can make the call, for whatever it was left."""
    codes = _ANSWERED | {"API210"} if _is_parameter(site) else _ANSWERED
    return bool(outcome.findings) and all(
        f.code in codes or dict(f.holes).get("problem", "").startswith("the dict would have to lose")
        for f in outcome.findings
    )


def _is_open(site: Site, outcome: Outcome) -> bool:
    """Whether callers in other files may give something else than what the arguments were converted for."""
    return _is_parameter(site) and bool(outcome.edits or outcome.whole)


def _is_parameter(site: Site) -> bool:
    return site.anchor.kind == "alias" and any(b.kind == "parameter" for b in site.anchor.bindings)


def _is_callable(view: FileView, row: object) -> bool:
    form = view.settings.emitted(row)  # type: ignore[arg-type]
    return getattr(row, "kind", "") in ("class", "function") and form is not None and form.template is None


def answers(view: FileView, refusal: Refusal, call: ast.Call) -> bool:
    """Whether the shim can make a call of an API's constructor that is refused for arguments which cannot be seen."""
    if not view.settings.at_run_time or refusal.code != "API203" or view.leaves(CODE, call):
        return False
    view.report(CODE, call, view.text(call.func))
    return True


def wrapped(view: FileView, callee: ast.expr) -> list[Edit]:
    """Edits that ask for the callee at run time."""
    span = view.source.span(callee)
    before, after = Span(span.start, span.start), Span(span.end, span.end)
    return [Edit(before, ASK + "(", CODE), Edit(after, ")", CODE)]


def plan_unknown(
    view: FileView, planned: Iterable[tuple[Site, Outcome]]
) -> tuple[list[Edit], list[tuple[ast.expr, str]], list[Conversion]]:
    """Calls of what the file does not show, with parameters that layers of torch have: edits, modules, conversions."""
    edits: list[Edit] = []
    needs: list[tuple[ast.expr, str]] = []
    conversions: list[Conversion] = []
    if view.target != "paddle":
        return edits, needs, conversions
    sites = {site.call for site, _ in planned if site.call is not None}
    for call in view.tree.calls:
        words = _words(view, call)
        bound = view.settings.at_run_time and _is_partial(view, call)
        unknown = bool(words) and (_is_unknown(view, call.func) or _is_given(view, call.func))
        if call in sites or not (bound or unknown) or not view.is_located(call):
            continue
        if not view.settings.at_run_time:
            view.report("API226", call, view.text(call.func), word=str(words[0]))
        elif not view.leaves(CODE, call):
            edits += wrapped(view, call.func)
            needs.append((call.func, MODULE))
            view.report(CODE, call, view.text(call.func))
            line, column = view.source.position(view.source.span(call).start)
            conversions.append(Conversion(CODE, view.text(call.func), ASK, line, column))
    return edits, needs, conversions


def _words(view: FileView, call: ast.Call) -> list[str]:
    """Parameters of torch's layers that the call gives; what cannot be seen may hold some if a layer is called."""
    found = [k.arg for k in call.keywords if k.arg in _LAYER_WORDS]
    for value in (k.value for k in call.keywords if k.arg is None):
        seen = [key for key, _, _ in shared_items(view, value)]
        found += [key for key in seen if key in _LAYER_WORDS]
        name = getattr(call.func, "id", getattr(call.func, "attr", ""))
        found += ["**" + view.text(value)] if not seen and _HOLDERS.search(name) else []
    return [word for word in found if word is not None]


def _is_partial(view: FileView, call: ast.Call) -> bool:
    """Whether a ``functools.partial`` over an API is called that is kept in a variable."""
    if not isinstance(call.func, ast.Name | ast.Attribute) or not (call.args or call.keywords):
        return False
    values = view.evaluator.values(call.func) if b"partial" in view.source.body else ()
    return any(isinstance(v, Partial) and view.settings.lookup(v.name) for v in values)


def _is_unknown(view: FileView, function: ast.expr) -> bool:
    """Whether a variable is called that may hold a layer's class."""
    if isinstance(function, ast.Name):
        bindings = view.tree.scopes[function].lookup(function.id)
        if not bindings or not all(_is_variable(b) for b in bindings):
            return False
    elif not isinstance(function, ast.Attribute) or not _HOLDERS.search(function.attr):
        return False
    values = view.evaluator.values(function)
    return all(isinstance(v, NoneValue) for v in values) or any(isinstance(v, Unknown | Partial) for v in values)


def _is_given(view: FileView, function: ast.expr) -> bool:
    """Whether callers in other files may give a layer's class in the place of a parameter's default."""
    if not view.settings.at_run_time or not isinstance(function, ast.Name):
        return False
    bindings = view.tree.scopes[function].lookup(function.id)
    return bool(bindings) and all(b.kind == "parameter" and b.qualified is None for b in bindings)


def _is_variable(binding: Binding) -> bool:
    return binding.qualified is None and binding.kind in ("parameter", "assign", "iterate")
