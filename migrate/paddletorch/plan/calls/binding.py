"""A call with its arguments bound to the source signature of a row, and what hooks ask about it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from paddletorch_rules import Form, Framework, Row, ValueMap

from paddletorch.plan.inference.absent_values import may_be_none
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.held_numbers import HeldNumbers
from paddletorch.plan.inference.keyed_parameters import class_names, layers_of_key
from paddletorch.plan.inference.keywords import DictKeywords, written_items
from paddletorch.plan.inference.leaf_tensors import is_parameter
from paddletorch.plan.inference.list_elements import list_elements
from paddletorch.plan.inference.list_uses import is_used_as_list
from paddletorch.plan.inference.no_grad import is_without_grad
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.inference.ranks import Ranks, inputs_of_calls
from paddletorch.plan.inference.shapes import used_as
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import (
    Refused,
    UnseenArguments,
)
from paddletorch.plan.model.view import FileView
from paddletorch.plan.syntax.constants import constant
from paddletorch.resolve import Instance, NoneValue, Unknown
from paddletorch.resolve.facts.dtypes import FLOATING
from paddletorch.resolve.facts.tensors import FORWARD


class Bound(NamedTuple):
    """One supplied argument: where it stands in the call (or in a dict of keywords) and its value."""

    value: ast.expr
    position: int | None = None
    dict_key: ast.Constant | ast.keyword | None = None
    converted: bool = False
    """Given under the target's name already, in a half-converted file."""
    rest: tuple[ast.expr, ...] = ()
    """Further positional arguments of a variadic parameter."""
    text: str = ""
    """How to write the value out, if it comes from a dict that other calls use too."""
    also: tuple[Bound, ...] = ()
    """What the dict may hold under the same key instead."""


