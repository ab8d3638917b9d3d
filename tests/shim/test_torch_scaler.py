"""``paddletorch_shim.torch.GradScaler``: Paddle's API on torch, beyond what the random schedules reach."""

from __future__ import annotations

import copy
import inspect
import math
import pickle
import sys
from typing import Any

import paddle
import pytest
import torch
from paddletorch_shim.parity.scalers import paddle_scaler_active
from paddletorch_shim.torch import GradScaler

INF = math.inf


def parameter(*values: float, dtype: torch.dtype = torch.float32) -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.tensor(values, dtype=dtype))


def backward(scaler: Any, param: torch.Tensor, *gradient: float) -> None:
    """Give ``param`` the scaled gradient of a loss whose gradient is ``gradient``."""
    param.grad = None
    scaler.scale((param * torch.tensor(gradient, dtype=param.dtype)).sum()).backward()


def sgd(*params: torch.Tensor, lr: float = 1.0) -> torch.optim.Optimizer:
    return torch.optim.SGD(params, lr=lr)


# ---------------------------------------------------------------------- names


def test_signature_is_paddles_with_the_shims_own_keywords_behind_it() -> None:
    ours = inspect.signature(GradScaler).parameters
    real = inspect.signature(paddle.amp.GradScaler).parameters
    assert [(p.name, p.default) for p in list(ours.values())[: len(real)]] == [
        (p.name, p.default) for p in real.values()
    ]
    assert [p.name for p in ours.values() if p.kind is p.KEYWORD_ONLY] == [
        "min_scale",
        "backend",
        "process_group",
    ]


def test_public_methods_are_paddles() -> None:
    real = {name for name in dir(paddle.amp.GradScaler) if not name.startswith("_")}
    assert {name for name in dir(GradScaler) if not name.startswith("_")} == real | {"backend", "unscale_and_clip_"}
    for name in real:
        theirs = inspect.signature(getattr(paddle.amp.GradScaler, name)).parameters
        ours = inspect.signature(getattr(GradScaler, name)).parameters
        assert list(ours) == list(theirs), name


def test_positional_arguments_are_in_paddles_order() -> None:
    scaler = GradScaler(True, 8.0, 3.0, 0.25, 7, 2, False)
    assert scaler.get_init_loss_scaling() == 8.0
    assert scaler.get_incr_ratio() == 3.0
    assert scaler.get_decr_ratio() == 0.25
    assert scaler.get_incr_every_n_steps() == 7
    assert scaler.get_decr_every_n_nan_or_inf() == 2
    assert not scaler.is_use_dynamic_loss_scaling()


def test_torchs_spellings_are_taken() -> None:
    scaler = GradScaler(
        device="cpu", enabled=True, init_scale=8.0, growth_factor=3.0, backoff_factor=0.25, growth_interval=7
    )
    assert scaler.is_enable()
    assert [
        scaler.get_init_loss_scaling(),
        scaler.get_incr_ratio(),
        scaler.get_decr_ratio(),
        scaler.get_incr_every_n_steps(),
    ] == [8.0, 3.0, 0.25, 7]


