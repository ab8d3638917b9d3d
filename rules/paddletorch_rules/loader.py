"""Reads the tables: TOML files into checked rows. Every mistake names file, row and key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any, get_args

from paddletorch_rules import shorthand
from paddletorch_rules.aliases import Aliases
from paddletorch_rules.bounded import TABLE_BYTES, read_regular
from paddletorch_rules.consistency import check_references, check_row
from paddletorch_rules.definitions import Definitions
from paddletorch_rules.forms import read_form, read_pair
from paddletorch_rules.name_patterns import UnsafePattern, check_pattern
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import (
    AliasRule,
    AreaSpec,
    DiagnosticSpec,
    Form,
    Kind,
    ParameterPair,
    RawTables,
    Row,
    ShimPart,
    TableError,
    TypeSpec,
    ValueMap,
)
from paddletorch_rules.toml_text import parse_toml
from paddletorch_rules.where import Where

_ROW_KEYS = frozenset(
    "id code kind title torch paddle parameters direction receiver gives hook report warn initial known_without_import "
    "docs tokens unchecked pairs as_list forward shows_type example paddle_example prove tolerance unverified "
    "annotation any_receiver override reason instead remark".split()
)
_VALUES_KEYS = frozenset("name pairs torch_also paddle_also to_torch to_paddle refuse keeps strings override".split())
_TYPE_KEYS = frozenset(["name", "makes", "protocol", "names", "tokens", "base", "override"])
_DIAGNOSTIC_KEYS = frozenset("code name title severity applicability message hint once examined".split())
_DIAGNOSTIC_KEYS |= {"formerly", "override", "shim_reason", "shim_answers"}
_ALIAS_KEYS = frozenset(["of", "at", "modules", "names", "overloads"])
_AREA_KEYS = frozenset(["code", "name", "title", "override"])


def read(paths: Sequence[Path]) -> RawTables:
    """Read and check the table files, in order.

    Raises:
        TableError: a file cannot be read, or a row is wrong; names file, row and key.
    """
    raw, definitions = RawTables(), Definitions()
    names = [path.name for path in paths]
    for path in paths:
        _read_file(path, path.name if names.count(path.name) == 1 else str(path), raw, definitions)
    check_references(raw)
    definitions.check_aliases(Aliases(raw.aliases))
    return raw


def _read_file(path: Path, file: str, raw: RawTables, definitions: Definitions) -> None:
    try:
        data = parse_toml(read_regular(path, TABLE_BYTES).decode())
    except (OSError, UnicodeDecodeError) as error:
        raise TableError(f"{path}: cannot be read: {_why(error)}") from None
    except RecursionError:
        raise TableError(f"{path}: cannot be read: nested too deeply") from None
    except ValueError as error:  # also a number of more digits than Python reads
        raise TableError(f"{path}: is not valid TOML: {error}") from None
    for key in data:
        if key not in {"row", "values", "diagnostic", "type", "defaults", "area", "alias"}:
            known = "[defaults], [[area]], [[row]], [[values]], [[type]], [[diagnostic]] and [[alias]]"
            raise TableError(f"{file}: key {key!r}: unknown; a table holds {known}")
    for where, entry in _entries(data, "area", "code", file):
        area = _area(entry, where)
        if definitions.is_first("area", area.code, where, entry):
            raw.areas[area.code] = area
    for where, entry in _entries(data, "diagnostic", "code", file):
        diagnostic = _diagnostic(entry, where)
        if definitions.is_first("diagnostic", diagnostic.code, where, entry):
            raw.diagnostics[diagnostic.code] = diagnostic
    for where, entry in _entries(data, "values", "name", file):
        values = _values(entry, where)
        if definitions.is_first("values", values.name, where, entry):
            raw.values[values.name] = values
    for where, entry in _entries(data, "type", "name", file):
        tracked = _type(entry, where)
        if definitions.is_first("type", tracked.name, where, entry):
            raw.types[tracked.name] = tracked
    raw.aliases += [_alias(entry, where) for where, entry in _entries(data, "alias", "of", file)]
    seen: set[str] = set()
    shared = tuple(read_pair(p, w) for w in [Where(file, "[defaults]")] for p in shorthand.shared_pairs(data, w))
    for where, entry in _rows(data, file):
        row = _row(entry, where, shared, auto="defaults" in data)
        if row.id in seen:
            raise where.error("id", f"{row.id!r} stands twice in this file")
        seen.add(row.id)
        definitions.add_row(row, where, where.flag(entry, "override"))
        raw.rows.append(row)


def _why(error: OSError | UnicodeDecodeError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else f"not UTF-8: {error.reason}"


def _rows(data: Mapping[str, Any], file: str) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The rows of a file in the long form."""
    defaults = data.get("defaults")
    for where, entry in _entries(data, "row", "id", file):
        if defaults is None:
            yield where, entry
            continue
        try:
            for row in shorthand.expand(entry, defaults, where):
                yield Where(file, str(row["id"])), row
        except (SyntaxError, KeyError, AttributeError, TypeError, ValueError) as error:
            if isinstance(error, TableError):
                raise
            raise where.error("row", f"{entry!r} cannot be read: {error}") from None


