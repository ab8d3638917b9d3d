"""``paddletorch_shim.paddle.GradScaler``: torch's API on Paddle, beyond what the random schedules reach."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
from typing import Any

import paddle
import pytest
import torch
from paddle.amp.auto_cast import amp_global_state
from paddletorch_shim.paddle import GradScaler
from paddletorch_shim.parity.scalers import paddle_scaler_active

INF = math.inf


def parameter(value: float, dtype: str = "float32") -> Any:
    return paddle.create_parameter([1], dtype, default_initializer=paddle.nn.initializer.Constant(value))


def backward(scaler: Any, param: Any, *gradient: float) -> None:
    """Give ``param`` the scaled gradient of a loss whose gradient is ``gradient``."""
    param.clear_gradient(False)
    scaler.scale((param * paddle.to_tensor(gradient, param.dtype)).sum()).backward()


def sgd(*params: Any, lr: float = 1.0) -> Any:
    return paddle.optimizer.SGD(lr, parameters=list(params))


# ---------------------------------------------------------------------- names


def test_signature_is_torchs_with_the_shims_own_keywords_behind_it() -> None:
    ours = inspect.signature(GradScaler).parameters
    real = inspect.signature(torch.amp.GradScaler).parameters
    assert [(p.name, p.default) for p in list(ours.values())[: len(real)]] == [
        (p.name, p.default) for p in real.values()
    ]
    assert [p.name for p in ours.values() if p.kind is p.KEYWORD_ONLY] == [
        "min_scale",
        "backend",
        "process_group",
    ]


def test_public_methods_are_torchs() -> None:
    real = {name for name in dir(torch.amp.GradScaler) if not name.startswith("_")}
    assert {name for name in dir(GradScaler) if not name.startswith("_")} == real | {"backend", "unscale_and_clip_"}
    for name in real:
        theirs = inspect.signature(getattr(torch.amp.GradScaler, name)).parameters
        ours = inspect.signature(getattr(GradScaler, name)).parameters
        assert list(ours) == list(theirs), name


def test_paddles_spellings_are_taken() -> None:
    scaler = GradScaler(
        enable=True,
        init_loss_scaling=8.0,
        incr_ratio=3.0,
        decr_ratio=0.25,
        incr_every_n_steps=7,
        decr_every_n_nan_or_inf=1,
        use_dynamic_loss_scaling=True,
    )
    assert scaler.is_enabled()
    assert (scaler.get_scale(), scaler.get_growth_factor()) == (8.0, 3.0)
    assert (scaler.get_backoff_factor(), scaler.get_growth_interval()) == (0.25, 7)


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        ({"growth_factor": 1.0}, AssertionError, "The growth factor must be > 1.0."),
        ({"backoff_factor": 1.0}, AssertionError, "The backoff factor must be < 1.0."),
        ({"growth_factor": "2"}, TypeError, "growth_factor must be a number"),
        ({"growth_interval": 0}, ValueError, "growth_interval must be at least 1"),
        ({"growth_interval": -1}, ValueError, "growth_interval must be at least 1"),
        ({"init_scale": 0.0}, ValueError, "init_scale must be a positive number"),
        ({"init_scale": INF}, ValueError, "init_scale must be a positive number"),
        ({"init_scale": math.nan}, ValueError, "init_scale must be a positive number"),
        ({"device": 1024.0}, TypeError, "a loss scale goes to init_scale="),
        ({"enabled": 65536.0}, TypeError, "a loss scale goes to init_scale="),
        ({"decr_every_n_nan_or_inf": 2}, ValueError, "behaves as decr_every_n_nan_or_inf=1"),
        ({"use_dynamic_loss_scaling": False}, ValueError, "behaves as use_dynamic_loss_scaling=True"),
        ({"init_scale": 1.0, "init_loss_scaling": 1.0}, TypeError, "two spellings of one parameter"),
    ],
)
def test_bad_constructor_arguments(kwargs: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        GradScaler(**kwargs)


# ---------------------------------------------------------------------- the order of calls


def outcome(call: Any) -> tuple[type[Exception] | None, str]:
    try:
        call()
    except Exception as error:
        return type(error), str(error)
    return None, ""


@pytest.mark.parametrize(
    "calls",
    [
        ["step"],
        ["unscale_"],
        ["update"],
        ["scale", "update"],
        ["scale", "step"],  # no gradients
        ["scale", "unscale_", "step"],  # no gradients
        ["scale", "unscale_", "update"],  # no gradients
        ["backward", "step", "step"],
        ["backward", "unscale_", "unscale_"],
        ["backward", "unscale_", "step", "unscale_"],
        ["backward", "step", "update", "update"],
        ["backward", "step", "update", "backward", "step", "update"],
        ["backward", "unscale_", "update", "backward", "step", "update"],
        ["backward", "step(closure)"],
    ],
)
def test_order_of_calls_is_checked_as_in_torch(calls: list[str]) -> None:
    ours, real = GradScaler("cpu", init_scale=4.0), torch.amp.GradScaler("cpu", init_scale=4.0)
    param, real_param = parameter(1.0), torch.nn.Parameter(torch.ones(1))
    optimizer, real_optimizer = sgd(param), torch.optim.SGD([real_param], lr=1.0)

    def do(scaler: Any, call: str, opt: Any, p: Any) -> None:
        if call == "scale":
            scaler.scale(p.sum())
        elif call == "backward":
            opt.zero_grad() if p is real_param else opt.clear_grad(set_to_zero=False)
            scaler.scale(p.sum()).backward()
        elif call == "update":
            scaler.update()
        elif call == "step(closure)":
            scaler.step(opt, closure=None)
        else:
            getattr(scaler, call)(opt)

    for call in calls:
        theirs = outcome(lambda call=call: do(real, call, real_optimizer, real_param))
        mine = outcome(lambda call=call: do(ours, call, optimizer, param))
        assert mine[0] is theirs[0], call
        assert mine[1].startswith(theirs[1]), call
    assert param.item() == real_param.item()
    assert ours.get_scale() == real.get_scale()


@pytest.mark.parametrize("value", ["x", 5, torch.ones(1)])
def test_update_refuses_what_is_no_scale(value: Any) -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale(paddle.ones([]))
    with pytest.raises(AttributeError, match="new_scale should be a float"):
        scaler.update(value)
    assert scaler.get_scale() == 4.0


@pytest.mark.parametrize("value", [0.0, INF, math.nan, -2.0])
def test_update_refuses_scales_that_end_the_training(value: float) -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale(paddle.ones([]))
    for new_scale in (value, paddle.to_tensor([value])):
        with pytest.raises(ValueError, match="new_scale must be a positive number"):
            scaler.update(new_scale)
    assert scaler.get_scale() == 4.0


def test_update_takes_a_float_or_a_tensor_of_one_element() -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    scaler.scale(paddle.ones([]))
    scaler.update(8.0)
    assert scaler.get_scale() == 8.0
    scaler.update(paddle.to_tensor([16.0]))
    assert scaler.get_scale() == 16.0
    for wrong in (paddle.ones([2]), paddle.to_tensor([1.0], stop_gradient=False)):
        with pytest.raises(AssertionError, match="new_scale should be a float"):
            scaler.update(wrong)


def test_setters_allow_a_frozen_scale_and_nothing_senseless() -> None:
    scaler = GradScaler("cpu")
    scaler.set_growth_factor(1.0)
    scaler.set_backoff_factor(1.0)
    for setter, value in (
        ("set_growth_factor", 0.5),
        ("set_backoff_factor", 2.0),
        ("set_growth_interval", 0),
    ):
        with pytest.raises((AssertionError, ValueError)):
            getattr(scaler, setter)(value)
    assert (scaler.get_growth_factor(), scaler.get_backoff_factor()) == (1.0, 1.0)
    assert scaler.get_growth_interval() == 2000


# ---------------------------------------------------------------------- where Paddle's own scaler is wrong


@pytest.mark.parametrize("first", [INF, 1.0])
@pytest.mark.parametrize("second", [INF, 1.0])
@pytest.mark.parametrize("unscale_first", [True, False])
def test_two_optimizers_as_in_torch(first: float, second: float, unscale_first: bool) -> None:
    ours, real = GradScaler("cpu", init_scale=64.0), torch.amp.GradScaler("cpu", init_scale=64.0)
    params = [parameter(1.0), parameter(1.0)]
    real_params = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
    optimizers = [sgd(p) for p in params]
    real_optimizers = [torch.optim.SGD([p], lr=1.0) for p in real_params]
    for param, real_param, gradient in zip(params, real_params, (first, second), strict=True):
        backward(ours, param, gradient)
        real.scale((real_param * gradient).sum()).backward()
    for scaler, opts in ((ours, optimizers), (real, real_optimizers)):
        if unscale_first:
            for opt in opts:
                scaler.unscale_(opt)
        for opt in opts:
            scaler.step(opt)
        scaler.update()
    assert [p.item() for p in params] == [p.item() for p in real_params]
    assert ours.get_scale() == real.get_scale()


def test_a_found_inf_left_by_paddles_scaler_blocks_no_step() -> None:
    param = parameter(1.0)
    optimizer = sgd(param)
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(init_loss_scaling=64.0)
        backward(real, param, INF)
        real.step(optimizer)
        param.clear_gradient(False)
        param.sum().backward()
        optimizer.step()
    assert param.item() == 1.0  # Paddle's optimizer is stuck
    scaler = GradScaler("cpu", init_scale=64.0)
    backward(scaler, param, 1.0)
    scaler.step(optimizer)
    assert param.item() == 0.0
    optimizer._set_auxiliary_var("found_inf", True)
    GradScaler(enabled=False).step(optimizer)
    assert param.item() == -64.0 + 64.0 - 1.0


def test_an_overflow_leaves_no_trace_on_the_optimizer() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler("cpu", init_scale=64.0), sgd(param)
    backward(scaler, param, INF)
    scaler.step(optimizer)
    scaler.update()
    param.clear_gradient(False)
    param.sum().backward()
    optimizer.step()
    assert param.item() == 0.0


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("dtype", ["float64", "bfloat16"])
def test_gradient_dtypes(dtype: str, backend: str) -> None:
    param = parameter(1.0, dtype=dtype)
    scaler, optimizer = GradScaler("cpu", init_scale=64.0, backend=backend), sgd(param)
    scaler.scale(paddle.ones([]))
    param.grad = paddle.full([1], 32.0, dtype)
    scaler.unscale_(optimizer)
    assert param.grad.astype("float32").item() == 0.5
    scaler.update()
    param.grad = paddle.full([1], INF, dtype)
    scaler.step(optimizer)
    scaler.update()
    assert param.astype("float32").item() == 1.0
    assert scaler.get_scale() == 32.0


def test_float16_gradients_are_refused_as_in_torch() -> None:
    param = parameter(1.0)
    scaler = GradScaler("cpu", init_scale=64.0)
    scaler.scale(paddle.ones([]))
    half = paddle.ones([1]).astype("float16")
    half.stop_gradient = False
    half.grad = paddle.ones([1]).astype("float16")
    optimizer = sgd(param)
    optimizer._param_groups[0] = half
    with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
        scaler.step(optimizer)


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_sparse_gradients(backend: str) -> None:
    """Paddle's own scaler reads them as dense ones and crashes."""
    layer = paddle.nn.Embedding(4, 2, sparse=True, weight_attr=paddle.nn.initializer.Constant(1.0))
    scaler, optimizer = GradScaler("cpu", init_scale=64.0, backend=backend), sgd(layer.weight)
    for factor, expected in ((0.25, 0.5), (INF, 0.5)):
        layer.weight.clear_gradient(False)
        scaler.scale((layer(paddle.to_tensor([1, 1, 2])) * factor).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert layer.weight[1].tolist() == [expected, expected]
        assert layer.weight[0].tolist() == [1.0, 1.0]
    assert scaler.get_scale() == 32.0


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_scaling_does_not_depend_on_autocasts_dtype(dtype: str) -> None:
    before = amp_global_state().amp_dtype
    amp_global_state().amp_dtype = dtype
    try:
        scaler = GradScaler("cpu", init_scale=64.0)
        assert scaler.scale(paddle.ones([])).item() == 64.0
        assert scaler.is_enabled()
    finally:
        amp_global_state().amp_dtype = before


def test_growth_keeps_the_scale_at_the_end_of_float32() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler("cpu", init_scale=2.0**126, growth_interval=1), sgd(param, lr=0.0)
    for _ in range(3):
        backward(scaler, param, 2.0**-20)
        scaler.step(optimizer)
        scaler.update()
    assert scaler.get_scale() == 2.0**127


def test_groups_parameters_without_gradient_and_main_grad() -> None:
    a, b, unused, master = (parameter(1.0) for _ in range(4))
    optimizer = paddle.optimizer.SGD(1.0, parameters=[{"params": [a, unused]}, {"params": [b], "learning_rate": 0.5}])
    scaler = GradScaler("cpu", init_scale=64.0)
    scaler.scale(a.sum() + b.sum()).backward()
    scaler.step(optimizer)
    assert (a.item(), b.item(), unused.item()) == (0.0, 0.5, 1.0)
    master.main_grad = paddle.full([1], 32.0)
    scaler.unscale_(sgd(master))
    assert master.main_grad.item() == 0.5


def test_an_optimizer_must_have_parameters() -> None:
    scaler = GradScaler("cpu")
    scaler.scale(paddle.ones([]))
    with pytest.raises(AttributeError, match=r"paddle\.optimizer\.Optimizer"):
        scaler.step(torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0))


