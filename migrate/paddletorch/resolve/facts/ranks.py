"""How many axes a tensor has, and how long those are that are known. Which functions keep them is in ``facts.toml``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product, zip_longest
from typing import NamedTuple

from paddletorch_rules.facts import facts

from paddletorch.resolve.evaluator.evaluator import Evaluator
from paddletorch.resolve.facts.flow import Flow, Held
from paddletorch.resolve.facts.tensors import tensorhood
from paddletorch.resolve.values import Instance, Qualified

Sizes = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Extent:
    """What is known of a tensor's size."""

    sizes: Sizes | None = None
    """The length of each axis, None where it is not known; None if not even their number is."""
    is_several: bool = False
    """Whether it has several elements, whatever its sizes are."""

    @property
    def has_several(self) -> bool:
        """Whether it certainly has more than one element."""
        return self.is_several or any(size is not None and size > 1 for size in self.sizes or ())


@dataclass(frozen=True, slots=True)
class Number:
    """A Python number, string or function, which has no axes; the value of an integer that is seen."""

    value: int | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """None."""


class Called(NamedTuple):
    """A call of a framework's function or method, a method's tensor first."""

    name: str
    root: str
    """The framework, if it is known."""
    given: tuple[ast.expr, ...]
    named: Mapping[str, ast.expr]


@dataclass(frozen=True, slots=True)
class Axes:
    """Axes that are given: None for all."""

    numbers: tuple[int | None, ...] | None
    are_kept: bool = False


Fact = Extent | Number | Absent
Found = frozenset[Fact | Held[Fact]]

_ANY = Extent()
_UNKNOWN: Found = frozenset({_ANY})
_NUMBER = Number()
_ABSENT = Absent()
_MANY = 64
"""So many combinations of what operands can be are looked at."""


