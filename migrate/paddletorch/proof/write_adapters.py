"""Writes the adapters of layers: what the converter makes of a subclass with the source's signature."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from paddletorch_rules import Form, Framework, Parameter, Row, Table, other_framework
from paddletorch_rules.adapters import Adapter

from paddletorch.api.convert import convert

_WIDTH = 100
"""Longer lines of a class are broken."""

_LAYERS = "NNL"
"""The area of the rows of layers."""

_UNSEEN = frozenset({"name"})
"""Parameters that only label what is made."""

_CHECKED = "API228"
"""The code for an argument that is checked as the program runs: another value raises an error."""

_KEPT = frozenset({"dilation", "return_indices"})
"""Parameters that torch's layers keep and Paddle's do not, beside those that rows of attributes have."""

_SPREAD = {"padding": "(padding,) * len(self._kernel_size) if isinstance(padding, int) else padding"}
"""What torch's convolutions keep of a parameter, where that is not what Paddle's keep."""

_HAZARDS = "AGD"
"""The area of what Paddle computes wrongly, which is said of each call."""


def adapters_to(target: Framework, table: Table) -> Iterator[Adapter]:
    """The adapters for each layer that the converter can write one for."""
    return _named(list(_found(target, table)), target)


def _found(target: Framework, table: Table) -> Iterator[Adapter]:
    source = other_framework(target)
    seen: set[str] = set()
    for row in table.rows:
        if row.kind != "class" or row.code[:3] != _LAYERS or row.instance == "module" or not row.forms(target):
            continue  # "module": layers that hold others, whose own arguments are few
        for form in row.forms(source):
            name = next(iter(form.names), "")
            is_public = name.startswith(f"{source}.nn.") and not name.rpartition(".")[2].startswith("_")
            if name not in seen and is_public and not form.fixed:
                seen.add(name)
                adapter = _adapter(row, form, name, target)
                if adapter is not None:
                    yield _with_attributes(adapter, row, table) if target == "paddle" else adapter


def _named(found: Sequence[Adapter], target: Framework) -> Iterator[Adapter]:
    """The adapters by the names of the target's classes, which programs look for in ``type(layer).__name__``."""
    source = other_framework(target).capitalize()
    bases = [one.text.partition("(")[2].partition(")")[0].rpartition(".")[2] for one in found]
    for one, base in zip(found, bases, strict=True):
        name = source + base if bases.count(base) == 1 else one.name
        yield replace(one, name=name, text=one.text.replace(f"class {one.name}(", f"class {name}(", 1))


def toml(adapters: Sequence[Adapter]) -> str:
    """The adapters as a table."""
    lines = ["# Written by 'paddletorch rules adapters': the converter's own form of a subclass with these arguments."]
    for one in sorted(adapters, key=lambda one: one.of):
        lines += ["", "[[adapter]]", f"of = {json.dumps(one.of)}", f"name = {json.dumps(one.name)}"]
        for key, values in (("lacks", one.lacks), ("checks", one.checks)):
            lines += [f"{key} = {json.dumps(list(values))}"] if values else []
        pairs = ", ".join(f"{code} = {json.dumps(what)}" for code, what in one.warns)
        lines += [f"warns = {{ {pairs} }}"] if pairs else []
        lines += [f"text = '''\n{one.text}'''"]
    return "\n".join(lines) + "\n"


def _adapter(row: Row, form: Form, name: str, target: Framework) -> Adapter | None:
    """The adapter with as many of the source's parameters as convert; None if it does without a required one."""
    source = other_framework(target)
    signature = form.signatures[-1][1] if form.signatures else None
    if signature is None or not signature.parameters or any(p.variadic for p in signature.parameters):
        return None
    known = [p for p in signature.parameters if p.name not in _UNSEEN]
    cls = source.capitalize() + name.rpartition(".")[2]
    taken = [p for p in known if p.default is None]
    adapter = _converted(row, name, cls, taken, target)
    if adapter is None:
        return None
    lacks: list[str] = []
    neutral = {pair.name(source): pair.neutral for pair in row.parameters}
    for parameter in (p for p in known if p.default is not None):
        if lacks and not parameter.keyword_only:  # its position would be another one
            parameter = replace(parameter, keyword_only=True)
        more = _converted(row, name, cls, [*taken, parameter], target)
        if more is None or (parameter.name in more.checks and parameter.default != neutral[parameter.name]):
            lacks.append(parameter.name)
        else:
            taken, adapter = [*taken, parameter], more
    return replace(adapter, lacks=tuple(lacks))