def test_step_returns_the_optimizers_value_and_passes_arguments_on() -> None:
    class Returning(paddle.optimizer.SGD):
        def step(self, value: int) -> int:
            super().step()
            return value

    param = parameter(1.0)
    scaler, optimizer = GradScaler("cpu", init_scale=64.0), Returning(1.0, parameters=[param])
    backward(scaler, param, 1.0)
    assert scaler.step(optimizer, 7) == 7
    scaler.update()
    backward(scaler, param, INF)
    assert scaler.step(optimizer, 7) is None


# ---------------------------------------------------------------------- scale()


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (3.0, "float32"),
        ([3.0, 4.0], "float32"),
        (3.0, "float64"),
        ([3.0], "float64"),
        (3.0, "bfloat16"),
        ([1.0, 1.5], "bfloat16"),
        (3.0, "float16"),
        ([3.0], "float16"),
        (3, "int64"),
        ([3, 4], "int32"),
        (True, "bool"),
        ([1 + 2j], "complex64"),
        (1 + 2j, "complex128"),
    ],
)
def test_scale_gives_torchs_shape_dtype_and_values(value: Any, dtype: str) -> None:
    # 65536 * 3 is infinite in float16, which must happen as in torch.
    real = torch.amp.GradScaler("cpu").scale(torch.tensor(value, dtype=getattr(torch, dtype)))
    ours = GradScaler("cpu").scale(paddle.to_tensor(value, dtype=dtype))
    assert list(ours.shape) == list(real.shape)
    assert str(ours.dtype).rpartition(".")[2] == str(real.dtype).rpartition(".")[2]
    wide = "complex128" if real.is_complex() else "float64"
    assert ours.astype(wide).tolist() == real.to(getattr(torch, wide)).tolist()


