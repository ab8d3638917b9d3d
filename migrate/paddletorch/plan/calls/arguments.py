"""Gives a bound call the target's arguments: maps each one, and writes out the defaults that differ."""

from __future__ import annotations

import ast
import re

from paddletorch_rules import Form, ParameterPair, ValueMap

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import Bound, CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.calls.defaults import (
    defaults_of,
    first_default,
    in_every_release,
    is_every_default,
    means,
    not_in_release,
    source_defaults,
)
from paddletorch.plan.calls.keyword_dicts import change_keywords, rename_key
from paddletorch.plan.calls.translate import default_for_none, translate_default, translated_text
from paddletorch.plan.calls.value_edits import ValueEdits
from paddletorch.plan.inference.keywords import possible_keys
from paddletorch.plan.inference.opaque_arguments import refuse_defaults, without_inert_names
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.argument_plan import ArgumentPlan
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import (
    ArgumentsNotReadable,
    DictMayHoldNone,
    DictWouldLoseKey,
    Refused,
    SharedDict,
    SignatureNotKnown,
    StatedByTable,
)
from paddletorch.plan.syntax.constants import constant, constant_in, same_value
from paddletorch.plan.syntax.free_names import free_name
from paddletorch.plan.syntax.precedence import ATOM, precedence_of
from paddletorch.plan.syntax.stars import spans_to_bracket
from paddletorch.resolve import NoneValue, Qualified
from paddletorch.text.argument_edits import ArgumentChanges, edit_arguments
from paddletorch.text.call_spans import LayoutError, read_layout, run_of_arguments
from paddletorch.text.source import WIDTH


def plan_arguments(binding: CallBinding, decisions: Decisions, form: Form, *, reconcile: bool = True) -> ArgumentPlan:
    """Decide about each argument of a bound call that is written in ``form``.

    ``reconcile`` says that the call stands alone, so that defaults which differ are written out.

    Raises:
        Refused: a value or parameter has no counterpart.
    """
    return _Mapping(binding, decisions, form, reconcile).plan()


def convert_arguments(
    binding: CallBinding, decisions: Decisions, form: Form, *, reconcile: bool = True
) -> tuple[list[Edit], tuple[Finding, ...]]:
    """Edits that give the call the target's arguments with the same meaning, and what is to be said of them.

    Raises:
        Refused: a value or parameter has no counterpart.
    """
    view, code = binding.view, binding.row.code
    try:
        plan = plan_arguments(binding, decisions, form, reconcile=reconcile)
    except Refused as stop:
        if binding.dictionary is None or not isinstance(stop.refusal, SharedDict):
            raise
        try:
            binding = binding.spelled_out()
        except Refused:
            raise stop from None
        plan = plan_arguments(binding, decisions, form, reconcile=reconcile)
    keywords = _out_of_place(binding, form, plan)
    edits = list(plan.edits)
    if not (keywords or plan.drop or plan.drop_keys or plan.prepend or plan.append):
        return edits, plan.findings
    try:
        layout = read_layout(view.source, binding.node)
    except LayoutError as error:
        raise Refused(ArgumentsNotReadable(str(error))) from None
    appended = [f"{name}={value}" for name, value in plan.append]
    if binding.dictionary is not None and (appended or plan.drop_keys):
        names = {p.name(binding.target) or "": p.name(view.settings.source) or "" for p in binding.row.parameters}
        inside = [(n, v) for n, v in plan.append if binding.dictionary.supplies(names.get(n))]
        appended = [f"{n}={v}" for n, v in plan.append if (n, v) not in inside]
        try:
            edits = change_keywords(binding.dictionary, view.source, plan.drop_keys, inside, names, edits, code)
        except LayoutError as error:
            raise Refused(ArgumentsNotReadable(str(error))) from None
    prepended = tuple(text for _, text in plan.prepend)
    changes = ArgumentChanges(plan.drop, keywords, prepended, tuple(appended), binding.skip)
    width = None if view.in_string(binding.node) else WIDTH
    return edit_arguments(layout, changes, code, edits, width), plan.findings


