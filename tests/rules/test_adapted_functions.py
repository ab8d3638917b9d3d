"""``functions_to_*.toml``: a function that stands for one of the source computes what the examples of its row do."""

from __future__ import annotations

from collections import Counter

import pytest
from paddletorch.proof.prove_adapters import proven
from paddletorch_rules import Framework
from paddletorch_rules.adapters import function_adapters, functions

UNPROVEN = {
    "torch.amp.GradScaler",  # what scales needs a training loop: fixtures/to_paddle/api203_unseen_keywords
    "torch.cuda.amp.GradScaler",
    "torch.nn.utils.clip_grad_norm_",  # fixtures/to_paddle/functions_with_unseen_arguments
    "torch.nn.utils.clip_grad_value_",
    "paddle.nn.initializer.KaimingNormal",  # its bounds are compared in fixtures/to_torch/initializers_of_callers
    "paddle.nn.initializer.KaimingUniform",
}
"""Their rows have no examples that tell, which draw values or need a training loop."""


@pytest.mark.parametrize("target", ["paddle", "torch"])
def test_functions_written_by_hand_compute_the_same(target: Framework) -> None:
    written = [one for one in function_adapters(target).values() if one.name in functions(target)]
    kept = {one.of for one in proven(written, target).kept}
    assert {one.of for one in written} - UNPROVEN == kept - UNPROVEN


@pytest.mark.parametrize("target", ["paddle", "torch"])
def test_two_functions_never_have_one_name(target: Framework) -> None:
    """A file may need both, and the proof of one would run the other."""
    written = functions(target)
    made = [one for one in function_adapters(target).values() if one.of not in _written_for(target)]
    names = Counter([*written, *(one.name for one in made)])
    assert {name: count for name, count in names.items() if count > 1} == {}


def _written_for(target: Framework) -> set[str]:
    texts = {one.text for one in functions(target).values()}
    return {one.of for one in function_adapters(target).values() if one.text in texts}
