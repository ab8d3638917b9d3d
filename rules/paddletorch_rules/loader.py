"""Reads the tables: TOML files into checked rows. Every mistake names file, row and key."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from packaging.version import InvalidVersion, Version

from paddletorch_rules import hooks
from paddletorch_rules.releases import DEVELOP, KNOWN, Framework
from paddletorch_rules.schema import (
    Apply,
    DiagnosticSpec,
    Form,
    Kind,
    Parameter,
    ParameterPair,
    Row,
    Signature,
    TableError,
    TypeSpec,
    ValueMap,
)
from paddletorch_rules.where import Where

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_ROW_KEYS = frozenset(
    "id code kind title torch paddle parameters direction receiver instance hook report warn bare docs tokens "
    "unchecked".split()
)
_FORM_KEYS = frozenset(["names", "since", "until", "signature", "fixed", "template", "also"])
_PARAMETER_KEYS = frozenset(["torch", "paddle", "values", "neutral", "otherwise", "apply", "ignore"])
_VALUES_KEYS = frozenset(["name", "pairs", "torch_also", "paddle_also", "to_torch", "to_paddle", "refuse"])
_TYPE_KEYS = frozenset(["name", "makes", "protocol", "names", "tokens"])
_DIAGNOSTIC_KEYS = frozenset(["code", "name", "title", "severity", "applicability", "message", "hint"])


class RawTables:
    """What the files held, before they are indexed."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.values: dict[str, ValueMap] = {}
        self.diagnostics: dict[str, DiagnosticSpec] = {}
        self.types: dict[str, TypeSpec] = {}


def read(paths: Sequence[Path]) -> RawTables:
    """Read and check the table files, in order.

    Raises:
        TableError: a file cannot be read, or a row is wrong; names file, row and key.
    """
    raw = RawTables()
    for path in paths:
        _read_file(path, raw)
    _check_references(raw)
    return raw


def _read_file(path: Path, raw: RawTables) -> None:
    file = path.name
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path}: is not valid TOML: {error}") from None
    for key in data:
        if key not in {"row", "values", "diagnostic", "type"}:
            raise TableError(
                f"{file}: key {key!r}: unknown; a table holds [[row]], [[values]], [[type]] and [[diagnostic]]"
            )
    for where, entry in _entries(data, "diagnostic", "code", file):
        diagnostic = _diagnostic(entry, where)
        raw.diagnostics.setdefault(diagnostic.code, diagnostic)
    for where, entry in _entries(data, "values", "name", file):
        values = _values(entry, where)
        raw.values.setdefault(values.name, values)
    for where, entry in _entries(data, "type", "name", file):
        tracked = _type(entry, where)
        raw.types.setdefault(tracked.name, tracked)
    seen: set[str] = set()
    for where, entry in _entries(data, "row", "id", file):
        row = _row(entry, where)
        if row.id in seen:
            raise where.error("id", "stands twice in this file")
        seen.add(row.id)
        raw.rows.append(row)


def _entries(data: Mapping[str, Any], kind: str, name: str, file: str) -> Iterator[tuple[Where, dict[str, Any]]]:
    entries = data.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TableError(f"{file}: key {kind!r}: a list of tables, [[{kind}]], is needed")
    for number, entry in enumerate(entries, 1):
        yield Where(file, str(entry.get(name, f"#{number}"))), entry


def _diagnostic(data: Mapping[str, Any], where: Where) -> DiagnosticSpec:
    where.keys(data, _DIAGNOSTIC_KEYS)
    severity = where.choice(data, "severity", ("error", "warning", "info"), "warning")
    sure = where.choice(data, "applicability", ("safe", "unsafe", "display-only"), "display-only")
    for key in ("message", "hint"):
        try:
            list(Formatter().parse(where.text(data, key, "")))
        except ValueError as error:
            raise where.error(key, str(error)) from None
    return DiagnosticSpec(
        code=_code(data, where),
        name=where.text(data, "name"),
        title=where.text(data, "title"),
        severity=severity,  # type: ignore[arg-type]
        applicability=sure,  # type: ignore[arg-type]
        message=where.text(data, "message"),
        hint=where.text(data, "hint", ""),
    )