def _entries(data: Mapping[str, Any], kind: str, name: str, file: str) -> Iterator[tuple[Where, dict[str, Any]]]:
    entries = data.get(kind, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise TableError(f"{file}: key {kind!r}: a list of tables, [[{kind}]], is needed")
    for number, entry in enumerate(entries, 1):
        yield Where(file, str(entry.get(name, f"#{number}"))), entry


def _area(data: Mapping[str, Any], where: Where) -> AreaSpec:
    where.keys(data, _AREA_KEYS)
    return AreaSpec(_code(data, where), where.text(data, "name"), where.text(data, "title"))


def _alias(data: Mapping[str, Any], where: Where) -> AliasRule:
    where.keys(data, _ALIAS_KEYS)
    rule = AliasRule(
        where.text(data, "of"),
        where.either(data, "at"),
        where.strings(data, "modules"),
        where.strings(data, "names"),
        {overload: where.strings(data["overloads"], overload) for overload in data.get("overloads", {})},
        where.file,
    )
    if not rule.at:
        raise where.error("at", "missing")
    whole = rule.of.endswith(".*")
    for at in rule.at:
        prefixed = (
            at.endswith("*") and bool(rule.names or rule.overloads) and not rule.modules
        )  # fft_* for names of fft
        if (at.endswith(".*") or prefixed) is not whole:
            raise where.error("at", f"{at!r} and {rule.of!r} must both be a name or both a module's names, 'module.*'")
    for key in ("modules", "names", "overloads"):
        if data.get(key) and not whole:
            raise where.error(key, f"{rule.of!r} is one name: only 'module.*' has this key")
    return rule


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
        once=where.flag(data, "once"),
        examined=where.flag(data, "examined", default=True),
        formerly=where.text(data, "formerly", ""),
        shim_reason=_shim_part(data, "shim_reason", where),
        shim_answers=_shim_part(data, "shim_answers", where),
    )


def _shim_part(data: Mapping[str, Any], key: str, where: Where) -> ShimPart | None:
    parts = get_args(ShimPart)
    return where.choice(data, key, parts, parts[0]) if key in data else None  # type: ignore[return-value]


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
        wrap = wraps[key]
        if wrap is not None and (
            "{{" in wrap or [name for _, name, _, _ in Formatter().parse(wrap) if name is not None] != ["x"]
        ):
            raise where.error(key, "the placeholder {x} must stand there once, and no other brace")
    for key in ("torch_also", "paddle_also", "refuse"):
        for text in where.mapping(data, key):
            where.expression(text, key)
    return ValueMap(
        name=where.text(data, "name"),
        pairs=tuple((t, p) for t, p in pairs),
        torch_also=where.expressions(data, "torch_also"),
        paddle_also=where.expressions(data, "paddle_also"),
        refuse=where.mapping(data, "refuse"),
        keeps=frozenset(where.strings(data, "keeps")),
        strings=where.flag(data, "strings"),
        file=where.file,
        **wraps,
    )


def _type(data: Mapping[str, Any], where: Where) -> TypeSpec:
    where.keys(data, _TYPE_KEYS)
    names = where.text(data, "names", "")
    try:
        check_pattern(names)
    except UnsafePattern as error:
        raise where.error("names", f"{names!r} {error}") from None
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
        where.text(data, "base", ""),
    )


