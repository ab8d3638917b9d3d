"""Short rows: what a file's ``[defaults]``, ``"name(signature)"`` and ``"torch/paddle"`` pairs stand for.

Everything here turns the dicts of a TOML file into the long form's dicts; the loader checks those.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from paddletorch_rules.facts import facts
from paddletorch_rules.schema import Form, ParameterPair
from paddletorch_rules.where import Where

SIDES = ("torch", "paddle")

_VALUES = {"dtype": "dtype", "layout": "layout"}
"""Value maps that parameters of these names have on both sides."""

NO_COUNTERPART = "API221"


def expand(entry: Mapping[str, Any], defaults: Mapping[str, Any], where: Where) -> Iterator[dict[str, Any]]:
    """The long rows that one short row stands for: itself, its method, and what does the same in place."""
    row = {**{k: v for k, v in defaults.items() if k != "pairs"}, **entry}
    if row.get("gives") == "":
        del row["gives"]
    for side in SIDES:
        if side in row:
            row[side] = [_form(f, where, side) for f in _listed(row[side])]
    names = {side: _canonical(row.get(side, [])) for side in SIDES}
    name = names["torch"] or names["paddle"]
    if "receiver" in row:
        row.setdefault("kind", "method")
        row.setdefault("id", f"{str(row['receiver']).capitalize()}.{name}")
    else:
        row.setdefault("kind", "class" if name.rpartition(".")[2][:1].isupper() else "function")
        row.setdefault("id", name.removeprefix("torch.").removeprefix("paddle."))
    row.setdefault("title", " ⇄ ".join(f"``{n}``" for n in names.values() if n))
    if row.get("kind") == "attribute" and "values" in row:
        row["pairs"] = ["/".join(n or "" for n in names.values()) + ":" + row.pop("values")]
    method, in_place = row.pop("method", False), row.pop("in_place", [])
    if not isinstance(in_place, list) or not set(in_place) <= {"function", "method"}:
        raise where.error("in_place", f"{in_place!r} is not a list of 'function' and 'method'")
    derived = [_method(row, method, where)] if method else []
    if "function" in in_place:
        derived.append(_in_place(row))
    if "method" in in_place:
        derived.append(_in_place(derived[0] if method else row if "receiver" in row else _method(row, True, where)))
    yield {k: v for k, v in row.items() if not k.startswith(("method_", "in_place_"))}
    yield from ({k: v for k, v in twin.items() if not k.startswith("in_place_")} for twin in derived)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _form(value: Any, where: Where, side: str) -> Any:
    if not isinstance(value, str):
        return value
    name, bracket, rest = value.partition("(")
    form: dict[str, Any] = {"names": [name.strip()]}
    if bracket:
        form["signature"] = "(" + rest
    return form


def _canonical(forms: list[Any]) -> str:
    for form in forms:
        if isinstance(form, dict) and form.get("names"):
            return str(form["names"][0])
    return ""


def _method(row: Mapping[str, Any], method: object, where: Where) -> dict[str, Any]:
    """The method that a function row also describes: its first parameter is the receiver."""
    given_names = dict(zip(SIDES, method.split("/"), strict=True)) if isinstance(method, str) and "/" in method else {}
    own = ("id", "title", "example", "paddle_example", "method_example", "method_paddle_example")
    derived = {k: v for k, v in row.items() if k not in own}
    derived["kind"], derived["receiver"] = "method", "tensor"
    firsts: dict[str, str] = {}
    for side in SIDES:
        forms = [dict(f) for f in row.get(side, [])]
        for form in forms:
            firsts[side] = _drop_first(form, where, side) or firsts.get(side, "")
            form["names"] = list(dict.fromkeys(str(n).rpartition(".")[2] for n in form.get("names", [])))
            if form is forms[0] and given_names:
                form["names"] = [given_names[side]]
        derived[side] = [f for f in forms if f["names"] or "template" in f or "results" in f]
    derived["pairs"] = [p for p in row.get("pairs", []) if p.partition(":")[0].split("/")[0] != firsts.get("torch")]
    derived["parameters"] = [p for p in row.get("parameters", []) if p.get("torch") != firsts.get("torch")]
    names = {side: _canonical(derived.get(side, [])) for side in SIDES}
    derived["id"] = "Tensor." + (names["torch"] or names["paddle"]) + _overload(str(row["id"]))
    derived["title"] = " ⇄ ".join(f"``Tensor.{n}``" for n in names.values() if n)
    for key, side in (("example", "torch"), ("paddle_example", "paddle")):
        function = _canonical(row.get(side, []))
        given = row.get(f"method_{key}") or [
            text for e in _listed(row.get(key, [])) if (text := as_method(e, function, names[side])) is not None
        ]
        if given:
            derived[key] = given
    return derived


_NOT_IN_PLACE = ("hook", "id", "title", "example", "paddle_example", "as_list", "tokens")
"""What a row says of its own API only, and not of the one that does the same in place."""


def _in_place(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the APIs that do the same in place: ``exp_`` for ``exp``, without ``out``."""
    derived = {k: v for k, v in row.items() if k not in _NOT_IN_PLACE}
    member = "receiver" in row
    for side in SIDES:
        forms = [dict(f) for f in row.get(side, []) if f.get("names") and "template" not in f]
        for form in forms:
            form["names"] = [f"{name}_" for name in form["names"]]
            signature = form.get("signature", "()")
            entries = [{"is": signature}] if isinstance(signature, str) else [dict(e) for e in signature]
            for entry in entries:
                entry["is"] = _without(entry["is"], "out")
            entries = [e for n, e in enumerate(entries) if n == 0 or e["is"] != entries[n - 1]["is"]]
            form["signature"] = entries if len(entries) > 1 else entries[0]["is"]
        derived[side] = forms
    names = {side: _canonical(derived[side]) for side in SIDES}
    derived["id"] = f"Tensor.{names['torch']}" if member else names["torch"].removeprefix("torch.")
    derived["title"] = " ⇄ ".join(f"``Tensor.{n}``" if member else f"``{n}``" for n in names.values())
    if member:
        derived["shows_type"] = True
    example = row.get("in_place_example") or _in_place_example(row, _canonical(row["torch"]), names["torch"])
    if example:
        derived["example"] = example
    return derived