def test_scale_goes_into_nested_outputs() -> None:
    scaler = GradScaler("cpu", init_scale=4.0)
    one = paddle.ones([])
    nested = scaler.scale([one, (one, [one])])
    assert isinstance(nested, list)
    assert isinstance(nested[1], tuple)
    assert [nested[0].item(), nested[1][0].item(), nested[1][1][0].item()] == [4.0] * 3
    assert [t.item() for t in scaler.scale(one for _ in range(2))] == [4.0, 4.0]
    for wrong in ("loss", 1.0, None, [1.0]):
        with pytest.raises(ValueError, match="outputs must be a Tensor or an iterable of Tensors"):
            scaler.scale(wrong)


def test_scale_keeps_the_graph() -> None:
    param = parameter(1.0)
    GradScaler("cpu", init_scale=4.0).scale([param.sum(), (param * 2).sum()])[1].backward()
    assert param.grad.item() == 8.0


# ---------------------------------------------------------------------- state


def test_disabled_scaler_as_in_torch() -> None:
    param = parameter(1.0)
    scaler, real = GradScaler("cpu", enabled=False), torch.amp.GradScaler("cpu", enabled=False)
    assert scaler.scale("anything") == "anything"
    param.sum().backward()
    scaler.unscale_(sgd(param))
    scaler.step(sgd(param))
    scaler.update()
    assert param.item() == 0.0
    assert scaler.get_scale() == real.get_scale() == 1.0
    assert scaler.state_dict() == real.state_dict() == {}
    for each in (scaler, real):
        with pytest.raises(AttributeError):
            each.get_growth_factor()
    scaler.load_state_dict({})


