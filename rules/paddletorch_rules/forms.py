"""Reads a row's forms, signatures and pairs of parameters."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any, get_args

from packaging.version import InvalidVersion, Version

from paddletorch_rules.releases import DEVELOP, KNOWN, Framework
from paddletorch_rules.schema import (
    Apply,
    Form,
    Let,
    Parameter,
    ParameterPair,
    Signature,
)
from paddletorch_rules.where import Where

_FORM_KEYS = frozenset(
    "names since until signature fixed template let read_also results assign result_called_with".split()
)
_PARAMETER_KEYS = frozenset(["torch", "paddle", "values", "same_if", "else_report", "apply", "ignore"])


def read_form(data: Mapping[str, Any], where: Where, side: Framework, number: int) -> Form:
    """One spelling of an API: its names, releases and signatures.

    Raises:
        TableError: a key is unknown, missing or wrong.
    """
    prefix = f"{side}[{number}]."
    where.keys(data, _FORM_KEYS, prefix)
    names = where.strings(data, "names", prefix)
    template = where.expression(where.text(data, "template"), prefix + "template") if "template" in data else None
    let = _let(data, template or "", where, prefix)
    if not names and template is None and "results" not in data:
        raise where.error(prefix + "names", "missing")
    since = _release(data.get("since"), where, side, prefix + "since") or KNOWN[side][0]
    until = _release(data.get("until"), where, side, prefix + "until")
    if until is not None and until <= since:
        raise where.error(prefix + "until", f"{until} is not after {since}")
    return Form(
        names=names,
        since=since,
        until=until,
        signatures=_signatures(data.get("signature"), where, side, since, prefix + "signature"),
        fixed=where.expressions(data, "fixed", prefix),
        template=template if let is None else let.expression,
        also=tuple(where.expression(t, prefix + "read_also") for t in where.strings(data, "read_also", prefix)),
        results=where.expressions(data, "results", prefix),
        assign=where.mapping(data, "assign", prefix),
        applied=where.text(data, "result_called_with", ""),
        let=let,
    )


def _let(data: Mapping[str, Any], template: str, where: Where, prefix: str) -> Let | None:
    """What the template evaluates once: names that start with ``_``, and the placeholders that they stand for."""
    names = where.mapping(data, "let", prefix)
    for name, placeholder in names.items():
        if not (name.isidentifier() and name.startswith("_")):
            raise where.error(prefix + "let", f"{name!r} is no name that starts with an underscore")
        if "{" + placeholder + "}" not in template:
            raise where.error(prefix + "let", f"{{{placeholder}}} is not in the template")
    return Let(template, tuple(names.items())) if names else None


def _signatures(
    value: Any, where: Where, side: Framework, since: Version, key: str
) -> tuple[tuple[Version, Signature], ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return ((since, parse_signature(value, where, key)),)
    if not isinstance(value, list):
        raise where.error(key, "a signature or a list of them by release is needed")
    found: list[tuple[Version, Signature]] = []
    for entry in value:
        if not isinstance(entry, dict) or set(entry) != {"since", "is"}:
            raise where.error(key, "each entry needs 'since' and 'is'")
        release = _release(entry["since"], where, side, key)
        if release is None or (found and release <= found[-1][0]):
            raise where.error(key, "releases must rise")
        found.append((release, parse_signature(entry["is"], where, key)))
    return tuple(found)


def parse_signature(text: str, where: Where | None = None, key: str = "signature") -> Signature:
    """Parse ``"(a, b=1, *, c=None)"``; defaults stay expressions.

    Raises:
        TableError: the text is no signature.
    """
    where = where or Where("<signature>", text)
    try:
        body = ast.parse(f"def f{text}: ...").body
    except SyntaxError as error:
        raise where.error(key, f"{text!r} is not a signature ({error.msg})") from None
    function = body[0]
    if len(body) > 1 or not isinstance(function, ast.FunctionDef) or not isinstance(function.body[0], ast.Expr):
        raise where.error(key, f"{text!r} is more than a signature")
    arguments = function.args
    ordered = [*arguments.posonlyargs, *arguments.args]
    defaults: list[ast.expr | None] = [None] * (len(ordered) - len(arguments.defaults))
    defaults += arguments.defaults
    parameters = [
        Parameter(a.arg, None if d is None else ast.unparse(d), annotation=_annotation(a))
        for a, d in zip(ordered, defaults, strict=True)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, variadic="*", annotation=_annotation(arguments.vararg)))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(
            Parameter(argument.arg, None if default is None else ast.unparse(default), True, "", _annotation(argument))
        )
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, variadic="**"))
    return Signature(text, tuple(parameters))


def _annotation(argument: ast.arg) -> str:
    return "" if argument.annotation is None else ast.unparse(argument.annotation)


def _release(value: Any, where: Where, side: Framework, key: str) -> Version | None:
    if value is None:
        return None
    if value == "develop":
        return DEVELOP
    try:
        return Version(value)
    except (InvalidVersion, TypeError):
        raise where.error(key, f"{value!r} is not a release of {side}") from None


def read_pair(data: Mapping[str, Any], where: Where) -> ParameterPair:
    """A parameter of either side, or of one.

    Raises:
        TableError: a key is unknown, missing or wrong.
    """
    prefix = "parameters."
    where.keys(data, _PARAMETER_KEYS, prefix)
    given = {
        key: where.text(data, key, prefix=prefix) if key in data else None
        for key in ("torch", "paddle", "values", "same_if", "else_report")
    }
    torch_name, paddle_name, neutral = given["torch"], given["paddle"], given["same_if"]
    if torch_name is None and paddle_name is None:
        raise where.error("parameters", "a pair needs 'torch', 'paddle' or both")
    ignore = where.flag(data, "ignore", prefix)
    one_sided = torch_name is None or paddle_name is None
    if one_sided and not ignore and neutral is None and given["else_report"] is None:
        raise where.error(
            "parameters", f"{torch_name or paddle_name!r} has one side: 'same_if' or 'else_report' is needed"
        )
    if neutral is not None:
        where.expression(neutral, "parameters.same_if")
    apply: Apply = where.choice(data, "apply", get_args(Apply), "unsafe")  # type: ignore[assignment]
    return ParameterPair(torch_name, paddle_name, given["values"], neutral, given["else_report"], apply, ignore)