def _without(signature: str, parameter: str) -> str:
    """The signature without a parameter that it may have."""
    function = ast.parse(f"def f{signature}: ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    for number, argument in reversed(list(enumerate(given.args))):
        if argument.arg == parameter:
            default = number - len(given.args) + len(given.defaults)
            del given.args[number]
            if default >= 0:
                del given.defaults[default]
    for number, argument in reversed(list(enumerate(given.kwonlyargs))):
        if argument.arg == parameter:
            del given.kwonlyargs[number], given.kw_defaults[number]
    return f"({ast.unparse(given)})"


def _in_place_example(row: Mapping[str, Any], name: str, twin: str) -> str | None:
    """The row's first example with a tensor of its own, changed in place: the tensor and what is given back."""
    for example in _listed(row.get("example", [])):
        tree = ast.parse(example)
        body = tree.body[0]
        call = body.value if len(tree.body) == 1 and isinstance(body, ast.Expr) else None
        if not isinstance(call, ast.Call) or ast.unparse(call.func).rpartition(".")[2] != name.rpartition(".")[2]:
            continue
        if "receiver" in row and isinstance(call.func, ast.Attribute):
            tensor, call.func = call.func.value, ast.Attribute(ast.Name("z"), twin)
        elif call.args and not isinstance(call.args[0], ast.Starred):
            tensor, call.args[0] = call.args[0], ast.Name("z")
            call.func = ast.Name(twin)
        else:
            continue
        return f"z = ({ast.unparse(tensor)}) * 1\nr = {ast.unparse(call)}\n(z, r)"
    return None


def _overload(row_id: str) -> str:
    """``:dim`` of ``max:dim``: rows that share a name are told apart so."""
    return ":" + row_id.partition(":")[2] if ":" in row_id else ""


def _drop_first(form: dict[str, Any], where: Where, side: str) -> str:
    """Take the first parameter out of a form's signatures; its name becomes ``{self}`` in templates."""
    first = ""
    value = form.get("signature", "")
    entries = [{"is": value}] if isinstance(value, str) else [dict(e) for e in value]
    for entry in entries:
        text = entry["is"]
        if not text:
            continue
        function = ast.parse(f"def f{text}: ...").body[0]
        assert isinstance(function, ast.FunctionDef)
        arguments = function.args
        if not arguments.args:
            raise where.error("method", f"{side} signature {text!r} has no first parameter")
        first = arguments.args.pop(0).arg
        if len(arguments.defaults) > len(arguments.args):
            arguments.defaults.pop(0)
        entry["is"] = f"({ast.unparse(arguments)})"
    if value:
        form["signature"] = entries[0]["is"] if isinstance(value, str) else entries
    if first and form.get("template"):
        form["template"] = form["template"].replace("{" + first + "}", "{self}")
    if first and form.get("results"):
        form["results"] = {k: v.replace("{" + first + "}", "{self}") for k, v in form["results"].items()}
    return first


def as_method(example: str, function: str, method: str) -> str | None:
    """``x.sum(dim=1)`` for ``torch.sum(x, dim=1)``; None if the example does not call ``function`` so."""
    if not function or not method:
        return None
    tree = ast.parse(example)
    changed = False
    for call in [n for n in ast.walk(tree) if isinstance(n, ast.Call)]:
        if ast.unparse(call.func) == function and call.args and not isinstance(call.args[0], ast.Starred):
            call.func = ast.Attribute(call.args.pop(0), method, ast.Load())
            changed = True
    return ast.unparse(tree) if changed else None


def pairs(entry: Mapping[str, Any], where: Where, key: str = "pairs") -> list[dict[str, Any]]:
    """``["dim/axis", "dtype/dtype:dtype"]`` as parameter entries."""
    found: list[dict[str, Any]] = []
    for text in where.strings(entry, key):
        names, _, values = text.partition(":")
        torch_name, slash, paddle_name = names.partition("/")
        if not slash:
            raise where.error(key, f"{text!r} is not 'torch/paddle' or 'torch/paddle:values'")
        pair = {"torch": torch_name.strip(), "paddle": paddle_name.strip()}
        found.append({**pair, "values": values.strip()} if values else pair)
    return found


def shared_pairs(data: Mapping[str, Any], where: Where) -> list[dict[str, Any]]:
    """The ``pairs`` of a file's ``[defaults]``: names that stand for each other in all its rows."""
    defaults = data.get("defaults", {})
    if not isinstance(defaults, Mapping):
        raise where.error("defaults", "a table, [defaults], is needed")
    return pairs(defaults, where)


def complete(
    torch: tuple[Form, ...],
    paddle: tuple[Form, ...],
    given: tuple[ParameterPair, ...],
    where: Where,
    shared: Sequence[ParameterPair] = (),
) -> tuple[ParameterPair, ...]:
    """Add the parameters that need no mention: a shared pair, the same name on both sides, or one side only.

    Raises:
        TableError: the target would need an argument that nothing gives.
    """
    if not torch or not paddle:
        return given
    names = {"torch": _parameters(torch), "paddle": _parameters(paddle)}
    mentioned = {side: {p.torch if side == "torch" else p.paddle for p in given} for side in SIDES}
    stated = list(given)
    places = {name: place for place, name in enumerate(names["torch"])}
    for pair in shared:
        both = {"torch": pair.torch, "paddle": pair.paddle}
        if all(both[side] in names[side] and both[side] not in mentioned[side] for side in SIDES) and (
            pair.torch not in names["paddle"] and pair.paddle not in names["torch"]
        ):
            place = places[pair.torch or ""]  # keywords are written in the order of the pairs, which is torch's
            after = (n for n, p in enumerate(stated) if p.paddle and places.get(p.torch or "", -1) > place)
            stated.insert(next(after, len(stated)), pair)
            for side in SIDES:
                mentioned[side].add(both[side])
    added: list[ParameterPair] = []
    for name in names["torch"]:
        if name in names["paddle"] and name not in mentioned["torch"] and name not in mentioned["paddle"]:
            added.append(ParameterPair(name, name, _VALUES.get(name)))
            mentioned["torch"].add(name)
            mentioned["paddle"].add(name)
    for side in SIDES:
        for name, default in names[side].items():
            if name in mentioned[side]:
                continue
            if name in facts().inert_parameters or default == "**":
                added.append(_one_sided(side, name, None, True))
                continue
            if default is None:
                raise where.error("pairs", f"{side} parameter {name!r} is required and has no counterpart")
            added.append(_one_sided(side, name, default, False))
    return (*stated, *added)


def _one_sided(side: str, name: str, neutral: str | None, ignore: bool) -> ParameterPair:
    otherwise = None if ignore else NO_COUNTERPART
    values = _VALUES.get(name)
    if side == "torch":
        return ParameterPair(name, None, values, neutral, otherwise, "unsafe", ignore)
    return ParameterPair(None, name, values, neutral, otherwise, "unsafe", ignore)


def _parameters(forms: tuple[Form, ...]) -> dict[str, str | None]:
    """Parameters of all forms with the newest default; ``**`` for a catch-all."""
    found: dict[str, str | None] = {}
    for form in forms:
        for _, signature in form.signatures:
            for p in signature.parameters:
                found[p.name] = "**" if p.variadic == "**" else ("()" if p.variadic else p.default)
        for name in form.fixed:
            found.setdefault(name, form.fixed[name])
    return found
