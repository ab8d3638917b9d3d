"""Binds a call's arguments to the source signature of a row."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from paddletorch_rules import Form, Framework, Row, Signature

from paddletorch.plan.context import FileContext, Refusal
from paddletorch.plan.keywords import DictKeywords, keyword_dict
from paddletorch.plan.translate import constant


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
            if dictionary is None and all(p.torch == p.paddle for p in row.parameters):
                continue  # every name is the same on both sides
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
