"""Binds a call's arguments to the source signature, maps them, and reconciles defaults by release."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from packaging.version import Version
from paddletorch_rules import Form, Framework, ParameterPair, ReleaseSet, Row, Signature, ValueMap

from paddletorch.layout import ArgumentChanges, LayoutError, edit_arguments, read_layout
from paddletorch.model import Edit, Span
from paddletorch.plan.context import FileContext, Refusal
from paddletorch.plan.keywords import DictKeywords, keyword_dict
from paddletorch.plan.translate import constant, same_value, translate_default, translate_edits
from paddletorch.resolve import Qualified
from paddletorch.source import WIDTH


@dataclass(frozen=True, slots=True)
class Bound:
    """One supplied argument: where it stands in the call (or in a dict of keywords) and its value."""

    value: ast.expr
    position: int | None = None
    dict_key: ast.Constant | ast.keyword | None = None
    converted: bool = False
    """Given under the target's name already, in a half-converted file."""


@dataclass
class CallBinding:
    """A call bound to a row, while hooks and rules decide about each argument.

    ``given`` is keyed by source parameter name; ``fixed`` holds what the spelling implies. Hooks may
    ``drop`` parameters, ``force`` a target parameter to an expression, or report.
    """

    context: FileContext
    row: Row
    form: Form
    name: str
    node: ast.Call
    given: dict[str, Bound]
    fixed: Mapping[str, str]
    dictionary: DictKeywords | None = None
    skip: int = 0
    dropped: set[str] = field(default_factory=set)
    forced: dict[str, str] = field(default_factory=dict)
    wraps: dict[str, tuple[str, str]] = field(default_factory=dict)
    settled: set[str] = field(default_factory=set)
    """Target-only parameters that the call gives already."""

    @property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.context.target

    def value(self, name: str) -> ast.expr | None:
        """The expression supplied (or implied by the spelling) for a source parameter."""
        if name in self.given:
            return self.given[name].value
        if name in self.fixed:
            return ast.parse(self.fixed[name], mode="eval").body
        return None

    def literal(self, name: str) -> object:
        """The constant supplied for a source parameter; ``...`` if none or not constant."""
        node = self.value(name)
        return ... if node is None else constant(node)

    def origin(self, name: str) -> ast.expr | None:
        """The expression behind the argument: what a variable with one assignment was given."""
        node = self.value(name)
        if isinstance(node, ast.Name) and node in self.context.tree.scopes:
            bindings = self.context.tree.scopes[node].lookup(node.id)
            if len(bindings) == 1 and bindings[0].kind == "assign" and bindings[0].value is not None:
                return bindings[0].value
        return node

    def qualified(self, name: str) -> str | None:
        """The qualified name that the argument is, if it is one."""
        if name in self.given:
            return self.context.qualified(self.given[name].value)
        return self.fixed.get(name)

    def drop(self, name: str) -> None:
        """Leave the source parameter out without further question."""
        self.dropped.add(name)

    def force(self, target_name: str, expression: str) -> None:
        """Give the target parameter this expression, whatever the source said."""
        self.forced[target_name] = expression

    def wrap(self, name: str, before: str, after: str) -> None:
        """Put text around the argument's expression."""
        self.wraps[name] = (before, after)

    def refuse(self, problem: str) -> NoReturn:
        """Say that the arguments make no sense for this API.

        Raises:
            Refusal: always.
        """
        signature = self.form.signature(self.context.settings.source_releases.newest)
        raise Refusal("API210", problem=problem, signature=signature.text if signature else "?")

    def report(self, code: str, **holes: str) -> None:
        """Add a finding at the call."""
        self.context.report(code, self.node, self.name, self.row, **holes)


def bind(
    context: FileContext,
    node: ast.Call,
    row: Row,
    form: Form,
    name: str,
    skip: int = 0,
    *,
    whole: bool = True,
) -> CallBinding:
    """Bind the call's arguments; ``skip`` leading positionals are not the API's (partial).

    ``whole`` says that the call gives every required argument.

    Raises:
        Refusal: arguments that cannot be seen, or do not fit the signature.
    """
    signature = form.signature(context.settings.source_releases.newest)
    if signature is None:
        raise Refusal("API210", problem="its signature is not known", signature="?")
    given: dict[str, Bound] = {}
    positional = signature.positional
    for index, argument in enumerate(node.args[skip:]):
        if isinstance(argument, ast.Starred):
            raise Refusal("API203", what=f"*{context.text(argument.value)}")
        if index >= len(positional):
            raise Refusal("API210", problem="too many positional arguments", signature=signature.text)
        given[positional[index].name] = Bound(argument, index + skip)
    dictionary = None
    settled: set[str] = set()
    for index, keyword in enumerate(node.keywords, len(node.args)):
        if keyword.arg is None:
            dictionary = keyword_dict(context, keyword.value)
            if dictionary is None:
                raise Refusal("API203", what=f"**{context.text(keyword.value)}")
            for key, key_node, value in dictionary.items:
                _add(given, settled, row, context.target, signature, key, Bound(value, None, key_node))
            continue
        _add(given, settled, row, context.target, signature, keyword.arg, Bound(keyword.value, index))
    for parameter in signature.parameters:
        if whole and not skip and parameter.default is None and not parameter.variadic and parameter.name not in given:
            raise Refusal("API210", problem=f"{parameter.name!r} is missing", signature=signature.text)
    return CallBinding(context, row, form, name, node, given, form.fixed, dictionary, skip, settled=settled)