class RankRules:
    """The rules by which ranks and sizes flow."""

    unknown: Fact = _ANY
    integer: Fact = _NUMBER

    def __init__(self, evaluator: Evaluator, seen: Callable[[ast.expr], frozenset[int]] | None = None) -> None:
        """``seen``: the ranks that every recorded run saw of an expression."""
        self._evaluator = evaluator
        self._seen = seen
        self.flow: Flow[Fact] = Flow(evaluator, self, recorded=seen is not None)

    def seen(self, node: ast.expr, found: Found) -> Found:
        """The recorded ranks, where the file does not show them."""
        if self._seen is None or any(not isinstance(one, Extent) or one.sizes is not None for one in found):
            return found
        return frozenset(Extent((None,) * rank) for rank in self._seen(node)) or found

    def constant(self, node: ast.Constant) -> frozenset[Fact]:
        """A number, by its value if that is an integer."""
        if node.value is None:
            return frozenset({_ABSENT})
        return frozenset({Number(node.value if type(node.value) is int else None)})

    def annotated(self, annotation: ast.expr) -> frozenset[Fact]:
        """Numbers, where an annotation says so."""
        is_number = isinstance(annotation, ast.Name) and annotation.id in ("int", "float", "bool")
        return frozenset({_NUMBER}) if is_number else frozenset()

    def operator(self, node: ast.BinOp | ast.UnaryOp | ast.Compare) -> frozenset[Fact]:
        """The sizes of all operands together."""
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops):
                return frozenset({_NUMBER})
            return self._together([node.left, *node.comparators])
        if isinstance(node, ast.UnaryOp):
            return self._negated(node)
        if isinstance(node.op, ast.MatMult):
            return self._each([node.left, node.right], _multiplied)
        return self._together([node.left, node.right])

    def _negated(self, node: ast.UnaryOp) -> frozenset[Fact]:
        if isinstance(node.op, ast.Not):
            return frozenset({_NUMBER})
        found = self._operand(node.operand)
        return frozenset(
            Number(-one.value) if isinstance(one, Number) and one.value is not None else one
            for one in found
            if isinstance(node.op, ast.USub) or not isinstance(one, Number) or one.value is None
        ) or (found and frozenset({_NUMBER}))

    def augmented(self, before: Found, node: ast.AugAssign) -> frozenset[Fact]:
        """What an operator in place leaves: the tensor's own sizes, which cannot change."""
        pairs = product((_ANY if isinstance(one, Held) else one for one in before), self._operand(node.value))
        return frozenset(_both(one, other) for one, other in pairs)

    def subscript(self, node: ast.Subscript, fact: Fact) -> frozenset[Fact]:
        """A part of a tensor."""
        if not isinstance(fact, Extent) or fact.sizes is None:
            return frozenset({_ANY})
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return frozenset(self._part(fact.sizes, parts))

    def _part(self, sizes: Sizes, parts: Sequence[ast.expr]) -> Iterable[Fact]:
        """By each part: an integer takes an axis away, None adds one, a slice keeps one."""
        axes = [part for part in parts if not _is(part, None) and not _is(part, ...)]
        if any(isinstance(part, ast.Starred) for part in parts) or len(axes) > len(sizes):
            return (_ANY,)
        kept: list[int | None] = []
        rest = list(sizes)
        for k, part in enumerate(parts):
            if _is(part, ...):
                after = sum(not _is(one, None) for one in parts[k + 1 :])
                count = len(rest) - after
                kept += rest[:count]
                rest = rest[count:]
            elif _is(part, None):
                kept.append(1)
            elif isinstance(part, ast.Slice):
                size = rest.pop(0)
                kept.append(size if part.lower is part.upper is None and part.step is None else None)
            else:
                index = self._operand(part)
                if not index:
                    return ()  # not known yet
                if not all(isinstance(one, Number) for one in index):
                    return (_ANY,)
                rest.pop(0)
        return (Extent((*kept, *rest)),)

    def element(self, fact: Fact) -> frozenset[Fact]:
        """What iterating a tensor gives has its other axes."""
        return frozenset({Extent(fact.sizes[1:]) if isinstance(fact, Extent) and fact.sizes else _ANY})

    def attribute(self, node: ast.Attribute) -> Found | None:
        """The size of a tensor, and what else it has."""
        if node.attr in ("shape", "ndim"):
            found = self.flow.evaluate(node.value)
            if self._is_tensor(node.value) or any(isinstance(one, Extent) and one.sizes is not None for one in found):
                return self._measured("size" if node.attr == "shape" else "dim", found)
        if node.attr in facts().same_dtype_attributes and self._is_tensor(node.value):
            return self._made(Called(node.attr, "", (node.value,), {}))
        return None

    def call(self, node: ast.Call) -> Found | None:
        """What a framework's function, method or layer gives."""
        called = self._called(node)
        return self._layer(node) if called is None else self._made(called)

    def _called(self, node: ast.Call) -> Called | None:
        """A framework's function or method and what it is given; None for any other."""
        function, named = node.func, {k.arg: k.value for k in node.keywords if k.arg is not None}
        qualified = {v.name for v in self._evaluator.values(function) if isinstance(v, Qualified)}
        if len(qualified) == 1:
            root, _, rest = qualified.pop().partition(".")
            return Called(rest.rpartition(".")[2], root, tuple(node.args), named) if root in _FRAMEWORKS else None
        if not isinstance(function, ast.Attribute):
            return None
        of = tensorhood(self._evaluator.values(function.value))
        if not of.is_seen and function.attr not in ("view", "reshape"):
            return None
        root = next(iter(of.origins)) if len(of.origins) == 1 else ""
        return Called(function.attr, root, (function.value, *node.args), named)

    def _is_tensor(self, node: ast.expr) -> bool:
        return tensorhood(self._evaluator.values(node)).is_seen

    def _made(self, called: Called) -> Found:
        """What the rule of a function or method says, which ``facts.toml`` gives."""
        rule, given, named = _RULES.of(called.name), called.given, called.named
        if rule in ("sizes", "first_size"):
            only_first = rule == "first_size" or called.root == "paddle"
            return self._of_sizes(given[:1] if only_first else given, named)
        if rule == "line":
            return frozenset({Extent((None,))})
        first = given[0] if given else next((named[one] for one in _FIRST if one in named), None)
        if rule == "" or first is None or isinstance(first, ast.Starred):
            return _UNKNOWN
        rest = given[1:]
        if rule == "data":
            return self._of_data(first)
        if rule == "resized":  # 0 may stand for the length that the axis has
            return frozenset(map(_without_zeros, self._of_sizes(rest, named)))
        if rule == "like_second":
            return self._changed("same", self.flow.evaluate(rest[0])) if rest else _UNKNOWN
        if rule in ("together", "multiplied"):
            others = [*rest, *(named[one] for one in _SECOND if one in named)]
            joined = _both if rule == "together" else _multiplied
            return frozenset(self._each([first, *others], joined)) if others else _UNKNOWN
        if rule == "positions":
            return frozenset({Extent((None, None)) if not rest and not named else _ANY})
        found = self.flow.evaluate(first)
        if rule == "measured":
            is_one = called.name == "size" and rest
            return self._one_size(found, rest[0]) if is_one else self._measured(called.name, found)
        if rule in ("reduced", "flattened"):
            return self._along(called, found, self._axes(rest, named))
        if rule in ("parted", "unbound"):
            parts = self.flow.elements(found) if rule == "unbound" else self._changed("turned", found)
            return frozenset({Held(parts)}) if parts else frozenset()
        if rule in ("joined", "stacked"):
            found = self.flow.elements(found)
        rank = facts().batched_ranks.get(f"nn.functional.{called.name}")
        return self._changed(rule, found, rank)

    def _changed(self, rule: str, found: Found, rank: int | None = None) -> Found:
        extents = (one if isinstance(one, Extent) else _ANY for one in found)
        return frozenset(_CHANGED[rule](_batched(one, rank)) for one in extents)

    def _along(self, called: Called, found: Found, all_axes: frozenset[Axes]) -> Found:
        """What a reduction leaves, or what flattening gives; torch gives places beside the values along an axis."""
        made = _flattened if _RULES.of(called.name) == "flattened" else _reduced
        results: set[Fact | Held[Fact]] = set()
        for axes in all_axes:
            some = frozenset[Fact | Held[Fact]](made(one if isinstance(one, Extent) else _ANY, axes) for one in found)
            if called.name in facts().with_indices["torch"] and axes.numbers is not None:
                some = self.flow.pair(some, some) if called.root == "torch" and axes.numbers else _UNKNOWN
            results |= some
        return frozenset(results)

    def _layer(self, node: ast.Call) -> Found | None:
        """What a layer of the framework gives; None for what the program defines."""
        values = self._evaluator.values(node.func)
        layers = [v for v in values if isinstance(v, Instance) and v.node is None and not v.external_class]
        rules = {facts().ranks_of_layers.get(v.type, "") for v in layers}
        if not layers or len(layers) < len(values):
            return None
        if len(rules) > 1 or "" in rules or not node.args:
            return _UNKNOWN
        (rule,) = rules
        several = all(v.type in _OF_SEVERAL for v in layers)
        ranks = {_BATCHED.of(v.api) for v in layers}
        rank = ranks.pop() if len(ranks) == 1 else None
        given = (one if isinstance(one, Extent) else _ANY for one in self.flow.evaluate(node.args[0]))
        changed = (_CHANGED[rule](_batched(one, rank)) for one in given)
        return frozenset(Extent(one.sizes, one.is_several or several) for one in changed)

    # sizes that are given ----------------------------------------------------------------------------

    def _of_sizes(self, given: Sequence[ast.expr], keywords: Mapping[str, ast.expr]) -> Found:
        """A tensor of the sizes that are given, one by one or as a sequence."""
        named = next((keywords[one] for one in ("size", "shape") if one in keywords), None)
        whole = named if named is not None else given[0] if given and not isinstance(given[0], ast.Starred) else None
        if isinstance(whole, ast.Tuple | ast.List) and not whole.elts:
            return frozenset({Extent(())})
        found = self.flow.evaluate(whole) if whole is not None else frozenset[Fact | Held[Fact]]()
        if named is not None or len(given) == 1 or any(isinstance(one, Held) for one in found):
            return frozenset(map(self._of_sequence, found)) if whole is not None else _UNKNOWN
        parts: list[list[Sizes]] = []
        for one in given:
            if isinstance(one, ast.Starred):
                spread = [self._of_sequence(fact).sizes for fact in self.flow.evaluate(one.value)]
                if None in spread:
                    return _UNKNOWN
                parts.append([sizes for sizes in spread if sizes is not None])
            else:
                parts.append([(_value(fact),) for fact in self.flow.evaluate(one)])
        if not given:
            return _UNKNOWN
        choices = islice(product(*parts), _MANY)
        return frozenset(Extent(tuple(size for part in one for size in part)) for one in choices)

    def _of_sequence(self, fact: Fact | Held[Fact]) -> Extent:
        """A tensor whose sizes are those of a sequence, or a single number."""
        if isinstance(fact, Number):
            return Extent((_size(fact.value),))
        if not isinstance(fact, Held) or not fact.parts:
            return _ANY
        return Extent(tuple(_only({_value(one) for one in part}) for part in fact.parts))

    def _of_data(self, node: ast.expr) -> Found:
        """A tensor of numbers, or of lists of them, that stand there."""
        sizes: list[int | None] = []
        while isinstance(node, ast.List | ast.Tuple) and node.elts and not isinstance(node.elts[0], ast.Starred):
            is_counted = not any(isinstance(one, ast.Starred) for one in node.elts)
            sizes.append(len(node.elts) if is_counted else None)
            node = node.elts[0]
        found = self.flow.evaluate(node)
        of_numbers = Extent(tuple(sizes))
        of_other = (one if isinstance(one, Extent) and not sizes else _ANY for one in found)
        return frozenset(
            of_numbers if isinstance(one, Number) else new for one, new in zip(found, of_other, strict=True)
        )

    def _axes(self, given: Sequence[ast.expr], keywords: Mapping[str, ast.expr]) -> frozenset[Axes]:
        """The axes that a call names, as far as they are known; all where it names none."""
        named = next((keywords[one] for one in ("dim", "axis", "start_dim", "start_axis") if one in keywords), None)
        node = named if named is not None else given[0] if given else None
        kept = next((keywords[one] for one in ("keepdim", "keepdims") if one in keywords), None)
        if kept is None and named is None and len(given) > 1:
            kept = given[1]
        are_kept = isinstance(kept, ast.Constant) and bool(kept.value)
        if kept is not None and not isinstance(kept, ast.Constant):
            return frozenset({Axes(())})
        if node is None or _is(node, None):
            return frozenset({Axes(None, are_kept)})
        found: set[Axes] = set()
        for fact in self.flow.evaluate(node):
            if isinstance(fact, Number):
                found.add(Axes((fact.value,), are_kept))
            elif isinstance(fact, Held) and fact.parts:
                found.add(Axes(tuple(_only({_axis(one) for one in part}) for part in fact.parts), are_kept))
            else:
                found.add(Axes(None if fact is _ABSENT else (), are_kept))
        return frozenset(found)

    # sizes that are asked for ------------------------------------------------------------------------

    def _measured(self, name: str, found: Found) -> Found:
        """What a tensor says of its size: ``size()``, ``dim()``, ``numel()``."""
        if name != "size":
            ranks = (len(one.sizes) if isinstance(one, Extent) and one.sizes is not None else None for one in found)
            return frozenset(Number(rank if name != "numel" else None) for rank in ranks)
        answers: set[Fact | Held[Fact]] = set()
        for one in found:
            sizes = one.sizes if isinstance(one, Extent) else None
            parts = tuple(frozenset[Fact | Held[Fact]]({Number(size)}) for size in sizes or ())
            elements = frozenset(v for part in parts for v in part)
            answers.add(Held(elements, parts) if sizes else Held(frozenset({_NUMBER})))
        return frozenset(answers)

    def _one_size(self, found: Found, axis: ast.expr) -> Found:
        numbers = {one.value for one in self.flow.plain(axis) if isinstance(one, Number)}
        answers: set[Fact] = set()
        for one in found:
            sizes = one.sizes if isinstance(one, Extent) else None
            for number in numbers or {None}:
                known = sizes is not None and number is not None and -len(sizes) <= number < len(sizes)
                answers.add(Number(sizes[number]) if known and sizes is not None and number is not None else _NUMBER)
        return frozenset(answers)

    # operands ----------------------------------------------------------------------------------------

    def _together(self, nodes: Sequence[ast.expr]) -> frozenset[Fact]:
        """The size to which all operands are taken."""
        return self._each(nodes, _both)

    def _each(self, nodes: Sequence[ast.expr], joined: Callable[[Fact, Fact], Fact]) -> frozenset[Fact]:
        found, *others = [self._operand(node) for node in nodes]
        for other in others:
            found = frozenset(joined(one, two) for one, two in islice(product(found, other), _MANY))
        return found

    def _operand(self, node: ast.expr) -> frozenset[Fact]:
        """What an operand can be; None is none."""
        found = self.flow.plain(node)
        return found if _ABSENT not in found else (found - {_ABSENT}) or frozenset({_ANY})


