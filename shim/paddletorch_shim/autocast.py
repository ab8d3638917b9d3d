"""torch's autocast on Paddle: an object that can be entered many times, and its pair for custom gradients.

``paddle.amp.auto_cast`` returns a context that can be entered once, takes no ``dtype=None``, and leaves its
dtype in a global that Paddle's own scaler reads later (measured on 2.6.2 and 3.3.1).
"""

from __future__ import annotations

import functools
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import Any, Literal, TypeVar

import paddle
from paddle.amp.auto_cast import amp_global_state
from paddle.base import core
from paddle.base.framework import _current_expected_place, _dygraph_tracer

F = TypeVar("F", bound=Callable[..., Any])

_LOW_PRECISION = ("float16", "bfloat16")


class autocast:
    """A reusable, nestable autocast region and decorator with ``torch.autocast``'s meaning.

    Args:
        device_type: where the operations to cast run. A region for ``"cpu"`` changes nothing while Paddle's
            place is an accelerator, since it casts nothing there in torch either.
        dtype: ``"float16"``, ``"bfloat16"`` or the Paddle dtype; None is float16, on the CPU bfloat16.
        enabled: False runs the region in the precision of its inputs.
        cache_enabled: taken for torch's sake; Paddle manages its casts itself.

    Paddle casts nothing while its place is the CPU, and says so in a warning.

    On exit Paddle's global AMP dtype is what it was before. One value stays, as after Paddle's own context:
    an enabled float16 region leaves "float16" where no region had been entered before ("float32"), because
    Paddle's own GradScaler reads it after the region and turns itself off otherwise.

    Raises:
        ValueError: ``device_type`` is not a str.
    """

    def __init__(
        self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`; pass 'cuda' or 'cpu'")
        self.device = device_type
        self.fast_dtype = _dtype_name(dtype) or ("bfloat16" if device_type == "cpu" else "float16")
        self._enabled = bool(enabled)
        if self._enabled and self.fast_dtype not in _LOW_PRECISION:
            warnings.warn(
                f"In {device_type} autocast, but the target dtype {self.fast_dtype} is not supported. "
                "Disabling autocast. Paddle autocasts to float16 and bfloat16.",
                stacklevel=2,
            )
            self._enabled = False
        # One stack for each thread: Paddle's autocast state belongs to the thread that entered.
        self._entered: defaultdict[int, list[ExitStack]] = defaultdict(list)

    def __enter__(self) -> autocast:
        stack = ExitStack()
        stack.enter_context(self._region())
        self._entered[threading.get_ident()].append(stack)
        return self

    def __exit__(self, *exc_info: Any) -> Literal[False]:
        self._entered[threading.get_ident()].pop().__exit__(*exc_info)
        return False

    def __call__(self, func: F) -> F:
        """Decorate ``func`` so that each call runs inside the region."""
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}; "
                "use `with autocast(…):` for a block"
            )

        @functools.wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated  # type: ignore[return-value]

    def _region(self) -> AbstractContextManager[None]:
        if self.device == "cpu" and not _current_expected_place().is_cpu_place():
            return nullcontext()
        return _guard(self._enabled, self.fast_dtype, "O1")


@contextmanager
def _guard(enabled: bool, dtype: str, level: str) -> Any:
    """One entry into Paddle's autocast that leaves the global AMP dtype as ``autocast`` documents."""
    globals_ = amp_global_state()
    before = globals_.amp_dtype
    try:
        # A disabled region gets float16: Paddle raises on others even then, after it has set the global.
        with paddle.amp.auto_cast(enable=enabled, dtype=dtype if enabled else "float16", level=level):
            if not enabled:
                globals_.amp_dtype = before
            yield
    finally:
        first_float16 = enabled and dtype == "float16" and before == "float32"
        globals_.amp_dtype = "float16" if first_float16 else before


def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorate ``forward`` of a ``paddle.autograd.PyLayer`` as ``torch.amp.custom_fwd`` does a Function's.

    Args:
        device_type: where it runs.
        cast_inputs: within an enabled autocast region, cast floating tensors (except float64) to this dtype
            and run ``forward`` with autocast off; None runs it under the surrounding autocast.

    Raises:
        ValueError: ``device_type`` is not a str.
    """
    region = autocast(device_type, cast_inputs, enabled=False)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        enabled, dtype, level = _current()
        ctx._autocast_of_forward = (enabled and cast_inputs is None, dtype, level)
        if not enabled or cast_inputs is None:
            return fwd(ctx, *args, **kwargs)
        with region:
            return fwd(ctx, *_cast(args, region.fast_dtype), **_cast(kwargs, region.fast_dtype))

    return forward


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Any:
    """Decorate ``backward`` of a ``PyLayer`` so that it runs under the autocast state of its ``forward``.

    ``forward`` must be decorated with ``custom_fwd``.

    Raises:
        ValueError: ``device_type`` is not a str.
    """
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`; pass 'cuda' or 'cpu'")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with _guard(*ctx._autocast_of_forward):
            return bwd(ctx, *args, **kwargs)

    return backward


def _current() -> tuple[bool, str, str]:
    """Whether autocast is on in this thread, with which dtype and level."""
    tracer = _dygraph_tracer()
    level = tracer._amp_level
    return level != core.AmpLevel.O0, str(tracer._amp_dtype), level.name


def _dtype_name(dtype: Any) -> str | None:
    return None if dtype is None else str(dtype).rpartition(".")[2]


def _cast(value: Any, dtype: str) -> Any:
    if isinstance(value, paddle.Tensor):
        return value.astype(dtype) if value.is_floating_point() and value.dtype != paddle.float64 else value
    if isinstance(value, Mapping):
        return {_cast(key, dtype): _cast(item, dtype) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast(item, dtype) for item in value)
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)) and not hasattr(value, "dtype"):
        return (_cast(item, dtype) for item in value)
    return value
