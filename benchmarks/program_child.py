"""Runs programs in forked processes: one server has one framework, and the other one is out of its reach.

    python benchmarks/program_child.py torch FOLDER...      # jobs as JSON lines on stdin, replies on stdout

A job runs a program of the server's framework as it is (``source``), runs its converted form and compares
(``target``), or looks for programs in a module (``find``).
"""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import gc
import importlib
import json
import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from program_trees import FAMILIES, Blocker, TreeFinder

ENTRY = "program_case"
"""The module that makes a case's model; it is converted with the tree."""
TOLERANCES = {"float32": {"output": 1e-3, "gradient": 5e-3}, "float64": {"output": 1e-6, "gradient": 1e-5}}
"""Of the largest difference, in units of the largest value of the tensor on the source's side."""
RUNNING_VARIANCE = 1.0
"""Tolerance of a running variance: torch keeps the unbiased one and Paddle the biased one (NNL208), which of two values
is the half."""
ROUNDING = {"float32": 3e-7, "float64": 1e-12}
"""How much inputs are changed in a second run of the original, to see what it makes of rounding."""
FLOOR = 1e-3
"""Values below this count as if they were this large: gradients that are zero but for rounding."""


class Torch:
    """What the harness asks of torch."""

    name = "torch"

    def __init__(self) -> None:
        import torch

        self.lib = torch
        self.base = torch.nn.Module
        torch.set_num_threads(1)
        _define_vision_operators(torch)
        functional = torch.nn.functional
        for name in ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            setattr(functional, name, _no_dropout)
        _without_dropout(functional, "scaled_dot_product_attention")
        torch.dropout = _no_dropout

    def seed(self, number: int) -> None:
        self.lib.manual_seed(number)

    def set_float64(self) -> None:
        self.lib.set_default_dtype(self.lib.float64)

    def doubled(self, model: Any) -> Any:
        return model.double() if isinstance(model, self.base) else model

    def tensor(self, values: np.ndarray[Any, Any], gradient: bool) -> Any:
        made = self.lib.from_numpy(values.copy())
        return made.requires_grad_() if gradient else made

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.lib.Tensor)

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        tensor = tensor.detach()
        if tensor.layout is not self.lib.strided:
            tensor = tensor.to_dense()
        tensor = tensor.float() if tensor.dtype == self.lib.bfloat16 else tensor
        return np.array(tensor.resolve_conj().resolve_neg().cpu().numpy())

    def real(self, tensor: Any) -> Any:
        return self.lib.view_as_real(tensor) if tensor.is_complex() else tensor

    def differentiable(self, tensor: Any) -> bool:
        return bool(tensor.requires_grad)

    def clear(self, model: Any) -> None:
        for parameter in model.parameters():
            parameter.grad = None

    def gradient(self, tensor: Any) -> np.ndarray[Any, Any] | None:
        return None if tensor.grad is None else self.array(tensor.grad)

    def optimizer(self, model: Any) -> Any:
        return self.lib.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)

    def step(self, optimizer: Any) -> None:
        optimizer.step()
        optimizer.zero_grad()


class Paddle:
    """What the harness asks of Paddle."""

    name = "paddle"

    def __init__(self) -> None:
        import paddle

        self.lib = paddle
        self.base = paddle.nn.Layer
        paddle.set_device("cpu")
        functional = paddle.nn.functional
        for name in ("dropout", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout"):
            if hasattr(functional, name):
                setattr(functional, name, _no_dropout)
        _without_dropout(functional, "scaled_dot_product_attention")

    def seed(self, number: int) -> None:
        self.lib.seed(number)

    def set_float64(self) -> None:
        self.lib.set_default_dtype("float64")

    def doubled(self, model: Any) -> Any:
        return model

    def tensor(self, values: np.ndarray[Any, Any], gradient: bool) -> Any:
        return self.lib.to_tensor(values, stop_gradient=not gradient)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.lib.Tensor)

    def array(self, tensor: Any) -> np.ndarray[Any, Any]:
        tensor = tensor.detach()
        if tensor.is_sparse():
            tensor = tensor.to_dense()
        tensor = tensor.astype("float32") if tensor.dtype == self.lib.bfloat16 else tensor
        return np.array(tensor.numpy())

    def real(self, tensor: Any) -> Any:
        return self.lib.as_real(tensor) if tensor.is_complex() else tensor

    def differentiable(self, tensor: Any) -> bool:
        return not tensor.stop_gradient

    def clear(self, model: Any) -> None:
        model.clear_gradients(set_to_zero=False)

    def gradient(self, tensor: Any) -> np.ndarray[Any, Any] | None:
        grad = tensor.grad
        if grad is None:
            return None
        if grad.is_selected_rows():
            grad = self.lib.to_tensor(np.array(grad.get_selected_rows()))  # pragma: no cover
        return self.array(grad)

    def optimizer(self, model: Any) -> Any:
        trained = [p for p in model.parameters() if not p.stop_gradient]
        return self.lib.optimizer.SGD(learning_rate=0.01, parameters=trained)

    def step(self, optimizer: Any) -> None:
        optimizer.step()
        optimizer.clear_grad()