def _both(one: Fact, other: Fact) -> Fact:
    """The size of what an operator makes of two operands."""
    if isinstance(one, Number):
        return _NUMBER if isinstance(other, Number) else other
    if isinstance(other, Number):
        return one
    if isinstance(one, Absent) or isinstance(other, Absent):
        return _ANY
    several = one.has_several or other.has_several
    if one.sizes is None or other.sizes is None:
        return Extent(None, several)
    pairs = zip_longest(reversed(one.sizes), reversed(other.sizes), fillvalue=1)
    sizes = tuple(_longer(a, b) for a, b in pairs)[::-1]
    return Extent(sizes, several and not any(size is not None and size > 1 for size in sizes))


def _longer(one: int | None, other: int | None) -> int | None:
    """The length of an axis along which two tensors meet."""
    if one == 1:
        return other
    return one if other in (1, None) or one == other else None if one is not None else other


def _multiplied(one: Fact, other: Fact) -> Fact:
    """The size of a product of matrices or vectors."""
    if not isinstance(one, Extent) or not isinstance(other, Extent) or not one.sizes or not other.sizes:
        return _ANY
    left, right = one.sizes, other.sizes
    if len(left) == 1 or len(right) == 1:
        longer = left if len(right) == 1 else right
        return Extent(longer[:-1] if len(right) == 1 else (*longer[:-2], *longer[-1:]))
    batch = _both(Extent(left[:-2]), Extent(right[:-2]))
    assert isinstance(batch, Extent)
    return Extent((*(batch.sizes or ()), left[-2], right[-1]))


