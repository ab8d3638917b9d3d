"""Distributed samplers: torch's gives indices to a loader that makes batches of them, Paddle's makes the batches."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.data import BATCH_SIZE

from paddletorch.model import Edit, Span
from paddletorch.plan.inference.receivers import path_of
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import Made, assigned_to, fill_in, made, refuse, source_text
from paddletorch.plan.sites.sites import Site


def plan_loaders(view: FileView, planned: list[tuple[Site, Outcome]]) -> None:
    """Give each distributed sampler the batch size of its loader; one without a loader is refused."""
    samplers = made(view, planned, "distributed_sampler") if view.target == "paddle" else []
    loaders = made(view, planned, "loader") if samplers else []
    for sampler in samplers:
        try:
            _give_size(view, sampler, loaders)
        except Refusal as refusal:
            refuse(refusal, sampler.site, sampler.outcome)
            for loader in _takers(view, sampler, loaders):
                refuse(refusal, loader.site, loader.outcome)


def _takers(view: FileView, sampler: Made, loaders: list[Made]) -> list[Made]:
    """The loaders that take the sampler, by its name or directly."""
    found = assigned_to(view, sampler.call)
    path = path_of(found[1]) if found is not None else ""
    scopes = view.tree.scopes
    taken: list[Made] = []
    for loader in loaders:
        given = loader.value("sampler")
        if given is None or loader.outcome.target is None:
            continue
        same = scopes[loader.call].function() is scopes[sampler.call].function() or path.startswith("self.")
        if given is sampler.call or (path and path_of(given) == path and same):
            taken.append(loader)
    return taken


def _give_size(view: FileView, sampler: Made, loaders: list[Made]) -> None:
    takers = _takers(view, sampler, loaders)
    sizes = {_size(view, loader) for loader in takers}
    if len(sizes) != 1:
        what = "the loader that makes batches of its indices" + (" cannot be seen here" if not sizes else " is not one")
        raise Refusal("DAT201", what=what)
    size = sizes.pop()
    if size is None:
        raise Refusal("DAT201", what="the size of the batches is computed in the loader's call")
    fill_in(sampler.outcome, BATCH_SIZE, size)
    found = assigned_to(view, sampler.call)
    value = getattr(found[0], "value", None) if found is not None else None
    others = [v for v in _values(view, found[1]) if v is not sampler.call] if found is not None else []
    if any(not _is_none(v) for v in others):
        raise Refusal(
            "DAT201", what="the same name holds a sampler of single indices, which Paddle's loader cannot take"
        )
    if others or isinstance(value, ast.IfExp):
        for loader in takers:
            _or_batches(view, loader, size)


def _values(view: FileView, target: ast.expr) -> list[ast.expr]:
    """Everything that is assigned to the name or attribute."""
    if isinstance(target, ast.Name):
        given = [b.value for b in view.tree.scopes[target].lookup(target.id)]
    else:
        given = [s.value for s in view.evaluator.stores(target.attr)] if isinstance(target, ast.Attribute) else []
    found: list[ast.expr] = []
    for value in given:
        branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        found += [b if b is not None else ast.Name("unknown") for b in branches]
    return found


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _size(view: FileView, loader: Made) -> str | None:
    """The batch size of a loader as it is written, with ``drop_last`` behind it where that is given."""
    parts = []
    for name, default in (("batch_size", "1"), ("drop_last", "False")):
        node = loader.value(name)
        text = default if node is None else source_text(view, node)
        if text is None:
            return None
        parts.append(text)
    return parts[0] if parts[1] == "False" else f"{parts[0]}, drop_last={parts[1]}"


def _or_batches(view: FileView, loader: Made, size: str) -> None:
    """Where the sampler may be None the loader needs a batch sampler over the data."""
    data, sampler, shuffle = loader.value("dataset"), loader.value("sampler"), loader.value("shuffle")
    assert sampler is not None
    texts = [None if node is None else source_text(view, node) for node in (data, sampler)]
    made_of = None if shuffle is None else source_text(view, shuffle)
    if None in texts or (shuffle is not None and made_of is None):
        raise Refusal("DAT201", what="the sampler may be None, and the data set is computed in the loader's call")
    order = "" if made_of in (None, "None", "False") else f", shuffle={made_of}"
    other = f" if {texts[1]} is not None else paddle.io.BatchSampler({texts[0]}{order}, batch_size={size})"
    end = view.source.span(sampler).end
    loader.outcome.edits.append(Edit(Span(end, end), other, loader.outcome.row.code))
