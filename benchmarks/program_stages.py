"""What is run of a program: forward and backward in both modes and three optimizer steps."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from paddletorch.children.absent import FAMILIES
from program_compare import compared
from program_sides import Side
from program_trees import StubFinder, TreeFinder
from program_values import FixedValues, arrays_of, fixed_values, inputs_of, leaves, loss_of, placed_on

ENTRY = "program_case"
"""The module that makes a case's model; it is converted with the tree."""
ROUNDING = {"float32": 3e-7, "float64": 1e-12}
"""How much inputs are changed in a second run of the original, to see what it makes of rounding."""


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
            returned = train(model, *[placed_on(side, one) for one in inputs])
            return {"outputs": arrays_of(side, list(leaves(side, returned))), "state": state_arrays(side, model)}

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
            held["inputs"] = [placed_on(side, one) for one in inputs]
            named = {key: placed_on(side, one) for key, one in keywords.items()}
            # what goes in is not a leaf, as in a larger program, so that it may be changed in place
            passed = _through(side, held["inputs"])
            held["outputs"] = list(leaves(side, model(*passed, **named)))
            made: dict[str, Any] = {"outputs": arrays_of(side, held["outputs"])}
            if mode == "train":
                made["buffers"] = state_arrays(side, model)
            return made

        def backward(held: dict[str, Any] = held) -> Any:
            loss = loss_of(side, held["outputs"])
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
            placed = _through(side, [placed_on(side, one) for one in inputs])
            named = {key: placed_on(side, one) for key, one in keywords.items()}
            loss = loss_of(side, list(leaves(side, model(*placed, **named))), square=True)
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
    finder = install_finder(job)
    if job["mode"] == "float64":
        side.set_float64()
    entry = entry_of(job["entry"])
    inputs = inputs_of(job["inputs"], 3, job["mode"])
    keywords = dict(
        zip(job.get("keywords", {}), inputs_of(list(job.get("keywords", {}).values()), 5, job["mode"]), strict=True)
    )
    train = getattr(entry, "train", None)
    random = np.random.default_rng(9)
    rounded = [_rounded(one, random, ROUNDING[job["mode"]]) for one in inputs]
    first = made_model(side, entry, job)
    is_model = isinstance(first, side.base)
    result: dict[str, Any] = {"stages": {}, "unsupported": {}, "plan": None, "state": {}}
    if is_model:
        perturb(side, first, 11)
        from paddletorch_shim.weights import layout
        from paddletorch_shim.weights.arrays import to_array

        result["plan"] = layout.plan(first, side.name)
        held = {k: to_array(k, v) for k, v in first.state_dict().items() if hasattr(v, "shape")}
        result["state"] = {k: one.having(one.values.copy()) for k, one in held.items()}  # training changes them
    second = made_model(side, entry, job, seed=2)
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
        return fixed_values(changed, isinstance(value, FixedValues))
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


def install_finder(job: dict[str, Any]) -> TreeFinder:
    finder = TreeFinder(
        {name: Path(place) for name, place in job["roots"].items()},
        {name: Path(place) for name, place in job["converted"].items()} if "converted" in job else None,
    )
    sys.meta_path.insert(0, finder)
    if job.get("stubs"):
        sys.meta_path.insert(0, StubFinder(FAMILIES[job["blocked"]]))
    return finder


def entry_of(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(ENTRY, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[ENTRY] = module
    spec.loader.exec_module(module)
    return module


def made_model(side: Side, entry: Any, job: dict[str, Any], seed: int = 1) -> Any:
    side.seed(seed)
    np.random.seed(seed)
    model = entry.build()
    return side.doubled(model) if job["mode"] == "float64" else model
