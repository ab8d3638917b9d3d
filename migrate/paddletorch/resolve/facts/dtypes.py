"""The dtypes that tensors can have, in the meaning of the framework that makes them.

A fact is ``float32``, ``int64``...; ``FLOATING`` is a floating-point dtype of unknown width, ``python int`` a number of
Python, and ``dtype int64`` the dtype itself as a value. What is not known is ``unknown``, ``perhaps integers`` where
integers met what is not seen to be a tensor, or ``truth`` of a comparison that may be one of tensors; never a guess.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cached_property, lru_cache, reduce
from itertools import product
from typing import NamedTuple

from paddletorch_rules.facts import facts

from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.facts.flow import Flow, Held
from paddletorch.resolve.values import Instance, NoneValue

FLOATING = "floating"
INTEGERS = "integers"
"""What is one of several dtypes of integers."""

SMALL_INTEGERS = frozenset({"uint8", "int8", "int16"})
"""Integers for which many of Paddle's functions and operators have no kernel on a CPU."""

_UNKNOWN = "unknown"
_PERHAPS = "perhaps integers"
_TRUTH = "truth"
_DEFAULT = "float32"
"""The dtype of Python's floats, unless ``set_default_dtype`` changes it."""

_NUMBERS = {"bool": 0, "int": 1, "float": 2, "complex": 3}
_NUMBER = "python "
_NAMED = "dtype "
_BY_CATEGORY = tuple(f"{_NUMBER}{name}" for name in _NUMBERS)
_PYTHON_TYPES = {"bool": "bool", "int": "int64", "float": "float64"}
"""What Python's types mean as dtypes."""

_SETTING = frozenset({"set_default_dtype", "set_default_tensor_type"})
_LAYERS = frozenset({"linear", "conv", "norm", "embedding", "activation", "pooling", "dropout", "layer"})
_CASTS = frozenset({"to", "type", "type_as", "astype", "cast"})

_Dtypes = frozenset[str]
_Facts = frozenset[str | Held[str]]

_ALL_UNKNOWN: _Dtypes = frozenset({_UNKNOWN})


class _Call(NamedTuple):
    """A call of a function or method of a framework."""

    side: str
    name: str
    operands: Sequence[ast.expr]
    """The tensor of a method, or what is given by the name of the first parameter, and the positional arguments."""
    keywords: Mapping[str, ast.expr]
    is_method: bool


def category(dtype: str) -> int:
    """0 for bool, 1 for integers, 2 for floating-point, 3 for complex numbers; torch promotes to the higher one."""
    return 1 if dtype in (INTEGERS, _PERHAPS) else facts().dtype_categories.get(dtype, 2)


def promoted(first: str | None, second: str | None) -> str | None:
    """The dtype of torch's result for two tensors of these dtypes."""
    if first is None or second is None or first == second:
        return first if first == second else None
    if category(first) != category(second):
        return max(first, second, key=category)
    widths = facts().dtype_widths
    if first in widths and second in widths:
        return max(first, second, key=widths.__getitem__)
    return FLOATING if category(first) == 2 else None


def single(found: Set[object]) -> str | None:
    """The only dtype among the facts; ``FLOATING`` or ``INTEGERS`` for several of such a kind; else None.

    A number beside them takes part in operations as a floating-point tensor would.
    """
    if len(found) == 1:
        (only,) = found
        return only if isinstance(only, str) and _is_dtype(only) else None
    dtypes = {one for one in found if isinstance(one, str) and _is_dtype(one)}
    numbers = {one for one in found if isinstance(one, str) and one.startswith(_NUMBER)}
    kinds = {category(one) for one in dtypes}
    if len(kinds) != 1 or len(dtypes | numbers) < len(found) or (numbers and kinds != {2}):
        return None
    return dtypes.pop() if len(dtypes) == 1 else FLOATING if kinds == {2} else INTEGERS if kinds == {1} else None


