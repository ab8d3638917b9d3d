"""Counts how often the guesses of ``rules/paddletorch_rules/guesses.toml`` are right in real code.

    python benchmarks/guesses.py TREE:TARGET [TREE:TARGET ...] [--write]

A use counts where the file itself shows of what kind the thing is, without its name: then the guess is right or wrong.
``--write`` puts the numbers into the table.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import click
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.plan.inference.dtypes import dtypes_of
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.view import FileView
from paddletorch.resolve import Evaluator, Instance, Qualified, ScopeTree, Unknown
from paddletorch.resolve.facts.dtypes import category
from paddletorch.resolve.values import Local
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions
from paddletorch_rules.guesses import FILE, guesses, suggests

Answer = bool | None
"""Whether it is of the kind; None where that is not seen."""


def _instances(view: FileView, node: ast.expr) -> list[Instance]:
    """The objects that it can be; none where something is not seen, or where only a name or ``forward`` says it."""
    values = view.evaluator.values(node)
    found = [value for value in values if isinstance(value, Instance)]
    named = any(isinstance(v, Unknown) or (isinstance(v, Instance) and v.api in ("forward", "")) for v in values)
    return [] if named or any("." not in v.api and v.type == "tensor" for v in found) else found


def _of_type(*types: str) -> Callable[[FileView, ast.expr], Answer]:
    def answer(view: FileView, node: ast.expr) -> Answer:
        made = _instances(view, node)
        bases = view.settings.table.bases
        return all(not set(types).isdisjoint((v.type, *bases(v.type))) for v in made) if made else None

    return answer


def _below_floats(view: FileView, node: ast.expr) -> Answer:
    dtype = view.provide(dtypes_of).of(node)
    return None if dtype is None or not any(v.type == "tensor" for v in _instances(view, node)) else category(dtype) < 2


def _kind(*wanted: str) -> Callable[[FileView, ast.expr], Answer]:
    def answer(view: FileView, node: ast.expr) -> Answer:
        found = kinds(view, node)
        return bool(found & set(wanted)) if found and Unknown() not in view.evaluator.values(node) else None

    return answer


def _is_class(view: FileView, node: ast.expr) -> Answer:
    """Of what is called with keywords: only then the guess is asked for."""
    call = view.parent(node)
    values = view.evaluator.values(node) if _called(view, node) and getattr(call, "keywords", ()) else frozenset()
    if not values or not all(isinstance(value, Qualified | Local | Instance) for value in values):
        return None
    made = [view.settings.table.makes(v.name) for v in values if isinstance(v, Qualified)]
    return any(isinstance(getattr(v, "node", None), ast.ClassDef) and isinstance(v, Local) for v in values) or any(made)


def _runs_no_module(view: FileView, node: ast.expr) -> Answer:
    called = _called(view, node)
    values = view.evaluator.values(node) if called else frozenset()
    if not values or Unknown() in values:
        return None
    bases = view.settings.table.bases
    return not any(isinstance(v, Instance) and "module" in bases(v.type) for v in values)


def _called(view: FileView, node: ast.expr) -> bool:
    parent = view.parent(node)
    return isinstance(parent, ast.Call) and parent.func is node


ANSWERS: dict[str, Callable[[FileView, ast.expr], Answer]] = {
    "activation_name": _kind("str"),
    "compared": _of_type("tensor"),
    "count": _below_floats,
    "device_number": _kind("int"),
    "label": _below_floats,
    "layer_class": _is_class,
    "loader": _of_type("loader"),
    "loss": _of_type("tensor", "module"),
    "made_layer": _is_class,
    "mask": _below_floats,
    "model": _of_type("module"),
    "no_model": _runs_no_module,
    "padding_name": _kind("str"),
    "sizes": _kind("sequence", "shape"),
    "tensor": _of_type("tensor"),
    "verb": _runs_no_module,
}
"""How the kind is told. Nothing in a file says of a model that no gradient goes through it (``frozen_model``)."""


@click.command()
@click.argument("trees", nargs=-1, required=True)
@click.option("--write", is_flag=True, help="Put the numbers into the table.")
def main(trees: tuple[str, ...], write: bool) -> None:
    """Count, and print what was right."""
    right: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for tree in trees:
        folder, _, target = tree.rpartition(":")
        engine = Engine(Options(target="paddle" if target == "paddle" else "torch"))
        for file in sorted(Path(folder).rglob("*.py")):
            for name, is_right in _answers(engine, file):
                seen[name] += 1
                right[name] += is_right
    for name in guesses():
        print(f"{name}: {right[name]} of {seen[name]}")
    if write:
        text = FILE.read_text(encoding="utf-8")
        for name in guesses():
            pattern = re.compile(rf"(^\[{name}\].*?^right = )\d+(\nof = )\d+", re.MULTILINE | re.DOTALL)
            text = pattern.sub(rf"\g<1>{right[name]}\g<2>{seen[name]}", text)
        FILE.write_text(text, encoding="utf-8")


def _answers(engine: Engine, file: Path) -> Iterator[tuple[str, bool]]:
    body = file.read_bytes()
    settings = engine.settings
    if settings.source.encode() not in body:
        return
    try:
        tree = ScopeTree(ast.parse(body))
    except (SyntaxError, ValueError):
        return
    source = Source(body)
    evaluator = Evaluator(tree, (settings.source, settings.target), settings.table, {})
    view = FileView(settings, source, tree, evaluator, Suppressions(source))
    for node in (*tree.loads, *(one for one in tree.attributes if isinstance(one.ctx, ast.Load))):
        last = node.id if isinstance(node, ast.Name) else node.attr
        for name, answer in ANSWERS.items():
            if suggests(name, last) and (found := answer(view, node)) is not None:
                yield name, found
    view.release()


if __name__ == "__main__":
    main()
