"""Other names under which Paddle offers what the tables know: defining modules, and second spellings."""

from __future__ import annotations

from collections.abc import Mapping

MODULES: Mapping[str, str] = {
    "paddle.tensor": "paddle",
    **{
        f"paddle.tensor.{part}": "paddle"
        for part in (
            "attribute", "creation", "einsum", "linalg", "logic", "manipulation", "math", "ops", "random", "search",
            "stat",
        )
    },
    "paddle.framework": "paddle",
    "paddle.framework.io": "paddle",
    "paddle.framework.random": "paddle",
    "paddle.nn.loss": "paddle.nn",
    "paddle.nn.clip": "paddle.nn",
    "paddle.nn.layer": "paddle.nn",
    "paddle.metric.metrics": "paddle.metric",
    "paddle.io.dataloader": "paddle.io",
    **{
        f"paddle.optimizer.{part}": "paddle.optimizer"
        for part in (
            "adadelta", "adagrad", "adam", "adamax", "adamw", "lamb", "momentum", "optimizer", "rmsprop", "sgd",
        )
    },
}  # fmt: skip
"""Modules that hold what another one offers under the same names."""

NAMES: Mapping[str, str] = {
    "paddle.eigvalsh": "paddle.linalg.eigvalsh",
    "paddle.from_dlpack": "paddle.utils.dlpack.from_dlpack",
    "paddle.to_dlpack": "paddle.utils.dlpack.to_dlpack",
    "paddle.mod_": "paddle.remainder_",
    "paddle.floor_mod_": "paddle.remainder_",
    "paddle.nn.spectral_norm": "paddle.nn.utils.spectral_norm",
    **{
        f"paddle.{name}": f"paddle.nn.functional.{name}"
        for name in ("adaptive_avg_pool1d", "conv1d", "conv2d", "conv3d", "group_norm", "layer_norm")
    },
    **{
        f"paddle.nn.{kind}Pad{axes}d": f"paddle.nn.{kind}Pad{axes}D"
        for kind in ("Zero", "Constant", "Reflection", "Replication")
        for axes in (1, 2, 3)
    },
}
"""Second spellings, most of them of Paddle 3.3."""


def offered(name: str) -> str | None:
    """The name that the tables have for ``name``, if it is another one."""
    if name in NAMES:
        return NAMES[name]
    module, _, last = name.rpartition(".")
    return f"{MODULES[module]}.{last}" if module in MODULES else None