def _values(data: Mapping[str, Any], where: Where) -> ValueMap:
    where.keys(data, _VALUES_KEYS)
    pairs = data.get("pairs", [])
    if not isinstance(pairs, list) or not all(
        isinstance(p, list) and len(p) == 2 and all(isinstance(s, str) for s in p) for p in pairs
    ):
        raise where.error("pairs", "a list of [torch, paddle] pairs of expressions is needed")
    for torch_value, paddle_value in pairs:
        where.expression(torch_value, "pairs")
        where.expression(paddle_value, "pairs")
    wraps: dict[str, str | None] = {}
    for key in ("to_torch", "to_paddle"):
        wraps[key] = where.expression(where.text(data, key), key) if key in data else None
        if wraps[key] is not None and "{x}" not in (wraps[key] or ""):
            raise where.error(key, "the hole {x} is missing")
    for key in ("torch_also", "paddle_also", "refuse"):
        for text in where.mapping(data, key):
            where.expression(text, key)
    return ValueMap(
        name=where.text(data, "name"),
        pairs=tuple((t, p) for t, p in pairs),
        torch_also=where.expressions(data, "torch_also"),
        paddle_also=where.expressions(data, "paddle_also"),
        refuse=where.mapping(data, "refuse"),
        file=where.file,
        **wraps,
    )


def _type(data: Mapping[str, Any], where: Where) -> TypeSpec:
    where.keys(data, _TYPE_KEYS)
    names = where.text(data, "names", "")
    try:
        re.compile(names)
    except re.error as error:
        raise where.error("names", f"{names!r} is no regular expression ({error})") from None
    protocol = data.get("protocol", [])
    if not isinstance(protocol, list) or not all(
        isinstance(p, list) and all(isinstance(m, str) for m in p) for p in protocol
    ):
        raise where.error("protocol", "a list of lists of method names is needed")
    return TypeSpec(
        where.text(data, "name"),
        where.strings(data, "makes"),
        tuple(map(frozenset, protocol)),
        names,
        where.strings(data, "tokens"),
    )


def _code(data: Mapping[str, Any], where: Where) -> str:
    code = where.text(data, "code")
    area = code.rstrip("0123456789")
    if not area.isalpha() or not area.isupper() or len(code) - len(area) != 3:
        raise where.error("code", f"{code!r} is not an area in capitals and three digits, like AMP101")
    return code


def _row(data: Mapping[str, Any], where: Where) -> Row:
    where.keys(data, _ROW_KEYS)
    kind: Kind = where.choice(data, "kind", get_args(Kind), "function")  # type: ignore[assignment]
    direction = where.choice(data, "direction", ("torch", "paddle"), "torch") if "direction" in data else None
    sides: dict[Framework, tuple[Form, ...]] = {
        side: tuple(_form(f, where, side, n) for n, f in enumerate(where.tables(data, side)))
        for side in ("torch", "paddle")
    }
    row = Row(
        id=where.text(data, "id"),
        code=_code(data, where),
        kind=kind,
        title=where.text(data, "title"),
        file=where.file,
        torch=sides["torch"],
        paddle=sides["paddle"],
        parameters=tuple(_parameter(p, where) for p in where.tables(data, "parameters")),
        direction=direction,  # type: ignore[arg-type]
        receiver=where.text(data, "receiver") if "receiver" in data else None,
        instance=where.text(data, "instance") if "instance" in data else None,
        hook=where.text(data, "hook") if "hook" in data else None,
        report=where.text(data, "report") if "report" in data else None,
        warn=where.mapping(data, "warn"),
        bare=where.flag(data, "bare"),
        tokens=where.strings(data, "tokens") if "tokens" in data else None,
        unchecked=where.text(data, "unchecked") if "unchecked" in data else None,
        docs=where.mapping(data, "docs"),
    )
    _check_row(row, where)
    return row


