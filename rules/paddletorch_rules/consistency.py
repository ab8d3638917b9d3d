"""Whether a row fits its own signatures, and what it names elsewhere exists."""

from __future__ import annotations

from paddletorch_rules import hooks
from paddletorch_rules.aliases import Aliases, expanded
from paddletorch_rules.facts import facts
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import RawTables, Row
from paddletorch_rules.where import Where

_TARGETS: tuple[Framework, Framework] = ("torch", "paddle")


def check_row(row: Row, where: Where) -> None:
    """Hold a row against its own signatures.

    Raises:
        TableError: it lacks something, or names a parameter that is in no signature.
    """
    if not row.torch and not row.paddle:
        raise where.error("torch", "a row needs at least one side")
    if row.report is None and not (row.torch and row.paddle) and row.kind != "attribute":
        raise where.error("report", "a row with one side needs the diagnostic to report")
    if (row.reason or row.instead) and (row.report is None or not (row.reason and row.instead)):
        raise where.error("reason", "'reason' and 'instead' go together, and with 'report'")
    if row.kind in ("method", "attribute") and row.receiver is None:
        raise where.error("receiver", f"a {row.kind} needs the type that has it")
    if row.hook is not None:
        problem = hooks.problem(row.hook, row.hook_arguments, tuple(t for t in _TARGETS if row.serves(t)))
        if problem:
            raise where.error("hook", problem)
    for side in ("torch", "paddle"):
        declared = [p.name(side) for p in row.parameters if p.name(side) is not None]
        if len(declared) != len(set(declared)):
            raise where.error("parameters", f"a {side} parameter is named twice")
        known = {p.name for form in row.forms(side) for _, s in form.signatures for p in s.parameters}
        known |= {name for form in row.forms(side) for name in form.fixed}
        if row.kind == "attribute":
            known |= {name for form in row.forms(side) for name in form.names}
        for name in declared:
            if name not in known:
                raise where.error("parameters", f"{name!r} is in no {side} signature of the row")
        if row.torch and row.paddle and not any(f.template or f.results for f in (*row.torch, *row.paddle)):
            plain = {
                p.name for form in row.forms(side) for _, s in form.signatures for p in s.parameters if not p.variadic
            }
            for name in sorted(plain - set(declared)):
                raise where.error("parameters", f"{side} parameter {name!r} is not paired or marked one-sided")


def check_references(raw: RawTables) -> None:
    """Look up every value map, type and diagnostic that a row names.

    Raises:
        TableError: one is declared nowhere, or an alias leads to itself.
    """
    circle = Aliases(raw.aliases).circle()
    for rule in raw.aliases:
        if circle in {alias for alias, _ in expanded(rule)}:
            raise Where(rule.file, rule.of).error("at", f"{circle!r} is, by the rules, another name of itself")
    for values in raw.values.values():
        for code in values.refuse.values():
            _check_code(raw, code, Where(values.file, values.name), "refuse")
    for row in raw.rows:
        where = Where(row.file, row.id)
        for pair in row.parameters:
            if pair.values is not None and pair.values not in raw.values:
                raise where.error("parameters.values", f"{pair.values!r} is no [[values]] map")
            if pair.otherwise is not None:
                _check_code(raw, pair.otherwise, where, "parameters.else_report")
        for tracked in (row.receiver, row.instance):
            if tracked is not None and tracked not in raw.types:
                raise where.error("receiver" if tracked == row.receiver else "gives", f"{tracked!r} is no [[type]]")
        if row.report is not None:
            _check_code(raw, row.report, where, "report")
        if row.initial is not None and row.initial not in facts().initial_values:
            raise where.error("initial", f"{row.initial!r} is no kind of layer in [initial_values] of facts.toml")
        for target, code in row.warn.items():
            if target not in ("torch", "paddle"):
                raise where.error("warn", f"{target!r} is not a target framework")
            _check_code(raw, code, where, "warn")


def _check_code(raw: RawTables, code: str, where: Where, key: str) -> None:
    if code not in raw.diagnostics:
        raise where.error(key, f"{code!r} is no declared [[diagnostic]]")
