"""Arguments of loaders and samplers: Paddle's loader takes batches of indices where torch's takes indices."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.protocol import BoundCall, hook

BATCH_SIZE = "__batch_size__"
"""Stands for the size of the batches until the plan of loaders has found it."""


@hook("loader", to="paddle")
def loader(call: BoundCall) -> None:
    """Paddle's timeout is a whole number of seconds."""
    if isinstance(call.literal("timeout"), float):
        seconds = call.literal("timeout")
        assert isinstance(seconds, float)
        call.drop("timeout")
        call.force("timeout", str(round(seconds)))


@hook("loader_sampler", to="paddle")
def loader_sampler(call: BoundCall) -> None:
    """``sampler=s, batch_size=n`` becomes ``batch_sampler=BatchSampler(sampler=s, batch_size=n)``."""
    loader(call)
    sampler = call.value("sampler")
    size, drop_last = _text(call, "batch_size", "1"), _text(call, "drop_last", "False")
    shuffle = call.value("shuffle")
    if call.value("batch_size") is not None and call.literal("batch_size") is None:
        call.stop("DAT201", what="a sampler without batches")
    if "distributed_sampler" in call.types("sampler"):
        return  # the sampler itself gives batches; the plan of loaders gives it the size
    batches = f"batch_size={size}" + (f", drop_last={drop_last}" if drop_last != "False" else "")
    data = call.value("dataset")
    if sampler is None or call.literal("sampler") is None:
        made = _text(call, "shuffle", "False")
        made = "False" if made == "None" else made
        made = "" if made == "False" else f", shuffle={made}"
        if data is None or not _is_path(data):
            call.stop("API222", argument="dataset")
        call.drop("sampler")
        call.force("batch_sampler", f"paddle.io.BatchSampler({ast.unparse(data)}{made}, {batches})")
        return
    if _may_be_none(call, sampler):
        if data is None or not (_is_path(data) and _is_path(sampler)):
            call.stop("API222", argument="sampler")
        text = ast.unparse(sampler)
        given = f"{ast.unparse(data)} if {text} is None else None, {text}"
        made = (
            "" if shuffle is None or call.literal("shuffle") in (None, False) else f", shuffle={ast.unparse(shuffle)}"
        )
        call.drop("sampler")
        call.force("batch_sampler", f"paddle.io.BatchSampler({given}{made}, {batches})")
        return
    call.wrap("sampler", "paddle.io.BatchSampler(sampler=", f", {batches})")


def _text(call: BoundCall, name: str, default: str, *, bracket: bool = False) -> str:
    node = call.value(name)
    if node is None or call.literal(name) is None:
        return default
    text = ast.unparse(node)
    return f"({text})" if bracket and isinstance(node, ast.IfExp | ast.Lambda) else text


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _may_be_none(call: BoundCall, sampler: ast.expr) -> bool:
    """Whether the sampler may be None: a branch gives None, or shuffling depends on it."""
    origin = call.origin("sampler")
    if isinstance(origin, ast.Constant) and origin.value is None:
        return True
    branches = [origin.body, origin.orelse] if isinstance(origin, ast.IfExp) else []
    if any(isinstance(b, ast.Constant) and b.value is None for b in branches):
        return True
    shuffle = call.value("shuffle")
    return shuffle is not None and call.literal("shuffle") in (..., True)


def _seed(generator: ast.expr | None) -> ast.expr | None:
    """The seed of ``torch.Generator().manual_seed(seed)``, made for this one call."""
    match generator:
        case ast.Call(ast.Attribute(ast.Call(made, [] | [ast.Constant("cpu")], []), "manual_seed"), [seed], []):
            is_generator = ast.unparse(made).rpartition(".")[2] == "Generator"
            return seed if is_generator and not isinstance(seed, ast.Starred) else None
    return None


@hook("random_split", to="paddle")
def random_split(call: BoundCall) -> None:
    """Paddle takes no generator, and before release 3 no fractions for lengths."""
    lengths = call.value("lengths")
    elements = lengths.elts if isinstance(lengths, ast.List | ast.Tuple) else []
    seed = _seed(call.value("generator"))
    if seed is not None:
        call.drop("generator")
        call.rewrite("torch_random_parts({dataset}, {lengths}, {seed})", parts={"seed": seed})
    elif elements and all(isinstance(e, ast.Constant) and isinstance(e.value, float) for e in elements):
        call.rewrite("torch_random_parts({dataset}, {lengths})")
    elif any(isinstance(e, ast.Constant) and isinstance(e.value, float) for e in elements):
        call.stop("DAT201", what="lengths that are fractions, which Paddle 2.6 refuses")


@hook("weights", to="paddle")
def weights(call: BoundCall) -> None:
    """Paddle's sampler of its own releases fails on lists and tensors: it asks for a NumPy array."""
    call.wrap("weights", "paddle.to_tensor(", ").numpy()")


@hook("batches", to="torch")
def batches(call: BoundCall) -> None:
    """``BatchSampler(data, shuffle=True)`` makes its own sampler; torch's is given one."""
    shuffle = call.literal("shuffle")
    random, ordered = "torch.utils.data.RandomSampler", "torch.utils.data.SequentialSampler"
    if call.value("shuffle") is None or shuffle is False:
        call.wrap("dataset", f"{ordered}(", ")")
    elif shuffle is True:
        call.wrap("dataset", f"{random}(", ")")
    else:
        call.wrap("dataset", f"({random} if {_text(call, 'shuffle', 'False', bracket=True)} else {ordered})(", ")")
    if call.value("batch_size") is None:
        call.force("batch_size", "1")
    if call.value("drop_last") is None:
        call.force("drop_last", "False")


@hook("distributed_sampler", to="paddle")
def distributed_sampler(call: BoundCall) -> None:
    """The size of the batches is the loader's: the plan of loaders writes it."""
    call.force("batch_size", BATCH_SIZE)


@hook("tensors", to="paddle")
def tensors_to_paddle(call: BoundCall) -> None:
    """Paddle takes the tensors in a list."""
    if len(call.node.args) == 1:
        call.wrap("tensors", "[", "]")


@hook("tensors", to="torch")
def tensors_to_torch(call: BoundCall) -> None:
    """torch takes the tensors one by one."""
    given = call.value("tensors")
    if given is not None and given in call.node.args:
        call.wrap("tensors", "*", "")
    elif given is not None:
        call.rewrite("torch.utils.data.TensorDataset(*{tensors})")


@hook("sampler_base", to="torch")
def sampler_base(call: BoundCall) -> None:
    """torch's base class takes nothing and keeps nothing: a class with Paddle's constructor is the base."""
    if call.value("data_source") is not None:
        call.unseen_in("paddle.io.Sampler")