def _batched(one: Extent, rank: int | None) -> Extent:
    """What a layer or function is given that takes images of this rank; of one alone, Paddle's raises."""
    return Extent((None,) * rank, one.is_several) if one.sizes is None and rank is not None else one


def _without_zeros(one: Fact | Held[Fact]) -> Fact | Held[Fact]:
    return Extent(tuple(size or None for size in one.sizes)) if isinstance(one, Extent) and one.sizes else one


def _same(one: Extent) -> Extent:
    return one


def _turned(one: Extent) -> Extent:
    """The same axes, of lengths that change places or change."""
    return Extent(None if one.sizes is None else (None,) * len(one.sizes), one.has_several)


def _added(one: Extent) -> Extent:
    """One more axis."""
    return Extent(None if one.sizes is None else (None,) * (len(one.sizes) + 1), one.has_several)


_CHANGED: Mapping[str, Callable[[Extent], Extent]] = {
    "same": _same,
    "turned": _turned,
    "joined": _turned,
    "added": _added,
    "stacked": _added,
}


def _reduced(one: Extent, axes: Axes) -> Extent:
    """What is left of the axes."""
    if axes.numbers is None:
        return one if axes.are_kept and not one.sizes else Extent((1,) * len(one.sizes or ()) if axes.are_kept else ())
    if not axes.numbers or one.sizes is None:
        return _ANY
    sizes = list(one.sizes)
    if axes.are_kept or len(axes.numbers) > len(sizes):
        return Extent((None,) * len(sizes)) if axes.are_kept else _ANY
    numbers = [number for number in axes.numbers if number is not None and -len(sizes) <= number < len(sizes)]
    if len(numbers) < len(axes.numbers):
        return Extent((None,) * (len(sizes) - len(axes.numbers)))
    gone = {number % len(sizes) for number in numbers}
    return Extent(tuple(size for k, size in enumerate(sizes) if k not in gone))