def test_state_moves_to_torchs_own_scaler_and_back() -> None:
    scaler, param = GradScaler("cpu", init_scale=64.0), parameter(1.0)
    backward(scaler, param, 1.0)
    scaler.step(sgd(param))
    scaler.update()
    real = torch.amp.GradScaler("cpu")
    real.load_state_dict(scaler.state_dict())
    again = GradScaler("cpu")
    again.load_state_dict(real.state_dict())
    assert again.state_dict() == real.state_dict() == scaler.state_dict()
    assert again.state_dict()["_growth_tracker"] == 1


@pytest.mark.parametrize(
    ("state", "error"),
    [
        ({}, RuntimeError),
        ({"scale": 1.0}, KeyError),
        (5, TypeError),
        ({"growth_factor": 0.5}, ValueError),
        ({"scale": 0.0}, ValueError),
        ({"surplus": 1}, KeyError),
    ],
)
def test_a_bad_state_changes_nothing(state: Any, error: type[Exception]) -> None:
    scaler = GradScaler("cpu", init_scale=64.0)
    before = scaler.state_dict()
    if (isinstance(state, dict) and state and "scale" not in state) or state == {"scale": 0.0}:
        state = {**before, "_growth_tracker": 9, **state}
    with pytest.raises(error):
        scaler.load_state_dict(state)
    assert scaler.state_dict() == before