@pytest.mark.parametrize(
    ("args", "kwargs", "names"),
    [
        ((), {"init_scale": 8.0, "init_loss_scaling": 8.0}, ("init_scale", "init_loss_scaling")),
        ((True, 8.0), {"init_scale": 8.0}, ("init_scale", "init_loss_scaling")),
        ((), {"enable": True, "enabled": True}, ("enable", "enabled")),
    ],
)
def test_both_spellings_of_one_parameter(args: tuple[Any, ...], kwargs: dict[str, Any], names: tuple[str, str]) -> None:
    with pytest.raises(TypeError) as error:
        GradScaler(*args, **kwargs)
    assert all(f"'{name}'" in str(error.value) for name in names)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("kwargs", "error", "text"),
    [
        ({"incr_ratio": 1.0}, AssertionError, "The incr_ratio must be > 1.0."),
        ({"incr_ratio": INF}, AssertionError, "The incr_ratio must be > 1.0."),
        ({"decr_ratio": 1.0}, AssertionError, "The decr_ratio must be < 1.0."),
        ({"decr_ratio": 0.0}, AssertionError, "The decr_ratio must be < 1.0."),
        ({"decr_ratio": math.nan}, AssertionError, "The decr_ratio must be < 1.0."),
        ({"incr_ratio": "2"}, TypeError, "incr_ratio must be a number"),
        ({"incr_every_n_steps": 0}, ValueError, "incr_every_n_steps must be at least 1"),
        ({"incr_every_n_steps": -5}, ValueError, "incr_every_n_steps must be at least 1"),
        ({"incr_every_n_steps": 2.5}, ValueError, "incr_every_n_steps must be a whole number"),
        ({"decr_every_n_nan_or_inf": 0}, ValueError, "decr_every_n_nan_or_inf must be at least 1"),
        ({"init_loss_scaling": 0.0}, ValueError, "init_loss_scaling must be a positive number"),
        ({"init_loss_scaling": INF}, ValueError, "init_loss_scaling must be a positive number"),
        ({"init_loss_scaling": math.nan}, ValueError, "init_loss_scaling must be a positive number"),
        ({"init_loss_scaling": -1.0}, ValueError, "init_loss_scaling must be a positive number"),
        ({"init_loss_scaling": 1e39}, ValueError, "within the range of float32"),
        ({"init_loss_scaling": False}, ValueError, "init_loss_scaling must be a positive number"),
        ({"enable": 1024.0}, TypeError, "a loss scale goes to init_loss_scaling="),
        ({"use_dynamic_loss_scaling": 2}, TypeError, "use_dynamic_loss_scaling must be a bool"),
        ({"min_scale": math.nan}, ValueError, "min_scale must be from 0.0"),
        ({"min_scale": -1.0}, ValueError, "min_scale must be from 0.0"),
        ({"min_scale": 2.0**17}, ValueError, "to the initial scale 65536.0"),
        ({"device": 0}, TypeError, "'device' must be a str"),
        ({"loss_scale": 2.0}, TypeError, "loss_scale"),
        ({"backend": "cuda"}, RuntimeError, "no such backend"),
    ],
)
def test_bad_constructor_arguments(kwargs: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        GradScaler(**kwargs)


@pytest.mark.parametrize(
    ("method", "value", "error"),
    [
        ("set_incr_ratio", 1.0, AssertionError),
        ("set_decr_ratio", 2.0, AssertionError),
        ("set_incr_every_n_steps", 0, ValueError),
        ("set_decr_every_n_nan_or_inf", -1, ValueError),
        ("set_init_loss_scaling", 0.0, ValueError),
        ("set_init_loss_scaling", "a", ValueError),
        ("load_state_dict", {}, RuntimeError),
        ("load_state_dict", {"scale": [1.0]}, KeyError),
        ("load_state_dict", 5, TypeError),
        ("load_state_dict", torch.amp.GradScaler("cpu").state_dict(), KeyError),
        ("scale", [torch.ones(1)], AttributeError),
        ("scale", 1.0, AttributeError),
        ("unscale_", paddle.optimizer.SGD(1.0, parameters=[paddle.create_parameter([1], "float32")]), AttributeError),
        ("scale", torch.ones(2, dtype=torch.int64), TypeError),
    ],
)
def test_bad_calls_change_nothing(method: str, value: Any, error: type[Exception]) -> None:
    scaler = GradScaler(init_loss_scaling=64.0)
    before = scaler.state_dict()
    with pytest.raises(error):
        getattr(scaler, method)(value)
    assert scaler.state_dict() == before


def test_one_bad_value_in_a_state_dict_changes_nothing() -> None:
    scaler = GradScaler(init_loss_scaling=64.0)
    for key, value in [("decr_count", -1), ("scale", torch.tensor([INF])), ("incr_ratio", 0.5), ("extra", 1)]:
        before = scaler.state_dict()
        with pytest.raises((KeyError, ValueError), match=key):
            scaler.load_state_dict({**before, "incr_count": 5, key: value})
        assert scaler.state_dict() == before


def test_order_of_calls_is_checked_as_in_paddle() -> None:
    ours, param = GradScaler(init_loss_scaling=4.0), parameter(1.0)
    optimizer = sgd(param)
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(init_loss_scaling=4.0)
        real_param = paddle.create_parameter([1], "float32")
        real_optimizer = paddle.optimizer.SGD(1.0, parameters=[real_param])
        backward(ours, param, 1.0)
        real.scale(real_param.sum()).backward()
        for method in ("unscale_", "unscale_", "step", "step", "unscale_"):
            outcomes = []
            for scaler, opt in ((real, real_optimizer), (ours, optimizer)):
                try:
                    outcomes.append((None, getattr(scaler, method)(opt)))
                except Exception as error:
                    outcomes.append((type(error), str(error)))
            assert outcomes[0][0] is outcomes[1][0]
            assert str(outcomes[1][1]).startswith(str(outcomes[0][1]))
    assert param.item() == 0.0


def test_what_paddle_lets_pass_is_done_with_a_warning() -> None:
    param = parameter(1.0)
    optimizer, scaler = sgd(param), GradScaler(init_loss_scaling=64.0)
    param.grad = torch.tensor([64.0])
    with pytest.warns(RuntimeWarning, match="scale\\(\\) was never called"):
        scaler.step(optimizer)
    assert param.item() == 0.0
    scaler.update()
    with pytest.warns(RuntimeWarning, match="update\\(\\) was called without a step"):
        scaler.update()
    assert scaler.state_dict()["incr_count"] == 2


# ---------------------------------------------------------------------- optimizers and gradients


def test_parameter_groups_and_parameters_without_gradient() -> None:
    a, b, unused = parameter(1.0), parameter(1.0), parameter(1.0)
    optimizer = torch.optim.SGD([{"params": [a, unused]}, {"params": [b], "lr": 0.5}], lr=1.0)
    scaler = GradScaler(init_loss_scaling=64.0)
    scaler.scale(a.sum() + b.sum()).backward()
    scaler.step(optimizer)
    assert (a.item(), b.item(), unused.item()) == (0.0, 0.5, 1.0)


def test_an_optimizer_without_gradients_counts_as_finite() -> None:
    scaler = GradScaler(init_loss_scaling=64.0)
    scaler.scale(torch.ones(1))
    scaler.step(sgd(parameter(1.0)))
    scaler.update()
    assert scaler.state_dict()["incr_count"] == 1


@pytest.mark.parametrize("first", [INF, 1.0])
@pytest.mark.parametrize("second", [INF, 1.0])
def test_each_of_two_optimizers_keeps_its_own_overflow(first: float, second: float) -> None:
    """Paddle 3.3.1 lets the last one decide for both."""
    a, b = parameter(1.0), parameter(1.0)
    optimizers = [sgd(a), sgd(b)]
    scaler = GradScaler(init_loss_scaling=64.0, incr_every_n_steps=1)
    backward(scaler, a, first)
    backward(scaler, b, second)
    for optimizer in optimizers:
        scaler.unscale_(optimizer)
    for optimizer in optimizers:
        scaler.step(optimizer)
    scaler.update()
    assert (a.item(), b.item()) == (1.0 if first == INF else 0.0, 1.0 if second == INF else 0.0)
    assert scaler.state_dict()["scale"].item() == (32.0 if INF in (first, second) else 128.0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_gradient_dtypes(dtype: torch.dtype, backend: str) -> None:
    param = parameter(1.0, dtype=dtype)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0, backend=backend), sgd(param)
    param.grad = torch.full_like(param, 32.0)
    scaler.scale(torch.ones(1))
    scaler.step(optimizer)
    assert param.item() == 0.5
    scaler.update()
    param.grad = torch.full_like(param, INF)
    scaler.step(optimizer)
    scaler.update()
    assert param.item() == 0.5
    assert scaler.state_dict()["scale"].item() == 32.0


@pytest.mark.parametrize("coalesced", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_sparse_gradients(dtype: torch.dtype, coalesced: bool) -> None:
    weight = torch.nn.Parameter(torch.ones(4, 2, dtype=dtype))
    scaler, optimizer = GradScaler(init_loss_scaling=64.0), sgd(weight)
    scaler.scale(torch.ones(1))
    for value, expected in ((32.0, 0.0), (INF, 0.0)):
        rows, values = torch.tensor([[1, 1]]), torch.full((2, 2), value, dtype=dtype)
        grad = torch.sparse_coo_tensor(rows, values, (4, 2))
        weight.grad = grad.coalesce() if coalesced else grad
        scaler.step(optimizer)
        scaler.update()
        assert weight[1].tolist() == [expected, expected]
        assert weight[0].tolist() == [1.0, 1.0]
    assert scaler.state_dict()["scale"].item() == 32.0


def test_sparse_float16_whose_sum_overflows() -> None:
    weight = torch.nn.Parameter(torch.ones(2, 1, dtype=torch.float16))
    weight.grad = torch.sparse_coo_tensor(
        torch.tensor([[0, 0]]), torch.full((2, 1), 60000.0, dtype=torch.float16), (2, 1)
    )
    scaler = GradScaler(init_loss_scaling=64.0)
    scaler.scale(torch.ones(1))
    scaler.step(sgd(weight))
    assert weight.tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("unscale_first", [False, True])
def test_fused_sgd_whose_first_step_overflows(unscale_first: bool) -> None:
    """torch's fused SGD would go on with momentum from memory that was never set."""
    params = [parameter(1.0, 1.0) for _ in range(2)]
    optimizers = [torch.optim.SGD([p], lr=0.5, momentum=0.9, fused=p is params[0]) for p in params]
    for param, optimizer in zip(params, optimizers, strict=True):
        scaler = GradScaler(init_loss_scaling=64.0)
        for value in (INF, 1.0, 2.0, INF, 3.0):
            backward(scaler, param, value, 1.0)
            if unscale_first:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
    assert params[0].tolist() == params[1].tolist()


@pytest.mark.parametrize("max_norm", [0.25, 100.0])
@pytest.mark.parametrize("enable", [True, False])
def test_unscale_and_clip_is_the_two_calls(max_norm: float, enable: bool) -> None:
    params = [parameter(1.0, 1.0) for _ in range(2)]
    optimizers = [sgd(p) for p in params]
    scalers = [GradScaler(enable, init_loss_scaling=64.0) for _ in params]
    for scaler, param in zip(scalers, params, strict=True):
        backward(scaler, param, 3.0, 4.0)
    norm = scalers[0].unscale_and_clip_(optimizers[0], max_norm)
    scalers[1].unscale_(optimizers[1])
    assert norm == torch.nn.utils.clip_grad_norm_([params[1]], max_norm) == 5.0
    assert torch.equal(params[0].grad, params[1].grad)
    if enable:
        with pytest.raises(RuntimeError, match="already been called"):
            scalers[0].unscale_and_clip_(optimizers[0], max_norm)


@pytest.mark.parametrize("make", [torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD])
@pytest.mark.parametrize("unscale_first", [False, True])
def test_fused_optimizers_skip_by_themselves(make: Any, unscale_first: bool) -> None:
    """Bit for bit as torch's own scaler steps them."""
    params = [parameter(1.0, 2.0, 3.0) for _ in range(2)]
    optimizers = [make([param], lr=0.1, fused=True) for param in params]
    scalers = [torch.amp.GradScaler("cpu", init_scale=64.0), GradScaler(init_loss_scaling=64.0)]
    for gradient in [(1.0, 2.0, 3.0), (INF, 1.0, 1.0), (1.0, math.nan, 1.0), (0.5, 0.25, -3.0)]:
        for scaler, param, optimizer in zip(scalers, params, optimizers, strict=True):
            backward(scaler, param, *gradient)
            if unscale_first:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            assert not hasattr(optimizer, "found_inf")
        assert torch.equal(*params)
    assert scalers[0].get_scale() == scalers[1].state_dict()["scale"].item() == 16.0


def test_an_optimizer_of_the_older_contract_is_stepped_as_a_plain_one() -> None:
    class Older(torch.optim.SGD):
        _step_supports_amp_scaling = True

        def step(self, closure: Any = None, grad_scaler: Any = None) -> None:
            assert grad_scaler is None
            super().step(closure)

    param = parameter(1.0)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0), Older([param], lr=1.0)
    for gradient, expected in ((INF, 1.0), (1.0, 0.0)):
        backward(scaler, param, gradient)
        scaler.step(optimizer)
        scaler.update()
        assert param.item() == expected


# ---------------------------------------------------------------------- Paddle's own ways


def test_overflows_are_tolerated_until_the_nth() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0, decr_every_n_nan_or_inf=3), sgd(param)
    scales = []
    for gradient in (INF, INF, 1.0, INF, INF, INF):
        backward(scaler, param, gradient)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.state_dict()["scale"].item())
    assert scales == [64.0] * 5 + [32.0]
    assert param.item() == 0.0


