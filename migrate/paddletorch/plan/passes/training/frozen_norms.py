"""Layer norms whose weight is frozen: Paddle computes another gradient of their input.

Measured on 3.3.1, on a CPU: where ``layer_norm``'s weight has ``stop_gradient``, the gradient of its input is that of a
weight of ones. LoRA, an adapter or a generator behind a frozen critic learns from it.
"""

from __future__ import annotations

from paddletorch.plan.inference.frozen_parameters import freezing
from paddletorch.plan.model.changes import NOTHING, Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView

_CODE = "AGD203"
_WHAT = (
    "where its weight is frozen, as in line {line}, Paddle (3.3.1, on a CPU) gives its input the gradient of a weight "
    "of ones"
)
_NORMS = ("LayerNorm", "layer_norm", "Transformer", "TransformerDecoderLayer", "TransformerEncoderLayer")


def plan_frozen_norms(view: FileView, planned: Planned) -> Changes:
    """Report the first layer norm of a file that freezes weights."""
    norms = [u.site for u in planned.uses if u.site.name.rpartition(".")[2] in _NORMS and u.site.role != "check"]
    if not norms:
        return NOTHING
    frozen = min((one.node.lineno for one in freezing(view)), default=None)
    if frozen is None:
        return NOTHING
    first = min(norms, key=lambda site: (site.node.lineno, site.node.col_offset))
    return Changes(findings=(finding(_CODE, first.node, first.name, what=_WHAT.format(line=frozen)),))
