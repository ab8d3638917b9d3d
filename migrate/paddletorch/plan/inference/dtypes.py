"""The dtypes of a file's tensors, as its view provides them: ``view.provide(dtypes_of)``."""

from __future__ import annotations

import ast

from paddletorch.model import Ask
from paddletorch.plan.model.view import FileView
from paddletorch.resolve.facts.dtypes import Dtypes


def dtypes_of(view: FileView) -> Dtypes:
    """The dtypes of the file's expressions, and of what recorded runs saw."""

    def recorded(node: ast.expr) -> frozenset[str]:
        return view.seen(Ask.DTYPE, node)

    is_recorded = view.evidence is not None and bool(view.evidence.seen)
    return Dtypes(view.evaluator, view.settings.source, view.qualified, recorded if is_recorded else None)