@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("tolerated", [1, 2, 2**32 + 1])
def test_intervals_beyond_the_counters_never_end(tolerated: int, backend: str) -> None:
    """``sys.maxsize`` is how training code turns growth off; 2**32 + 1 has low 32 bits of 1."""
    for interval in (2**32 + 1, sys.maxsize):
        param = parameter(1.0)
        scaler = GradScaler(
            init_loss_scaling=4.0, incr_every_n_steps=interval, decr_every_n_nan_or_inf=tolerated, backend=backend
        )
        for factor, scale in ((1.0, 4.0), (INF, 2.0 if tolerated == 1 else 4.0)):
            backward(scaler, param, factor)
            scaler.step(sgd(param))
            scaler.update()
            assert scaler.state_dict()["scale"].item() == scale


def test_static_scaling_skips_but_keeps_the_scale() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0, use_dynamic_loss_scaling=False), sgd(param)
    for gradient, expected in ((INF, 1.0), (1.0, 0.0)):
        backward(scaler, param, gradient)
        scaler.step(optimizer)  # no update(): a static scaler needs none
        assert param.item() == expected
    assert scaler.state_dict()["scale"].item() == 64.0


def test_an_overflow_under_static_scaling_does_not_count_once_it_is_dynamic() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0, use_dynamic_loss_scaling=False), sgd(param)
    for gradient in (INF, 1.0):
        backward(scaler, param, gradient)
        scaler.step(optimizer)
    scaler.load_state_dict(GradScaler(init_loss_scaling=64.0).state_dict())
    backward(scaler, param, 1.0)
    scaler.step(optimizer)
    scaler.update()
    assert scaler.state_dict()["incr_count"] == 1


