"""Each name of ``facts.toml`` on the installed frameworks: what the file says of it is found by calling it."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from packaging.version import Version
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.resolve.facts.ranks import Extent, RankRules
from paddletorch_rules import facts as module
from paddletorch_rules import load
from paddletorch_rules.facts import FILE, facts
from paddletorch_rules.schema import TableError
from paddletorch_rules.storage import CACHE_DIR
from torch.nn import functional

from .refused_inputs import floats_first, layer_needs_batch, needs_batch, refuses, takes_rank

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MARKS = ("checked", "elsewhere")
HOW = ("run", "names", "no")
TABLES: dict[str, dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))

# ---- how each name is called -----------------------------------------------------------------------------------------

REST: dict[str, tuple[Any, ...]] = {
    "chunk": (2,), "clamp": (0,), "clip": (0,), "cumprod": (0,), "cumsum": (0,), "expand": (2, 3),
    "flip": ((0,),), "kthvalue": (1, 0), "layer_norm": ([3],), "log_softmax": (0,), "logsumexp": (0,), "max": (0,),
    "median": (0,), "min": (0,), "mode": (0,), "moveaxis": (0, 1), "movedim": (0, 1), "multinomial": (1,),
    "nanmedian": (0,),
    "narrow": (0, 0, 1), "normalize": (2.0, 0), "pad": ((1, 1),), "permute": ((1, 0),), "repeat": (2, 1),
    "repeat_interleave": (2,), "reshape": ((6,),), "roll": (1,), "select": (0, 0), "softmax": (0,), "sort": (0,),
    "split": (1,), "swapaxes": (0, 1), "tile": ((2, 1),), "topk": (1, 0), "transpose": (0, 1), "unbind": (0,),
    "unflatten": (0, (1, 2)), "unsqueeze": (0,), "view": (6,), "cummax": (0,), "cummin": (0,), "fill_": (0,),
    "to": (torch.float64,), "type": (torch.float64,),
}  # fmt: skip
"""Arguments after the tensor, of functions and methods of torch alike."""

WITH_ITSELF = frozenset(
    "type_as view_as expand_as reshape_as isclose isin eq ge greater gt le less logical_and logical_or logical_xor lt "
    "ne mse_loss l1_loss binary_cross_entropy binary_cross_entropy_with_logits".split()
)
"""What takes a second tensor, here the same one."""

Call = Callable[[Any], Any]
IMAGE = (1, 1, 2, 3)
CALLS: dict[str, Call] = {
    "Parameter": torch.nn.Parameter,
    "Tensor": lambda x: torch.Tensor([1]),
    "adaptive_avg_pool2d": lambda x: functional.adaptive_avg_pool2d(x.reshape(IMAGE), 1),
    "as_strided": lambda x: x.as_strided((2,), (1,)),
    "addmm": lambda x: torch.addmm(x, x, torch.eye(3, dtype=x.dtype)),
    "arange": lambda x: torch.arange(3.0),
    "as_tensor": lambda x: torch.as_tensor([1.0]),
    "avg_pool2d": lambda x: functional.avg_pool2d(x.reshape(IMAGE), 2),
    "baddbmm": lambda x: torch.baddbmm(x[None], x[None], torch.eye(3, dtype=x.dtype)[None]),
    "batch_norm": lambda x: functional.batch_norm(x, None, None, training=True),
    "bincount": lambda x: torch.bincount(x.long().flatten()),
    "bitwise_not": lambda x: torch.bitwise_not(x.int()).to(x.dtype) if x.is_floating_point() else torch.bitwise_not(x),
    "bmm": lambda x: torch.bmm(x[None], x.T[None]),
    "broadcast_to": lambda x: x.broadcast_to((2, 3)),
    "bucketize": lambda x: torch.bucketize(x, torch.tensor([0.5])),
    "conv1d": lambda x: functional.conv1d(x[None], x[None]),
    "conv2d": lambda x: functional.conv2d(x.reshape(IMAGE), x.reshape(IMAGE)),
    "conv3d": lambda x: functional.conv3d(x.reshape(1, *IMAGE), x.reshape(1, *IMAGE)),
    "cross_entropy": lambda x: functional.cross_entropy(x, torch.tensor([0, 1])),
    "cuda": lambda x: x.cuda() if torch.cuda.is_available() else x,
    "diag": lambda x: torch.diag(x),
    "dropout": functional.dropout,
    "einsum": lambda x: torch.einsum("ij->ji", x),
    "empty": lambda x: torch.empty(2),
    "eye": lambda x: torch.eye(2),
    "fold": lambda x: functional.fold(x[None, :1], (1, 3), (1, 1)),
    "full": lambda x: torch.full((2,), 1.0),
    "full_like": lambda x: torch.full_like(x, 1.0),
    "gather": lambda x: torch.gather(x, 0, torch.zeros(2, 3, dtype=torch.int64)),
    "grid_sample": lambda x: functional.grid_sample(x.reshape(IMAGE), torch.zeros(1, 2, 3, 2, dtype=x.dtype)),
    "group_norm": lambda x: functional.group_norm(x, 1),
    "hsplit": lambda x: x.hsplit(3),
    "index_add": lambda x: torch.index_add(x, 0, torch.tensor([0, 1]), x),
    "index_put": lambda x: torch.index_put(x, (torch.tensor([0]),), x[:1]),
    "index_select": lambda x: torch.index_select(x, 0, torch.tensor([0])),
    "interpolate": lambda x: functional.interpolate(x.reshape(IMAGE), scale_factor=2.0),
    "lerp": lambda x: torch.lerp(x, x, 0.5),
    "linear": lambda x: functional.linear(x, x),
    "linspace": lambda x: torch.linspace(0, 1, 2),
    "logspace": lambda x: torch.logspace(0, 1, 2),
    "masked_fill": lambda x: torch.masked_fill(x, x > 0, 0),
    "masked_select": lambda x: torch.masked_select(x, x > 0),
    "max_pool2d": lambda x: functional.max_pool2d(x.reshape(IMAGE), 2),
    "meshgrid": lambda x: torch.meshgrid(x[0], x[0], indexing="ij"),
    "mm": lambda x: torch.mm(x, x.T),
    "matmul": lambda x: x.matmul(x.T),
    "mv": lambda x: torch.mv(x, x[0]),
    "new_empty": lambda x: x.new_empty(2),
    "new_full": lambda x: x.new_full((2,), 1.0),
    "new_ones": lambda x: x.new_ones(2),
    "new_tensor": lambda x: x.new_tensor([1.0]),
    "new_zeros": lambda x: x.new_zeros(2),
    "one_hot": lambda x: functional.one_hot(x.long()),
    "ones": lambda x: torch.ones(2),
    "rand": lambda x: torch.rand(2),
    "randint": lambda x: torch.randint(0, 2, (2,)),
    "randn": lambda x: torch.randn(2),
    "randperm": lambda x: torch.randperm(2),
    "scatter": lambda x: torch.scatter(x, 0, torch.zeros(2, 3, dtype=torch.int64), x),
    "scatter_add": lambda x: torch.scatter_add(x, 0, torch.zeros(2, 3, dtype=torch.int64), x),
    "searchsorted": lambda x: torch.searchsorted(torch.tensor([0.5]), x),
    "split_with_sizes": lambda x: x.split_with_sizes([1, 1]),
    "swapdims": lambda x: x.swapdims(0, 1),
    "t": lambda x: x.t(),
    "tensor_split": lambda x: x.tensor_split(2),
    "take": lambda x: torch.take(x, torch.tensor([0])),
    "take_along_dim": lambda x: torch.take_along_dim(x, torch.zeros(2, 3, dtype=torch.int64), 0),
    "tensor": lambda x: torch.tensor([1.0]),
    "tril_indices": lambda x: torch.tril_indices(2, 2),
    "triu_indices": lambda x: torch.triu_indices(2, 2),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "unique": lambda x: torch.unique(x, return_inverse=True),
    "vsplit": lambda x: x.vsplit(2),
    "zeros": lambda x: torch.zeros(2),
}
"""What is called in a way of its own, given the tensor."""


def torch_results(name: str, x: torch.Tensor) -> Iterator[Any]:
    """What torch's function, method or attribute gives for ``x``, once for each way to call it."""
    if name in CALLS:
        yield CALLS[name](x)
        return
    found = False
    rest = (x,) if name in WITH_ITSELF else REST.get(name, ())
    for place in (torch.Tensor, torch, functional):
        member = getattr(place, name, None)
        if member is None or inspect.ismodule(member):
            continue
        found = True
        yield (getattr(x, name) if place is torch.Tensor and not callable(member) else member(x, *rest))
    assert found, f"torch has no {name}"