def _out_of_place(binding: CallBinding, form: Form, plan: ArgumentPlan) -> dict[int, str]:
    """The arguments that go by keyword: those that do not keep their place in every allowed release."""
    keywords = dict(plan.keywords)
    positions = sorted(i for i in keywords if i < len(binding.node.args))
    orders = _orders(binding, form)
    shift = len(plan.prepend) - binding.skip
    in_place = not plan.drop & set(range(len(binding.node.args)))
    for index in positions:
        slot = index + shift
        shift -= plan.lists.get(index, index) - index
        if in_place and all(slot < len(names) and names[slot] == keywords[index] for names in orders):
            del keywords[index]
        else:
            in_place = False
    return keywords


def _orders(binding: CallBinding, form: Form) -> set[tuple[str, ...]]:
    """The orders that the form's positional parameters have in the target releases."""
    settings = binding.view.settings

    def look_up() -> set[tuple[str, ...]]:
        signatures = (form.signature(version) for version in settings.target_releases.versions)
        return {tuple(p.name for p in s.positional) for s in signatures if s is not None}

    return settings.cached("orders", form, look_up)


_KEYWORD = re.compile(rb"[^\s=#\\]+(?:\s|\\|#[^\r\n]*)*=[ \t]*")


class _Mapping:
    """Maps the arguments of one call, parameter by parameter, and gives the result as a value."""

    def __init__(self, binding: CallBinding, decisions: Decisions, form: Form, reconcile: bool) -> None:
        self._binding, self._decisions, self._form = binding, decisions, form
        self._view = binding.view
        self._values = ValueEdits(binding, decisions)
        signature = form.signature(self._view.settings.target_releases.newest)
        if signature is None:
            raise Refused(SignatureNotKnown(binding.target))
        self._signature = signature
        # what a hook drops because it is not given may be given after all
        self._dropped = decisions.dropped & binding.given.keys() if binding.unseen else decisions.dropped
        seen = not binding.opaque or binding.spread is not None
        self._writes_defaults = reconcile and (seen or bool(binding.unseen))
        self._keywords: dict[int, str] = {}
        self._drop: set[int] = set()
        self._drop_keys: set[str] = set()
        self._prepend: list[tuple[str, str]] = []
        self._append: list[tuple[str, str]] = []
        self._edits: list[Edit] = []
        self._lists: dict[int, int] = {}
        self._findings: list[Finding] = []

    def plan(self) -> ArgumentPlan:
        """Go through the row's parameters, and drop what has none."""
        binding = self._binding
        pairs = self._view.settings.pairs(binding.row)
        for pair, source_name, target_name in pairs:
            self._one_parameter(pair, source_name, target_name)
        for name in binding.given.keys() - {source_name for _, source_name, _ in pairs}:
            self._drop_argument(name)
        if binding.unseen:
            exempt = self._decisions.forced if binding.target == "torch" else self._forced_by_given()
            refuse_defaults(binding.unseen, (name for name, _ in self._append if name not in exempt))
            self._edits += self._without_inert_keywords()
        return ArgumentPlan(
            self._keywords,
            frozenset(self._drop),
            frozenset(self._drop_keys),
            tuple(self._prepend),
            tuple(self._append),
            tuple(self._edits),
            self._lists,
            tuple(dict.fromkeys(self._findings)),
        )

    def _forced_by_given(self) -> set[str | None]:
        """The target's parameters whose counterpart the call gives, so that a hook has seen it."""
        given, binding = self._binding.given, self._binding
        return {target for _, source, target in self._view.settings.pairs(binding.row) if source in given}

    def _without_inert_keywords(self) -> list[Edit]:
        """Edits that leave out of ``**options`` what only the source takes and what has no influence."""
        binding, edits = self._binding, list[Edit]()
        if binding.target == "torch":
            return edits
        names = without_inert_names(self._view, binding.row, binding.form, binding.given)
        for value in (k.value for k in binding.node.keywords if k.arg is None and names):
            keys = possible_keys(self._view, value)
            if keys is not None and keys.isdisjoint(names):
                continue
            name = free_name(self._view, binding.node, "key")
            item = free_name(self._view, binding.node, "value")
            span = self._view.source.span(value)
            test = f"!= {names[0]!r}" if len(names) == 1 else f"not in {tuple(names)!r}"
            opening, closing = ("", "") if precedence_of(value) == ATOM else ("(", ")")
            before = f"{{{name}: {item} for {name}, {item} in {opening}"
            after = self._view.quoted(f"{closing}.items() if {name} {test}}}", binding.node)
            edits += [Edit(Span(span.start, span.start), before), Edit(Span(span.end, span.end), after)]
        return edits

    def _report(self, code: str, **details: str) -> None:
        self._findings.append(self._binding.finding(code, **details))

    def _one_parameter(self, pair: ParameterPair, source_name: str | None, target_name: str | None) -> None:
        binding = self._binding
        given_to_target = target_name in binding.given_to_target
        if binding.spread is not None and source_name in binding.spread:
            return
        if target_name is not None and target_name in self._decisions.forced and not given_to_target:
            self._forced(source_name, target_name)
        elif source_name is None:
            assert target_name is not None
            if self._writes_defaults and not given_to_target:
                self._target_only(pair, target_name)
        elif target_name is None or target_name in self._form.fixed:
            self._source_only(pair, source_name)
        elif source_name in self._dropped:
            self._drop_argument(source_name)
        elif source_name in binding.given:
            self._supplied(pair, source_name, target_name)
            if binding.dictionary is not None and source_name in binding.dictionary.stored:
                self._emit_default(pair, source_name, target_name)  # the store may not happen
        elif source_name in binding.fixed:
            self._emit(pair, target_name, binding.fixed[source_name])
        elif self._writes_defaults:
            self._emit_default(pair, source_name, target_name)

    def _forced(self, source_name: str | None, target_name: str) -> None:
        binding = self._binding
        if source_name is not None and source_name in binding.given:
            self._drop_argument(source_name)
        text = self._decisions.forced[target_name]
        if not in_every_release(binding, self._form, target_name):
            first = first_default(self._form, target_name)
            if first is not None and same_value(first, text):
                return
            raise not_in_release(binding, target_name)
        self._append.append((target_name, self._view.quoted(text, binding.node)))

    def _drop_argument(self, source_name: str) -> None:
        binding = self._binding
        bound = binding.given.get(source_name)
        if bound is None:
            return
        if bound.position is None and bound.dict_key is not None:
            keys = [b.dict_key for b in (bound, *bound.also)]
            if binding.dictionary is None or not all(key and binding.dictionary.holds(key) for key in keys):
                raise Refused(DictWouldLoseKey(source_name))
            self._drop_keys.add(source_name)
            return
        assert bound.position is not None
        self._drop.update(range(bound.position, bound.position + 1 + len(bound.rest)))

    def _supplied(self, pair: ParameterPair, source_name: str, target_name: str) -> None:
        binding, view = self._binding, self._view
        bound = binding.given[source_name]
        every = (bound, *bound.also)
        values = view.settings.table.values[pair.values] if pair.values and not bound.converted else None
        template = self._decisions.template
        in_template = template is not None and f"{{{target_name}}}" in template
        if not in_template and not in_every_release(binding, self._form, target_name):
            if not all(is_every_default(binding, self._form, target_name, b.value, values) for b in every):
                raise not_in_release(binding, target_name)
            self._drop_argument(source_name)
            return
        if values is not None and any(isinstance(b.value, ast.Constant) and b.value.value is None for b in every):
            default = self._source_default(source_name)
            if default == "None" and bound.also:
                raise Refused(DictMayHoldNone(source_name))
            if default == "None":  # None means the default here: leave it to the reconciliation
                self._drop_argument(source_name)
                self._emit(pair, target_name, "None")
                return
        for one in every if pair.values == "amp_dtype" and view.target == "paddle" else ():
            self._check_dtype(one.value, source_name)
        if bound.text:
            self._drop_argument(source_name)
            before, after = self._values.quoted(self._decisions.wraps.get(source_name, ("", "")))
            text = translated_text(view, bound.value, bound.text, values)
            self._append.append((target_name, before + text + after))
            return
        for one in every:
            self._edits += self._values.edits(source_name, one.value, values)
        if bound.position is not None:
            self._place(source_name, target_name, bound)
        elif binding.dictionary is not None and source_name != target_name and not bound.converted:
            keys = [b.dict_key for b in every if b.dict_key is not None]
            self._edits += [rename_key(view.source, key, target_name, binding.row.code) for key in keys]

    def _place(self, source_name: str, target_name: str, bound: Bound) -> None:
        """Note where the argument goes; the positionals of a variadic parameter become a list if the row says so."""
        assert bound.position is not None
        node, view = self._binding.node, self._view
        last = bound.position + len(bound.rest)
        parameter = self._signature.get(target_name)
        if parameter is not None and parameter.variadic:
            if bound.position == 0 and not node.args and view.target == "torch":
                start = view.source.span(node.keywords[0]).start
                name = _KEYWORD.match(view.source.body, start)
                assert name is not None
                self._edits.append(Edit(Span(start, name.end()), ""))  # by position, torch takes a number or a list
            elif bound.position >= len(node.args):
                self._keywords[bound.position] = target_name
            return  # positionals stay positionals
        self._keywords[bound.position] = target_name
        if bound.rest:
            self._lists[bound.position] = last
        if source_name not in self._binding.row.collect or bound.position >= len(node.args):
            return
        if bound.rest or self._is_one_number(bound.value):
            self._lists[bound.position] = last
            end = bound.rest[-1] if bound.rest else bound.value
            try:
                run = run_of_arguments(view.source, node, bound.value, end)
            except LayoutError as error:
                raise Refused(ArgumentsNotReadable(str(error))) from None
            brackets = [(run.start, "[")]
            for star in spans_to_bracket(view.source, [bound.value, *bound.rest]):
                brackets += [(star.start, "("), (star.end, ")")]
            self._edits += [Edit(Span(at, at), bracket) for at, bracket in (*brackets, (run.end, "]"))]

    def _is_one_number(self, value: ast.expr) -> bool:
        """Whether a single positional is a number and no list; ``*sizes`` may be several."""
        found = kinds(self._view, value)
        return isinstance(value, ast.Starred) or ("int" in found and "sequence" not in found)

    def _check_dtype(self, node: ast.expr, name: str) -> None:
        """A dtype that is not written out may be one that Paddle refuses: it raises if it comes to that."""
        view = self._view
        values = view.settings.table.values["amp_dtype"]
        for branch in [node.body, node.orelse] if isinstance(node, ast.IfExp) else [node]:
            if constant(branch) is not ... or view.qualified(branch) in {t for t, _ in values.pairs}:
                continue
            found = view.evaluator.values(branch)
            names = {v.name for v in found if isinstance(v, Qualified)}
            if names & set(values.refuse):
                value = f"{view.text(branch)} may be float32"  # Paddle raises if it comes to that
                self._report("AMP217", parameter=name, value=value)
                continue
            handled = default_for_none(view, branch, values) is not None
            if any(not isinstance(v, Qualified) and not (handled and isinstance(v, NoneValue)) for v in found):
                bad = "float32" if handled else "None or float32"
                self._report("AMP218", parameter=name, value=view.text(branch), bad=bad)

    def _source_only(self, pair: ParameterPair, source_name: str) -> None:
        binding = self._binding
        if source_name in self._dropped or pair.ignore:
            self._drop_argument(source_name)
            return
        bound = binding.given.get(source_name)
        if bound is None and source_name in binding.of_partial:
            return
        if bound is not None:
            texts = [self._spelled(b.value, pair) for b in (bound, *bound.also)]
        else:
            node = binding.value(source_name)
            default = ast.unparse(node) if node is not None else self._source_default(source_name)
            if default is None:
                return
            texts = [default]
        for text in texts:
            if pair.otherwise is not None and (pair.neutral is None or not _is_neutral(text, pair.neutral)):
                shown = text if len(text) <= 60 else text[:57] + "..."
                self._unequal(pair, pair.otherwise, parameter=source_name, value=shown)
        self._drop_argument(source_name)

    def _spelled(self, node: ast.expr, pair: ParameterPair) -> str:
        """The argument in the words of the tables: a name in full, and of a value with several spellings the first."""
        text = self._view.qualified(node) or ast.unparse(node)
        values = self._view.settings.table.values.get(pair.values or "")
        return text if values is None else values.also(self._view.settings.source).get(text, text)

    def _unequal(self, pair: ParameterPair, code: str, **details: str) -> None:
        """An argument that has no counterpart has another value than the one that changes nothing."""
        if pair.apply == "never" or (pair.apply == "unsafe" and not self._view.settings.options.unsafe):
            raise Refused(StatedByTable(code, tuple(sorted(details.items()))))
        self._report(code, **details)

    def _target_only(self, pair: ParameterPair, target_name: str) -> None:
        if pair.neutral is None or pair.ignore or target_name in self._form.fixed:
            return
        parameter = self._signature.get(target_name)
        if parameter is None or parameter.default is not None:
            self._emit_unless_default(target_name, pair.neutral)
            return
        first = self._signature.parameters[0] is parameter
        text = self._view.quoted(pair.neutral, self._binding.node)
        (self._prepend if first else self._append).append((target_name, text))

    def _source_default(self, name: str) -> str | None:
        """The default in the source releases: the newest one's, with a finding where they differ."""
        defaults, newest = source_defaults(self._binding, name)
        if len(defaults) > 1 and newest is not None:
            self._report("API215", parameter=name, values=", ".join(defaults), value=newest)
        return newest

    def _emit_default(self, pair: ParameterPair, source_name: str, target_name: str) -> None:
        default = self._source_default(source_name)
        if default is not None:
            self._emit(pair, target_name, default)

    def _emit(self, pair: ParameterPair, target_name: str, source_value: str) -> None:
        """Write a value out unless every allowed target release has it as its default."""
        values = self._view.settings.table.values[pair.values] if pair.values else None
        self._emit_unless_default(target_name, translate_default(source_value, values, self._binding.target), values)

    def _emit_unless_default(self, target_name: str, text: str, values: ValueMap | None = None) -> None:
        """Write a target value out unless every allowed release behaves so without it."""
        binding, target = self._binding, self._binding.target
        defaults = defaults_of(binding, self._form, target_name)
        everywhere = in_every_release(binding, self._form, target_name)
        first = first_default(self._form, target_name)
        if not everywhere and first is not None:
            defaults = (*defaults, first)
        if all(means(default, text, values, target) for default in defaults) and (defaults or not everywhere):
            return
        if not everywhere:
            raise not_in_release(binding, target_name)
        self._append.append((target_name, self._view.quoted(text, binding.node)))


def _is_neutral(text: str, neutral: str) -> bool:
    """Whether an argument is the value that changes nothing, or a list of it, a number for each axis: ``[1, 1]``."""
    if same_value(text, neutral):
        return True
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.List | ast.Tuple) or not isinstance(constant_in(neutral), int):
        return False
    return bool(node.elts) and all(same_value(ast.unparse(element), neutral) for element in node.elts)