def test_private_scale_reads_as_in_paddle() -> None:
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(init_loss_scaling=64.0)._scale
    scaler = GradScaler(init_loss_scaling=64.0)
    for _ in range(2):
        assert scaler._scale.tolist() == real.tolist() == [64.0]
        scaler.scale(torch.ones(()))


@pytest.mark.parametrize(("method", "arguments"), [("update", 0), ("step", 1), ("unscale_", 1), ("minimize", 2)])
def test_warnings_point_at_the_caller(method: str, arguments: int) -> None:
    call = getattr(GradScaler(), method)
    with pytest.warns(RuntimeWarning) as caught:
        call(*(sgd(parameter(1.0)), torch.ones(1))[:arguments])
    assert [warning.filename for warning in caught] == [__file__]


def test_minimize_returns_what_paddle_returns() -> None:
    param = parameter(1.0)
    scaler, optimizer = GradScaler(init_loss_scaling=64.0), sgd(param)
    loss = scaler.scale(param.sum())
    loss.backward()
    operators, pairs = scaler.minimize(optimizer, loss)
    assert operators == []
    assert [(p is param, g.item()) for p, g in pairs] == [(True, 1.0)]
    assert scaler.state_dict()["incr_count"] == 1
    with pytest.raises(AssertionError, match="The loss should be an Tensor"):
        scaler.minimize(optimizer, 1.0)
    with pytest.raises(NotImplementedError, match="parameters= or no_grad_set="):
        scaler.minimize(optimizer, loss, parameters=[param])


