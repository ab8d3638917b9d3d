"""One answer to what is a tensor: by all that a value can be, and by the framework that it comes from."""

from __future__ import annotations

import pytest
from paddletorch.resolve import Instance, NoneValue, Qualified, Unknown, Value
from paddletorch.resolve.facts.tensors import FORWARD, Certainty, tensorhood
from paddletorch.resolve.values import Container

_TORCH = Instance("tensor", "torch.zeros")
_PADDLE = Instance("tensor", "paddle.zeros")
_ARRAY = Instance("foreign", "numpy.zeros")
_LIST = Container(frozenset())


@pytest.mark.parametrize(
    ("values", "certainty"),
    [
        ({_TORCH}, Certainty.YES),
        ({_TORCH, _PADDLE}, Certainty.YES),
        ({_TORCH, NoneValue()}, Certainty.MAYBE),
        ({_TORCH, _ARRAY}, Certainty.MAYBE),
        ({Unknown()}, Certainty.MAYBE),
        ({_ARRAY}, Certainty.NO),
        ({Qualified("torch.zeros")}, Certainty.NO),
        ({NoneValue()}, Certainty.NO),
    ],
)
def test_a_tensor_is_certain_where_a_value_can_be_nothing_else(values: set[Value], certainty: Certainty) -> None:
    found = tensorhood(frozenset(values))
    assert found.certainty is certainty
    assert found.is_certain is (certainty is Certainty.YES)


@pytest.mark.parametrize(
    ("values", "is_seen", "is_only_object", "is_likely"),
    [
        ({_TORCH, NoneValue(), Unknown()}, True, True, True),
        ({_TORCH, _LIST}, True, True, False),
        ({_TORCH, _ARRAY}, True, False, False),
        ({Unknown()}, False, False, False),
        ({_LIST, Unknown()}, False, False, False),
    ],
)
def test_what_else_it_can_be(values: set[Value], is_seen: bool, is_only_object: bool, is_likely: bool) -> None:
    found = tensorhood(frozenset(values))
    assert (found.is_seen, found.is_only_object, found.is_likely) == (is_seen, is_only_object, is_likely)


def test_only_tensors_of_an_origin_count_where_one_is_asked_for() -> None:
    assert tensorhood(frozenset({_TORCH})).of("torch").is_certain
    both = tensorhood(frozenset({_TORCH, _PADDLE})).of("torch")
    assert (both.certainty, both.origins, both.has_others) == (Certainty.MAYBE, {"torch"}, True)
    other = tensorhood(frozenset({_PADDLE})).of("torch")
    assert (other.certainty, other.is_seen, other.has_others) == (Certainty.NO, False, True)
    assert tensorhood(frozenset({_PADDLE, Unknown()})).of("torch").certainty is Certainty.MAYBE
    assert tensorhood(frozenset({Instance("tensor", "forward")})).origins == {FORWARD}
