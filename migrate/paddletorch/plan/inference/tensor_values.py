"""Which values are written as tensors are."""

from __future__ import annotations

import ast
import re

from paddletorch.plan.model.view import FileView


def seems_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether it is written as tensors are: ``pred[mask]``, ``x[:, 0]``, or a parameter with a name that they have."""
    while isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Subscript):
        held = node.value
        name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", "")
        return not isinstance(node.slice, ast.Constant | ast.UnaryOp) and bool(_TENSORS.search(name))
    if not isinstance(node, ast.Name) or not _TENSORS.search(node.id):
        return False
    return {binding.kind for binding in view.evaluator.reaching(node)} == {"parameter"}


_TENSORS = re.compile(
    r"(^|_)(x|y|z|inputs?|outputs?|logits|preds?|predictions?|targets?|labels?|features?|feats?|embeds?|embeddings?"
    r"|hidden(_states)?|states?|tensor|imgs?|images?|scores?|boxes|probs|queries|keys|values|q|v)[0-9]*$"
)
"""Names of variables that hold tensors more often than numbers."""
