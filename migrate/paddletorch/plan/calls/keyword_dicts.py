"""Edits dicts of keywords: ``options`` of ``GradScaler(**options)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from paddletorch.model import Edit
from paddletorch.plan.inference.keywords import DictKeywords, Key, literal_items
from paddletorch.text.argument_edits import ArgumentChanges, edit_arguments
from paddletorch.text.call_spans import keyword_name, read_layout
from paddletorch.text.source import Source


def rename_key(source: Source, key: Key, name: str, code: str) -> Edit:
    """Rename one key in a dict's source text."""
    if isinstance(key, ast.keyword):
        return Edit(keyword_name(source, key), name, code)
    span = source.span(key)
    text = source.slice(span)
    return Edit(span, text.replace(str(key.value), name), code)


def change_keywords(
    dictionary: DictKeywords,
    source: Source,
    drop: frozenset[str],
    added: Sequence[tuple[str, str]],
    names: Mapping[str, str],
    values: Sequence[Edit],
    code: str,
) -> list[Edit]:
    """Remove keys from the dict literals and add others; ``names`` maps names of the target to those of the source.

    ``values`` are edits inside the items that are left.

    Raises:
        LayoutError: the text between a literal's items cannot be parsed.
    """
    edits: list[Edit] = []
    for literal in dictionary.literals:
        keys = [key for key, _, _ in literal_items(literal) or ()]
        dropped = frozenset(index for index, key in enumerate(keys) if key in drop)
        # what takes the place of a key goes where the key was, anything else where it is not
        missing = [(n, v) for n, v in added if ((key := names.get(n)) in keys) is (key in drop)]
        span = source.span(literal)
        inside = [edit for edit in values if span.holds(edit.span)]
        if not dropped and not missing:
            edits += inside
            continue
        colon = isinstance(literal, ast.Dict)
        texts = [f"{source.quote}{n}{source.quote}: {v}" if colon else f"{n}={v}" for n, v in missing]
        changes = ArgumentChanges(drop=dropped, append=tuple(texts))
        edits += edit_arguments(read_layout(source, literal), changes, code, inside)
    spans = [source.span(literal) for literal in dictionary.literals]
    return edits + [edit for edit in values if not any(span.holds(edit.span) for span in spans)]
