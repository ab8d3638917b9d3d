"""Which of torch's functions and methods give which dtype; what is in no set gives one that is not known."""

from __future__ import annotations


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


ALIASES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "cfloat": "complex64",
}

CASTS = {**ALIASES, "bool": "bool", "byte": "uint8", "bfloat16": "bfloat16"}
"""Methods without arguments that cast."""

CREATED = _names(
    "tensor as_tensor arange full full_like zeros ones empty rand randn linspace logspace eye zeros_like ones_like "
    "empty_like rand_like randn_like new_zeros new_ones new_full new_empty Tensor FloatTensor"
)
"""Functions that make a tensor: the default dtype, that of their data, or that of the tensor they are like."""

INTEGERS = _names(
    "argmax argmin argsort randint randperm nonzero bincount searchsorted bucketize one_hot multinomial tril_indices "
    "triu_indices count_nonzero LongTensor"
)

BOOLEANS = _names(
    "eq ne lt le gt ge greater less isnan isinf isfinite isclose logical_and logical_or logical_not logical_xor "
    "signbit isin"
)

FLOATING_RESULTS = _names(
    "exp exp2 expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh sigmoid sqrt rsqrt softmax "
    "log_softmax erf erfinv reciprocal lgamma mean std var norm logsumexp logit sinc"
)
"""Floating-point numbers, from integers too."""

FLOATING_ONLY = _names("mean std var norm softmax log_softmax")
"""Functions that refuse integers."""

PAIRS = _names(
    "add sub subtract mul multiply div divide true_divide floor_divide remainder fmod pow maximum minimum atan2 fmax "
    "fmin outer kron logical_and logical_or logical_xor equal"
)

SUMS = _names("sum prod cumsum cumprod nansum")
"""Integers become int64, floating-point numbers stay what they are."""

WITH_INDICES = _names("max min sort topk median nanmedian mode kthvalue cummax cummin")
"""With a dimension they give values and int64 indices."""

LIKE_FIRST = _names(
    "abs neg negative clamp clip round floor ceil trunc sign relu gelu silu leaky_relu elu dropout pad view reshape "
    "unsqueeze squeeze expand expand_as repeat repeat_interleave tile transpose permute t swapaxes movedim contiguous "
    "clone detach flatten unflatten cuda cpu roll flip fliplr flipud diag diagonal tril triu gather index_select "
    "take take_along_dim masked_fill masked_select scatter scatter_add index_add index_put chunk split unbind narrow "
    "select matmul mm bmm mv baddbmm addmm einsum linear conv1d conv2d conv3d interpolate unfold fold grid_sample "
    "normalize layer_norm batch_norm group_norm cross_entropy mse_loss l1_loss binary_cross_entropy "
    "binary_cross_entropy_with_logits max_pool2d avg_pool2d adaptive_avg_pool2d amax amin bitwise_not square lerp "
    "requires_grad_ Parameter view_as reshape_as meshgrid ravel bernoulli"
)
"""The dtype of their first tensor."""
