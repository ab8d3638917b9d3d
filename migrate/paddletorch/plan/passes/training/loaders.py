"""Distributed samplers: torch's yields indices, which the loader batches; Paddle's yields batches."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.calls.deferred_text import THE_BATCH_SIZE
from paddletorch.plan.inference.allocations import Allocations
from paddletorch.plan.inference.overloads import kinds
from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.refusals import Refused, UnclearSampler
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.passes.training.constructors import (
    Constructor,
    assigned_to,
    constructors_of,
    fill_in,
    refuse_undecided,
    source_text,
)

_OF_INDICES = frozenset({"RandomSampler", "SequentialSampler", "SubsetRandomSampler", "WeightedRandomSampler"})
"""The rows of samplers that give one index after the other."""

_LOADER = "the loader that makes batches of its indices"


def plan_loaders(view: FileView, planned: Planned) -> Changes:
    """Give each distributed sampler the batch size of its loader; refuse one without the other."""
    draft = Draft(planned.uses)
    samplers, loaders = constructors_of(view, draft, "distributed_sampler"), constructors_of(view, draft, "loader")
    served: set[Site] = set()
    objects = view.provide(Allocations)
    by_sampler: dict[ast.expr | None, list[Constructor]] = {}
    """The loaders by what their sampler may be."""
    for loader in loaders:
        if (given := loader.value("sampler")) is not None:
            for one in (given, *objects.assigned(given)):
                by_sampler.setdefault(one, []).append(loader)
    for sampler in samplers:
        own = [loader for loader in by_sampler.get(sampler.call, ()) if draft[loader.site].converts]
        try:
            uses = _with_batch_size(view, draft, sampler, own)
            served.update(loader.site for loader in own)
        except Refused as stop:
            uses = [draft[one.site].refuse(stop.refusal) for one in (sampler, *own)]
        for use in uses:
            draft.revise(use)
    _refuse_unserved(view, draft, [loader for loader in loaders if loader.site not in served])
    refuse_undecided(draft, "distributed_sampler")
    return Changes(uses=draft.revised)


def _refuse_unserved(view: FileView, draft: Draft, loaders: Sequence[Constructor]) -> None:
    """Refuse the loaders that are given a distributed sampler all the same, with the names of the sampler's type."""
    given = {loader.site: node for loader in loaders if (node := loader.value("sampler")) is not None}
    left = [site for site, node in given.items() if "distributed_sampler" in kinds(view, node)]
    for site in left:
        draft.refuse(site, UnclearSampler("the distributed sampler is left or made elsewhere"))
    for use in draft if left else ():
        if use.row.instance == "distributed_sampler" and use.site.role != "call":
            draft.refuse(use.site, UnclearSampler(_LOADER + " is left"))


def _with_batch_size(view: FileView, draft: Draft, sampler: Constructor, loaders: list[Constructor]) -> list[Use]:
    """The sampler with the batch size of its loaders, and the loaders with their edits.

    Raises:
        Refused: the size is unknown, or the loader may have another sampler.
    """
    sizes = {_batch_size(view, loader) for loader in loaders}
    if len(sizes) != 1:
        problem = " cannot be seen here" if not sizes else " is not one"
        raise Refused(UnclearSampler(_LOADER + problem))
    size = sizes.pop()
    if size is None:
        raise Refused(UnclearSampler("the size of the batches is computed in the loader's call"))
    use = fill_in(draft[sampler.site], THE_BATCH_SIZE, size)
    assigned = assigned_to(view, sampler.call)
    value = getattr(assigned[0], "value", None) if assigned is not None else None
    given = (loader.value("sampler") for loader in loaders)
    held = dict.fromkeys(v for g in given if g is not None for v in view.provide(Allocations).assigned(g))
    others = [v for v in held if v is not sampler.call]
    batches = [_in_batches(view, draft, v, size) for v in others if not _is_none(v)]
    if any(map(_is_none, others)) or (not others and isinstance(value, ast.IfExp)):
        batches += [_or_batches(view, draft[loader.site], loader, size) for loader in loaders]
    return [use, *batches]


def _in_batches(view: FileView, draft: Draft, value: ast.expr | None, size: str) -> Use:
    """Another sampler that the same name holds, in a sampler of batches of this size.

    Raises:
        Refused: it is not seen to be a sampler of single indices that converts.
    """
    use = next((one for one in draft if one.site.call is value and one.site.role == "call"), None)
    if value is None or use is None or not use.converts or use.row.id not in _OF_INDICES:
        what = "the same name holds a sampler of single indices, which Paddle's loader cannot take"
        raise Refused(UnclearSampler(what))
    span = view.source.span(value)
    before = Edit(Span(span.start, span.start), "paddle.io.BatchSampler(sampler=", use.row.code)
    return use.with_edits(before, Edit(Span(span.end, span.end), f", batch_size={size})", use.row.code))


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _batch_size(view: FileView, loader: Constructor) -> str | None:
    """The source text of a loader's batch size, followed by ``drop_last`` if that is given."""
    parts = []
    for name, default in (("batch_size", "1"), ("drop_last", "False")):
        node = loader.value(name)
        text = default if node is None else source_text(view, node)
        if text is None:
            return None
        parts.append(text)
    return parts[0] if parts[1] == "False" else f"{parts[0]}, drop_last={parts[1]}"


def _or_batches(view: FileView, use: Use, loader: Constructor, size: str) -> Use:
    """The loader with a fallback: a batch sampler of the data where the distributed sampler is None.

    Raises:
        Refused: an argument of the loader cannot be repeated.
    """
    data, sampler, shuffle = loader.value("dataset"), loader.value("sampler"), loader.value("shuffle")
    assert sampler is not None
    texts = [None if node is None else source_text(view, node) for node in (data, sampler)]
    shuffled = None if shuffle is None else source_text(view, shuffle)
    if None in texts or (shuffle is not None and shuffled is None):
        raise Refused(UnclearSampler("the sampler may be None, and the data set is computed in the loader's call"))
    order = "" if shuffled in (None, "None", "False") else f", shuffle={shuffled}"
    other = f" if {texts[1]} is not None else paddle.io.BatchSampler({texts[0]}{order}, batch_size={size})"
    end = view.source.span(sampler).end
    return use.with_edits(Edit(Span(end, end), other, loader.row.code))