def _flattened(one: Extent, axes: Axes) -> Extent:
    """The axes before the first that is flattened, and one for the rest."""
    start = 0 if axes.numbers is None else next(iter(axes.numbers), None)
    if start is None or start < 0:
        return _ANY
    return Extent((*(one.sizes or (None,) * start)[:start], None), one.has_several)


def _size(value: int | None) -> int | None:
    """A size that is given; -1 stands for what is left."""
    return None if value is None or value < 0 else value


def _axis(fact: object) -> int | None:
    return fact.value if isinstance(fact, Number) else None


def _value(fact: object) -> int | None:
    return _size(_axis(fact))


def _only(found: set[int | None]) -> int | None:
    return next(iter(found)) if len(found) == 1 else None


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


_FIRST = ("input", "x", "data", "tensors")
"""What the frameworks call the first parameter."""

_SECOND = ("other", "y", "mat2")

_FRAMEWORKS = ("torch", "paddle")

_OF_SEVERAL = frozenset({"linear", "conv", "embedding"})
"""Types of layers whose result has several elements, unless they are very small."""


class _RulesByName:
    """The rule of each function and method of ``facts.toml``."""

    def __init__(self) -> None:
        self._found: dict[str, str] = {}

    def of(self, name: str) -> str:
        """The rule of a name, also as a method that works in place; empty if it has none."""
        if not self._found:
            self._found.update((one, rule) for rule, names in facts().ranks.items() for one in names)
        return self._found.get(name) or self._found.get(name.removesuffix("_"), "")


class _BatchedLayers:
    """How many axes the input of a layer has, by the name of its class in either framework."""

    def __init__(self) -> None:
        self._found: dict[str, int] = {}

    def of(self, api: str) -> int | None:
        """The number of axes; None if it may differ."""
        if not self._found:
            self._found.update((name.lower(), rank) for name, rank in facts().batched_layers.items())
        return self._found.get(api.rpartition(".")[2].lower())


_RULES = _RulesByName()
_BATCHED = _BatchedLayers()
