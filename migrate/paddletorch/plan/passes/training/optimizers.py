"""Parameter groups of optimizers: Paddle's ``learning_rate`` of a group is a factor, torch's ``lr`` the rate."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from decimal import Decimal, DivisionByZero, InvalidOperation

from paddletorch_rules.facts import facts
from paddletorch_rules.hooks.arguments import is_walked_once

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.inference.parameter_groups import groups_in, keys_of
from paddletorch.plan.inference.parameter_names import is_always_true, names_looked_up
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import Finding, finding
from paddletorch.plan.model.refusals import OwnProtocol, Refused, StatedByTable, UnclearGroups
from paddletorch.plan.model.target_forms import TYPES_WITH_PROTOCOL
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Constructor, atom, constructors_of, source_text

_RENAMED = {"lr": "learning_rate", "eps": "epsilon", "nesterov": "use_nesterov"}
_RENAMED_BY_CLASS = {"optim.RMSprop": {"alpha": "rho"}}
_LOST_BY_CLASS = {"optim.SGD": frozenset({"momentum"}), "optim.RMSprop": frozenset({"eps"})}
"""What a group of torch's may hold and one of Paddle's may not; Paddle's RMSProp adds its epsilon under the root."""

_RATES = {"torch": "lr", "paddle": "learning_rate"}


def plan_optimizers(view: FileView, planned: Planned) -> Changes:
    """Convert the parameter groups of optimizers, and refuse subclasses that depend on the source's protocol."""
    draft = Draft(planned.uses)
    for use in draft:
        if _follows_protocol(use):
            draft.revise(use.refuse(OwnProtocol()))
    groups: set[ast.Dict | ast.Call] = set()
    names: set[ast.Attribute] = set()
    for optimizer in constructors_of(view, draft, "optimizer"):
        use = draft[optimizer.site]
        edits: list[Edit] = []
        try:
            asked = _names_asked(view, optimizer)
            edits += _chosen(view, optimizer) if asked else []
            edits += [_identity(view, optimizer, name) for name in asked if name not in names]
            names.update(asked)
            written = _groups(optimizer)
            for group in written:
                if group not in groups:
                    groups.add(group)
                    edits += _Group(view, optimizer, use, group).edits()
            if not written:
                elsewhere = _groups_elsewhere(view, optimizer)
                groups.update(elsewhere)
                edits += _moved(view, optimizer, use) if elsewhere else []
            use = use.with_edits(*edits)
        except Refused as stop:
            use = use.refuse(stop.refusal)
        draft.revise(use)
    return Changes(findings=tuple(_other_groups(view, groups)), uses=draft.revised, handled=frozenset(names))


_CHOICE = "apply_decay_param_fun"


def _names_asked(view: FileView, optimizer: Constructor) -> list[ast.Attribute]:
    """The names of parameters by which ``apply_decay_param_fun`` chooses; empty if the optimizer has no choice.

    Raises:
        Refused: it does not only look a name up, or the parameters are groups.
    """
    function = optimizer.value(_CHOICE) if view.target == "torch" else None
    if function is None or (isinstance(function, ast.Constant) and function.value is None):
        return []
    if is_always_true(view, function):
        return []
    given = optimizer.binding.origin("parameters")
    found = names_looked_up(view, function) if not isinstance(given, ast.List) else None
    if not found:
        value = ast.unparse(function)
        raise Refused(StatedByTable("API221", (("parameter", _CHOICE), ("value", value))))
    return found


def _chosen(view: FileView, optimizer: Constructor) -> list[Edit]:
    """Groups with and without decay in place of the parameters."""
    function, given = optimizer.value(_CHOICE), optimizer.value("parameters")
    assert function is not None
    assert given is not None
    code, span, text = optimizer.row.code, view.source.span(given), view.written(function)
    return [Edit(span, "", code, ("paddle_groups_by_decay(", span, f", {text})"))]


def _identity(view: FileView, optimizer: Constructor, name: ast.Attribute) -> Edit:
    return Edit(view.source.span(name), f"id({view.written(name.value)})", optimizer.row.code)


_BASES = ("optim.Optimizer", "lr.LRScheduler")


def _follows_protocol(use: Use) -> bool:
    """Whether this is the base of a class that implements the source framework's protocol of steps or rates."""
    role = use.site.role
    if use.adapter is not None:
        return False  # which is written for such classes
    if role == "base" and use.row.instance in TYPES_WITH_PROTOCOL:
        return True
    return use.row.id in _BASES and role in ("call", "member")


def _groups(optimizer: Constructor) -> list[ast.Dict]:
    """The dict literals of a list of parameter groups; empty if the argument is no such list.

    Raises:
        Refused: only some of the groups are known.
    """
    given = optimizer.binding.origin("params" if optimizer.binding.target == "paddle" else "parameters")
    if isinstance(given, ast.ListComp) and isinstance(given.elt, ast.Dict):
        return [given.elt]
    if not isinstance(given, ast.List) or not any(isinstance(e, ast.Dict) for e in given.elts):
        return []
    if not all(isinstance(e, ast.Dict) for e in given.elts):
        raise Refused(UnclearGroups("some of the groups are no dict that can be seen"))
    return [e for e in given.elts if isinstance(e, ast.Dict)]