def test_disabled_scaler_passes_everything_through() -> None:
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(enable=False)
    param = parameter(1.0)
    scaler, optimizer = GradScaler(enable=False), sgd(param)
    assert scaler.scale("anything") == "anything"
    param.grad = torch.ones(1)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert param.item() == -1.0
    assert scaler.state_dict() == real.state_dict() == {}
    assert scaler.get_init_loss_scaling() == real.get_init_loss_scaling() == 1.0
    assert scaler._scale is None
    for getter in ("get_incr_ratio", "get_decr_every_n_nan_or_inf"):
        for each in (scaler, real):
            with pytest.raises(AttributeError):
                getattr(each, getter)()
    scaler.load_state_dict({})


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(3.0, "float32"), (3.0, "float64"), ([3.0], "float64"), ([1.0, 2.0], "bfloat16"), (3.0, "bfloat16")],
)
def test_scale_gives_paddles_shape_and_dtype(value: Any, dtype: str) -> None:
    with paddle_scaler_active():
        real = paddle.amp.GradScaler(init_loss_scaling=64.0).scale(paddle.to_tensor(value, dtype=dtype))
    ours = GradScaler(init_loss_scaling=64.0).scale(torch.tensor(value, dtype=getattr(torch, dtype)))
    assert list(ours.shape) == list(real.shape)
    assert str(ours.dtype).rpartition(".")[2] == str(real.dtype).rpartition(".")[2]
    assert ours.tolist() == real.astype("float64").tolist()