def _code(data: Mapping[str, Any], where: Where) -> str:
    code = where.text(data, "code")
    area = code.rstrip("0123456789")
    if not area.isalpha() or not area.isupper() or len(code) - len(area) != 3:
        raise where.error("code", f"{code!r} is not an area in capitals and three digits, like AMP101")
    return code


def _row(data: Mapping[str, Any], where: Where, shared: Sequence[ParameterPair] = (), *, auto: bool = False) -> Row:
    """A checked row. ``auto``: parameters that need no mention are paired here, first those of the ``shared`` pairs."""
    where.keys(data, _ROW_KEYS)
    kind: Kind = where.choice(data, "kind", get_args(Kind), "function")  # type: ignore[assignment]
    direction = where.choice(data, "direction", ("torch", "paddle"), "torch") if "direction" in data else None
    sides: dict[Framework, tuple[Form, ...]] = {
        side: tuple(read_form(f, where, side, n) for n, f in enumerate(where.tables(data, side)))
        for side in ("torch", "paddle")
    }
    stated = (*shorthand.pairs(data, where), *where.tables(data, "parameters"))
    parameters = tuple(read_pair(p, where) for p in stated)
    if auto:
        parameters = shorthand.complete(sides["torch"], sides["paddle"], parameters, where, shared)
    hook, hook_arguments = _hook(data, where)
    distinctive = where.either(data, "shows_type") if data.get("shows_type") is not True else ("torch", "paddle")
    row = Row(
        id=where.text(data, "id"),
        code=_code(data, where),
        kind=kind,
        title=where.text(data, "title"),
        file=where.file,
        torch=sides["torch"],
        paddle=sides["paddle"],
        parameters=parameters,
        direction=direction,  # type: ignore[arg-type]
        receiver=where.text(data, "receiver") if "receiver" in data else None,
        instance=where.text(data, "gives") if "gives" in data else None,
        hook=hook,
        hook_arguments=hook_arguments,
        report=where.text(data, "report") if "report" in data else None,
        warn=where.mapping(data, "warn"),
        initial=where.text(data, "initial") if "initial" in data else None,
        bare=where.flag(data, "known_without_import"),
        tokens=where.strings(data, "tokens") if "tokens" in data else None,
        unchecked=where.text(data, "unchecked") if "unchecked" in data else None,
        docs=where.mapping(data, "docs"),
        whole=auto,
        collect=frozenset(where.strings(data, "as_list")),
        forward=tuple(
            ParameterPair(p["torch"], p["paddle"], p.get("values")) for p in shorthand.pairs(data, where, "forward")
        ),
        distinctive=frozenset(distinctive),  # type: ignore[arg-type]
        any_receiver=where.flag(data, "any_receiver"),
        examples=where.either(data, "example"),
        paddle_examples=where.either(data, "paddle_example"),
        prove=where.choice(data, "prove", ("values", "shape", "processes"), "values"),  # type: ignore[arg-type]
        tolerance=_number(data, where),
        annotation=where.flag(data, "annotation"),
        unverified=where.text(data, "unverified") if "unverified" in data else None,
        reason=where.text(data, "reason", ""),
        instead=where.text(data, "instead", ""),
        remark=where.text(data, "remark", ""),
    )
    check_row(row, where)
    return row


def _hook(data: Mapping[str, Any], where: Where) -> tuple[str | None, dict[str, str | int | bool]]:
    """The hook's name and arguments: ``hook = "name"``, or ``hook = { name = "name", argument = "value" }``."""
    value = data.get("hook")
    if not isinstance(value, dict):
        return where.text(data, "hook") if "hook" in data else None, {}
    arguments = {key: item for key, item in value.items() if key != "name"}
    for key, item in arguments.items():
        if not isinstance(item, str | int | bool):
            raise where.error(f"hook.{key}", f"a string, a whole number or true or false is needed, not {item!r}")
    return where.text(value, "name", prefix="hook."), arguments


def _number(data: Mapping[str, Any], where: Where) -> float | None:
    value = data.get("tolerance")
    if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise where.error("tolerance", f"a number is needed, not {value!r}")
    return value