Side = Torch | Paddle


def _no_dropout(x: Any = None, *arguments: Any, input: Any = None, **keywords: Any) -> Any:
    return input if x is None else x


def _without_dropout(functional: Any, name: str) -> None:
    original = getattr(functional, name)

    def attention(query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, **more: Any) -> Any:
        return original(query, key, value, attn_mask, 0.0, **more)

    def positional(*arguments: Any, **keywords: Any) -> Any:
        if len(arguments) > 5:
            return original(*arguments[:4], 0.0, *arguments[5:], **keywords)
        return attention(*arguments, **keywords)

    setattr(functional, name, positional)


def _define_vision_operators(torch: Any) -> None:
    """Let torchvision be imported where its compiled operators do not load; calling one still fails."""
    library = torch.library.Library("torchvision", "FRAGMENT")
    for schema in (
        "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qroi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n, bool a) -> Tensor",
        "roi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n, bool a) -> Tensor",
        "_roi_align_backward(Tensor g, Tensor r, float s, SymInt h, SymInt w, SymInt a, SymInt b, SymInt c, SymInt d, "
        "int n, bool l) -> Tensor",
        "roi_pool(Tensor i, Tensor r, float s, SymInt h, SymInt w) -> (Tensor, Tensor)",
        "_roi_pool_backward(Tensor g, Tensor r, Tensor x, float s, SymInt h, SymInt w, SymInt a, SymInt b, SymInt c, "
        "SymInt d) -> Tensor",
        "ps_roi_align(Tensor i, Tensor r, float s, SymInt h, SymInt w, int n) -> (Tensor, Tensor)",
        "_ps_roi_align_backward(Tensor g, Tensor r, Tensor m, float s, SymInt h, SymInt w, int n, SymInt a, SymInt b, "
        "SymInt c, SymInt d) -> Tensor",
        "ps_roi_pool(Tensor i, Tensor r, float s, SymInt h, SymInt w) -> (Tensor, Tensor)",
        "_ps_roi_pool_backward(Tensor g, Tensor r, Tensor m, float s, SymInt h, SymInt w, SymInt a, SymInt b, "
        "SymInt c, SymInt d) -> Tensor",
        "deform_conv2d(Tensor i, Tensor w, Tensor o, Tensor m, Tensor b, SymInt a, SymInt c, SymInt d, SymInt e, "
        "SymInt f, SymInt g, SymInt h, SymInt j, bool u) -> Tensor",
        "_deform_conv2d_backward(Tensor g, Tensor i, Tensor w, Tensor o, Tensor m, Tensor b, SymInt a, SymInt c, "
        "SymInt d, SymInt e, SymInt f, SymInt h, SymInt j, SymInt k, bool u) "
        "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    ):
        library.define(schema)
    Torch.library = library  # type: ignore[attr-defined]  # it defines them for as long as it lives


def sides(name: str) -> Side:
    """The framework's side."""
    return Torch() if name == "torch" else Paddle()


# inputs


def inputs_of(texts: list[str], seed: int, mode: str) -> list[Any]:
    """Arrays and plain values for ``["normal:2x3x8x8", "int:2x16<50", "=4"]``."""
    random = np.random.default_rng(seed)
    return [_input(text, random, mode) for text in texts]


def _input(text: str, random: np.random.Generator, mode: str) -> Any:
    if text.startswith("="):
        return ast.literal_eval(text[1:])
    if text.startswith("["):
        return [_input(one.strip(), random, mode) for one in text[1:-1].split(",") if one.strip()]
    if text.startswith("("):
        return tuple(_input(one.strip(), random, mode) for one in text[1:-1].split(",") if one.strip())
    if text.startswith("{"):
        pairs = (one.strip().split("@") for one in text[1:-1].split(",") if one.strip())
        return {key: _input(value, random, mode) for key, value in pairs}
    kind, _, size = text.partition(":")
    size, _, bound = size.partition("<")
    shape = tuple(int(n) for n in size.split("x")) if size else ()
    if kind in ("normal", "target"):
        return _fixed(random.standard_normal(shape).astype(mode), kind == "target")
    if kind in ("unit", "unit target"):
        return _fixed(random.uniform(0.02, 0.98, shape).astype(mode), kind == "unit target")
    if kind == "int":
        return random.integers(0, int(bound or 5), shape).astype(np.int64)
    if kind == "int32":
        return random.integers(0, int(bound or 5), shape).astype(np.int32)
    if kind == "bool":
        return random.random(shape) < 0.7
    if kind == "true":
        return np.ones(shape, bool)
    if kind == "onehot":
        return np.eye(shape[-1], dtype=mode)[random.integers(0, shape[-1], shape[:-1])]
    raise ValueError(f"no input is called {kind!r}")


class _Fixed(np.ndarray[Any, Any]):
    """Numbers that no gradient is asked for, such as what a loss compares with."""


def _fixed(values: np.ndarray[Any, Any], fixed: bool) -> np.ndarray[Any, Any]:
    return values.view(_Fixed) if fixed else values


def _placed(side: Side, value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return side.tensor(np.asarray(value), value.dtype.kind == "f" and not isinstance(value, _Fixed))
    if isinstance(value, (list, tuple)):
        return type(value)(_placed(side, one) for one in value)
    if isinstance(value, dict):
        return {key: _placed(side, one) for key, one in value.items()}
    return value


# outputs


class NoTensorError(ValueError):
    """What a model returned has parts that cannot be compared."""


def leaves(side: Side, value: Any, where: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Tensors and numbers in what a model returned, with their place.

    Raises:
        NoTensorError: something of another kind is there.
    """
    if side.is_tensor(value):
        yield where or "output", value
    elif isinstance(value, (bool, int, float, complex, np.ndarray, np.generic)):
        yield where or "output", np.asarray(value)
    elif value is None or isinstance(value, (str, bytes)):
        return
    elif depth > 6:
        raise NoTensorError(f"{where} is nested too deeply")
    elif isinstance(value, Mapping):
        for key in sorted(value, key=str):
            yield from leaves(side, value[key], f"{where}.{key}", depth + 1)
    elif isinstance(value, (list, tuple)):
        for number, one in enumerate(value):
            yield from leaves(side, one, f"{where}[{number}]", depth + 1)
    elif dataclasses.is_dataclass(value):
        for entry in dataclasses.fields(value):
            yield from leaves(side, getattr(value, entry.name), f"{where}.{entry.name}", depth + 1)
    else:
        raise NoTensorError(f"{where or 'the output'} is a {type(value).__name__}")


def _arrays(side: Side, found: list[tuple[str, Any]]) -> list[tuple[str, np.ndarray[Any, Any]]]:
    return [(where, one if isinstance(one, np.ndarray) else side.array(one)) for where, one in found]


def _loss(side: Side, found: list[tuple[str, Any]], square: bool = False) -> Any:
    """A number that all differentiable outputs have a part in, each value with another weight."""
    total = None
    for _, one in found:
        if not side.is_tensor(one) or not side.differentiable(one):
            continue
        one = side.real(one)
        if square:
            part = (one * one).mean()
        else:
            size = int(np.prod(one.shape))
            values = (np.cos(np.arange(size) * 0.7 + 1) / max(size, 1) ** 0.5).reshape(tuple(one.shape))
            part = (
                (one * side.tensor(values, False).astype(one.dtype)).sum()
                if side.name == "paddle"
                else (one * side.tensor(values, False).to(one.dtype)).sum()
            )
        total = part if total is None else total + part
    return total


# running


def stages(
    side: Side, model: Any, inputs: list[Any], keywords: dict[str, Any], wanted: Any, seed: int = 7, train: Any = None
) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is run, in order: each stage's name and a function that gives its arrays.

    ``eval`` and ``train`` are outputs, ``eval_grad`` and ``train_grad`` gradients, ``steps`` three steps of SGD. A
    program that trains has one stage: what ``train`` returns, and the model after it.
    """
    is_model = isinstance(model, side.base)
    if train is not None:

        def program() -> Any:
            side.seed(seed)
            np.random.seed(5)
            returned = train(model, *[_placed(side, one) for one in inputs])
            return {"outputs": _arrays(side, list(leaves(side, returned))), "state": state_arrays(side, model)}

        yield "program", program
        return
    for mode in ("eval", "train"):
        if mode not in wanted and f"{mode}_grad" not in wanted:
            continue
        if mode == "train" and not is_model:
            continue
        held: dict[str, Any] = {}

        def forward(mode: str = mode, held: dict[str, Any] = held) -> Any:
            if is_model:
                model.eval() if mode == "eval" else model.train()
            side.seed(seed)
            held["inputs"] = [_placed(side, one) for one in inputs]
            named = {key: _placed(side, one) for key, one in keywords.items()}
            # what goes in is not a leaf, as in a larger program, so that it may be changed in place
            passed = _through(side, held["inputs"])
            held["outputs"] = list(leaves(side, model(*passed, **named)))
            made: dict[str, Any] = {"outputs": _arrays(side, held["outputs"])}
            if mode == "train":
                made["buffers"] = state_arrays(side, model)
            return made

        def backward(held: dict[str, Any] = held) -> Any:
            loss = _loss(side, held["outputs"])
            if loss is None:
                return None
            if is_model:
                side.clear(model)
            loss.backward()
            entering = [
                (where, side.gradient(one))
                for where, one in leaves(side, held["inputs"])
                if side.is_tensor(one) and side.differentiable(one)
            ]
            parameters = {name: side.gradient(one) for name, one in model.named_parameters()} if is_model else {}
            return {"inputs": entering, "parameters": parameters}

        yield mode, forward
        yield f"{mode}_grad", backward

    def steps() -> Any:
        model.train()
        side.clear(model)
        optimizer = side.optimizer(model)
        losses = []
        for _ in range(3):
            side.seed(seed)
            placed = _through(side, [_placed(side, one) for one in inputs])
            named = {key: _placed(side, one) for key, one in keywords.items()}
            loss = _loss(side, list(leaves(side, model(*placed, **named))), square=True)
            loss.backward()
            side.step(optimizer)
            losses.append(float(loss))
        return {"losses": np.array(losses), "state": state_arrays(side, model)}

    if is_model and any(side.differentiable(one) for one in model.parameters()) and "steps" in wanted:
        yield "steps", steps


def _through(side: Side, value: Any) -> Any:
    if side.is_tensor(value):
        return value * 1 if side.differentiable(value) else value
    if isinstance(value, (list, tuple)):
        return type(value)(_through(side, one) for one in value)
    if isinstance(value, dict):
        return {key: _through(side, one) for key, one in value.items()}
    return value


def state_arrays(side: Side, model: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The state dict's tensors."""
    return {key: side.array(one) for key, one in model.state_dict().items() if side.is_tensor(one)}


ALL_STAGES = ("eval", "eval_grad", "train", "train_grad", "steps")


def perturb(side: Side, model: Any, seed: int) -> None:
    """Move parameters and running statistics away from zeros and ones, which hide mistakes."""
    random = np.random.default_rng(seed)
    parameters = {id(one) for one in model.parameters()}
    changed = {}
    kept = model.state_dict(keep_vars=True) if side.name == "torch" else model.state_dict()
    for key, tensor in kept.items():
        if not side.is_tensor(tensor) or not str(tensor.dtype).endswith(("float32", "float64")):
            continue
        values = side.array(tensor)
        if key.endswith(("running_var", "_variance")):
            values = values * random.uniform(0.8, 1.2, values.shape)
        elif key.endswith(("running_mean", "_mean")):
            values = values + 0.1 * random.standard_normal(values.shape)
        elif id(tensor) in parameters or (side.name == "paddle" and any(tensor is p for p in model.parameters())):
            values = values + 0.02 * random.standard_normal(values.shape)
        else:
            continue
        changed[key] = values
    # the row of a padding index stays zero, as the frameworks' own training leaves it
    for path, module in model.named_modules() if side.name == "torch" else model.named_sublayers(include_self=True):
        index = getattr(module, "padding_idx" if side.name == "torch" else "_padding_idx", None)
        key = f"{path}.weight" if path else "weight"
        if isinstance(index, int) and index != -1 and key in changed and changed[key].ndim == 2:
            changed[key][index] = 0
    if side.name == "torch":
        with side.lib.no_grad():
            for key, values in changed.items():
                kept[key].copy_(side.lib.from_numpy(np.asarray(values)))
    else:
        for key, values in changed.items():
            kept[key].set_value(values.astype(str(kept[key].dtype).removeprefix("paddle.")))


def run_source(side: Side, job: dict[str, Any]) -> dict[str, Any]:
    """Run the original: its state, what each stage gives, and the files it consists of.

    A stage that the original cannot run, or in which two runs with all but the same inputs differ, is not in the
    result: a batch norm over two values makes much of rounding.
    """
    finder = _install(job)
    if job["mode"] == "float64":
        side.set_float64()
    entry = _entry(job["entry"])
    inputs = inputs_of(job["inputs"], 3, job["mode"])
    keywords = dict(
        zip(job.get("keywords", {}), inputs_of(list(job.get("keywords", {}).values()), 5, job["mode"]), strict=True)
    )
    train = getattr(entry, "train", None)
    random = np.random.default_rng(9)
    rounded = [_rounded(one, random, ROUNDING[job["mode"]]) for one in inputs]
    first = _model(side, entry, job)
    is_model = isinstance(first, side.base)
    result: dict[str, Any] = {"stages": {}, "unsupported": {}, "plan": None, "state": {}}
    if is_model:
        perturb(side, first, 11)
        from paddletorch_shim.weights import layout
        from paddletorch_shim.weights.arrays import to_array

        result["plan"] = layout.plan(first, side.name)
        held = {k: to_array(k, v) for k, v in first.state_dict().items() if hasattr(v, "shape")}
        result["state"] = {k: one.having(one.values.copy()) for k, one in held.items()}  # training changes them
    second = _model(side, entry, job, seed=2)
    if is_model:
        if side.name == "torch":
            second.load_state_dict(first.state_dict())
        else:
            second.set_state_dict({k: v.clone() for k, v in first.state_dict().items() if hasattr(v, "clone")})
    broken = False
    for (name, one), (_, other) in zip(
        stages(side, first, inputs, keywords, ALL_STAGES, train=train),
        stages(side, second, rounded, keywords, ALL_STAGES, seed=8, train=train),
        strict=False,
    ):
        if broken and name in ("train_grad", "steps"):
            continue
        try:
            made, again = one(), other()
        except Exception as error:
            if name in ("eval", "program"):
                raise
            result["unsupported"][name] = f"{type(error).__name__}: {error}"[:300]
            broken = broken or name == "train"
            continue
        if made is None:
            continue
        trouble = list(compared(name, made, again, job["mode"], lambda key: key, None))
        if trouble or not _finite(made):
            result["unsupported"][name] = "two runs differ" if trouble else "not finite"
            if name in ("eval", "program"):
                raise ValueError(
                    "two runs of the original differ" if trouble else "the original's output is not finite"
                )
            broken = broken or name == "train"
            continue
        result["stages"][name] = made
    result["loaded"] = [str(path) for path in finder.loaded]
    result["seconds"] = time.process_time()
    return result


def _rounded(value: Any, random: np.random.Generator, size: float) -> Any:
    """An input, each number changed by about its rounding."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        changed = (value * (1 + size * random.standard_normal(value.shape))).astype(value.dtype)
        return _fixed(changed, isinstance(value, _Fixed))
    if isinstance(value, (list, tuple)):
        return type(value)(_rounded(one, random, size) for one in value)
    return value


def _finite(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.dtype.kind not in "fc" or bool(np.isfinite(value).all())
    if isinstance(value, dict):
        return all(map(_finite, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(_finite, value))
    return True


class StageError(Exception):
    """A stage that failed; the cause is the failure."""


def run_target(side: Side, job: dict[str, Any]) -> dict[str, Any]:
    """Run the converted program with the original's weights and hold each stage against the original's."""
    source = pickle.loads(Path(job["source"]).read_bytes())
    stage = "import"
    finder = _install(job)
    covered: set[tuple[str, int]] = set()
    result: dict[str, Any] = {"outcome": "equal", "stages": list(source["stages"])}
    worst: dict[str, float] = {}
    try:
        if job["mode"] == "float64":
            side.set_float64()
        entry = _entry(job["entry"])
        stage = "make"
        with _coverage(job, covered):
            model = _model(side, entry, job)
        names: Any = None
        if source["plan"] is not None:
            stage = "weights"
            if not isinstance(model, side.base):
                raise TypeError(f"the converted model is a {type(model).__name__}")
            names = _fill(side, model, source, job)
        inputs = inputs_of(job["inputs"], 3, job["mode"])
        keywords = dict(
            zip(job.get("keywords", {}), inputs_of(list(job.get("keywords", {}).values()), 5, job["mode"]), strict=True)
        )
        differences: list[str] = []
        with _coverage(job, covered):
            for stage, function in stages(
                side, model, inputs, keywords, source["stages"], train=getattr(entry, "train", None)
            ):
                if stage not in source["stages"]:
                    if not stage.endswith("_grad"):
                        with contextlib.suppress(Exception):
                            function()
                    continue
                made = function()
                found = list(compared(stage, source["stages"][stage], made, job["mode"], names, worst))
                differences += [f"{stage}: {one}" for one in found]
                if found:
                    break
        result["worst"] = worst
        if differences:
            result |= {"outcome": "differs", "stage": stage, "message": differences[0], "differences": differences[:8]}
    except BaseException as error:
        result |= {"outcome": "fails", "stage": stage, **_described(error)}
    result["loaded"] = [str(path) for path in finder.loaded]
    result["needed"] = [str(path) for path in finder.needed]
    result["covered"] = sorted(covered)
    result["seconds"] = time.process_time()
    return result


def _described(error: BaseException) -> dict[str, Any]:
    frames = []
    seen = error
    chain = [error]
    while seen.__cause__ is not None and len(chain) < 5:
        seen = seen.__cause__
        chain.append(seen)
    for one in chain:
        frames += [(f.filename, f.lineno, f.name, f.line) for f in traceback.extract_tb(one.__traceback__)]
    shown = error
    message = str(shown).strip()
    if not message and isinstance(error, AssertionError):
        message = next((line or "" for *_, line in reversed(frames)), "")
    return {"error": type(shown).__name__, "message": _short(message), "frames": frames[-60:]}


def _short(message: str) -> str:
    """A message; of Paddle's long ones, the part that says what is wrong."""
    for mark in ("InvalidArgumentError: ", "NotFoundError: ", "UnimplementedError: ", "PreconditionNotMetError: "):
        if mark in message and "----" in message:
            message = mark + message.rpartition(mark)[2]
    return " ".join(message.split())[:400]


@contextlib.contextmanager
def _coverage(job: dict[str, Any], covered: set[tuple[str, int]]) -> Iterator[None]:
    """Note the lines of converted files that are run, if the job asks for it."""
    if not job.get("trace"):
        yield
        return
    folders = tuple({*job["converted"].values(), str(Path(job["entry"]).parent)})

    def local(frame: Any, event: str, argument: Any) -> Any:
        covered.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def call(frame: Any, event: str, argument: Any) -> Any:
        return local(frame, event, argument) if frame.f_code.co_filename.startswith(folders) else None

    sys.settrace(call)
    try:
        yield
    finally:
        sys.settrace(None)


def _fill(
    side: Side, model: Any, source: dict[str, Any], job: dict[str, Any]
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Put the original's weights into the model as ``state convert`` would; gives a function for other tensors."""
    from paddletorch_shim.weights import models
    from paddletorch_shim.weights.arrays import Array, to_paddle, to_torch
    from paddletorch_shim.weights.models import Description
    from paddletorch_shim.weights.state import Choices, convert
    from paddletorch_shim.weights.target import fit

    state = model.state_dict()
    shapes = {key: tuple(tensor.shape) for key, tensor in state.items() if hasattr(tensor, "shape")}
    parameters = dict(model.named_parameters())
    kept = model.state_dict(keep_vars=True)
    target = Description(shapes, {}, list(parameters), models.tied(kept))
    made = convert(source["plan"], source["state"], Choices())
    fit(made, target, source["plan"])
    if side.name == "torch":
        model.load_state_dict(
            {key: to_torch(one).to(state[key].dtype) for key, one in made.arrays.items()}, strict=True
        )
    else:
        ready = {key: to_paddle(one).astype(state[key].dtype) for key, one in made.arrays.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_state_dict(ready)

    def named(arrays: dict[str, Any]) -> dict[str, Any]:
        """Arrays by the source's keys as the target has them."""
        held = {key: Array(np.asarray(one), str(one.dtype)) for key, one in arrays.items() if one is not None}
        found: dict[str, Any] = {}
        for key, move in made.moves.items():
            if all(one in held for one in move.sources):
                found[key] = move.apply(held).values
        return found

    return named


def compared(
    stage: str, expected: Any, made: Any, mode: str, names: Any, worst: dict[str, float] | None
) -> Iterator[str]:
    """What differs between a stage's arrays of the original and of the converted program."""
    tolerance = TOLERANCES[mode]
    rename = names if names is not None and worst is not None else (lambda arrays: arrays)
    if (expected is None) != (made is None):
        yield "there are gradients on one side only"
        return
    if stage in ("eval", "train"):
        yield from _paired(expected["outputs"], made["outputs"], tolerance["output"], stage, worst)
        if "buffers" in expected:
            yield from _named(rename(expected["buffers"]), made["buffers"], tolerance["output"], "buffer", worst)
    elif stage == "program":
        yield from _paired(expected["outputs"], made["outputs"], tolerance["gradient"], stage, worst)
        yield from _named(rename(expected["state"]), made["state"], tolerance["gradient"], "after the program", worst)
    elif stage == "steps":
        yield from _close("loss", expected["losses"], made["losses"], tolerance["gradient"], stage, worst)
        yield from _named(rename(expected["state"]), made["state"], tolerance["gradient"], "after steps", worst)
    else:
        yield from _paired(
            expected["inputs"], made["inputs"], tolerance["gradient"], stage, worst, "gradient of input "
        )
        scale = max(
            (float(np.abs(g).max()) for g in expected["parameters"].values() if g is not None and g.size), default=0
        )
        yield from _named(
            rename(expected["parameters"]), made["parameters"], tolerance["gradient"], "gradient of", worst, scale
        )


def _paired(expected: Any, made: Any, tolerance: float, stage: str, worst: Any, what: str = "") -> Iterator[str]:
    if len(expected) != len(made):
        yield f"{what}{len(expected)} tensors, converted {len(made)}"
        return
    for (where, one), (_, other) in zip(expected, made, strict=True):
        yield from _close(f"{what}{where}", one, other, tolerance, stage, worst)


def _named(expected: Any, made: Any, tolerance: float, what: str, worst: Any, scale: float = 0.0) -> Iterator[str]:
    for key, one in expected.items():
        if key in made or one is not None:
            allowed = RUNNING_VARIANCE if key.endswith(("running_var", "_variance")) else tolerance
            yield from _close(f"{what} {key}", one, made.get(key), allowed, what, worst, scale)


def _close(
    what: str, expected: Any, made: Any, tolerance: float, stage: str, worst: Any, scale: float = 0.0
) -> Iterator[str]:
    if expected is None or made is None:
        present = made if expected is None else expected
        if present is not None and np.abs(present).max(initial=0) > FLOOR:
            yield f"{what}: none on {'the source' if expected is None else 'the converted'} side"
        return
    if expected.shape != made.shape:
        yield f"{what}: shape {list(expected.shape)}, converted {list(made.shape)}"
        return
    kinds = {"f": "float", "c": "complex"}
    if kinds.get(expected.dtype.kind, "int") != kinds.get(made.dtype.kind, "int"):
        yield f"{what}: {expected.dtype}, converted {made.dtype}"
        return
    if not expected.size:
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    one, other = expected.astype(wide), made.astype(wide)
    if not np.array_equal(np.isfinite(one), np.isfinite(other)):
        yield f"{what}: not finite in other places"
        return
    one, other = np.where(np.isfinite(one), one, 0), np.where(np.isfinite(other), other, 0)
    size = max(float(np.abs(one).max()), FLOOR, scale * 0.01)
    error = float(np.abs(one - other).max()) / size
    if worst is not None:
        worst[stage] = max(worst.get(stage, 0.0), error)
    if error > tolerance:
        yield f"{what}: largest difference {error:.2g} of its largest value {size:.3g}"


# processes


def _install(job: dict[str, Any]) -> TreeFinder:
    finder = TreeFinder(
        {name: Path(place) for name, place in job["roots"].items()},
        {name: Path(place) for name, place in job["converted"].items()} if "converted" in job else None,
    )
    sys.meta_path.insert(0, finder)
    if job.get("stubs"):
        sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, Blocker)]
        sys.meta_path.insert(0, Blocker(FAMILIES[job["blocked"]], stubs=True))
    return finder


def _entry(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(ENTRY, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[ENTRY] = module
    spec.loader.exec_module(module)
    return module


def _model(side: Side, entry: Any, job: dict[str, Any], seed: int = 1) -> Any:
    side.seed(seed)
    np.random.seed(seed)
    model = entry.build()
    return side.doubled(model) if job["mode"] == "float64" else model


def serve(name: str, folders: list[str]) -> None:
    """Answer jobs, each in a forked process of its own."""
    replies = os.fdopen(os.dup(1), "w")
    quiet = os.open(os.devnull, os.O_RDWR)
    os.dup2(quiet, 1)
    sys.path += folders
    sys.dont_write_bytecode = True
    sys.setrecursionlimit(4000)
    warnings.simplefilter("ignore")
    other = "paddle" if name == "torch" else "torch"
    sys.meta_path.insert(0, Blocker(FAMILIES[other]))
    side = sides(name)
    usual = ["einops", "scipy", "paddletorch_shim.weights.models", "paddletorch_rules.layouts"]
    if name == "torch":
        usual += ["torchvision", "torch.fx", "torch.distributed", "torch.utils.checkpoint"]
    for module in usual:  # once, before the processes of the jobs are forked
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    side.step(side.optimizer(side.lib.nn.Linear(1, 1)))  # imports what the first optimizer imports
    gc.collect()
    gc.freeze()
    for line in sys.stdin:
        job = json.loads(line)
        replies.write(json.dumps(_forked(side, job)) + "\n")
        replies.flush()


def _forked(side: Side, job: dict[str, Any]) -> dict[str, Any]:
    out = Path(job["out"])
    out.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        _child(side, job, out)
    end = time.monotonic() + 5 * job["limit"]  # other processes may need the machine too
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return {"ended": "timeout", "message": f"not done after {job['limit']} s"}
        time.sleep(0.005)
    if not out.exists():
        number = os.waitstatus_to_exitcode(status)
        cause = f"killed by {signal.Signals(-number).name}" if number < 0 else f"exit code {number}"
        return {"ended": "died", "message": cause}
    return {"ended": "done"}


def _child(side: Side, job: dict[str, Any], out: Path) -> None:
    code = 1
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (int(job["limit"]), int(job["limit"]) + 5))
        if not os.environ.get("PROGRAMS_DEBUG"):
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 2)
        os.chdir(job["folder"])
        result: Any
        try:
            if job["kind"] == "source":
                result = run_source(side, job)
            elif job["kind"] == "target":
                result = run_target(side, job)
            else:
                from program_finder import find

                result = find(side, job)
        except BaseException as error:
            result = {"failed": _described(error)}
        part = out.with_suffix(".part")
        part.write_bytes(pickle.dumps(result) if job["kind"] == "source" else json.dumps(result).encode())
        part.rename(out)
        code = 0
    finally:
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