def test_growth_keeps_the_scale_at_the_end_of_float32_and_min_scale_holds() -> None:
    param = parameter(1.0)
    optimizer = sgd(param, lr=0.0)
    high = GradScaler(init_loss_scaling=2.0**126, incr_every_n_steps=1)
    low = GradScaler(init_loss_scaling=4.0, min_scale=2.0)
    for _ in range(3):
        backward(high, param, 2.0**-20)
        high.step(optimizer)
        high.update()
        backward(low, param, INF)
        low.step(optimizer)
        low.update()
    assert high.state_dict()["scale"].item() == 2.0**127
    assert low.state_dict()["scale"].item() == 2.0


# ---------------------------------------------------------------------- checkpoints


def test_state_moves_to_paddles_own_scaler_and_back(tmp_path: Any) -> None:
    scaler, param = GradScaler(init_loss_scaling=64.0, decr_every_n_nan_or_inf=2), parameter(1.0)
    backward(scaler, param, INF)
    scaler.step(sgd(param))
    scaler.update()
    torch.save(scaler.state_dict(), tmp_path / "scaler.pt")
    saved = torch.load(tmp_path / "scaler.pt", weights_only=True)
    with paddle_scaler_active():
        real = paddle.amp.GradScaler()
        real.load_state_dict(saved)
        back = real.state_dict()
    again = GradScaler()
    again.load_state_dict(back)
    assert again.state_dict() == saved
    assert saved["decr_count"] == 1


def test_pickle_and_copy_keep_settings_and_state() -> None:
    scaler, param = (
        GradScaler(init_loss_scaling=64.0, decr_every_n_nan_or_inf=2, backend="reference"),
        parameter(1.0),
    )
    backward(scaler, param, INF)
    optimizer = sgd(param)
    scaler.step(optimizer)
    with pytest.raises(AssertionError, match="beginning of an iteration"):
        pickle.dumps(scaler)
    scaler.update()
    for clone in (pickle.loads(pickle.dumps(scaler)), copy.deepcopy(scaler)):
        assert clone.state_dict() == scaler.state_dict()
        assert clone.backend == "reference"
        backward(clone, param, INF)
        clone.step(optimizer)
        clone.update()
        assert clone.state_dict()["scale"].item() == 32.0