def _converted(row: Row, name: str, cls: str, taken: Sequence[Parameter], target: Framework) -> Adapter | None:
    """The adapter with these parameters; None if the converter does not answer for it."""
    source = other_framework(target)
    result = convert(f"import {source}\n\n\n{_class(name, cls, taken)}", to=target)
    told = {d.code: d for d in result.findings if d.severity.name != "INFO"}
    warns = {code for code in told if code.startswith(_HAZARDS)}
    if not told.keys() <= {_CHECKED, *row.warn.values()} | warns:
        return None
    before, _, text = result.output.partition("\n\n\n")
    base = text.partition("(")[2].partition(")")[0]
    if before.strip() != f"import {target}" or not base.startswith(f"{target}.") or "lambda" in text:
        return None
    start, _, rest = text.partition("\n")
    text = f'{start}\n    """{base} with the arguments of {name}."""\n\n{rest}'
    checks = (p.name for p in taken if f"raise ValueError({p.name})" in text)
    said = tuple((code, told[code].message.removeprefix(f"{name}: ")) for code in sorted(warns))
    return Adapter(name, cls, text, (), tuple(checks), said)


def _with_attributes(adapter: Adapter, row: Row, table: Table) -> Adapter:
    """The adapter of Paddle's layer with the attributes by which torch's keeps its parameters, for code of any file."""
    types = table.bases(row.instance or "")
    rows = (one for one in table.rows if one.kind == "attribute" and one.receiver in types and one.receiver != "layer")
    used = [one for one in rows if one.direction != "torch" and one.forms("paddle")]
    own = {name: one for one in used for form in one.forms("torch") for name in form.names}
    (function,) = (node for node in ast.walk(ast.parse(adapter.text)) if isinstance(node, ast.FunctionDef))
    taken = [one.arg for one in (*function.args.args, *function.args.kwonlyargs)]
    lines = [_attribute(name, own.get(name)) for name in taken if name in own or name in _KEPT]
    before, end, after = adapter.text.rpartition("        self.to(device=device, dtype=dtype)\n")
    kept = "".join(line for line in lines if line)
    return replace(adapter, text=f"{before}{kept}{end}{after}" if end else f"{adapter.text}{kept}")


def _attribute(name: str, row: Row | None) -> str:
    """The line that sets an attribute of torch's layers; empty if Paddle's have it by that name."""
    names = () if row is None else row.forms("paddle")[0].names
    if name in names:
        return ""
    value = _SPREAD.get(name, name) if row is None or row.receiver == "conv" else name
    if names and row is not None:
        value = f"tuple(self.{names[0]})" if row.hook == "layer_size" else f"self.{names[0]}"
    elif row is not None and row.id == "pool.stride":
        value = "kernel_size if stride is None else stride"
    return f"        self.{name} = {value}\n"


def _class(name: str, cls: str, taken: Sequence[Parameter]) -> str:
    """A subclass that hands on the source's parameters."""
    star = next((n for n, p in enumerate(taken) if p.keyword_only), len(taken))
    declared = [p.name if p.default is None else f"{p.name}={p.default}" for p in taken]
    declared[star:star] = ["*"] if star < len(taken) else []
    given = [p.name if p.default is None and not p.keyword_only else f"{p.name}={p.name}" for p in taken]
    head = _broken("    def __init__(", ["self", *declared], "):", "    ")
    return f"class {cls}({name}):\n{head}\n" + _broken("        super().__init__(", given, ")", "        ") + "\n"


def _broken(start: str, items: Sequence[str], end: str, indentation: str) -> str:
    """A call or signature on one line, or with a line for each item."""
    line = start + ", ".join(items) + end
    if len(line) <= _WIDTH - 20:  # what the arguments become may be longer
        return line
    return "\n".join([start, *(f"{indentation}    {item}," for item in items), indentation + end])
