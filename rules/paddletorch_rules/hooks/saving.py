"""Arguments of saving and loading: Paddle takes paths as strings only."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.protocol import BoundCall, hook

_MODULES = frozenset(
    {
        "attention",
        "conv",
        "data_parallel",
        "decoder",
        "embedding",
        "encoder",
        "encoder_layer",
        "layer",
        "layer_norm",
        "linear",
        "lstm_cell",
        "module",
        "norm",
        "rnn_cell",
        "sequential",
        "transformer",
    }
)
"""The tracked types of modules."""


@hook("save", to="paddle")
def save(call: BoundCall) -> None:
    """A model as a whole, an open file or a path object is refused by Paddle."""
    if call.types("obj") & _MODULES:
        call.stop("SER201", what="Paddle does not save a model as a whole; save its state_dict()")
    _path(call, "f")


@hook("load", to="paddle")
def load_to_paddle(call: BoundCall) -> None:
    """Paddle takes a path as a string, and reads everything that was pickled."""
    call.drop("weights_only")
    _path(call, "f")


@hook("load", to="torch")
def load_to_torch(call: BoundCall) -> None:
    """torch gives tensors, no arrays."""
    if call.value("return_numpy") is not None and call.literal("return_numpy") is not False:
        call.stop("SER201", what="return_numpy gives arrays; torch.load gives tensors (.numpy() of each)")


def _path(call: BoundCall, name: str) -> None:
    given = call.value(name)
    origin = call.origin(name)
    if given is None or origin is None:
        return
    if call.may_be_path(name):
        call.wrap(name, "str(", ")")
    elif isinstance(origin, ast.Call) and ast.unparse(origin.func).rpartition(".")[2] == "open":
        call.stop("SER201", what="Paddle takes a path or a BytesIO, no open file")