@dataclass(frozen=True)
class CallBinding:
    """A call bound to a row: what it gives for each parameter of the source.

    ``given`` is keyed by source parameter name; ``fixed`` holds what the spelling implies.
    """

    view: FileView
    row: Row
    form: Form
    name: str
    node: ast.Call
    given: Mapping[str, Bound]
    fixed: Mapping[str, str]
    dictionary: DictKeywords | None = None
    """The dict behind ``**`` whose items are seen."""
    skip: int = 0
    """How many leading positional arguments are not the API's."""
    given_to_target: frozenset[str] = frozenset()
    """The target's own parameters that the call gives, in a half-converted file."""
    receiver: ast.expr | None = None
    """What a method is called on."""
    opaque: bool = False
    """There are ``*args`` or ``**kwargs`` whose contents are unknown."""
    unseen: tuple[str, ...] = ()
    """Those of them that the target takes alike or refuses aloud."""
    strange: tuple[str, ...] = ()
    """Those of ``unseen`` in which there may be names that the target refuses."""
    spread: frozenset[str] | None = None
    """The parameters that runs saw ``**options`` give, alike on both sides; None if no run had to tell."""
    stands_at: ast.Call | None = None
    """The call as the file has it, if ``node`` is another reading of it."""
    of_partial: Mapping[str, Bound] = field(default_factory=dict)
    """What the partial object that is called gives already, as far as the file shows it."""

    @property
    def expression(self) -> ast.Call:
        """The call as it stands in the file."""
        return self.stands_at or self.node

    @property
    def target(self) -> Framework:
        """The framework to convert to."""
        return self.view.target

    def value(self, name: str) -> ast.expr | None:
        """The expression supplied (or implied by the spelling) for a source parameter."""
        if name == "self" and self.receiver is not None:
            return self.receiver
        if name in self.given:
            return None if self._is_left_open(name) else self.given[name].value
        if name in self.fixed:
            return ast.parse(self.fixed[name], mode="eval").body
        return None

    def _is_left_open(self, name: str) -> bool:
        """Whether the argument is a None that means the same as leaving it out."""
        value = self.given[name].value
        if not isinstance(value, ast.Constant) or value.value is not None:
            return False
        signature = self.form.signature(self.view.settings.source_releases.newest)
        parameter = signature.get(name) if signature is not None else None
        return parameter is not None and parameter.default == "None"

    def literal(self, name: str) -> object:
        """The constant supplied for a source parameter; ``...`` if none or not constant."""
        node = self.value(name)
        return ... if node is None else constant(node)

    def origin(self, name: str) -> ast.expr | None:
        """The expression behind the argument: what the one assignment (or ``with``) gave a variable that it holds."""
        node = self.value(name)
        made = self.origin_of(node) if node is not None else None
        if made is not node:
            return made
        if name == "self" and isinstance(node, ast.Attribute):
            stores = self.view.evaluator.stores_of(node)
            return stores[0].value if len(stores) == 1 and stores[0].value is not None else node
        return node

    def origin_of(self, node: ast.expr) -> ast.expr:
        """The same of a variable anywhere in the argument; any other expression is its own origin."""
        if isinstance(node, ast.Name) and node in self.view.tree.scopes:
            bindings = tuple(self.view.evaluator.reaching(node))
            if len(bindings) == 1 and bindings[0].kind in ("assign", "enter") and bindings[0].value is not None:
                return bindings[0].value
        return node

    def qualified(self, name: str) -> str | None:
        """The qualified name that the argument is, if it is one and cannot be None."""
        if name in self.given:
            values = self.view.evaluator.values(self.given[name].value)
            return (
                None if any(isinstance(v, NoneValue) for v in values) else self.view.qualified(self.given[name].value)
            )
        return self.fixed.get(name)

    def types(self, name: str) -> frozenset[str]:
        """The kinds that the argument can have: tracked types, ``int``, ``sequence``...; empty if not known."""
        node = self.value(name)
        return frozenset() if node is None or name in self.fixed else kinds(self.view, node)

    def may_be_none(self, name: str) -> bool:
        """Whether the argument may be None, as a parameter is that has this default."""
        node = self.value(name)
        return node is not None and name not in self.fixed and may_be_none(self.view, node)

    def may_be_path(self, name: str) -> bool:
        """Whether the argument may be a path object; so may what is divided by something unknown."""
        node = self.value(name)
        if node is None or name in self.fixed:
            return False
        values = self.view.evaluator.values(node)
        is_path = any(isinstance(v, Instance) and v.type == "foreign" and _PATH in v.api for v in values)
        return is_path or (Unknown() in values and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div))

    def is_tensor(self, name: str) -> bool:
        """Whether the argument is a tensor whatever way it came by; ``types`` tells only what is known."""
        node = self.value(name)
        if node is None or name in self.fixed:
            return False
        return _is_known_tensor(self.view, node)

    def is_learning(self, name: str) -> bool:
        """Whether the argument is certainly a parameter of a layer, in code whose gradients are recorded."""
        node = self.value(name)
        if node is None or name in self.fixed or is_without_grad(self.view, self.expression):
            return False
        return is_parameter(self.view, node)

    def dtype(self, name: str) -> str | None:
        """The dtype of the tensor given for a parameter, as far as the file shows it."""
        node = self.value(name)
        return None if node is None or name in self.fixed else self.view.provide(dtypes_of).of_tensor(node)

    @property
    def default_dtype(self) -> str:
        """The default dtype of floats as the target's code names it."""
        found = self.view.provide(dtypes_of).default
        return "paddle.get_default_dtype()" if found == FLOATING else f"'{found}'"

    def ranks(self, name: str) -> Mapping[ast.expr, frozenset[int]]:
        """The numbers of axes that the tensor given for a parameter can have, by its expression; empty if not known."""
        node = self.value(name)
        return {} if node is None or name in self.fixed else {node: self.view.provide(Ranks).of(node)}

    def axis_counts(self, name: str) -> frozenset[int]:
        """How many axes the argument can name: 0 where none is given; empty if not known."""
        node = self.value(name)
        if node is None:
            return frozenset({0})
        return frozenset() if name in self.fixed else self.view.provide(Ranks).axis_counts(node)

    def ranks_of(self, name: str) -> frozenset[int]:
        """The same together; empty if not known."""
        return frozenset().union(*self.ranks(name).values())

    def input_ranks(self) -> Mapping[ast.expr, frozenset[int]]:
        """The same for each tensor that the file's calls pass to the object that this call makes, or to one like it."""
        ranks = self.view.provide(Ranks)
        return {node: ranks.of(node) for node in inputs_of_calls(self.view, self.node)}

    def libraries(self, name: str) -> frozenset[str]:
        """The packages whose functions make what the argument can be; an empty name for what is not seen."""
        node = self.value(name)
        values = self.view.evaluator.values(node) if node is not None and name not in self.fixed else ()
        return frozenset(v.api.partition(".")[0] if isinstance(v, Instance) else "" for v in values)

    def may_hold(self, name: str, number: int) -> bool:
        """Whether the negative number is seen to come into the tensor that is given for a parameter."""
        node = self.value(name)
        return node is not None and name not in self.fixed and self.view.provide(HeldNumbers).may_be_in(node, number)

    def targets_may_hold(self, number: int) -> bool:
        """The same of the targets that the file's calls pass to the loss that this call makes."""
        held = self.view.provide(HeldNumbers)
        return any(held.may_be_in(node, number) for node in inputs_of_calls(self.view, self.node, 1))

    def owners(self, name: str) -> frozenset[str]:
        """For an argument ``x.weight``, or ``params["x.weight"]``: the classes that ``x`` can be an instance of."""
        node = self.value(name)
        if isinstance(node, ast.Attribute):
            return self.owners_of(node)
        origin = self.origin(name) if isinstance(node, ast.Name) else node
        return class_names(layers_of_key(self.view, origin)) if origin is not None else frozenset()

    def owners_of(self, node: ast.Attribute) -> frozenset[str]:
        """The classes that the object before the dot can be an instance of."""
        return class_names(self.view.evaluator.values(node.value))

    def stored(self, node: ast.Attribute) -> list[ast.expr]:
        """What is stored to the attribute of the object."""
        return [one.value for one in self.view.evaluator.stores_of(node) if one.value is not None]

    def has_several_elements(self, name: str) -> bool:
        """Whether the argument is seen to be a tensor of several elements."""
        node = self.value(name)
        return node is not None and self.view.provide(Ranks).have_several_elements(node)

    def values(self, name: str) -> ValueMap | None:
        """How the values of a source parameter translate."""
        source = self.view.settings.source
        pair = next((p for p in self.row.parameters if p.name(source) == name), None)
        return self.view.settings.table.values[pair.values] if pair is not None and pair.values else None

    def spelled_out(self) -> CallBinding:
        """The same with what a dict of keywords gives as arguments of their own: ``**options`` has no place elsewhere.

        Raises:
            Refused: arguments come from where they cannot be seen.
        """
        if self.dictionary is None:
            return self
        index, node = next((n, k.value) for n, k in enumerate(self.node.keywords) if k.arg is None)
        written = {name: text for name, _, text in written_items(self.view, node)}
        given = dict(self.given)
        for name, bound in self.given.items():
            if isinstance(bound.dict_key, ast.keyword):
                key = bound.dict_key.arg
            elif bound.dict_key is not None:
                key = str(bound.dict_key.value)
            else:
                continue
            if key not in written or bound.also:
                raise Refused(UnseenArguments(f"**{self.view.text(node)}"))
            place = len(self.node.args) + index
            given[name] = bound._replace(position=place, dict_key=None, text=written[key])
        return replace(self, given=given, dictionary=None)

    @property
    def row_template(self) -> str:
        """The template of the row's form for the target; empty if it has none."""
        form = self.view.settings.emitted(self.row)
        return (form.template or "") if form is not None else ""

    @property
    def is_statement(self) -> bool:
        """Whether the call's value is not used."""
        return isinstance(self.view.parent(self.expression), ast.Expr)

    def elements(self, name: str) -> list[ast.expr]:
        """What the list behind the argument is seen to hold: its elements, and what is appended to a variable."""
        value = self.value(name)
        return list_elements(self.view, value.value if isinstance(value, ast.Starred) else value)

    def makers(self, name: str) -> frozenset[str]:
        """The APIs that make what the list behind the argument holds; empty if that is not seen of each element."""
        values = [value for element in self.elements(name) for value in self.view.evaluator.values(element) or [None]]
        made = [value.api if isinstance(value, Instance) else "" for value in values]
        return frozenset(made) if all(made) else frozenset()

    def is_used_as_list(self) -> bool:
        """Whether the object that the call makes is used as only a Python list may be."""
        return is_used_as_list(self.view, self.expression)

    def holds_tensors(self, name: str) -> bool:
        """Whether the argument is a list whose elements are seen, each of them a tensor."""
        found = self.elements(name)
        return bool(found) and all(_is_known_tensor(self.view, element) for element in found)

    def used_as(self, kind: Literal["list", "tuple"]) -> bool:
        """Whether the size that the call gives is joined with or compared with that kind of sequence."""
        return used_as(self.view, self.expression, kind)

    def finding(self, code: str, **details: str) -> Finding:
        """Something to be said of a call that converts all the same."""
        return Finding(code, self.expression, self.name, tuple(sorted(details.items())), self.row, applied=True)


def _is_known_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether the expression can be nothing but a tensor; an input of ``forward`` is only likely to be one."""
    found = view.tensor(node)
    return found.is_certain and not (isinstance(node, ast.Name) and FORWARD in found.origins)


_PATH = "Path"
"""What the names of the classes of path objects have in them: ``pathlib.PurePath``, ``os.PathLike``."""