def _add(
    given: dict[str, Bound],
    settled: set[str],
    row: Row,
    target: Framework,
    signature: Signature,
    name: str,
    bound: Bound,
) -> None:
    if signature.get(name) is None:
        pair = next((p for p in row.parameters if p.name(target) == name), None)
        if pair is None:
            raise Refusal("API210", problem=f"there is no parameter {name!r}", signature=signature.text)
        source_name = pair.torch if target == "paddle" else pair.paddle
        if source_name is None:
            settled.add(name)
            return
        name, bound = source_name, replace(bound, converted=True)
    if name in given and bound.dict_key is None:
        raise Refusal("API210", problem=f"{name} is given twice", signature=signature.text)
    given[name] = bound


@dataclass
class _Plan:
    keywords: dict[int, str] = field(default_factory=dict)
    drop: set[int] = field(default_factory=set)
    prepend: list[str] = field(default_factory=list)
    append: list[tuple[str, str]] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)


def convert_arguments(binding: CallBinding, target_form: Form, *, reconcile: bool = True) -> list[Edit]:
    """Edits that give the call the target's arguments with the same meaning.

    Raises:
        Refusal: a value or parameter has no counterpart.
    """
    context = binding.context
    target_signature = _target_signature(context, target_form, binding)
    plan = _Plan()
    for pair in binding.row.parameters:
        _one_parameter(binding, pair, target_form, target_signature, plan, reconcile)
    paired = {p.name(context.settings.source) for p in binding.row.parameters}
    for name in binding.given.keys() - paired:
        _drop(binding, name, plan)
    _order(binding, target_form, plan)
    if not (plan.keywords or plan.drop or plan.prepend or plan.append):
        return plan.edits
    try:
        layout = read_layout(context.source, binding.node)
    except LayoutError as error:
        raise Refusal("API210", problem=str(error), signature="?") from None
    code = binding.row.code
    appended = [f"{name}={value}" for name, value in plan.append]
    if binding.dictionary is not None and appended:
        plan.edits += binding.dictionary.add(context.source, plan.append, code)
        appended = []
    changes = ArgumentChanges(frozenset(plan.drop), plan.keywords, tuple(plan.prepend), tuple(appended), binding.skip)
    width = None if context.in_fstring(binding.node) else WIDTH
    return edit_arguments(layout, changes, code, plan.edits, width)


def _target_signature(context: FileContext, form: Form, binding: CallBinding) -> Signature:
    signature = form.signature(context.settings.target_releases.newest)
    if signature is None:
        raise Refusal("API210", problem="the target's signature is not known", signature="?")
    return signature


def _one_parameter(
    binding: CallBinding, pair: ParameterPair, form: Form, signature: Signature, plan: _Plan, reconcile: bool
) -> None:
    source: Framework = "torch" if binding.target == "paddle" else "paddle"
    source_name, target_name = pair.name(source), pair.name(binding.target)
    if target_name is not None and target_name in binding.forced:
        _forced(binding, source_name, target_name, form, plan)
    elif source_name is None:
        assert target_name is not None
        if reconcile and target_name not in binding.settled:
            _target_only(binding, pair, target_name, form, signature, plan)
    elif target_name is None or _fixed_by_form(form, target_name):
        _source_only(binding, pair, source_name, plan)
    elif source_name in binding.dropped:
        _drop(binding, source_name, plan)
    elif source_name in binding.given:
        _supplied(binding, pair, source_name, target_name, form, signature, plan)
    elif source_name in binding.fixed:
        _emit(binding, pair, target_name, binding.fixed[source_name], form, plan)
    elif reconcile:
        default = _source_default(binding, source_name)
        if default is not None:
            _emit(binding, pair, target_name, default, form, plan)


def _fixed_by_form(form: Form, target_name: str) -> bool:
    return target_name in form.fixed