PADDLE_REST: dict[str, tuple[Any, ...]] = {
    "as_strided": ([2], [1]), "astype": ("float32",), "cast": ("float32",), "moveaxis": (0, 1), "narrow": (0, 0, 1),
    "reshape": ([6],), "strided_slice": ([0], [0], [1], [1]), "swapaxes": (0, 1), "transpose": ([1, 0],),
    "unflatten": (0, [1, 2]), "unfold": (0, 2, 1), "unsqueeze": (0,), "view": ([6],), "permute": (1, 0), "pow": (2,),
    "to": ("float32",), "type": ("float32",), "broadcast_to": ([2, 3],), "chunk": (3, 1), "expand": ([2, 3],),
    "cumprod": (0,), "flip": ([0],), "kthvalue": (1, 0), "layer_norm": ([3],), "new_empty": ([2],),
    "new_full": ([2], 1.0), "new_ones": ([2],), "new_zeros": ([2],), "repeat_interleave": (2,), "roll": (1,),
    "slice": ([0], [0], [1]), "split": (3, 1), "tile": ([2, 1],), "topk": (1,), "unbind": (0,), "unstack": (0,),
}  # fmt: skip
PADDLE_WITH_ITSELF = frozenset(
    "view_as type_as add divide maximum minimum multiply subtract expand_as binary_cross_entropy kl_div l1_loss "
    "mse_loss binary_cross_entropy_with_logits smooth_l1_loss".split()
)
PADDLE_CALLS: dict[str, Call] = {
    "Parameter": lambda x: paddle.nn.Parameter(x),
    "arange": lambda x: paddle.arange(2.0),
    "bincount": lambda x: paddle.bincount(x.astype("int64").flatten()),
    "buffers": lambda x: layer().buffers(),
    "create_parameter": lambda x: paddle.create_parameter([2], "float32"),
    "bmm": lambda x: paddle.bmm(x[None], x.t()[None]),
    "cross_entropy": lambda x: paddle.nn.functional.cross_entropy(x, paddle.to_tensor(LABELS[:2])),
    "dot": lambda x: paddle.dot(x[0], x[1]),
    "empty": lambda x: paddle.empty([2, 3]),
    "gather": lambda x: paddle.gather(x, paddle.to_tensor([0])),
    "gather_nd": lambda x: paddle.gather_nd(x, paddle.to_tensor([[0]])),
    "index_select": lambda x: paddle.index_select(x, paddle.to_tensor([0])),
    "lerp": lambda x: paddle.lerp(x, x, 0.5),
    "masked_fill": lambda x: paddle.masked_fill(x, x > 0, 1),
    "masked_select": lambda x: paddle.masked_select(x, x > 0),
    "matmul": lambda x: paddle.matmul(x, x.t()),
    "mm": lambda x: paddle.mm(x, x.t()),
    "mv": lambda x: paddle.mv(x, x[0]),
    "norm": lambda x: paddle.norm(x),
    "take": lambda x: paddle.take(x, paddle.to_tensor([0])),
    "eye": lambda x: paddle.eye(2),
    "full": lambda x: paddle.full([2, 3], 1.0),
    "full_like": lambda x: paddle.full_like(x, 1.0),
    "linspace": lambda x: paddle.linspace(0, 1, 2),
    "named_buffers": lambda x: [b for _, b in layer().named_buffers()],
    "named_parameters": lambda x: [p for _, p in layer().named_parameters()],
    "normal": lambda x: paddle.normal(shape=[2, 3]),
    "ones": lambda x: paddle.ones([2, 3]),
    "parameters": lambda x: layer().parameters(),
    "rand": lambda x: paddle.rand([2, 3]),
    "randint": lambda x: paddle.randint(0, 2, [2]),
    "randn": lambda x: paddle.randn([2, 3]),
    "randperm": lambda x: paddle.randperm(2),
    "standard_normal": lambda x: paddle.standard_normal([2, 3]),
    "to_tensor": lambda x: paddle.to_tensor([1.0]),
    "unfold": lambda x: x.unfold(0, 2, 1),
    "uniform": lambda x: paddle.uniform([2, 3]),
    "zeros": lambda x: paddle.zeros([2, 3]),
}


def layer() -> Any:
    """A layer of Paddle that has parameters and buffers."""
    made = paddle.nn.Linear(1, 1)
    made.register_buffer("kept", paddle.zeros([1]))
    return made


def paddle_results(name: str, x: Any) -> Iterator[Any]:
    """What Paddle's function, method or attribute gives for ``x``, once for each way to call it."""
    if name in PADDLE_CALLS:
        yield PADDLE_CALLS[name](x)
        return
    found = False
    rest = (x,) if name in PADDLE_WITH_ITSELF else PADDLE_REST.get(name, ())
    for place in (paddle.Tensor, paddle, paddle.nn.functional):
        member = getattr(place, name, None)
        if member is None:
            continue
        found = True
        if place is paddle.Tensor:
            bound = getattr(x, name)
            yield bound(*rest) if callable(bound) and not isinstance(bound, paddle.Tensor) else bound
        else:
            yield member(x, *rest)
    assert found, f"Paddle has no {name}"


def first(result: Any) -> Any:
    return result[0] if isinstance(result, tuple | list) else result


def sample(dtype: Any = torch.float32) -> torch.Tensor:
    """2 × 3, of zeros and ones."""
    return torch.tensor([[0, 1, 1], [1, 0, 1]]).to(dtype)