def _groups_elsewhere(view: FileView, optimizer: Constructor) -> list[ast.Dict | ast.Call]:
    """The groups that stand elsewhere in the file, if some of them would mean something else in Paddle.

    Empty as well if one holds what Paddle's groups lack.
    """
    given = optimizer.value("params") if view.target == "paddle" else None
    if given is None or not view.provide(_names_params):
        return []
    found = groups_in(view, given)
    keys = [keys_of(group) for group in found]
    lost = facts().lost_group_keys | _LOST_BY_CLASS.get(optimizer.row.id, frozenset())
    if any(not lost.isdisjoint(one) for one in keys):
        return []
    renamed = {*_RENAMED, "betas", *_RENAMED_BY_CLASS.get(optimizer.row.id, {})}
    moved = any(not renamed.isdisjoint(one) or _is_zero(one.get("weight_decay")) for one in keys)
    return found if moved else []


def _names_params(view: FileView) -> bool:
    return b"params" in view.source.body


def _is_zero(value: ast.expr | None) -> bool:
    """Whether this is the integer 0, which Paddle refuses as a decay."""
    return isinstance(value, ast.Constant) and type(value.value) is int and value.value == 0


def _moved(view: FileView, optimizer: Constructor, use: Use) -> list[Edit]:
    """The groups, handed to a function that makes Paddle's of them.

    Raises:
        Refused: the optimizer's own rate is not seen.
    """
    given = optimizer.value("params")
    assert given is not None
    if any(keyword.arg is None for keyword in optimizer.call.keywords):
        raise Refused(UnclearGroups("the rate that the groups' rates go by is not seen"))
    base, span = _base_rate(view, optimizer.binding, use), view.source.span(given)
    return [
        Edit(Span(span.start, span.start), "torch_groups(", optimizer.row.code),
        Edit(Span(span.end, span.end), f", {base})", optimizer.row.code),
    ]


def _other_groups(view: FileView, planned: Collection[ast.Dict | ast.Call]) -> Iterator[Finding]:
    """Report other groups with their own rates, such as those that a function for other files makes."""
    rate = _RATES[view.settings.source]
    if b"params" not in view.source.body or rate.encode() not in view.source.body:
        return
    for node in (*view.tree.of_kind(ast.Dict), *view.tree.calls_of("dict")):
        if node not in planned and {"params", rate} <= keys_of(node).keys():
            yield finding("OPT202", node, "parameter group", what="the optimizer that gets it cannot be seen")


