"""Runs the original of a case, and makes what both sides need to run one."""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from paddletorch.children.absent import FAMILIES
from paddletorch.comparison.measure import compared
from paddletorch.comparison.sides import Side
from paddletorch.comparison.stages import ALL_STAGES, ROUNDING, is_finite, perturb, rounded_input, stages
from paddletorch.comparison.values import inputs_of
from program_trees import StubFinder, TreeFinder

ENTRY = "program_case"
"""The module that makes a case's model; it is converted with the tree."""


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
    rounded = [rounded_input(one, random, ROUNDING[job["mode"]]) for one in inputs]
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
        if trouble or not is_finite(made):
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