def _check_row(row: Row, where: Where) -> None:
    if not row.torch and not row.paddle:
        raise where.error("torch", "a row needs at least one side")
    if row.report is None and not (row.torch and row.paddle):
        raise where.error("report", "a row with one side needs the diagnostic to report")
    if row.kind in ("method", "attribute") and row.receiver is None:
        raise where.error("receiver", f"a {row.kind} needs the type that has it")
    if row.hook is not None and row.hook not in hooks.HOOKS:
        raise where.error("hook", f"{row.hook!r} is not one of {', '.join(sorted(hooks.HOOKS))}")
    for side in ("torch", "paddle"):
        declared = [p.name(side) for p in row.parameters if p.name(side) is not None]
        if len(declared) != len(set(declared)):
            raise where.error("parameters", f"a {side} parameter is named twice")
        known = {p.name for form in row.forms(side) for _, s in form.signatures for p in s.parameters}
        known |= {name for form in row.forms(side) for name in form.fixed}
        for name in declared:
            if name not in known:
                raise where.error("parameters", f"{name!r} is in no {side} signature of the row")
        if row.torch and row.paddle and not any(f.template for f in (*row.torch, *row.paddle)):
            plain = {
                p.name for form in row.forms(side) for _, s in form.signatures for p in s.parameters if not p.variadic
            }
            for name in sorted(plain - set(declared)):
                raise where.error("parameters", f"{side} parameter {name!r} is not paired or marked one-sided")


def _form(data: Mapping[str, Any], where: Where, side: Framework, number: int) -> Form:
    prefix = f"{side}[{number}]."
    where.keys(data, _FORM_KEYS, prefix)
    names = where.strings(data, "names", prefix)
    template = where.expression(where.text(data, "template"), prefix + "template") if "template" in data else None
    if not names and template is None:
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
        template=template,
        also=tuple(where.expression(t, prefix + "also") for t in where.strings(data, "also", prefix)),
    )


def _release(value: Any, where: Where, side: Framework, key: str) -> Version | None:
    if value is None:
        return None
    if value == "develop":
        return DEVELOP
    try:
        return Version(value)
    except (InvalidVersion, TypeError):
        raise where.error(key, f"{value!r} is not a release of {side}") from None


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
        Parameter(a.arg, None if d is None else ast.unparse(d)) for a, d in zip(ordered, defaults, strict=True)
    ]
    if arguments.vararg:
        parameters.append(Parameter(arguments.vararg.arg, variadic="*"))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        parameters.append(Parameter(argument.arg, None if default is None else ast.unparse(default), True))
    if arguments.kwarg:
        parameters.append(Parameter(arguments.kwarg.arg, variadic="**"))
    return Signature(text, tuple(parameters))


def _parameter(data: Mapping[str, Any], where: Where) -> ParameterPair:
    prefix = "parameters."
    where.keys(data, _PARAMETER_KEYS, prefix)
    given = {
        key: where.text(data, key, prefix=prefix) if key in data else None
        for key in ("torch", "paddle", "values", "neutral", "otherwise")
    }
    torch_name, paddle_name, neutral = given["torch"], given["paddle"], given["neutral"]
    if torch_name is None and paddle_name is None:
        raise where.error("parameters", "a pair needs 'torch', 'paddle' or both")
    ignore = where.flag(data, "ignore", prefix)
    one_sided = torch_name is None or paddle_name is None
    if one_sided and not ignore and neutral is None and given["otherwise"] is None:
        raise where.error(
            "parameters", f"{torch_name or paddle_name!r} has one side: 'neutral' or 'otherwise' is needed"
        )
    if neutral is not None:
        where.expression(neutral, "parameters.neutral")
    apply: Apply = where.choice(data, "apply", get_args(Apply), "unsafe")  # type: ignore[assignment]
    return ParameterPair(torch_name, paddle_name, given["values"], neutral, given["otherwise"], apply, ignore)


def _check_references(raw: RawTables) -> None:
    for values in raw.values.values():
        for code in values.refuse.values():
            _check_code(raw, code, Where(values.file, values.name), "refuse")
    for row in raw.rows:
        where = Where(row.file, row.id)
        for pair in row.parameters:
            if pair.values is not None and pair.values not in raw.values:
                raise where.error("parameters.values", f"{pair.values!r} is no [[values]] map")
            if pair.otherwise is not None:
                _check_code(raw, pair.otherwise, where, "parameters.otherwise")
        for tracked in (row.receiver, row.instance):
            if tracked is not None and tracked not in raw.types:
                raise where.error("receiver" if tracked == row.receiver else "instance", f"{tracked!r} is no [[type]]")
        if row.report is not None:
            _check_code(raw, row.report, where, "report")
        for target, code in row.warn.items():
            if target not in ("torch", "paddle"):
                raise where.error("warn", f"{target!r} is not a target framework")
            _check_code(raw, code, where, "warn")


def _check_code(raw: RawTables, code: str, where: Where, key: str) -> None:
    if code not in raw.diagnostics:
        raise where.error(key, f"{code!r} is no declared [[diagnostic]]")
