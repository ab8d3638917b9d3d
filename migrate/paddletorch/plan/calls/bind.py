"""Binds a call's arguments to the source signature of a row."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Form, Framework, Row, Signature, other_framework

from paddletorch.plan.calls.binding import Bound, CallBinding
from paddletorch.plan.inference.keywords import keyword_dict, possible_keys, shared_items
from paddletorch.plan.inference.opaque_arguments import (
    are_understood,
    recorded_keys,
    refuse_silent_change,
    same_parameters,
)
from paddletorch.plan.inference.overloads import numpy_name
from paddletorch.plan.inference.unpacked_arguments import seen_elements
from paddletorch.plan.model.refusals import (
    GivenTwice,
    MissingArgument,
    NoSuchParameter,
    Refused,
    SignatureNotKnown,
    TooManyPositionals,
    UnseenArguments,
)
from paddletorch.plan.model.view import FileView


def bind(
    view: FileView,
    node: ast.Call,
    row: Row,
    form: Form,
    name: str,
    skip: int = 0,
    *,
    whole: bool = True,
    receiver: ast.expr | None = None,
) -> CallBinding:
    """Bind the call's arguments; ``skip`` leading positionals are not the API's (partial).

    ``whole`` says that the call gives every required argument; ``receiver`` is what a method is called on.

    Raises:
        Refused: arguments that cannot be seen, or do not fit the signature.
    """
    signature = form.signature(view.settings.source_releases.newest)
    if signature is None:
        raise Refused(SignatureNotKnown(view.settings.source))
    late = _star_behind_keyword(node)
    if late is not None:
        raise Refused(UnseenArguments(f"*{view.text(late.value)}"))
    given: dict[str, Bound] = {}
    positional = signature.positional
    variadic = next((p for p in signature.parameters if p.variadic == "*"), None)
    opaque = False
    unseen: list[str] = []
    strange: list[str] = []
    spread: frozenset[str] | None = None
    for index, argument, text in _positionals(
        view, node, skip, variadic is None and not same_parameters(view, row, form)
    ):
        place = len(given)
        parameter = positional[place] if place < len(positional) else variadic
        if isinstance(argument, ast.Starred) and (parameter is None or not parameter.variadic):
            if not same_parameters(view, row, form):
                unseen.append(f"*{view.text(argument.value)}")
                strange.append(unseen[-1])
                refuse_silent_change(view, row, form, unseen[-1], place)
            opaque = True
            break
        if parameter is None:
            raise Refused(TooManyPositionals(signature.text))
        if parameter.name in given:
            given[parameter.name] = given[parameter.name]._replace(rest=(*given[parameter.name].rest, argument))
        else:
            given[parameter.name] = Bound(argument, index, text=text)
    dictionary = None
    given_to_target: set[str] = set()
    for index, keyword in enumerate(node.keywords, len(node.args)):
        if keyword.arg is None:
            dictionary = keyword_dict(view, keyword.value)
            if dictionary is None and same_parameters(view, row, form):
                opaque = True  # every name is the same on both sides
                continue
            if dictionary is None:
                shared = shared_items(view, keyword.value)
                taken = [*given, *(k.arg for k in node.keywords if k.arg is not None)]
                keys = recorded_keys(view, row, form, keyword.value, taken) if not shared else None
                if keys is not None:
                    spread = (spread or frozenset()) | keys
                    opaque = True
                    continue
                if not shared:
                    unseen.append(f"**{view.text(keyword.value)}")
                    keys = possible_keys(view, keyword.value)
                    if not row.ignores_arguments and (keys is None or not are_understood(view, row, form, keys)):
                        strange.append(unseen[-1])
                    refuse_silent_change(view, row, form, unseen[-1], None, taken)
                    opaque = True
                    continue
                for key, value, text in shared:
                    _add(given, given_to_target, row, view.target, signature, key, Bound(value, index, text=text))
                continue
            for key, key_node, value in dictionary.items:
                _add(given, given_to_target, row, view.target, signature, key, Bound(value, None, key_node))
            if row.hook and any(bound.also for bound in given.values()):  # a hook reads one value
                raise Refused(UnseenArguments(f"**{view.text(keyword.value)}"))
            continue
        _add(given, given_to_target, row, view.target, signature, keyword.arg, Bound(keyword.value, index))
    for parameter in signature.parameters:
        required = parameter.default is None and not parameter.variadic
        if whole and not skip and not opaque and required and parameter.name not in given:
            raise Refused(MissingArgument(signature.text, parameter.name))
    return CallBinding(
        view,
        row,
        form,
        name,
        node,
        given,
        form.fixed,
        dictionary,
        skip,
        given_to_target=frozenset(given_to_target),
        receiver=receiver,
        opaque=opaque,
        unseen=tuple(unseen),
        strange=tuple(strange),
        spread=spread,
    )


def _star_behind_keyword(node: ast.Call) -> ast.Starred | None:
    """Unpacked positionals behind a keyword, ``f(a=1, *rest)``: they stand before it in the tree, not in the text."""
    stars = [a for a in node.args if isinstance(a, ast.Starred)]
    if not stars or not node.keywords:
        return None
    first = min((k.value.lineno, k.value.col_offset) for k in node.keywords)
    return next((a for a in stars if (a.lineno, a.col_offset) > first), None)


def _positionals(view: FileView, node: ast.Call, skip: int, spread: bool) -> Iterator[tuple[int, ast.expr, str]]:
    """Each positional argument: its place in the call, its value, and how it is written if that is not as it stands."""
    for index, argument in enumerate(node.args[skip:], skip):
        seen = seen_elements(view, argument.value) if spread and isinstance(argument, ast.Starred) else None
        if seen is None:
            yield index, argument, ""
        for value, text in seen or ():
            yield index, value, text


def _add(
    given: dict[str, Bound],
    given_to_target: set[str],
    row: Row,
    target: Framework,
    signature: Signature,
    name: str,
    bound: Bound,
) -> None:
    if signature.get(name) is None and target == "paddle":
        name = numpy_name(signature, name)
    if signature.get(name) is None:
        pair = next((p for p in row.parameters if p.name(target) == name), None)
        if pair is None and _takes_any(row, signature, target):
            given_to_target.add(name)
            return
        if pair is None:
            raise Refused(NoSuchParameter(signature.text, name))
        source_name = pair.torch if target == "paddle" else pair.paddle
        if source_name is None:
            given_to_target.add(name)
            return
        name, bound = source_name, bound._replace(converted=True)
    earlier = given.get(name)
    if earlier is not None and (bound.dict_key is None or earlier.dict_key is None):
        raise Refused(GivenTwice(signature.text, name))
    given[name] = bound if earlier is None else bound._replace(also=(earlier, *earlier.also))


def _takes_any(row: Row, signature: Signature, target: Framework) -> bool:
    """Whether both sides hand unknown keywords on."""
    open_ended = next((p.name for p in signature.parameters if p.variadic == "**"), None)
    side = other_framework(target)
    if open_ended is None:
        return False
    return any(p.name(side) == open_ended and p.name(target) is not None for p in row.parameters)