def _forced(binding: CallBinding, source_name: str | None, target_name: str, form: Form, plan: _Plan) -> None:
    if source_name is not None and source_name in binding.given:
        _drop(binding, source_name, plan)
    text = binding.forced[target_name]
    if not _in_every_release(binding, form, target_name):
        first = _first_default(form, target_name)
        if first is not None and same_value(first, text):
            return
        raise _not_in_release(binding, target_name)
    plan.append.append((target_name, binding.context.quoted(text, binding.node)))


def _drop(binding: CallBinding, source_name: str, plan: _Plan) -> None:
    bound = binding.given.get(source_name)
    if bound is None:
        return
    if bound.position is None:
        raise Refusal("API203", what=f"a dict that holds {source_name!r}")
    plan.drop.add(bound.position)


def _supplied(
    binding: CallBinding,
    pair: ParameterPair,
    source_name: str,
    target_name: str,
    form: Form,
    signature: Signature,
    plan: _Plan,
) -> None:
    bound = binding.given[source_name]
    context = binding.context
    values = context.settings.table.values[pair.values] if pair.values and not bound.converted else None
    if not _in_every_release(binding, form, target_name):
        if not _is_every_default(binding, form, target_name, bound.value, values):
            raise _not_in_release(binding, target_name)
        _drop(binding, source_name, plan)
        return
    if values is not None and isinstance(bound.value, ast.Constant) and bound.value.value is None:
        default = _source_default(binding, source_name)
        if default == "None":  # None means the default here: leave it to the reconciliation
            _drop(binding, source_name, plan)
            _emit(binding, pair, target_name, "None", form, plan)
            return
    if pair.values == "amp_dtype" and context.target == "paddle":
        _check_dtype(binding, bound.value, source_name)
    try:
        plan.edits += translate_edits(context, bound.value, values, binding.row.code)
    except Refusal as refusal:
        raise Refusal(refusal.code, **{**refusal.holes, "parameter": source_name}) from None
    if source_name in binding.wraps:
        before, after = binding.wraps[source_name]
        span = context.source.span(bound.value)
        plan.edits += [Edit(Span(span.start, span.start), before), Edit(Span(span.end, span.end), after)]
    if bound.position is not None:
        plan.keywords[bound.position] = target_name
    elif (
        bound.dict_key is not None
        and binding.dictionary is not None
        and source_name != target_name
        and not bound.converted
    ):
        plan.edits.append(binding.dictionary.rename(context.source, bound.dict_key, target_name, binding.row.code))


def _check_dtype(binding: CallBinding, node: ast.expr, name: str) -> None:
    """A dtype that is not written out may be one that Paddle refuses."""
    context = binding.context
    values = context.settings.table.values["amp_dtype"]
    branches = [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]
    for branch in branches:
        if constant(branch) is not ... or context.qualified(branch) in {t for t, _ in values.pairs}:
            continue
        found = context.evaluator.values(branch)
        names = {v.name for v in found if isinstance(v, Qualified)}
        if names & set(values.refuse):
            refusal = Refusal("AMP217", parameter=name, value=context.text(branch))
            if not context.settings.options.unsafe:
                raise refusal
            binding.report(refusal.code, **refusal.holes)
        elif any(not isinstance(v, Qualified) for v in found):
            binding.report("AMP218", parameter=name, value=context.text(branch))


def _source_only(binding: CallBinding, pair: ParameterPair, source_name: str, plan: _Plan) -> None:
    if source_name in binding.dropped or pair.ignore:
        _drop(binding, source_name, plan)
        return
    node = binding.value(source_name)
    if node is not None:
        text = ast.unparse(node)
    else:
        default = _source_default(binding, source_name)
        if default is None:
            return
        text = default
    if pair.neutral is not None and same_value(text, pair.neutral):
        _drop(binding, source_name, plan)
        return
    if pair.otherwise is not None:
        shown = text if len(text) <= 60 else text[:57] + "..."
        _unequal(binding, pair, Refusal(pair.otherwise, parameter=source_name, value=shown))
    _drop(binding, source_name, plan)


def _unequal(binding: CallBinding, pair: ParameterPair, refusal: Refusal) -> None:
    if pair.apply == "never" or (pair.apply == "unsafe" and not binding.context.settings.options.unsafe):
        raise refusal
    binding.report(refusal.code, **refusal.holes)


def _target_only(
    binding: CallBinding, pair: ParameterPair, target_name: str, form: Form, signature: Signature, plan: _Plan
) -> None:
    if pair.neutral is None or pair.ignore or _fixed_by_form(form, target_name):
        return
    parameter = signature.get(target_name)
    if parameter is not None and parameter.default is None:
        plan.prepend.append(binding.context.quoted(pair.neutral, binding.node))
        return
    _emit_unless_default(binding, target_name, pair.neutral, form, plan)