def paddle_sample() -> Any:
    return paddle.to_tensor([[0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])


# ---- memory ----------------------------------------------------------------------------------------------------------


def torch_shares(name: str) -> Iterator[bool]:
    x = sample()
    for result in torch_results(name, x):
        yield first(result).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def torch_view(name: str) -> None:
    assert all(torch_shares(name))


def torch_fresh(name: str) -> None:
    assert not any(torch_shares(name))


COPYING: dict[str, Call] = {
    "broadcast_to": lambda x: x.broadcast_to([2, 3]),
    "expand": lambda x: x.expand([2, 3]),
    "expand_as": lambda x: x.expand_as(x),
    "hsplit": lambda x: paddle.hsplit(x, 3),
}
"""How Paddle's functions are called; the others take a number of parts."""


def copied_view(name: str) -> None:
    torch_view(name)
    x = paddle_sample()
    found = first(COPYING[name](x) if name in COPYING else getattr(paddle, name)(x, 2))
    paddle.assign(paddle.full_like(x, 7.0), x)
    assert not (found.numpy() == 7).any()


SHARING: dict[str, Call] = {
    "as_tensor": torch.as_tensor,
    "dropout": lambda x: functional.dropout(x, training=False),
    "float": lambda x: x.float(),
    "from_numpy": lambda x: torch.from_numpy(x.numpy()),
    "reshape_as": lambda x: x.reshape_as(x),
    "to": lambda x: x.to(torch.float32),
    "type": lambda x: x.type(torch.float32),
    "type_as": lambda x: x.type_as(x),
}
"""Calls whose result shares memory, of functions that copy otherwise."""


def torch_may_share(name: str) -> None:
    x = sample()
    results = [SHARING[name](x)] if name in SHARING else list(torch_results(name, x))
    assert any(result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr() for result in results)


def passes_input(name: str) -> None:
    x = sample()
    module = getattr(torch.nn, name)(*((1, (3, 1)) if name == "Unflatten" else ())).eval()
    assert module(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def writes_into_input(name: str) -> None:
    x = (sample() - 0.5) * 9
    module = getattr(torch.nn, name)(*((0.1, 7.0) if name == "Threshold" else ()), inplace=True)
    result = module.eval()(x)
    assert torch.equal(result, x)  # of the input as it was, the activations give something else


def paddle_view(name: str) -> None:
    for number in range(len(list(paddle_results(name, paddle_sample())))):
        x = paddle_sample()
        view = first(list(paddle_results(name, x))[number])
        paddle.assign(paddle.full_like(x, 7.0), x)
        assert (view.numpy() == 7).all()


def paddle_leaf(name: str) -> None:
    x = paddle_sample()
    x.stop_gradient = False
    for result in paddle_results(name, x * 2):
        leaf = first(result)
        assert leaf.is_leaf
        leaf.stop_gradient = not leaf.stop_gradient


def records_nothing(name: str) -> None:
    side, _, path = name.partition(".")
    context = attrgetter(path)(torch if side == "torch" else paddle)
    x = sample().requires_grad_() if side == "torch" else paddle_sample()
    x.requires_grad = True
    with context():
        assert not (x * 2).requires_grad
    assert not context()(lambda: x * 2)().requires_grad


def keeps_functions(name: str) -> None:
    side, *parts = name.split(".")
    decorator: Any = torch if side == "torch" else paddle
    for part in parts:
        decorator = getattr(decorator, part)
    bare = name.startswith(("torch.compile", "torch.jit.", "paddle.jit."))
    x = sample() if side == "torch" else paddle_sample()

    class Doubled:
        def of(self, given: Any, times: int = 2) -> Any:
            return given * times

    marked = (decorator if bare else decorator())(Doubled.of)
    if name == "torch.compile":  # compiles when it is called
        assert callable(marked)
        return
    assert marked(Doubled(), x, times=3).tolist() == (x * 3).tolist()


def pure(name: str) -> None:
    if not callable(getattr(sample(), name)):  # a method of Paddle's only
        assert getattr(paddle_sample(), name)() == getattr(paddle_sample(), name)()
        return
    x = sample().reshape(6) if name == "t" else sample()
    before, version = x.clone(), x._version
    for one, other in zip(torch_results(name, x), torch_results(name, x), strict=True):
        assert torch.equal(torch.as_tensor(one), torch.as_tensor(other))
    assert x._version == version
    assert torch.equal(x, before)


def keeps_values(name: str) -> None:
    if name == "cuda":
        assert hasattr(torch.Tensor, name)
        return
    if hasattr(torch.Tensor, name):
        given = getattr(sample(), name)(*(REST.get(name) or ((sample(),) if name in WITH_ITSELF else ())))
        assert torch.equal(given.float(), sample())
    else:
        given = getattr(paddle_sample(), name)(*PADDLE_REST[name])
        assert (given.numpy() == paddle_sample().numpy()).all()


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def dtype(name: str) -> torch.dtype:
    found = getattr(torch, name)
    assert isinstance(found, torch.dtype)
    return found


def alias(name: str) -> None:
    assert dtype(name) is dtype(facts().dtype_aliases[name])


def looked_up_function(name: str) -> None:
    twin = getattr(torch.nn.functional, facts().looked_up["paddle.nn.functional"][name])
    values = [-2.0, -0.5, 0.0, 1.5]
    expected = getattr(paddle.nn.functional, name)(paddle.to_tensor(values)).tolist()
    assert twin(torch.tensor(values)).tolist() == pytest.approx(expected)


def looked_up_layer(name: str) -> None:
    arguments = (3,) if name.startswith("BatchNorm") else ()
    dimensions = {"1D": (2, 3, 4), "3D": (2, 3, 2, 2, 2)}.get(name[-2:], (2, 3, 2, 2))
    values = torch.arange(float(torch.Size(dimensions).numel())).reshape(dimensions)
    layer = getattr(torch.nn, facts().looked_up[f"paddle.nn:{len(arguments)}"][name])(*arguments)
    expected = getattr(paddle.nn, name)(*arguments)(paddle.to_tensor(values.numpy())).numpy()
    assert layer(values).detach().numpy() == pytest.approx(expected, abs=1e-5)


def cast(name: str) -> None:
    assert getattr(sample(), name)().dtype is dtype(facts().casts[name])


def tensor_class(name: str) -> None:
    assert getattr(torch, name)(2).dtype is dtype(facts().tensor_classes[name])


def dtype_category(name: str) -> None:
    one, number = dtype(name), facts().dtype_categories[name]
    assert number == (3 if one.is_complex else 2 if one.is_floating_point else 0 if one is torch.bool else 1)
    for other, above in facts().dtype_categories.items():
        if above > number and above < 3:  # of a complex dtype the width can change
            assert torch.promote_types(one, dtype(other)) is dtype(other)


def dtype_width(name: str) -> None:
    one, width = dtype(name), facts().dtype_widths[name]
    assert one.itemsize * 8 == width
    for other, bits in facts().dtype_widths.items():
        if facts().dtype_categories[other] == facts().dtype_categories[name]:
            assert torch.promote_types(one, dtype(other)) is (one if width >= bits else dtype(other))


def created(name: str) -> None:
    like = name.endswith("_like") or name.startswith("new_")
    (result,) = torch_results(name, sample(torch.float64)) if like else [CALLS[name](sample())]
    assert result.dtype is (torch.float64 if like else torch.float32)
    assert not result.requires_grad


def from_data(name: str) -> None:
    if hasattr(torch, name):
        assert getattr(torch, name)([1, 2]).dtype is torch.int64
        assert getattr(torch, name)([1, 2.0]).dtype is torch.float32
    else:
        assert getattr(paddle, name)([1, 2]).dtype == paddle.int64
        assert getattr(paddle, name)([1, 2.0]).dtype == paddle.float32


def torch_dtypes(name: str, x: torch.Tensor) -> set[torch.dtype]:
    return {first(result).dtype for result in torch_results(name, x)}


def torch_int64(name: str) -> None:
    assert torch_dtypes(name, sample()) == {torch.int64}


def paddle_int64(name: str) -> None:
    assert {first(result).dtype for result in paddle_results(name, paddle_sample())} == {paddle.int64}


def truth(name: str) -> None:
    assert torch_dtypes(name, sample()) == {torch.bool}


def paddle_truth(name: str) -> None:
    x, call = paddle_sample(), getattr(paddle, name)
    values = (x.astype("bool"),) if name.startswith("logical_") else (x,)
    unary = name in ("all", "any", "isfinite", "isinf", "isnan", "logical_not", "signbit")
    assert call(*(values if unary else values * 2)).dtype == paddle.bool


def floating(name: str) -> None:
    x = torch.full((2, 3), 0.5, dtype=torch.float64)
    assert torch_dtypes(name, x) == {torch.float64}
    if name not in facts().floating_only:
        assert torch_dtypes(name, torch.ones(2, 3, dtype=torch.int64)) == {torch.float32}


PADDLE_ERRORS = (RuntimeError, ValueError, TypeError)


def paddle_dtypes(name: str, dtype: str) -> set[str]:
    """The dtypes of what Paddle gives for a tensor of this one; none if it refuses it."""
    x = paddle.full([2, 3], 0.5, "float64") if dtype == "float64" else paddle.ones([2, 3], "int64").astype(dtype)
    try:
        return {str(first(result).dtype).rpartition(".")[2] for result in paddle_results(name, x)}
    except PADDLE_ERRORS:
        return set()


def paddle_created(name: str) -> None:
    like = name.endswith("_like") or name.startswith("new_")
    results = list(paddle_results(name, paddle_sample().astype("float64" if like else "float32")))
    assert {result.dtype for result in results} == {paddle.float64 if like else paddle.float32}


def paddle_floating(name: str) -> None:
    assert paddle_dtypes(name, "float64") == {"float64"}
    assert paddle_dtypes(name, "int64") <= {"float32"}


def paddle_promotes(name: str) -> None:
    left, right = paddle.to_tensor([1.0, 2.0]), paddle.to_tensor([1.0, 2.0], "float64")
    assert getattr(paddle, name)(left, right).dtype == getattr(paddle, name)(right, left).dtype == paddle.float64
    with pytest.raises(PADDLE_ERRORS):
        getattr(paddle, name)(left, right.astype("int64"))


def paddle_joins(name: str) -> None:
    x = paddle_sample()
    assert getattr(paddle, name)([x, x]).dtype == paddle.float32
    assert getattr(paddle, name)([x.astype("int64")] * 2).dtype == paddle.int64


def paddle_total(name: str) -> None:
    assert [paddle_dtypes(name, given) for given in ("int32", "int64", "float64")] == [
        {"int64"},
        {"int64"},
        {"float64"},
    ]
    assert paddle_dtypes(name, "bool") <= {"int64"}


def paddle_gives_indices(name: str) -> None:
    for values, indices in paddle_results(name, paddle_sample().astype("float64")):
        assert values.dtype == paddle.float64
        assert indices.dtype == paddle.int64


def paddle_same_dtype(name: str) -> None:
    kept = {given: paddle_dtypes(name, given) for given in ("float64", "int32")}
    assert any(kept.values())
    assert all(found <= {given} for given, found in kept.items())


def floating_only(name: str) -> None:
    assert name in facts().floating_results["torch"]
    with pytest.raises((RuntimeError, ValueError)):
        list(torch_results(name, sample(torch.int64)))


def promotes(name: str) -> None:
    left, right = torch.tensor([1, 2]), torch.tensor([1.5, 2.0])
    for place in (torch, torch.Tensor):
        function = getattr(place, name, None)
        if function is not None:
            result, wanted = function(left, right), function(left.float(), right)
            assert torch.equal(torch.as_tensor(result), torch.as_tensor(wanted))
            assert getattr(result, "dtype", None) == getattr(wanted, "dtype", None)


def quotient(name: str) -> None:
    assert name in facts().promoting["torch"]
    assert getattr(torch, name)(sample(torch.int64), 2).dtype is torch.float32


def bounded(name: str) -> None:
    for place in (torch, torch.Tensor):
        function = getattr(place, name)
        assert function(sample(torch.int64), 1.5).dtype is torch.float32
        assert function(sample(torch.bool), 1).dtype is torch.int64
        assert function(sample(torch.float64), 1).dtype is torch.float64


def joins(name: str) -> None:
    assert getattr(torch, name)([sample(torch.int64), sample(torch.float64)]).dtype is torch.float64


def total(name: str) -> None:
    for given, wanted in ((torch.bool, torch.int64), (torch.int32, torch.int64), (torch.float64, torch.float64)):
        assert torch_dtypes(name, sample(given)) == {wanted}


def gives_indices(name: str) -> None:
    for values, indices in torch_results(name, sample(torch.float64)):
        assert values.dtype is torch.float64
        assert indices.dtype is torch.int64


def gives_tuple(name: str) -> None:
    assert all(isinstance(result, tuple) for result in torch_results(name, sample()))


def lists_in_paddle(name: str) -> None:
    x = torch.ones(2, 2, 2, requires_grad=True)
    y = paddle.to_tensor(x.detach().numpy(), stop_gradient=False)
    torch_arguments: dict[str, tuple[Any, ...]] = {
        "broadcast_tensors": (x, x), "grad": (x.sum(), x), "meshgrid": (x[0, 0], x[0, 0]), "unbind": (x,),
        "split_with_sizes": (x, [1, 1]), "split": (x, 1),
    }  # fmt: skip
    paddle_arguments: dict[str, tuple[Any, ...]] = {
        "broadcast_tensors": ([y, y],), "grad": (y.sum(), y), "meshgrid": (y[0, 0], y[0, 0]), "unbind": (y,)
    }  # fmt: skip
    given = getattr(torch.autograd if name == "grad" else torch, name)(*torch_arguments.get(name, (x, 2)))
    made = getattr(paddle, name.removesuffix("_with_sizes"))(*paddle_arguments.get(name, (y, 2)))
    assert type(given) is tuple
    assert type(made) is list


def in_names_of_layers(name: str) -> None:
    """Each layer of torch's module has a counterpart with that in its name, and no other layer has."""
    word = TABLES["layer_modules"]["names"][name]
    for layer in vars(torch.nn).values():
        found = load().lookup("torch", f"torch.nn.{layer.__name__}") if inspect.isclass(layer) else None
        form = found[0].emitted("paddle", [Version("3.3.1")]) if found is not None else None
        if word and form is not None and form.names:
            is_of_module = layer.__module__ == f"torch.nn.modules.{name}"
            assert is_of_module == (word in form.names[0]), layer


def same_dtype(name: str) -> None:
    assert torch_dtypes(name, sample(torch.float64)) == {torch.float64}


def same_dtype_attribute(name: str) -> None:
    x = sample(torch.float64).requires_grad_()
    x.sum().backward()
    assert getattr(x, name).dtype is torch.float64


# ---- elements --------------------------------------------------------------------------------------------------------


RANKED: dict[str, str] = {
    **{f"{kind}_pool{n}d": f"functional.{kind}_pool{n}d({'l image volume'.split()[n - 1]}, 1)"
       for kind in ("avg", "adaptive_avg", "adaptive_max", "max") for n in (1, 2, 3)},
    **{f"conv{kind}{n}d": f"functional.conv{kind}{n}d({one}, {one})"
       for kind in ("", "_transpose") for n, one in ((1, "l"), (2, "image"), (3, "volume"))},
    **{name: f"x.{name}(x)" for name in "expand_as type_as view_as reshape_as".split()},
    "T": "x.T", "mT": "x.mT", "data": "x.data",
    "arange": "torch.arange(3)", "as_tensor": "torch.as_tensor([[1.0]])", "assign": "paddle.assign(y)",
    "astype": "y.astype('int64')", "bitwise_and": "b.bitwise_and(b)", "bitwise_or": "b.bitwise_or(b)",
    "bitwise_xor": "b.bitwise_xor(b)", "bmm": "torch.bmm(l, l)", "broadcast_to": "x.broadcast_to((2, 2, 3))",
    "byte": "x.byte()", "cast": "y.cast('int64')", "cat": "torch.cat([x, x])", "chunk": "x.chunk(2)[0]",
    "clamp": "x.clamp(0)", "clip": "x.clip(0)", "concat": "paddle.concat([y, y])", "cumprod": "x.cumprod(0)",
    "cumsum": "x.cumsum(0)", "cuda": "x.cpu()", "dim": "torch.zeros(x.dim())", "divide": "y.divide(y)",
    "dropout": "functional.dropout(x)", "empty": "torch.empty(2, 3)", "expand": "x.expand(2, 2, 3)",
    "flip": "x.flip([0])",
    "full": "torch.full((2, 3), 1.0)", "full_like": "torch.full_like(x, 1.0)", "gather": "x.gather(0, x.long())",
    "gelu": "functional.gelu(x)", "index_select": "x.index_select(0, torch.tensor([0]))",
    "interpolate": "functional.interpolate(image, scale_factor=2)", "layer_norm": "functional.layer_norm(x, [3])",
    "leaky_relu": "functional.leaky_relu(x)", "linear": "functional.linear(x, x)",
    "linspace": "torch.linspace(0, 1, 2)",
    "log_softmax": "x.log_softmax(0)", "logspace": "torch.logspace(0, 1, 2)", "logsumexp": "x.logsumexp(0)",
    "masked_fill": "x.masked_fill(x > 0, 0)", "masked_select": "x.masked_select(x == 0)", "matmul": "x.matmul(x.T)",
    "max": "x.max(0)[0]", "median": "x.median(0)[0]", "min": "x.min(0)[0]", "mm": "x.mm(x.T)",
    "moveaxis": "x.moveaxis(0, 1)", "movedim": "x.movedim(0, 1)", "multiply": "y.multiply(y)", "mv": "x.mv(x[0])",
    "narrow": "x.narrow(0, 0, 1)", "ndimension": "torch.zeros(x.ndimension())", "new_empty": "x.new_empty(2)",
    "new_ones": "x.new_ones(2)", "new_zeros": "x.new_zeros((2, 3))", "normalize": "functional.normalize(x)",
    "numel": "torch.zeros(x.numel())", "one_hot": "functional.one_hot(torch.tensor([1, 2]))",
    "ones": "torch.ones(2, 3)",
    "permute": "x.permute(1, 0)", "pow": "x.pow(2)", "rand": "torch.rand(2, 3)", "randn": "torch.randn(2, 3)",
    "randperm": "torch.randperm(3)", "relu": "functional.relu(x)", "reshape": "x.reshape(6)", "roll": "x.roll(1)",
    "scale": "y.scale(2.0)", "silu": "functional.silu(x)", "size": "torch.zeros(x.size())", "softmax": "x.softmax(0)",
    "softplus": "functional.softplus(x)", "split": "x.split(1)[0]", "stack": "torch.stack([x, x])",
    "standard_normal": "paddle.standard_normal([2, 3])", "stanh": "paddle.stanh(y)", "subtract": "y.subtract(y)",
    "swapaxes": "x.swapaxes(0, 1)", "tensor": "torch.tensor([[1, 2]])", "tensor_split": "x.tensor_split(2)[0]",
    "to": "x.to(torch.float64)", "to_tensor": "paddle.to_tensor([[1.0]])", "transpose": "x.transpose(0, 1)",
    "type": "x.type(torch.float64)", "unbind": "x.unbind(0)[0]", "uniform": "paddle.uniform([2, 3])",
    "unsqueeze": "x.unsqueeze(0)", "unstack": "paddle.unstack(y)[0]", "view": "x.view(6)", "zeros": "torch.zeros(2, 3)",
}  # fmt: skip
"""Expressions with the functions and methods that take more than a tensor, or are Paddle's."""

_TENSORS = """
import paddle
import torch
from torch.nn import functional
x, y, l, b = torch.zeros(2, 3), paddle.zeros([2, 3]), torch.zeros(1, 1, 1), torch.zeros(2, 3) > 0
image, volume = torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1, 1, 1)
"""


def of_rank(name: str) -> None:
    """What the rule of a name says of its result is what the framework gives."""
    alike = f"torch.{name}(x)" if inspect.isroutine(getattr(torch, name, None)) else f"x.{name}()"
    takes_two = name in facts().ranks["together"]
    text = RANKED.get(name, f"x.{name}(x)" if takes_two and hasattr(torch.Tensor, name) else alike)
    made = {"shown": None}
    exec(f"{_TENSORS}shown = {text}", made)
    tree = ScopeTree(ast.parse(f"{_TENSORS}show({text})"))
    (call,) = tree.calls_of("show")
    (found,) = RankRules(Evaluator(tree, ("torch", "paddle"), load(), {})).flow.of(call.args[0])
    assert isinstance(found, Extent) and found.sizes is not None
    shape = list(made["shown"].shape)  # type: ignore[attr-defined]
    assert len(found.sizes) == len(shape)
    assert all(a in (None, b) for a, b in zip(found.sizes, shape, strict=True))


def is_type_of_layer(name: str) -> None:
    assert name in load().types


# ---- evidence --------------------------------------------------------------------------------------------------------

OTHERS = (str, list, dict, tuple, bytes, np.ndarray, torch.nn.Module, paddle.nn.Layer)


def only_of_tensors(name: str) -> None:
    assert hasattr(torch.Tensor, name) or hasattr(paddle.Tensor, name)
    assert not [other for other in OTHERS if hasattr(other, name)]


KEYWORDS: dict[str, Call] = {
    "dim": lambda x: x.mean(dim=0),
    "keepdim": lambda x: x.mean(0, keepdim=True),
    "memory_format": lambda x: x.clone(memory_format=torch.preserve_format),
    "non_blocking": lambda x: x.to("cpu", non_blocking=True),
    "stop_gradient": lambda x: paddle.to_tensor(x, stop_gradient=False),
    "unbiased": lambda x: x.std(unbiased=True),
    "end_dim": lambda x: x.flatten(end_dim=1),
    "start_axis": lambda x: x.flatten(start_axis=1),
    "start_dim": lambda x: x.flatten(start_dim=1),
    "stop_axis": lambda x: x.flatten(stop_axis=1),
    "repeat_times": lambda x: x.tile(repeat_times=[2]),
    "num_or_sections": lambda x: x.split(num_or_sections=2),
    "split_size": lambda x: x.split(split_size=1),
    "dim0": lambda x: x.transpose(dim0=0, dim1=1),
    "dim1": lambda x: x.transpose(dim0=0, dim1=1),
    "perm": lambda x: x.transpose(perm=[1, 0]),
    "alpha": lambda x: x.add(x, alpha=2),
}


def takes(x: Any, keyword: str) -> bool:
    try:
        KEYWORDS[keyword](x)
    except (TypeError, AttributeError, ValueError):
        return False
    return True


def torch_keyword(keyword: str) -> None:
    assert takes(sample(), keyword)
    assert not takes(sample().numpy(), keyword)


def paddle_keyword(keyword: str) -> None:
    assert takes(paddle_sample(), keyword)
    if keyword != "stop_gradient":  # of a function, whose argument may be an array
        assert not takes(sample().numpy(), keyword)


def method_keywords(method: str) -> None:
    for keyword in facts().keywords_of_method[method]:
        assert takes(sample(), keyword) or takes(paddle_sample(), keyword), keyword
        assert not takes(sample().numpy(), keyword)


PADDLE_OPERANDS = {
    "paddle.cast": (np.ones((2, 2), np.float32), "float64"),
    "paddle.full_like": (np.ones((2, 2), np.float32), 3.0),
    "paddle.gather": (np.ones((2, 2), np.float32), np.ones(2, np.int64)),
    "paddle.gather_nd": (np.ones((2, 2), np.float32), np.ones((1, 2), np.int64)),
    "paddle.index_select": (np.ones((2, 2), np.float32), np.ones(2, np.int64)),
    "paddle.masked_select": (np.ones((2, 2), np.float32), np.ones((2, 2), bool)),
    "paddle.nn.functional.cross_entropy": (np.ones((2, 2), np.float32), np.ones(2, np.int64)),
    "paddle.nn.functional.log_loss": (np.full((2, 1), 0.5, np.float32), np.full((2, 1), 0.5, np.float32)),
    "paddle.nn.functional.one_hot": (np.ones(2, np.int64), 3),
    "paddle.topk": (np.ones((2, 2), np.float32), 1),
}
"""What is given to functions that do not take floats alone."""


def tensors_alone(framework: Any) -> Callable[[str], None]:
    def check(name: str) -> None:
        function = attrgetter(name.partition(".")[2])(framework)
        is_flat = name.rpartition(".")[2] in ("mm", "addmm", "linear")
        number = facts().tensor_operands[framework.__name__][name]
        rest = REST.get(name.rpartition(".")[2], ()) if "softmax" in name else ()
        usual = [np.full((2, 2) if is_flat else (2, 2, 2), 0.5, dtype=np.float32)] * number
        given: Any = PADDLE_OPERANDS.get(name, (*usual, *rest))
        arrays, rest = given[:number], given[number:]
        tensors = [torch.from_numpy(a) if framework is torch else paddle.to_tensor(a) for a in arrays]
        function(*tensors, *rest)
        for place, array in enumerate(arrays):
            with pytest.raises((TypeError, ValueError, AttributeError)):
                function(*tensors[:place], array, *tensors[place + 1 :], *rest)

    return check


def rearranges(name: str) -> None:
    x = sample()
    moved = getattr(x, name)(*REST.get(name, ()))
    assert sorted(moved.flatten().tolist()) == sorted(x.flatten().tolist())


def array_arguments(name: str) -> None:
    most = facts().array_arguments[name]
    getattr(np.ones((2, 2)), name)(*([1] * most))
    getattr(torch.ones(2, 2), name)(*([1] * (most + 1)))
    with pytest.raises(TypeError):
        getattr(np.ones((2, 2)), name)(*([1] * (most + 1)))


def of_module_too(name: str) -> None:
    assert hasattr(torch.nn.Module, name)
    assert hasattr(torch.Tensor, name)


def module_chain(name: str) -> None:
    module = torch.nn.ReLU()  # no parameters, so that no device is asked for
    assert getattr(module, name)(*((lambda m: None,) if name == "apply" else ())) is module


def torch_tuple(name: str) -> None:
    module = getattr(torch.nn, name)(4, 2)
    x = torch.zeros(1, 3, 4)
    given = (x, x, x) if name.startswith("Multi") else (x[0],) if name.endswith("Cell") else (x,)
    assert isinstance(module(*given), tuple)


def paddle_tuple(name: str) -> None:
    x = paddle.zeros([1, 3, 4])
    if name.startswith("Multi"):
        result = paddle.nn.MultiHeadAttention(4, 2, need_weights=True)(x, x, x)
    elif name in ("RNN", "BiRNN"):
        cells = [paddle.nn.GRUCell(4, 2) for _ in range(1 + (name == "BiRNN"))]
        result = getattr(paddle.nn, name)(*cells)(x)
    else:
        result = getattr(paddle.nn, name)(4, 2)(x[0] if name.endswith("Cell") else x)
    assert isinstance(result, tuple)


def array_read(name: str) -> None:
    x = np.array([[1.0]])
    result = getattr(x, name)
    result = result(*(("float64",) if name == "astype" else ())) if callable(result) else result
    assert not (isinstance(result, np.ndarray) and np.shares_memory(result, x))


# ---- the weight of a linear layer ------------------------------------------------------------------------------------


def member_of_tensor(name: str) -> None:
    parameter = paddle.nn.Linear(2, 3).weight
    assert hasattr(torch.Tensor, name) or hasattr(parameter, name)


def layout_free(name: str) -> None:
    member_of_tensor(name)
    if not hasattr(torch.Tensor, name) or name in ("data_ptr", "item", "retain_grad", "register_hook"):
        return
    results = []
    for weight in (sample(), sample().T.contiguous()):
        result = getattr(weight, name)
        result = result() if callable(result) else result
        results.append(result.flatten().sort()[0].tolist() if isinstance(result, torch.Tensor) else result)
    assert results[0] == results[1]


def reduces(name: str) -> None:
    x = sample() - 0.25
    x = x > 0 if name in ("all", "any") else x
    one, other = getattr(x, name)(), getattr(x.T.contiguous(), name)()
    assert one.ndim == 0
    assert torch.allclose(one, other)


# ---- parameters ------------------------------------------------------------------------------------------------------


def parameters_of(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)


def of_torchs_layers(name: str) -> None:
    """Some layer of torch has it, and Paddle's of the same name has not, or with another default."""
    differs = []
    for key, one in vars(torch.nn).items():
        paddles = re.sub(r"^ConvTranspose(\d)d$", r"Conv\1DTranspose", key)
        other = getattr(paddle.nn, re.sub(r"(\d)d$", r"\1D", paddles), None)
        if isinstance(one, type) and other is not None and name in parameters_of(one):
            theirs = inspect.signature(other).parameters.get(name)
            differs.append(theirs is None or theirs.default != inspect.signature(one).parameters[name].default)
    assert any(differs)


def of_paddles_layers(name: str) -> None:
    """Some layer of Paddle has it, and torch's of the same name has not, or with another default."""
    differs = []
    for key, one in vars(paddle.nn).items():
        torchs = re.sub(r"^Conv(\d)DTranspose$", r"ConvTranspose\1d", key)
        other = getattr(torch.nn, re.sub(r"(\d)D$", r"\1d", torchs), None)
        if isinstance(one, type) and other is not None and name in parameters_of(one):
            theirs = inspect.signature(other).parameters.get(name)
            differs.append(theirs is None or theirs.default != inspect.signature(one).parameters[name].default)
    assert any(differs)


def as_numpy_names_it(name: str) -> None:
    x = sample()
    calls: dict[str, Callable[[], Any]] = {
        "a": lambda: torch.sum(a=x, dim=0),
        "axis": lambda: torch.sum(x, axis=0),
        "keepdims": lambda: torch.sum(x, 0, keepdims=True),
        "x": lambda: torch.sum(x=x, dim=0),
        "x1": lambda: torch.add(x1=x, x2=x),
        "x2": lambda: torch.add(x, x2=x),
    }
    assert calls[name]().numel() > 0


def takes_tensor(name: str) -> None:
    x, functional = paddle_sample(), paddle.nn.functional
    calls: dict[str, Callable[[], Any]] = {
        "out_shape": lambda: functional.affine_grid(paddle.zeros([1, 2, 3]), out_shape=paddle.to_tensor([1, 1, 2, 2])),
        "output_size": lambda: functional.adaptive_avg_pool2d(x.reshape(IMAGE), output_size=paddle.to_tensor([1, 1])),
        "repeat_times": lambda: paddle.tile(x, repeat_times=paddle.to_tensor([2, 1])),
        "shape": lambda: paddle.reshape(x, shape=paddle.to_tensor([3, 2])),
        "size": lambda: functional.interpolate(x.reshape(IMAGE), size=paddle.to_tensor([4, 4])),
    }
    assert calls[name]().size > 0


def gives_array(name: str) -> None:
    numbers = ([[1, 2]],) if name == "concatenate" else (3,) if name in ("arange", "ones", "zeros") else ([1, 2],)
    given = getattr(np, name)(*numbers, *([1] if name == "roll" else []))
    assert isinstance(given, np.ndarray) and isinstance(given.tolist(), list)


def some_takes(name: str) -> None:
    x = sample()
    calls: dict[str, Callable[[], Any]] = {
        "memory_format": lambda: torch.zeros_like(x, memory_format=torch.preserve_format),
        "name": lambda: paddle.abs(paddle_sample(), name="x"),
        "non_blocking": lambda: x.to("cpu", non_blocking=True),
        "pin_memory": lambda: torch.zeros(1, pin_memory=False),
    }
    assert calls[name]().size if name in calls else name in parameters_of(torch.optim.Adam)


def of_groups(name: str) -> None:
    weight = torch.nn.Parameter(sample())
    optimizers = [made([weight]) for made in (torch.optim.SGD, torch.optim.Adam, torch.optim.Adagrad)]
    torch.optim.lr_scheduler.ExponentialLR(optimizers[0], 0.5)
    known = {key for one in optimizers for key in one.param_groups[0]}
    assert name in known | parameters_of(paddle.optimizer.SGD)


def walks_once(name: str) -> None:
    weight = torch.nn.Parameter(sample())
    weight.grad = sample()
    result = getattr(torch.nn.utils, name)((p for p in [weight]), *((1.0,) if name.startswith("clip") else ()))
    assert result is None or bool((result > 0).any())


def other_device(name: str) -> None:
    assert torch.device(name).type == name


def of_both_tensors(name: str) -> None:
    assert hasattr(torch.Tensor, name)
    assert hasattr(paddle.Tensor, name)


def has_name(name: str) -> None:
    """The installed framework has the dotted name."""
    assert callable(attrgetter(name.partition(".")[2])({"torch": torch, "paddle": paddle}[name.partition(".")[0]]))


X2, X3, X4, X5 = ([3, 6], [2, 4, 8], [2, 4, 8, 8], [2, 4, 4, 4, 4])
LABELS = [0, 1, 2]

ONCE: dict[str, tuple[list[int], Call]] = {
    "AdaptiveAvgPool3d": (X5, lambda x: paddle.nn.AdaptiveAvgPool3D(2)(x)),
    "AdaptiveMaxPool1d": (X3, lambda x: paddle.nn.AdaptiveMaxPool1D(2)(x)),
    "AdaptiveMaxPool2d": (X4, lambda x: paddle.nn.AdaptiveMaxPool2D(2)(x)),
    "AdaptiveMaxPool3d": (X5, lambda x: paddle.nn.AdaptiveMaxPool3D(2)(x)),
    "AvgPool3d": (X5, lambda x: paddle.nn.AvgPool3D(2)(x)),
    "BCELoss": (X2, lambda x: paddle.nn.BCELoss()(x, paddle.ones(X2))),
    "BCEWithLogitsLoss": (X2, lambda x: paddle.nn.BCEWithLogitsLoss()(x, paddle.ones(X2))),
    "Bilinear": (X2, lambda x: paddle.nn.Bilinear(6, 6, 5)(x, x)),
    "ChannelShuffle": (X4, lambda x: paddle.nn.ChannelShuffle(2)(x)),
    "ConvTranspose1d": (X3, lambda x: paddle.nn.Conv1DTranspose(4, 5, 3)(x)),
    "ConvTranspose2d": (X4, lambda x: paddle.nn.Conv2DTranspose(4, 5, 3)(x)),
    "ConvTranspose3d": (X5, lambda x: paddle.nn.Conv3DTranspose(4, 5, 3)(x)),
    "CrossEntropyLoss": (X2, lambda x: paddle.nn.CrossEntropyLoss()(x, paddle.to_tensor(LABELS))),
    "Fold": ([1, 8, 9], lambda x: paddle.nn.Fold([4, 4], [2, 2])(x)),
    "GRU": (X3, lambda x: paddle.nn.GRU(8, 4)(x)[0]),
    "GroupNorm": (X4, lambda x: paddle.nn.GroupNorm(2, 4)(x)),
    "HuberLoss": (X2, lambda x: paddle.nn.SmoothL1Loss(is_huber=True)(x, paddle.ones(X2))),
    "L1Loss": (X2, lambda x: paddle.nn.L1Loss()(x * x, paddle.ones(X2))),
    "LSTM": (X3, lambda x: paddle.nn.LSTM(8, 4)(x)[0]),
    "LayerNorm": (X2, lambda x: paddle.nn.LayerNorm(6)(x)),
    "LocalResponseNorm": (X4, lambda x: paddle.nn.LocalResponseNorm(3)(x)),
    "MaxPool1d": (X3, lambda x: paddle.nn.MaxPool1D(2)(x)),
    "MaxPool2d": (X4, lambda x: paddle.nn.MaxPool2D(2)(x)),
    "MaxPool3d": (X5, lambda x: paddle.nn.MaxPool3D(2)(x)),
    "MultiheadAttention": (X3, lambda x: paddle.nn.MultiHeadAttention(8, 2)(x)),
    "NLLLoss": (X2, lambda x: paddle.nn.NLLLoss()(x * x, paddle.to_tensor(LABELS))),
    "PixelShuffle": (X4, lambda x: paddle.nn.PixelShuffle(2)(x)),
    "PixelUnshuffle": (X4, lambda x: paddle.nn.PixelUnshuffle(2)(x)),
    "RNN": (X3, lambda x: paddle.nn.SimpleRNN(8, 4)(x)[0]),
    "SmoothL1Loss": (X2, lambda x: paddle.nn.SmoothL1Loss()(x, paddle.ones(X2))),
    "Softmax2d": (X4, lambda x: paddle.nn.Softmax2D()(x)),
    "Softmin": (X2, lambda x: paddle.nn.Softmax()(-x)),
    "Threshold": (X2, lambda x: paddle.nn.ThresholdedReLU(0.3)(x)),
    "TransformerEncoderLayer": (X3, lambda x: paddle.nn.TransformerEncoderLayer(8, 2, 16)(x)),
    "Unfold": (X4, lambda x: paddle.nn.Unfold([2, 2])(x)),
    "Upsample": (X4, lambda x: paddle.nn.Upsample(scale_factor=2)(x)),
    "UpsamplingBilinear2d": (X4, lambda x: paddle.nn.UpsamplingBilinear2D(scale_factor=2)(x)),
    "UpsamplingNearest2d": (X4, lambda x: paddle.nn.UpsamplingNearest2D(scale_factor=2)(x)),
    "adaptive_avg_pool3d": (X5, lambda x: paddle.nn.functional.adaptive_avg_pool3d(x, 2)),
    "adaptive_max_pool1d": (X3, lambda x: paddle.nn.functional.adaptive_max_pool1d(x, 2)),
    "adaptive_max_pool2d": (X4, lambda x: paddle.nn.functional.adaptive_max_pool2d(x, 2)),
    "adaptive_max_pool3d": (X5, lambda x: paddle.nn.functional.adaptive_max_pool3d(x, 2)),
    "addmm": (X2, lambda x: paddle.addmm(x[:, :3], x, x.t())),
    "atan2": (X2, lambda x: paddle.atan2(x, x + 1)),
    "avg_pool3d": (X5, lambda x: paddle.nn.functional.avg_pool3d(x, 2)),
    "binary_cross_entropy": (X2, lambda x: paddle.nn.functional.binary_cross_entropy(x, paddle.ones(X2))),
    "binary_cross_entropy_with_logits": (
        X2, lambda x: paddle.nn.functional.binary_cross_entropy_with_logits(x, paddle.ones(X2))
    ),
    "channel_shuffle": (X4, lambda x: paddle.nn.functional.channel_shuffle(x, 2)),
    "cholesky": (X2, lambda x: paddle.linalg.cholesky(regular(x))),
    "conv_transpose1d": (X3, lambda x: paddle.nn.functional.conv1d_transpose(x, paddle.ones([4, 2, 3]))),
    "conv_transpose2d": (X4, lambda x: paddle.nn.functional.conv2d_transpose(x, paddle.ones([4, 2, 3, 3]))),
    "conv_transpose3d": (X5, lambda x: paddle.nn.functional.conv3d_transpose(x, paddle.ones([4, 2, 3, 3, 3]))),
    "cross": (X2, lambda x: paddle.cross(x[:, :3], x[:, 3:])),
    "cross_entropy": (X2, lambda x: paddle.nn.functional.cross_entropy(x, paddle.to_tensor(LABELS))),
    "cummax": (X2, lambda x: paddle.cummax(x, 1)[0]),
    "cummin": (X2, lambda x: paddle.cummin(x, 1)[0]),
    "cumprod": (X2, lambda x: paddle.cumprod(x, 1)),
    "det": (X2, lambda x: paddle.linalg.det(regular(x))),
    "dist": (X2, lambda x: paddle.dist(x, x * 2)),
    "dot": (X2, lambda x: paddle.dot(x[0], x[1])),
    "einsum": (X2, lambda x: paddle.einsum("ij,kj->ik", x, x)),
    "fold": ([1, 8, 9], lambda x: paddle.nn.functional.fold(x, [4, 4], [2, 2])),
    "grid_sample": (X4, lambda x: paddle.nn.functional.grid_sample(x, paddle.rand([2, 3, 3, 2]))),
    "huber_loss": (X2, lambda x: paddle.nn.functional.smooth_l1_loss(x, paddle.ones(X2), is_huber=True)),
    "interpolate": (X4, lambda x: paddle.nn.functional.interpolate(x, scale_factor=2)),
    "inv": (X2, lambda x: paddle.linalg.inv(regular(x))),
    "kron": (X2, lambda x: paddle.kron(x, x)),
    "kthvalue": (X2, lambda x: paddle.kthvalue(x, 2)[0]),
    "l1_loss": (X2, lambda x: paddle.nn.functional.l1_loss(x * x, paddle.ones(X2))),
    "layer_norm": (X2, lambda x: paddle.nn.functional.layer_norm(x, [6])),
    "lerp": (X2, lambda x: paddle.lerp(x, x * 2, 0.3)),
    "local_response_norm": (X4, lambda x: paddle.nn.functional.local_response_norm(x, 3)),
    "log_softmax": (X2, lambda x: paddle.nn.functional.log_softmax(x)),
    "logaddexp": (X2, lambda x: paddle.logaddexp(x, x * 2)),
    "logsigmoid": (X2, lambda x: paddle.nn.functional.log_sigmoid(x)),
    "max_pool1d": (X3, lambda x: paddle.nn.functional.max_pool1d(x, 2)),
    "max_pool2d": (X4, lambda x: paddle.nn.functional.max_pool2d(x, 2)),
    "max_pool3d": (X5, lambda x: paddle.nn.functional.max_pool3d(x, 2)),
    "mv": (X2, lambda x: paddle.mv(x, x[0])),
    "nll_loss": (X2, lambda x: paddle.nn.functional.nll_loss(x * x, paddle.to_tensor(LABELS))),
    "norm": (X2, lambda x: paddle.linalg.norm(x, 2, 1)),
    "pixel_shuffle": (X4, lambda x: paddle.nn.functional.pixel_shuffle(x, 2)),
    "pixel_unshuffle": (X4, lambda x: paddle.nn.functional.pixel_unshuffle(x, 2)),
    "prelu": (X2, lambda x: paddle.nn.functional.prelu(x, paddle.ones([1]))),
    "rfft": (X2, lambda x: paddle.fft.rfft(x).abs()),
    "roll": (X2, lambda x: paddle.roll(x, 1)),
    "slogdet": (X2, lambda x: paddle.linalg.slogdet(regular(x))[1]),
    "smooth_l1_loss": (X2, lambda x: paddle.nn.functional.smooth_l1_loss(x, paddle.ones(X2))),
    "softmin": (X2, lambda x: paddle.nn.functional.softmax(-x)),
    "solve": (X2, lambda x: paddle.linalg.solve(regular(x), x)),
    "topk": (X2, lambda x: paddle.topk(x, 2)[0]),
    "vector_norm": (X2, lambda x: paddle.linalg.vector_norm(x, 2, 1)),
}  # fmt: skip
"""Paddle's counterparts of what is not called with a tensor alone."""


def regular(x: Any) -> Any:
    """A matrix that has an inverse and a root."""
    return x @ x.t() + paddle.eye(3)


def differentiates_once(name: str) -> None:
    """A gradient goes through Paddle's counterpart; one of that gradient raises an error."""
    places = (paddle.nn.functional, paddle, paddle.nn)
    made = next((getattr(place, name) for place in places if hasattr(place, name)), None)
    shape, call = ONCE.get(name) or (X2, made() if name[0].isupper() else made)
    x = paddle.rand(shape) * 0.8 + 0.1
    x.stop_gradient = False
    squares(call(x)).backward()
    assert x.grad is not None
    with pytest.raises((RuntimeError, SystemError, OSError, ValueError)):
        squares(paddle.grad(squares(call(x)), x, create_graph=True)[0]).backward()


def kept_by_paddle(name: str) -> None:
    """After the result is written to, torch's backward goes through it, and Paddle's raises an error."""
    values = np.random.RandomState(0).rand(2, 3).astype("float32") * 0.8 + 0.1
    of_torch = torch.from_numpy(values.copy()).requires_grad_()
    of_paddle = paddle.to_tensor(values, stop_gradient=False)
    for place, functions, x in ((torch, torch.nn.functional, of_torch), (paddle, paddle.nn.functional, of_paddle)):
        call = getattr(functions, name, None) or getattr(place, name)
        axis = {"var": {"dim" if place is torch else "axis": 1}}.get(name, {})
        result = call(x, 2 - x, **axis) if name in ("cosine_similarity", "div") else call(x, **axis)
        result[0:1] *= 2
        if place is torch:
            squares(result).backward()
        else:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                squares(result).backward()


def squares(x: Any) -> Any:
    """One number of a tensor, or of the first of several."""
    first = x[0] if isinstance(x, tuple | list) else x
    return (first * first).sum()


CHECKS: dict[str, Callable[[str], None]] = {
    "once_differentiable.layers": differentiates_once,
    "once_differentiable.functions": differentiates_once,
    "views.torch": torch_view,
    "views.paddle": paddle_view,
    "copied_views.torch": copied_view,
    "may_share.torch": torch_may_share,
    "passing_modules.torch": passes_input,
    "inplace_modules.torch": writes_into_input,
    "fresh.torch": torch_fresh,
    "computed.torch": torch_fresh,
    "kept_results": kept_by_paddle,
    "leaves.paddle": paddle_leaf,
    "no_grad.torch": records_nothing,
    "no_grad.paddle": records_nothing,
    "keeping_decorators.torch": keeps_functions,
    "keeping_decorators.paddle": keeps_functions,
    "pure": pure,
    "conversions": keeps_values,
    "dtype_aliases": alias,
    "dtype_categories": dtype_category,
    "dtype_widths": dtype_width,
    "casts": cast,
    "tensor_classes": tensor_class,
    "created.torch": created,
    "from_data": from_data,
    "int64_results.torch": torch_int64,
    "int64_results.paddle": paddle_int64,
    "shared_members": of_both_tensors,
    "bool_results.torch": truth,
    "bool_results.paddle": paddle_truth,
    "floating_results.torch": floating,
    "created.paddle": paddle_created,
    "floating_results.paddle": paddle_floating,
    "promoting.paddle": paddle_promotes,
    "joining.paddle": paddle_joins,
    "sums.paddle": paddle_total,
    "with_indices.paddle": paddle_gives_indices,
    "same_dtype.paddle": paddle_same_dtype,
    "floating_only": floating_only,
    "promoting.torch": promotes,
    "quotients": quotient,
    "bounded": bounded,
    "joining.torch": joins,
    "sums.torch": total,
    "with_indices.torch": gives_indices,
    "tuple_results": gives_tuple,
    "tuples_of_torch": lists_in_paddle,
    "layer_modules": in_names_of_layers,
    "same_dtype.torch": same_dtype,
    "same_dtype_attributes": same_dtype_attribute,
    **{f"ranks.{rule}": of_rank for rule in TABLES["ranks"]},
    "ranks_of_layers": is_type_of_layer,
    "distinctive": only_of_tensors,
    "tensor_keywords.torch": torch_keyword,
    "tensor_keywords.paddle": paddle_keyword,
    "keywords_of_method": method_keywords,
    "array_arguments": array_arguments,
    "tensor_operands.torch": tensors_alone(torch),
    "tensor_operands.paddle": tensors_alone(paddle),
    "refused_dtypes.bool": refuses("bool"),
    "refused_dtypes.complex64": refuses("complex64"),
    "refused_dtypes.floats": refuses("floats"),
    "refused_dtypes.integers": refuses("integers"),
    "refused_dtypes.small_integers": refuses("small_integers"),
    "floats_first": floats_first,
    "refuse_scalars": refuses("scalar"),
    "refuse_scalars_along_axis": refuses("scalar"),
    "taken_ranks": takes_rank,
    "batched_ranks": needs_batch,
    "batched_layers": layer_needs_batch,
    "rearranging": rearranges,
    "of_modules_too": of_module_too,
    "module_chains.torch": module_chain,
    "tuple_modules.torch": torch_tuple,
    "tuple_modules.paddle": paddle_tuple,
    "array_reads": array_read,
    "layout_free": layout_free,
    "reductions": reduces,
    "layout_reads": member_of_tensor,
    "layout_kept": member_of_tensor,
    "layout_axes": member_of_tensor,
    "layer_parameters.torch": of_torchs_layers,
    "layer_parameters.paddle": of_paddles_layers,
    "numpy_parameters": as_numpy_names_it,
    "sizes.paddle": takes_tensor,
    "numpy_arrays": gives_array,
    "inert_parameters": some_takes,
    "lost_group_keys": of_groups,
    "parameter_walks.torch": walks_once,
    "other_devices": other_device,
    "base_classes.torch": has_name,
    "base_classes.paddle": has_name,
    "module_containers.torch": has_name,
    "module_containers.paddle": has_name,
    "looked_up.paddle.nn:0": looked_up_layer,
    "looked_up.paddle.nn:1": looked_up_layer,
    "looked_up.paddle.nn.functional": looked_up_function,
    "compiling_decorators.torch": has_name,
    "compiling_decorators.paddle": has_name,
}
"""By table, and framework where the table has both: what must hold for each of its names."""


def cases() -> Iterator[tuple[str, list[str]]]:
    """Each table, with the framework where it has both, and its names."""
    for table, held in TABLES.items():
        for side, names in held.items():
            if side not in MARKS and held["checked"] != "no":
                yield table if side == "names" else f"{table}.{side}", list(names)


def elsewhere(key: str) -> dict[str, str]:
    return TABLES[key.partition(".")[0]].get("elsewhere", {})


@pytest.mark.parametrize(("key", "names"), list(cases()), ids=[key for key, _ in cases()])
@pytest.mark.filterwarnings("ignore")
def test_the_frameworks_agree(key: str, names: list[str]) -> None:
    found = {name: wrong for name in names if (wrong := _disagreement(key, name))}
    assert not found, f"{key}: {found}"


def _disagreement(key: str, name: str) -> str:
    """What is wrong of a name, if anything is; what is marked as of elsewhere must be, else the mark is out of date."""
    marked = name in elsewhere(key)
    try:
        CHECKS[key](name)
    except (AssertionError, RuntimeError) as error:
        return "" if marked else f"{type(error).__name__}: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "marked as of elsewhere, and is not" if marked else ""


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("views.torch", "clone"),
        ("views.paddle", "split"),  # a copy, unlike torch's
        ("copied_views.torch", "unbind"),
        ("may_share.torch", "clone"),
        ("passing_modules.torch", "ReLU"),
        ("inplace_modules.torch", "GELU"),
        ("once_differentiable.layers", "SiLU"),
        ("once_differentiable.functions", "tanh"),
        ("fresh.torch", "detach"),
        ("computed.torch", "detach"),
        ("kept_results", "gelu"),
        ("leaves.paddle", "clone"),
        ("pure", "add_"),
        ("casts", "float16"),
        ("created.torch", "randint"),
        ("int64_results.torch", "sign"),
        ("int64_results.paddle", "sign"),
        ("shared_members", "set_value"),
        ("bool_results.torch", "add"),
        ("bool_results.paddle", "add"),
        ("floating_results.torch", "abs"),
        ("floating_only", "exp"),
        ("promoting.torch", "matmul"),
        ("bounded", "round"),
        ("sums.torch", "amax"),
        ("with_indices.torch", "aminmax"),
        ("same_dtype.torch", "argmax"),
        ("ranks.same", "squeeze"),
        ("distinctive", "split"),
        ("tensor_keywords.torch", "out_shape"),
        ("of_modules_too", "long"),
        ("tuple_modules.torch", "GRUCell"),
        ("refused_dtypes.bool", "cat"),
        ("refused_dtypes.integers", "abs"),
        ("refused_dtypes.small_integers", "cat"),
        ("refuse_scalars", "exp"),
        ("reductions", "abs"),
        ("layout_free", "stride"),
        ("layout_reads", "no_such_member"),
        ("layout_kept", "no_such_member"),
        ("layout_axes", "no_such_member"),
        ("layer_parameters.torch", "in_channels"),
        ("layer_parameters.paddle", "in_channels"),
        ("lost_group_keys", "learning_rate_decay"),
        ("compiling_decorators.torch", "torch.jit.to_static"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_wrong_name_is_found(key: str, name: str) -> None:
    with pytest.raises((Exception, pytest.fail.Exception)):
        CHECKS[key](name)


def test_every_table_says_how_it_is_checked() -> None:
    assert {name: held.get("checked") for name, held in TABLES.items() if held.get("checked") not in HOW} == {}
    names = {
        (table, name) for table, held in TABLES.items() for side in held if side not in MARKS for name in held[side]
    }
    assert {(table, name) for table in TABLES for name in elsewhere(table)} <= names


def test_names_are_sorted_and_stand_once() -> None:
    for table, held in TABLES.items():
        for key, names in held.items():
            if isinstance(names, list):
                assert names == sorted(set(names)), f"{table}.{key}"


def test_the_copy_in_the_cache_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_DIR, str(tmp_path))
    facts.cache_clear()
    read = facts()
    assert len(list(tmp_path.glob("facts-*"))) == 1
    monkeypatch.setattr(module, "read", lambda: pytest.fail("the file was read again"))
    facts.cache_clear()
    assert facts() == read
    assert read.views["torch"] == frozenset(TABLES["views"]["torch"])
    assert read.dtype_aliases["long"] == "int64"


def test_a_table_that_is_no_field_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = tmp_path / "facts.toml"
    wrong.write_bytes(FILE.read_bytes() + b"\n[rumours]\nnames = []\n")
    monkeypatch.setattr(module, "FILE", wrong)
    with pytest.raises(TableError, match="rumours"):
        module.read()
