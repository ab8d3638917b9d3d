"""Writes the adapters: what the converter makes of a subclass, or a function, with the source's signature."""

from __future__ import annotations

import ast
import json
from collections.abc import Container, Iterator, Sequence

from paddletorch_rules import Form, Framework, Parameter, Row, Table, other_framework
from paddletorch_rules.adapters import Adapter, function_adapters, functions

from paddletorch.api.convert import convert

_WIDTH = 100
"""Longer lines of a class are broken."""

_LONGEST = 120
"""A function with a longer line says more than one expression should."""

_MADE = frozenset({"OPT", "LRS", "AMP", "DAT"})
"""The areas of classes whose objects a function makes: no program derives classes from those that it writes."""

_LAYERS = "NNL"
"""The area of the rows of layers."""

_UNSEEN = frozenset({"name"})
"""Parameters that only label what is made."""

_WRITTEN_TO = frozenset({"out"})
"""Parameters for which a call takes another form, so that a function cannot hand them on."""

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
                adapter = _adapter(row, form, name, source.capitalize() + name.rpartition(".")[2], target)
                if adapter is not None:
                    yield _with_attributes(adapter, row, table) if target == "paddle" else adapter


def functions_to(target: Framework, table: Table) -> Iterator[Adapter]:
    """The adapters for each function, and for what makes optimizers and the like, that one can be written for."""
    source = other_framework(target)
    names = set(functions(target))
    seen = {one.of for one in function_adapters(target).values() if one.name in names}  # those written by hand
    for row in table.rows:
        if not row.forms(target) or not (row.kind == "function" or (row.kind == "class" and row.code[:3] in _MADE)):
            continue
        for form in row.forms(source):
            name = next(iter(form.names), "")
            own = _free_name(name, names)
            if name in seen or form.fixed or not name.startswith(f"{source}.") or "._" in name:
                continue
            seen.add(name)
            adapter = _adapter(row, form, name, own, target)
            if adapter is not None:
                names.add(own)
                yield adapter


def _free_name(api: str, taken: Container[str]) -> str:
    """A name for a function that stands for an API: ``torch_pad``, or with more of its path where that is taken.

    It ends in no underscore, as those of functions in place do.
    """
    framework, *path = api.split(".")
    names = ("_".join([framework, *path[-count:]]) for count in range(1, len(path) + 1))
    return next((name for name in names if name not in taken), f"{framework}_{'_'.join(path)}_call")


def _named(found: Sequence[Adapter], target: Framework) -> Iterator[Adapter]:
    """The adapters by the names of the target's classes, which programs look for in ``type(layer).__name__``."""
    source = other_framework(target).capitalize()
    bases = [one.text.partition("(")[2].partition(")")[0].rpartition(".")[2] for one in found]
    for one, base in zip(found, bases, strict=True):
        name = source + base if bases.count(base) == 1 else one.name
        yield one._replace(name=name, text=one.text.replace(f"class {one.name}(", f"class {name}(", 1))


def toml(adapters: Sequence[Adapter]) -> str:
    """The adapters as a table."""
    lines = ["# Written by 'paddletorch rules adapters': the converter's own form of a subclass with these arguments."]
    for one in sorted(adapters, key=lambda one: one.of):
        lines += ["", "[[adapter]]", f"of = {json.dumps(one.of)}", f"name = {json.dumps(one.name)}"]
        for key, values in (("lacks", one.lacks), ("checks", one.checks), ("needs", one.needs)):
            lines += [f"{key} = {json.dumps(list(values))}"] if values else []
        pairs = ", ".join(f"{code} = {json.dumps(what)}" for code, what in one.warns)
        lines += [f"warns = {{ {pairs} }}"] if pairs else []
        lines += [f"text = '''\n{one.text}'''"]
    return "\n".join(lines) + "\n"


