"""Functions that take the place of objects which a later call applies: ``Normal(0.0, 1.0)`` fills a tensor."""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from string import Formatter

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.decisions import Decisions
from paddletorch.plan.calls.initialized import tensor_for
from paddletorch.plan.model.refusals import PassedAsValue, Refused, UnseenArguments
from paddletorch.plan.model.target_forms import target_name
from paddletorch.plan.syntax.constants import constant


def call_of_result(binding: CallBinding) -> ast.Call | None:
    """The call of the call's result, whose argument is bound too: ``Normal(0.0, 1.0)(weight)``.

    None if the object is kept: then a function takes its place.

    Raises:
        Refused: the arguments of that call cannot be seen, or have the source's names.
    """
    outer = binding.view.parent(binding.node)
    if not isinstance(outer, ast.Call) or outer.func is not binding.node:
        return None
    stars = [a.value for a in outer.args if isinstance(a, ast.Starred)]
    stars += [k.value for k in outer.keywords if k.arg is None]
    if stars:
        raise Refused(UnseenArguments(f"*{binding.view.text(stars[0])}"))
    if outer.keywords:
        raise Refused(PassedAsValue(target_name(binding.row, binding.view)))
    return outer if len(outer.args) == 1 else None


def as_function(binding: CallBinding, decisions: Decisions, template: str | None) -> str:
    """A call on the tensor that it is for, where that shows, or a function of the parameter that a later call gives.

    The function holds the values of now, as the source's object does.

    Raises:
        Refused: the target has no template for it.
    """
    source, target = binding.view.settings.source, binding.target
    pair = next((p for p in binding.row.parameters if p.name(source) == binding.form.applied), None)
    name = pair.name(target) if pair is not None else None
    if template is None or name is None:
        raise Refused(PassedAsValue(target_name(binding.row, binding.view)))
    tensor = tensor_for(binding.view, binding.node)
    if tensor is not None:
        return template.replace("{" + name + "}", tensor)
    named = [(p.name(target), binding.value(p.name(source) or "")) for p in binding.row.parameters]
    given = {n: v for n, v in [*named, *decisions.values.items()] if n is not None and isinstance(v, ast.expr)}
    return _partial(template, name, given.keys()) or _lambda(template, name, given)


_ON_TENSOR = re.compile(
    r"(?P<function>[\w.]+)\(\{(?P<tensor>\w+)\}(?P<plain>(?:, \{\w+\})*)(?P<named>(?:, \w+=[^(),]+)*)\)"
)
"""A template that gives a function the tensor, and other parameters under the placeholders' names or by keyword."""
_WHERE_GIVEN = re.compile(r"\{(?P<name>\w+):(?P<text>[^{}]*)\}")


def _partial(template: str, name: str, given: Set[str]) -> str | None:
    """The target's function, or a partial object of it; None if the template is more than a call on the tensor."""
    filled = _WHERE_GIVEN.sub(
        lambda m: m["text"].replace("%", f"{{{m['name']}}}") if m["name"] in given else "", template
    )
    call = _ON_TENSOR.fullmatch(filled)
    if call is None or call["tensor"] != name or f"{{{name}}}" in call["named"]:
        return None
    arguments = "".join(f", {p}={{{p}}}" for p in re.findall(r"\w+", call["plain"])) + call["named"]
    return f"functools.partial({call['function']}{arguments})" if arguments else call["function"]


def _lambda(template: str, name: str, given: dict[str, ast.expr]) -> str:
    """A function without a name, whose further parameters hold what can change before it is called."""
    held = [parameter for parameter, value in given.items() if parameter != name and constant(value) is ...]
    text: list[str] = []
    for literal, parameter, spec, _ in Formatter().parse(template):
        text.append(literal.replace("{", "{{").replace("}", "}}"))
        if parameter is None or (spec and parameter not in given):
            continue
        shown = parameter if parameter in (name, *held) else f"{{{parameter}}}"
        text.append(spec.replace("%", shown) if spec else shown)
    defaults = [f", {parameter}={{{parameter}}}" for parameter in held if parameter in template]
    return f"lambda {name}{''.join(defaults)}: {''.join(text)}"