def _emit(
    binding: CallBinding,
    pair: ParameterPair,
    target_name: str,
    source_value: str,
    form: Form,
    plan: _Plan,
) -> None:
    """Write a value out unless every allowed target release has it as its default."""
    values = binding.context.settings.table.values[pair.values] if pair.values else None
    text = translate_default(source_value, values, binding.target)
    _emit_unless_default(binding, target_name, text, form, plan, values)


def _emit_unless_default(
    binding: CallBinding, target_name: str, text: str, form: Form, plan: _Plan, values: ValueMap | None = None
) -> None:
    """Write a target value out unless every allowed release behaves so without it."""
    defaults = _defaults(form, target_name, binding.context.settings.target_releases)
    everywhere = _in_every_release(binding, form, target_name)
    first = _first_default(form, target_name)
    if not everywhere and first is not None:
        defaults = [*defaults, first]
    if all(_means(default, text, values, binding.target) for default in defaults) and (defaults or not everywhere):
        return
    if not everywhere:
        raise _not_in_release(binding, target_name)
    plan.append.append((target_name, binding.context.quoted(text, binding.node)))


def _means(default: str, text: str, values: ValueMap | None, target: Framework) -> bool:
    """Whether a target default is the value ``text``, in the target's terms or read back in the source's."""
    if same_value(default, text):
        return True
    source: Framework = "torch" if target == "paddle" else "paddle"
    try:
        return values is not None and same_value(
            translate_default(default, values, source), translate_default(text, values, source)
        )
    except Refusal:
        return False


def _in_every_release(binding: CallBinding, form: Form, name: str) -> bool:
    """Whether every release that the result must run on has the parameter."""
    versions = binding.context.settings.target_releases.versions
    return all((s := form.signature(v)) is not None and s.get(name) is not None for v in versions)


def _first_default(form: Form, name: str) -> str | None:
    """The default with which a parameter came: how releases before it behave."""
    found = next((s.get(name) for _, s in form.signatures if s.get(name) is not None), None)
    return found.default if found is not None else None


def _is_every_default(binding: CallBinding, form: Form, name: str, value: ast.expr, values: ValueMap | None) -> bool:
    """Whether every allowed release, with or without the parameter, behaves as the supplied value asks."""
    first = _first_default(form, name)
    if first is None:
        return False
    given = binding.context.qualified(value) or ast.unparse(value)
    try:
        text = translate_default(given, values, binding.target)
    except (Refusal, SyntaxError):
        return False
    defaults = [first, *_defaults(form, name, binding.context.settings.target_releases)]
    return all(_means(default, text, values, binding.target) for default in defaults)


def _not_in_release(binding: CallBinding, target_name: str) -> Refusal:
    since = next(
        (
            str(release)
            for form in binding.row.forms(binding.target)
            for release, signature in form.signatures
            if signature.get(target_name) is not None
        ),
        "?",
    )
    return Refusal("API208", replacement=f"parameter {target_name!r}", since=since)


def _source_default(binding: CallBinding, name: str) -> str | None:
    """The default in the source releases: the newest one's, with a finding where they differ."""
    releases = binding.context.settings.source_releases
    found: list[str] = []
    for version in releases.versions:
        default = _parameter_in(binding.form, name, version)
        if default is not None and default not in found:
            found.append(default)
    newest = _parameter_in(binding.form, name, releases.newest) or _first_default(binding.form, name)
    if len(found) > 1 and newest is not None:
        binding.report("API215", parameter=name, values=", ".join(found), value=newest)
    return newest


def _defaults(form: Form, name: str, releases: ReleaseSet) -> list[str]:
    """The distinct defaults of a target parameter over the releases that have it."""
    found: list[str] = []
    for release in releases.defaults:
        if release < form.since or (form.until is not None and release >= form.until):
            continue
        parameter = _parameter_in(form, name, release)
        if parameter is not None and parameter not in found:
            found.append(parameter)
    return found


def _parameter_in(form: Form, name: str, release: Version) -> str | None:
    signature = form.signature(release)
    parameter = signature.get(name) if signature else None
    return parameter.default if parameter else None


def _order(binding: CallBinding, form: Form, plan: _Plan) -> None:
    """Keep positionals that stay at their place in every allowed release; everything else goes by keyword."""
    kept = sorted(i for i in plan.keywords if i < len(binding.node.args))
    versions = binding.context.settings.target_releases.versions
    orders = {tuple(p.name for p in s.positional) for v in versions if (s := form.signature(v)) is not None}
    shift = len(plan.prepend) - binding.skip
    in_place = not plan.drop & set(range(len(binding.node.args)))
    for index in kept:
        slot = index + shift
        if in_place and all(slot < len(names) and names[slot] == plan.keywords[index] for names in orders):
            del plan.keywords[index]
        else:
            in_place = False