def _adapter(row: Row, form: Form, name: str, own: str, target: Framework) -> Adapter | None:
    """The adapter ``own`` with as many of the source's parameters as convert; None if it lacks a required one."""
    source = other_framework(target)
    signature = form.signatures[-1][1] if form.signatures else None
    if signature is None or not signature.parameters or any(p.variadic for p in signature.parameters):
        return None
    defaults = {(p.name, p.default) for _, one in form.signatures for p in one.parameters if p.default is not None}
    if len({name for name, _ in defaults}) < len(defaults):
        return None  # what the source's release does without an argument cannot be seen in the function
    known = [p for p in signature.parameters if p.name not in _UNSEEN | _WRITTEN_TO]
    taken = [p for p in known if p.default is None]
    adapter = _converted(row, name, own, taken, target)
    if adapter is None:
        return None
    lacks: list[str] = []
    neutral = {pair.name(source): pair.neutral for pair in row.parameters}
    for parameter in (p for p in known if p.default is not None):
        if lacks and not parameter.keyword_only:  # its position would be another one
            parameter = parameter._replace(keyword_only=True)
        more = _converted(row, name, own, [*taken, parameter], target)
        checked = more is not None and f"}}[{parameter.name}]" in more.text  # a check that only an expression needs
        if more is None or checked or (parameter.name in more.checks and parameter.default != neutral[parameter.name]):
            lacks.append(parameter.name)
        else:
            taken, adapter = [*taken, parameter], more
    lacks += [p.name for p in signature.parameters if p.name in _WRITTEN_TO]
    return adapter._replace(lacks=tuple(lacks))


def _converted(row: Row, name: str, own: str, taken: Sequence[Parameter], target: Framework) -> Adapter | None:
    """The adapter ``own`` with these parameters; None if the converter does not answer for it."""
    source = other_framework(target)
    is_layer = own[0].isupper()
    written = _class(name, own, taken) if is_layer else _function(name, own, taken)
    result = convert(f"import {source}\n\n\n{written}", to=target)
    told = {d.code: d for d in result.findings if d.severity.name != "INFO"}
    warns = {code for code in told if code.startswith(_HAZARDS)}
    if not told.keys() <= {_CHECKED, *row.warn.values()} | warns:
        return None
    before, _, body = result.output.partition("\n\n\n")
    *above, text = body.split("\n\n\n")
    needs = tuple(part.removeprefix("def ").partition("(")[0] for part in above)
    if before.strip() != f"import {target}" or "lambda" in text or (is_layer and needs):
        return None
    if is_layer:
        text = _with_base(text, name, target)
    else:
        is_long = max(map(len, text.splitlines())) > _LONGEST
        text = "" if is_long or f"{source}." in text else _with_docstring(text, f"Takes the arguments of {name}.")
    if not text:
        return None
    checks = (p.name for p in taken if f"raise ValueError({p.name})" in text)
    said = tuple((code, told[code].message.removeprefix(f"{name}: ")) for code in sorted(warns))
    return Adapter(name, own, text, (), tuple(checks), said, needs=needs)


def _with_base(text: str, name: str, target: Framework) -> str:
    """The class with a docstring that names its base; empty if that is no class of the target."""
    base = text.partition("(")[2].partition(")")[0]
    if not base.startswith(f"{target}."):
        return ""
    start, _, rest = text.partition("\n")
    return f'{start}\n    """{base} with the arguments of {name}."""\n\n{rest}'


def _with_docstring(text: str, docstring: str) -> str:
    """The function with a docstring."""
    start, end, rest = text.partition("):\n")
    return f'{start}{end}    """{docstring}"""\n{rest}'


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
    return adapter._replace(text=f"{before}{kept}{end}{after}" if end else f"{adapter.text}{kept}")


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
    declared, given = _handed_on(taken)
    head = _broken("    def __init__(", ["self", *declared], "):", "    ")
    return f"class {cls}({name}):\n{head}\n" + _broken("        super().__init__(", given, ")", "        ") + "\n"


def _function(name: str, own: str, taken: Sequence[Parameter]) -> str:
    """A function that hands on the source's parameters."""
    declared, given = _handed_on(taken)
    head = _broken(f"def {own}(", declared, "):", "")
    return f"{head}\n" + _broken(f"    return {name}(", given, ")", "    ") + "\n"


def _handed_on(taken: Sequence[Parameter]) -> tuple[list[str], list[str]]:
    """The parameters as a signature declares them, and as a call of the source's gives them."""
    star = next((n for n, p in enumerate(taken) if p.keyword_only), len(taken))
    declared = [p.name if p.default is None else f"{p.name}={p.default}" for p in taken]
    declared[star:star] = ["*"] if star < len(taken) else []
    return declared, [p.name if p.default is None and not p.keyword_only else f"{p.name}={p.name}" for p in taken]


def _broken(start: str, items: Sequence[str], end: str, indentation: str) -> str:
    """A call or signature on one line, or with a line for each item."""
    line = start + ", ".join(items) + end
    if len(line) <= _WIDTH - 20:  # what the arguments become may be longer
        return line
    return "\n".join([start, *(f"{indentation}    {item}," for item in items), indentation + end])