class _Group:
    """One group of one optimizer."""

    def __init__(self, view: FileView, optimizer: Constructor, use: Use, group: ast.Dict) -> None:
        self._view = view
        self._binding: CallBinding = optimizer.binding
        self._use = use
        self._row = optimizer.row
        self._group = group

    def edits(self) -> list[Edit]:
        """The dict with the target's keys and values.

        Raises:
            Refused: a key or value has no counterpart or is unknown.
        """
        to_paddle = self._view.target == "paddle"
        names = {**_RENAMED, **_RENAMED_BY_CLASS.get(self._row.id, {})}
        if not to_paddle:
            names = {new: old for old, new in names.items()}
        found: list[Edit] = []
        betas: list[tuple[str, ast.Constant, ast.expr]] = []
        for key, value in zip(self._group.keys, self._group.values, strict=True):
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                raise Refused(UnclearGroups("a group has keys that cannot be seen"))
            name = key.value
            if name in facts().lost_group_keys or (to_paddle and name in _LOST_BY_CLASS.get(self._row.id, ())):
                raise Refused(UnclearGroups(f"a group has {name!r}"))
            if name in ("beta1", "beta2"):
                betas.append((name, key, value))
            elif name == "betas" and to_paddle:
                found += self._betas_to_paddle(key, value)
            elif name == _RATES[self._view.settings.source]:
                found += [self._key(key, names[name]), *self._rate(value)]
            elif name in names:
                found.append(self._key(key, names[name]))
            elif name == "params" and to_paddle:
                found += self._parameters(value)
            elif name == "weight_decay" and to_paddle and isinstance(value, ast.Constant) and value.value == 0:
                found.append(self._edit(self._view.source.span(value), "0.0"))
        return found + self._betas_to_torch(betas)

    def _edit(self, span: Span, text: str) -> Edit:
        return Edit(span, text, self._row.code)

    def _quoted(self, key: ast.Constant, name: str) -> str:
        quote = self._view.source.slice(self._view.source.span(key))[-1]
        return f"{quote}{name}{quote}"

    def _key(self, key: ast.Constant, name: str) -> Edit:
        return self._edit(self._view.source.span(key), self._quoted(key, name))

    def _parameters(self, value: ast.expr) -> list[Edit]:
        """Paddle iterates over a group's parameters twice, so an iterator becomes a list."""
        if not is_walked_once(value):
            return []
        span = self._view.source.span(value)
        if isinstance(value, ast.GeneratorExp):
            return [self._edit(Span(span.start, span.start), "list")]
        return [self._edit(Span(span.start, span.start), "list("), self._edit(Span(span.end, span.end), ")")]

    def _betas_to_paddle(self, key: ast.Constant, value: ast.expr) -> list[Edit]:
        if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == 2:
            texts = [source_text(self._view, e) for e in value.elts]
        else:
            text = source_text(self._view, value)
            texts = [None if text is None else f"{atom(text)}[{i}]" for i in (0, 1)]
        if None in texts:
            raise Refused(UnclearGroups("a group's betas are computed in its dict"))
        span = self._pair(key, value)
        first, second = (self._quoted(key, name) for name in ("beta1", "beta2"))
        return [self._edit(span, f"{first}: {texts[0]}, {second}: {texts[1]}")]

    def _betas_to_torch(self, given: list[tuple[str, ast.Constant, ast.expr]]) -> list[Edit]:
        if not given:
            return []
        texts = {}
        for name, default in (("beta1", "0.9"), ("beta2", "0.999")):
            own = next((v for n, _, v in given if n == name), self._binding.value(name))
            texts[name] = default if own is None else source_text(self._view, own)
        if None in texts.values() or (len(given) == 2 and not self._neighbours(given)):
            raise Refused(UnclearGroups("a group's beta1 and beta2 cannot be joined"))
        pairs = [self._pair(key, value) for _, key, value in given]
        span = Span(pairs[0].start, pairs[-1].end)
        return [self._edit(span, f"{self._quoted(given[0][1], 'betas')}: ({texts['beta1']}, {texts['beta2']})")]

    def _pair(self, key: ast.Constant, value: ast.expr) -> Span:
        """The text of a key and its value.

        Raises:
            Refused: one of them is in brackets, of which half would be left.
        """
        start, end = self._view.source.span(key), self._view.source.span(value)
        if {"(", ")"}.intersection(self._view.source.slice(Span(start.end, end.start))):
            raise Refused(UnclearGroups(f"a group has {key.value!r} in brackets"))
        return Span(start.start, end.end)

    def _neighbours(self, given: list[tuple[str, ast.Constant, ast.expr]]) -> bool:
        positions = [self._group.keys.index(key) for _, key, _ in given]
        return abs(positions[0] - positions[1]) == 1

    def _rate(self, value: ast.expr) -> list[Edit]:
        base, span = _base_rate(self._view, self._binding, self._use), self._view.source.span(value)
        short = _factor(value, base) if self._view.target == "paddle" else _product(value, base)
        if short is not None:
            return [self._edit(span, short)]
        before, after = ("", "") if atom(ast.unparse(value)) == ast.unparse(value) else ("(", ")")
        if self._view.target == "paddle":
            after += f" / {atom(base)}"
        else:
            before = f"{atom(base)} * {before}"
        return [self._edit(Span(span.start, span.start), before), self._edit(Span(span.end, span.end), after)]


def _base_rate(view: FileView, binding: CallBinding, use: Use) -> str:
    """The text of the optimizer's own rate in the target's code.

    Raises:
        Refused: the call computes it.
    """
    name = _RATES[view.settings.source]
    node = binding.value(name)
    if node is None:
        signature = binding.form.signature(view.settings.source_releases.newest)
        parameter = signature.get(name) if signature is not None else None
        return (parameter.default if parameter is not None else None) or "0.001"
    span = view.source.span(node)
    scheduled = next((e.text for e in use.edits if e.span == span and e.text), None)
    text = scheduled or source_text(view, node)
    if text is None or (scheduled is None and "scheduler" in binding.types(name)):
        raise Refused(UnclearGroups("the rate that the groups' rates go by is computed in the call"))
    return text


def _number(text: str) -> Decimal | None:
    try:
        value = ast.literal_eval(text)
        return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except (ValueError, SyntaxError, InvalidOperation):
        return None


def _factor(value: ast.expr, base: str) -> str | None:
    """``value / base`` in its shortest form, if there is one."""
    text = ast.unparse(value)
    plain = ast.unparse(ast.parse(base, mode="eval").body)
    number, divisor = _number(text), _number(base)
    if number is not None and divisor is not None:
        try:
            quotient = number / divisor
        except (DivisionByZero, InvalidOperation):
            raise Refused(UnclearGroups("the optimizer's own rate is 0")) from None
        return repr(float(quotient)) if Decimal(repr(float(quotient))) * divisor == number else None
    if text == plain:
        return "1.0"
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult | ast.Div):
        left, right = ast.unparse(value.left), ast.unparse(value.right)
        if left == plain:
            return right if isinstance(value.op, ast.Mult) else f"1 / {atom(right)}"
        if right == plain and isinstance(value.op, ast.Mult):
            return left
    return None


def _product(value: ast.expr, base: str) -> str | None:
    """``base * value`` in its shortest form, if there is one."""
    number, factor = _number(ast.unparse(value)), _number(base)
    if number is not None and factor is not None:
        return repr(float(number * factor))
    return base if number == 1 else None