def test_paddles_state_is_refused_with_the_way_out() -> None:
    with paddle_scaler_active():
        saved = paddle.amp.GradScaler().state_dict()
    with pytest.raises(KeyError, match="paddle_to_torch"):
        GradScaler("cpu").load_state_dict(saved)


def test_pickle_and_copy_keep_settings_and_state() -> None:
    scaler, param = GradScaler("cpu", init_scale=64.0, backend="reference"), parameter(1.0)
    backward(scaler, param, INF)
    scaler.step(sgd(param))
    with pytest.raises(AssertionError, match="beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.update()
    for clone in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert clone.state_dict() == scaler.state_dict()
        assert clone.get_scale() == 32.0
        assert clone.backend == "reference"


@pytest.mark.parametrize("max_norm", [0.25, 100.0])
@pytest.mark.parametrize("enabled", [True, False])
def test_unscale_and_clip_is_the_two_calls(max_norm: float, enabled: bool) -> None:
    params = [paddle.create_parameter([2], "float32") for _ in range(2)]
    optimizers = [paddle.optimizer.SGD(1.0, parameters=[p]) for p in params]
    scalers = [GradScaler("cpu", init_scale=64.0, enabled=enabled) for _ in params]
    if enabled:
        with pytest.raises(AssertionError, match="_scale is None"):
            scalers[0].unscale_and_clip_(optimizers[0], max_norm)
    for scaler, param in zip(scalers, params, strict=True):
        scaler.scale((param * paddle.to_tensor([3.0, 4.0])).sum()).backward()
    norm = scalers[0].unscale_and_clip_(optimizers[0], max_norm)
    scalers[1].unscale_(optimizers[1])
    assert norm.item() == paddle.nn.utils.clip_grad_norm_([params[1]], max_norm).item() == 5.0
    assert params[0].grad.tolist() == params[1].grad.tolist()


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_a_scale_that_overflows_made_zero_is_gone_on_with_as_torch_does(backend: str) -> None:
    scaler, real = (made("cpu", 8.0, backoff_factor=1e-30) for made in (backend_of(backend), torch.amp.GradScaler))
    ours, theirs = parameter(1.0), torch.nn.Parameter(torch.ones(1))
    for gradient in (INF, INF, INF, 1.0):
        backward(scaler, ours, gradient)
        theirs.grad = None
        real.scale((theirs * gradient).sum()).backward()
        optimizers = sgd(ours), torch.optim.SGD([theirs], lr=1.0)
        for one, optimizer in zip((scaler, real), optimizers, strict=True):
            one.unscale_(optimizer)
            one.step(optimizer)
            one.update()
        assert repr(float(ours.grad)) == repr(float(theirs.grad))
        assert scaler.get_scale() == real.get_scale()
        assert repr(float(ours)) == repr(float(theirs))
    assert real.get_scale() == 0.0


def backend_of(name: str) -> Any:
    return lambda *args, **kwargs: GradScaler(*args, **kwargs, backend=name)