class Dtypes:
    """The dtypes of one file's expressions."""

    unknown = _UNKNOWN
    integer = _BY_CATEGORY[1]

    def __init__(
        self,
        evaluator: Evaluator,
        source: str,
        qualified: Callable[[ast.expr], str | None],
        recorded: Callable[[ast.expr], frozenset[str]] | None,
    ) -> None:
        """``source``: the framework of what nothing else shows; ``qualified``: the only name of an expression.

        ``recorded``: the dtypes and types of numbers that runs saw of an expression; None without such runs.
        """
        self._evaluator = evaluator
        self._tree = evaluator.tree
        self._source = source
        self._qualified = qualified
        self._recorded = recorded
        self._flow: Flow[str] = Flow(evaluator, self, recorded=recorded is not None)

    # questions ---------------------------------------------------------------------------------------

    def of(self, node: ast.expr) -> str | None:
        """The dtype of the tensor ``node``; None if it is unknown, or ``node`` is no tensor."""
        return single(self._flow.of(node))

    def of_tensor(self, node: ast.expr) -> str | None:
        """The dtype of what is a tensor for whatever reason; None if it is unknown."""
        return single({_of_tensor(one) if isinstance(one, str) else one for one in self._flow.of(node)})

    def holds_integers(self, node: ast.expr) -> bool:
        """Whether it is a tensor of integers or truth values, perhaps with what is likely a number."""
        found = [_of_tensor(one) if isinstance(one, str) else _UNKNOWN for one in self._flow.of(node)]
        return all(one != _UNKNOWN and category(one) < 2 for one in found)

    def may_be_lower(self, node: ast.expr) -> bool:
        """Whether it is a tensor that holds integers or truth values on some ways, and floating-point numbers else."""
        found = {one for one in self._flow.of(node) if isinstance(one, str)}
        kinds = {category(one) for one in found if _is_dtype(one)}
        return len(kinds) > 1 and max(kinds) == 2 and all(map(_is_dtype, found))

    def is_floating(self, node: ast.expr) -> bool:
        """Whether it is a tensor of a floating-point dtype, of whatever width."""
        return (found := self.of(node)) is not None and category(found) == 2

    @cached_property
    def default(self) -> str:
        """The dtype of Python's floats in tensors; of unknown width if the file sets several, or a computed one."""
        bindings = (b for name in self._tree.imported for b in self._tree.scope.bindings.get(name, ()))
        imported = ((b.qualified or "").rpartition(".")[2] for b in bindings)
        if _SETTING.isdisjoint(self._tree.members) and _SETTING.isdisjoint(imported):
            return _DEFAULT
        called = ((call, (self._qualified(call.func) or "").rpartition(".")) for call in self._tree.calls)
        setting = [call for call, (root, _, name) in called if root == self._source and name in _SETTING]
        found = {dtype for call in setting for dtype in self._set_as_default(call)}
        return (found.pop() if len(found) == 1 else FLOATING) if setting else _DEFAULT

    def _set_as_default(self, call: ast.Call) -> Iterator[str]:
        given = [*call.args[:1], *(keyword.value for keyword in call.keywords)]
        found = {_literal_dtype(n) or self._qualified_dtype(n) for n in given} or {""}
        yield from (one or FLOATING for one in found)

    def number(self, node: ast.expr) -> int | None:
        """The category of a Python number; None for anything else."""
        values = self._evaluator.values(node)
        found = {v.api for v in values if isinstance(v, Instance) and v.type == "foreign"}
        if len(found) != len(values) or not found <= _NUMBERS.keys():
            found = set(self._recorded(node)) if self._recorded is not None else set()
        return max(map(_NUMBERS.__getitem__, found)) if found and found <= _NUMBERS.keys() else None

    def named(self, node: ast.expr) -> str | None:
        """The only dtype that an expression denotes: ``torch.float32``, ``x.dtype``."""
        self._flow.of(node)
        found = self._named(node)
        return next(iter(found)) if len(found) == 1 and found != _ALL_UNKNOWN else None

    def is_tensor(self, node: ast.expr) -> bool:
        """Whether ``node`` can be a tensor, as far as its values are known."""
        return any(isinstance(v, Instance) and v.type == "tensor" for v in self._evaluator.values(node))

    def is_certain(self, node: ast.expr) -> bool:
        """Whether the expression is nothing but a tensor."""
        values = self._evaluator.values(node)
        return bool(values) and all(isinstance(v, Instance) and v.type == "tensor" for v in values)

    def source(self, node: ast.expr) -> ast.expr:
        """The innermost tensor with the same floating-point dtype as ``node``: ``x`` of ``(x * 2).sum(1)``."""
        while True:
            inner = self._inner(node)
            if inner is None:
                return node
            node = inner

    def _inner(self, node: ast.expr) -> ast.expr | None:
        if isinstance(node, ast.Call):
            call = self._function(node)
            if call is None or not call.operands or "dtype" in call.keywords:
                return None
            rule = _rules(call.side).get(call.name.removesuffix("_"), "")
            known = rule in ("same", "sum") or call.name.endswith("_like") or call.name in facts().floating_only
            known = known or (rule == "floating" and self.of(call.operands[0]) == FLOATING)
            known = known or (rule == "bounded" and self._is_within(call))
            return call.operands[0] if known else None
        if isinstance(node, ast.Subscript) and self.is_tensor(node.value):
            return node.value
        if isinstance(node, ast.BinOp):
            if self.of(node.left) == self.of(node.right) == FLOATING:
                return node.left  # two widths are most likely one
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if self.is_floating(one) and self.of(other) is None and self.number(other) is None:
                    return one  # whatever the other is, the result is as wide at least
            for one, other in ((node.left, node.right), (node.right, node.left)):
                lower = self.of(other) if self.number(other) is None else "int64"
                if lower is not None and category(lower) < 2 and self.is_tensor(one) and self._keeps_dtype(node, one):
                    return one
        return None

    def _is_within(self, call: _Call) -> bool:
        """Whether no bound changes the dtype of a tensor, unless that holds truth values."""
        bounds = (*call.operands[1:], *(call.keywords[k] for k in ("min", "max") if k in call.keywords))
        least = 2 if self.is_floating(call.operands[0]) else 1
        numbers = (-1 if isinstance(b, ast.Constant) and b.value is None else self.number(b) for b in bounds)
        return all(number is not None and number <= least for number in numbers)

    def _keeps_dtype(self, node: ast.BinOp, one: ast.expr) -> bool:
        """Whether the result has the dtype of this operand, as far as is known: a quotient of integers has not."""
        found = self.of(one)
        return self.of(node) is None if found is None else category(found) == 2

    # rules of the flow -------------------------------------------------------------------------------

    def constant(self, node: ast.Constant) -> _Dtypes:
        """Of a literal."""
        if node.value is None:
            return frozenset()
        kind = type(node.value).__name__
        if kind in _NUMBERS:
            return frozenset({_NUMBER + kind})
        return frozenset({_NAMED + dtype}) if (dtype := _literal_dtype(node)) else _ALL_UNKNOWN

    def annotated(self, annotation: ast.expr) -> _Dtypes:
        """Of ``torch.LongTensor``, which says what it holds."""
        if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
            name = annotation.value
        elif isinstance(annotation, ast.Name | ast.Attribute):
            name = getattr(annotation, "attr", "") or getattr(annotation, "id", "")
        else:
            return frozenset()
        dtype = facts().tensor_classes.get(name.rpartition(".")[2])
        return frozenset({dtype}) if dtype is not None else frozenset()

    def element(self, fact: str) -> _Dtypes:
        """Of the rows of a tensor."""
        return frozenset({fact if fact == _TRUTH else _of_tensor(fact)})

    def subscript(self, node: ast.Subscript, fact: str) -> _Dtypes:
        """Of a part of a tensor."""
        return self.element(fact)

    def seen(self, node: ast.expr, found: _Facts) -> _Facts:
        """``found``, or the dtypes that recorded runs saw where it is not, or not exactly, known."""
        dtype = single(found)
        if self._recorded is None or dtype not in (None, FLOATING) or not found:
            return found
        seen = self._recorded(node)
        if not seen or not seen <= facts().dtype_categories.keys():
            return found
        return found if dtype == FLOATING and any(category(one) != 2 for one in seen) else frozenset(seen)

    def attribute(self, node: ast.Attribute) -> _Facts | None:
        """Of ``x.T``, ``x.dtype``, ``torch.float32`` and the parts of a named tuple."""
        if node.attr in facts().same_dtype_attributes and not self._is_own(node.value):
            return frozenset(self._flow.plain(node.value))
        if node.attr == "dtype" and not self._is_own(node.value) and self._qualified(node) is None:
            found = self._flow.plain(node.value)
            return frozenset(_NAMED + one if _is_dtype(one) else _UNKNOWN for one in found)
        if node.attr in ("values", "indices") and isinstance(node.value, ast.Call | ast.Name):
            held = [one for one in self._flow.evaluate(node.value) if isinstance(one, Held) and len(one.parts) == 2]
            if held:
                return self._flow.part(held, int(node.attr == "indices"))
        dtype = self._qualified_dtype(node)
        return frozenset({_NAMED + dtype}) if dtype else None

    def _is_own(self, node: ast.expr) -> bool:
        """Whether it is an object of a class of the module, whose attributes are its own."""
        values = self._evaluator.values(node)
        return any(isinstance(v, Instance) and v.node is not None for v in values)

    def operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> _Dtypes:
        """Of what an operator gives."""
        if isinstance(node, ast.BinOp):
            return self._operation(node.op, node.left, node.right)
        if isinstance(node, ast.Compare):
            return self._comparison(node)
        if isinstance(node.op, ast.Not):
            return frozenset({_BY_CATEGORY[0]})
        found = self._flow.plain(node.operand)
        return frozenset(_BY_CATEGORY[1] if one == _BY_CATEGORY[0] else one for one in found)

    def augmented(self, before: _Facts, node: ast.AugAssign) -> _Dtypes:
        """After ``x += y``: torch writes into ``x``, Paddle computes ``x + y``, and so does Python for numbers."""
        plain = frozenset(one if isinstance(one, str) else _UNKNOWN for one in before)
        numbers = frozenset(one for one in plain if one.startswith(_NUMBER))
        computed = plain if self._side(node.target) == "paddle" else numbers
        found = self._product(node.op, computed, self._operand(node.value), node.target, node.value)
        return found | (plain - computed)

    def call(self, node: ast.Call) -> _Facts | None:
        """Of a framework's function or method, or of a layer."""
        call = self._function(node)
        if call is None:
            return self._cast_of_unseen(node) or self._of_layer(node)
        number = self.number(node)
        if number is not None:
            return frozenset({_BY_CATEGORY[number]})
        if call.name.startswith("__"):
            return frozenset(_ALL_UNKNOWN)
        if call.name.removesuffix("_") in _CASTS:
            return frozenset(self._cast(call))
        if (dtypes := self._given_dtype(call)) is not None:
            return frozenset(dtypes)
        if call.name in facts().casts and len(call.operands) == 1:
            return frozenset({facts().casts[call.name]})
        if call.name in facts().tensor_classes:
            return frozenset({facts().tensor_classes[call.name]})
        if call.name.endswith("_"):
            return frozenset(self._first(call))
        rule = _RULES.get(_rules(call.side).get(call.name, ""))
        return frozenset(rule(self, call)) if rule is not None else frozenset(_ALL_UNKNOWN)

    # operators ---------------------------------------------------------------------------------------

    def _operand(self, node: ast.expr) -> _Dtypes:
        """The facts of an operand; a number where nothing else is known of it."""
        found = self._flow.plain(node)
        if _UNKNOWN in found and (number := self.number(node)) is not None:
            found = (found - _ALL_UNKNOWN) | {_BY_CATEGORY[number]}
        return found

    def _operation(self, op: ast.operator, left: ast.expr, right: ast.expr) -> _Dtypes:
        return self._product(op, self._operand(left), self._operand(right), left, right)

    def _product(self, op: ast.operator | None, first: _Dtypes, second: _Dtypes, *operands: ast.expr) -> _Dtypes:
        """Of an operator, for all that its operands can be."""
        unseen = [node for node, its in zip(operands, (first, second), strict=False) if _UNKNOWN in its]
        is_certain = any(map(self.is_certain, unseen))
        is_number = bool(unseen) and not any(map(self.is_tensor, unseen))
        found = {self._combined(op, one, other, is_certain) for one, other in product(first, second)}
        if _UNKNOWN in found and is_number and isinstance(op, ast.Add | ast.Sub | ast.Mult):
            known = second if _UNKNOWN in first else first
            if known and all(one == _PERHAPS or (_is_dtype(one) and category(one) < 2) for one in known):
                found = (found - _ALL_UNKNOWN) | {_PERHAPS}
        return frozenset(found)

    def _combined(self, op: ast.operator | None, one: str, other: str, is_certain: bool) -> str:
        if one.startswith(_NAMED) or other.startswith(_NAMED):
            return _UNKNOWN
        if _TRUTH in (one, other):
            known = other if one == _TRUTH else one
            if isinstance(op, ast.BitAnd | ast.BitOr | ast.BitXor):
                return known if known in (_TRUTH, "bool") else _UNKNOWN
            return self._combined(op, known, _BY_CATEGORY[0], is_certain) if _is_dtype(known) else _UNKNOWN
        if _PERHAPS in (one, other):
            known = other if one == _PERHAPS else one
            if _is_dtype(known) and category(known) > 1:
                return known
            integers = known == _PERHAPS or (_is_dtype(known) and category(known) < 2) or _number(known) in (0, 1)
            return _PERHAPS if integers and isinstance(op, ast.Add | ast.Sub | ast.Mult | None) else _UNKNOWN
        numbers = [_number(side) for side in (one, other)]
        if None not in numbers:
            least = 2 if isinstance(op, ast.Div) else 1
            return _BY_CATEGORY[max(least, *(n for n in numbers if n is not None))]
        if _UNKNOWN in (one, other):
            known = other if one == _UNKNOWN else one
            floats = _is_dtype(known) and category(known) == 2
            floats = floats or (is_certain and _number(known) == 2)  # whatever it is, the result holds no integers
            quotient = isinstance(op, ast.Div) and (_is_dtype(known) or is_certain)
            return FLOATING if floats or quotient else _UNKNOWN
        if numbers == [None, None]:
            found = promoted(one, other)
        else:
            tensor, number = (one, numbers[1]) if numbers[0] is None else (other, numbers[0])
            assert number is not None
            higher = (None, "int64", self._floats, None)[number]
            found = tensor if category(tensor) >= number else higher
        if found is None:
            return _UNKNOWN
        return self._floats if isinstance(op, ast.Div) and category(found) < 2 else found

    @property
    def _floats(self) -> str:
        """What integers become beside floats: Paddle makes float32, whatever the default dtype is."""
        return self.default if self._source == "torch" else _DEFAULT

    def _comparison(self, node: ast.Compare) -> _Dtypes:
        if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
            return frozenset({_BY_CATEGORY[0]})
        sides = (node.left, *node.comparators)
        found = [self._operand(side) for side in sides]
        if any(_is_dtype(one) for side in found for one in side):
            return frozenset({"bool"})
        if not all(found):
            return frozenset()
        if self.is_tensor(node) or any(map(self._is_shown, sides)):
            return frozenset({"bool"})
        known = frozenset().union(*found)
        return frozenset({_TRUTH if _UNKNOWN in known or _PERHAPS in known else _BY_CATEGORY[0]})

    def _is_shown(self, node: ast.expr) -> bool:
        """Whether a parameter is a tensor because another is made like it: ``torch.ones_like(x)``."""
        if not isinstance(node, ast.Name):
            return False
        bindings = self._tree.scopes[node].lookup(node.id)
        return len(bindings) == 1 and bindings[0].kind == "parameter" and id(bindings) in self._copied

    @cached_property
    def _copied(self) -> frozenset[int]:
        """Variables, by the identity of their bindings, of whose shape and dtype other tensors are made."""
        calls = [call for call in self._tree.calls if call.args and isinstance(call.args[0], ast.Name)]
        likes = (c for c in calls if (name := self._qualified(c.func)) and name.endswith("_like"))
        given = (call.args[0] for call in likes)
        return frozenset(id(self._tree.scopes[n].lookup(n.id)) for n in given if isinstance(n, ast.Name))

    # calls -------------------------------------------------------------------------------------------

    def _side(self, node: ast.expr) -> str:
        """The framework whose tensor it is; the one that the file is written for where that is not seen."""
        values = self._evaluator.values(node)
        roots = {v.api.partition(".")[0] for v in values if isinstance(v, Instance) and v.type == "tensor"}
        found = roots & {"torch", "paddle"}
        return found.pop() if len(found) == 1 else self._source

    def _function(self, node: ast.Call) -> _Call | None:
        """The framework's function or method that is called; None for any other."""
        function = node.func
        qualified = self._qualified(function)
        given = [a for a in node.args if not isinstance(a, ast.Starred)]
        keywords = {k.arg: k.value for k in node.keywords if k.arg is not None}
        root, _, name = (qualified or "").partition(".")
        if root in ("torch", "paddle"):
            first = [value for key, value in keywords.items() if key in ("input", "self", "x")]
            return _Call(root, function_name(qualified or ""), [*first, *given], keywords, False)
        if root == "einops" and name in ("rearrange", "repeat"):
            return _Call(self._source, "clone", given[:1], {}, False)  # of the same dtype
        if qualified is not None or not isinstance(function, ast.Attribute):
            return None
        if self.is_tensor(function.value) or function.attr in facts().distinctive:
            return _Call(self._side(function.value), function.attr, [function.value, *given], keywords, True)
        return None

    def _cast_of_unseen(self, node: ast.Call) -> _Facts | None:
        """Of ``x.int()``, a method that nothing but tensors has."""
        method = node.func.attr if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords else ""
        return frozenset({facts().casts[method]}) if method in ("int", "long", "short") else None

    def _of_layer(self, node: ast.Call) -> _Facts | None:
        values = self._evaluator.values(node.func)
        layers = all(isinstance(v, Instance) and v.type in _LAYERS and v.node is None for v in values)
        return frozenset({FLOATING}) if values and layers else None

    def _named(self, node: ast.expr) -> _Dtypes:
        """The dtypes that an expression denotes: ``torch.float32``, ``x.dtype``, ``"int64"``; nothing if it is none."""
        if isinstance(node, ast.Name) and node.id in _PYTHON_TYPES and not self._evaluator.reaching(node):
            return frozenset({_PYTHON_TYPES[node.id]})
        found = self._flow.plain(node)
        if found <= _ALL_UNKNOWN and (dtype := self._qualified_dtype(node)):
            return frozenset({dtype})
        named = frozenset(one.removeprefix(_NAMED) for one in found if one.startswith(_NAMED))
        return named | _ALL_UNKNOWN if named and _UNKNOWN in found else named

    def _qualified_dtype(self, node: ast.expr) -> str:
        """The dtype, or the class of tensors with one, that a name is; empty for anything else."""
        name = self._qualified(node) or ""
        if name.partition(".")[0] not in ("torch", "paddle", "numpy"):
            return ""
        return _dtype_of_name(name.rpartition(".")[2])

    def _given_dtype(self, call: _Call) -> _Dtypes | None:
        """The dtype that an argument asks for; None if none does."""
        if "dtype" in call.keywords:
            asked = call.keywords["dtype"]
            if not isinstance(asked, ast.Constant) or asked.value is not None:
                return self._named(asked) or (_ALL_UNKNOWN if self._flow.plain(asked) else frozenset())
        for given in call.operands[1:]:
            if isinstance(given, ast.Constant | ast.Attribute | ast.Name) and (found := self._named(given)):
                return found
        return None

    def _cast(self, call: _Call) -> _Dtypes:
        """``x.to(dtype)``, ``x.to(device)``, ``x.to(other)``, ``x.type_as(other)``, ``paddle.cast(x, dtype)``."""
        asked = (call.keywords[k] for k in ("dtype", "other") if k in call.keywords)
        for given in (*call.operands[1:], *asked):
            plain = self._flow.plain(given)
            found = self._named(given) or frozenset(one for one in plain if _is_dtype(one))
            if found:
                return found | (plain & _ALL_UNKNOWN if not found & plain else frozenset())
            if plain and not self._is_place(given):
                return _ALL_UNKNOWN
        return self._first(call)

    def _is_place(self, node: ast.expr) -> bool:
        """Whether it is a device, or another argument that says nothing of the dtype."""
        if (node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")) == "device":
            return True
        values = self._evaluator.values(node)
        return any(
            isinstance(v, NoneValue)
            or (isinstance(v, Instance) and (v.type == "device" or (v.type == "foreign" and v.api in ("str", "bool"))))
            for v in values
        )

    def _first(self, call: _Call) -> _Dtypes:
        return self._flow.plain(call.operands[0]) if call.operands else _ALL_UNKNOWN

    # results by the words of the tables ---------------------------------------------------------------

    def _same(self, call: _Call) -> _Dtypes:
        operands = call.operands
        if call.name == "einsum" and operands and isinstance(operands[0], ast.Constant):
            operands = operands[1:]
        found = frozenset(_of_tensor(o) for o in self._first(call._replace(operands=operands)))
        if call.name != "Parameter":
            return found
        # the model may be made one of another width
        return frozenset(FLOATING if _is_dtype(o) and category(o) == 2 else o for o in found)

    def _created(self, call: _Call) -> _Dtypes:
        name, operands = call.name, call.operands
        if name.endswith("_like") or name.startswith("new_"):
            return self._first(call)
        if name == "arange":
            given = [*operands, *(call.keywords[k] for k in ("start", "end", "step") if k in call.keywords)]
            found = frozenset().union(*map(self._operand, given))
            floats = any(_number(one) == 2 or (_is_dtype(one) and category(one) == 2) for one in found)
            return frozenset({self.default if floats else "int64"})  # what is not known is most likely a count
        if name == "full":
            fill = call.keywords.get("fill_value", operands[1] if len(operands) > 1 else None)
            of_numbers = ("bool", "int64" if call.side == "torch" else self.default, self.default, "complex64")
            numbers = map(_number, self._operand(fill)) if fill is not None else ()
            return frozenset(_UNKNOWN if n is None else of_numbers[n] for n in numbers)
        return frozenset({self.default})

    def _of_data(self, call: _Call) -> _Dtypes:
        """Of a tensor that is made of numbers, nested lists of them, or a tensor."""
        data = call.operands[0] if call.operands else call.keywords.get("data")
        if data is None:
            return _ALL_UNKNOWN
        of_numbers = ("bool", "int64", self.default, "complex64")
        found = frozenset(leaf for one in self._flow.evaluate(data) for leaf in _leaves(one))
        if found == _ALL_UNKNOWN:
            found = self._operand(data)
        return frozenset(one if (n := _number(one)) is None else of_numbers[n] for one in found)

    def _floating(self, call: _Call) -> _Dtypes:
        found = self._first(call)
        return frozenset(
            FLOATING if not _is_dtype(one) else one if category(one) > 1 else self._floats for one in found
        )

    def _total(self, call: _Call) -> _Dtypes:
        """Of sums: integers become int64; of the small ones Paddle keeps some."""
        small = _UNKNOWN if call.side == "paddle" else "int64"
        found = self._same(call)
        return frozenset(
            one if not _is_dtype(one) or category(one) > 1 else small if one in SMALL_INTEGERS else "int64"
            for one in found
        )

    def _pair(self, call: _Call) -> _Facts:
        """Of values and their indices; a function of two tensors, or of all elements, has the values alone."""
        name, values = call.name, self._same(call)
        if call.side == "torch" and name in _EXTREMES and not call.keywords.keys() & {"dim", "axis"}:
            if len(call.operands) < 2:
                return frozenset(values)
            second = call.operands[1]
            if self.is_tensor(second) or any(map(_is_dtype, self._flow.plain(second))):
                return frozenset(self._operation(ast.Add(), *call.operands[:2]))
        return self._flow.pair(values, frozenset({"int64"}))

    def _promoted(self, call: _Call) -> _Dtypes:
        second = call.operands[1] if len(call.operands) > 1 else call.keywords.get("other", call.keywords.get("y"))
        if second is None:
            return _ALL_UNKNOWN
        return frozenset().union(*(self._operation(op, call.operands[0], second) for op in self._computed(call)))

    def _computed(self, call: _Call) -> Sequence[ast.operator]:
        """The operators that have the result's dtype: a quotient that is rounded has that of a sum."""
        if call.name not in facts().quotients:
            return (ast.Add(),)
        rounded = call.keywords.get("rounding_mode")
        if not isinstance(rounded, ast.Constant):
            return (ast.Div(),) if rounded is None else (ast.Div(), ast.Add())
        return (ast.Div(),) if rounded.value is None else (ast.Add(),)

    def _bounded(self, call: _Call) -> _Dtypes:
        """Of a tensor and what bounds it, which torch brings to the common dtype; a bound may be None."""
        found = self._first(call)
        for bound in (*call.operands[1:], *(call.keywords[k] for k in ("min", "max") if k in call.keywords)):
            raised = self._product(None, found, self._operand(bound))
            found = raised if isinstance(bound, ast.Constant) and bound.value is not None else found | raised
        return found

    def _choice(self, call: _Call) -> _Facts:
        """Of ``where``: the indices alone, or one of two tensors or numbers."""
        if len(call.operands) == 1:
            return self._flow.pair(frozenset({"int64"}))
        if len(call.operands) < 3:
            return frozenset(_ALL_UNKNOWN)
        second = call.operands[0 if call.is_method and call.side == "torch" else 1]
        return frozenset(self._operation(ast.Add(), second, call.operands[2]))

    def _joined(self, call: _Call) -> _Dtypes:
        """Of a list of tensors, which are brought to the common dtype."""
        given = call.operands[0] if call.operands else call.keywords.get("tensors")
        found: _Dtypes = frozenset()
        for one in self._flow.evaluate(given) if given is not None else ():
            parts = one.parts if isinstance(one, Held) and one.parts else [self._flow.elements((one,))] * 2
            plain = [frozenset(o if isinstance(o, str) else _UNKNOWN for o in part) for part in parts]
            joined: _Dtypes = plain[0]
            for other in plain[1:]:
                joined = self._product(None, joined, other)
            found |= joined
        return found

    def _int64(self, call: _Call) -> _Dtypes:
        return frozenset({"int64"})

    def _bool(self, call: _Call) -> _Dtypes:
        return frozenset({"bool"})


_RULES: dict[str, Callable[[Dtypes, _Call], _Facts | _Dtypes]] = {
    "data": Dtypes._of_data,
    "created": Dtypes._created,
    "int64": Dtypes._int64,
    "bool": Dtypes._bool,
    "floating": Dtypes._floating,
    "join": Dtypes._joined,
    "promote": Dtypes._promoted,
    "bounded": Dtypes._bounded,
    "pair": Dtypes._pair,
    "sum": Dtypes._total,
    "where": Dtypes._choice,
    "same": Dtypes._same,
}

_EXTREMES = frozenset({"max", "median", "min", "nanmedian"})
"""Functions of torch that give no indices without a dimension."""


@lru_cache(maxsize=2)
def _rules(side: str) -> Mapping[str, str]:
    """By the name of a framework's function or method, what its result has for a dtype."""
    known = facts()
    tables = (  # the last one counts
        (known.same_dtype[side], "same"),
        (known.sums[side], "sum"),
        (known.with_indices[side], "pair"),
        (known.promoting[side], "promote"),
        (known.bounded if side == "torch" else (), "bounded"),
        (known.joining[side], "join"),
        (known.floating_results[side], "floating"),
        (known.bool_results[side], "bool"),
        (known.int64_results[side], "int64"),
        (known.created[side], "created"),
        (known.from_data, "data"),
        (("where",), "where"),
    )
    return {name: word for names, word in tables for name in names}


_OPERATORS = "torch.ops.aten."
"""What names of traced graphs begin with; the name of an overload may follow: ``torch.ops.aten.ne.Scalar``."""


def function_name(qualified: str) -> str:
    """The last part of a function's name; of an operator of ATen without its overload: ``mul.Tensor``."""
    operator = qualified.removeprefix(_OPERATORS)
    return operator.partition(".")[0] if operator != qualified else qualified.rpartition(".")[2]


def _is_dtype(fact: str) -> bool:
    return fact == FLOATING or fact in facts().dtype_categories


def _of_tensor(fact: str) -> str:
    """The fact of what is a tensor."""
    if fact == _TRUTH:
        return "bool"
    return fact if fact == _PERHAPS or _is_dtype(fact) else _UNKNOWN


def _number(fact: str) -> int | None:
    """The category of a number of Python; None for another fact."""
    return _NUMBERS[fact.removeprefix(_NUMBER)] if fact.startswith(_NUMBER) else None


def _dtype_of_name(name: str) -> str:
    """The dtype by its own name, a short one or that of a class of tensors; empty for other names."""
    known = facts()
    name = known.tensor_classes.get(name) or known.dtype_aliases.get(name, name)
    return name if name in known.dtype_categories else ""


def _literal_dtype(node: ast.expr) -> str:
    value = node.value if isinstance(node, ast.Constant) else None
    return _dtype_of_name(value.rpartition(".")[2]) if isinstance(value, str) else ""


def _leaves(fact: str | Held[str]) -> _Dtypes:
    """What a nested list holds; where all its numbers are seen, the dtype is that of the highest."""
    if isinstance(fact, str):
        return frozenset({fact})
    parts = [frozenset(leaf for one in part for leaf in _leaves(one)) for part in fact.parts]
    if not parts:
        return frozenset(leaf for one in fact.elements for leaf in _leaves(one))
    return reduce(lambda first, second: frozenset(max(pair, key=_rank) for pair in product(first, second)), parts)


def _rank(fact: str) -> int:
    number = _number(fact)
    return 9 if number is None else number
