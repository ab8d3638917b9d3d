"""Runs training scripts on one framework: ``python scripts_worker.py torch|paddle RESULTS < JOBS``.

A job names a script with ``main(argv)`` and ``build_model()``, the arguments of each run, and, for a script as it
was written, where its model's first weights go for each framework. One JSON line for each job; with "error" if
it failed.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
import traceback
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from paddletorch.model import Framework
from paddletorch.proof.environment import activate_scalers
from paddletorch_rules.layouts import Part, tensors, walk


def first_weights(model: Any, framework: Framework) -> dict[Framework, dict[str, np.ndarray]]:
    """The tensors of the model's state for each framework, under the names and in the layouts it has there."""
    other: Framework = "paddle" if framework == "torch" else "torch"
    states: dict[Framework, dict[str, np.ndarray]] = {framework: {}, other: {}}
    for place in walk(model, framework):
        layout = place.layout
        parts: dict[str, list[Part]] = {}
        for part in layout.parts if layout else ():
            parts.setdefault(getattr(part, framework), []).append(part)
        for name, tensor in tensors(place, framework):
            if name in getattr(place.module, _TRANSIENT[framework]):
                continue
            array = tensor.detach().numpy().copy()
            states[framework][getattr(place, framework) + name] = array
            if layout and framework == "torch" and name in layout.torch_only:
                continue
            for part in parts.get(name, [Part(name, name)]):
                if part.section and framework == "paddle":
                    raise NotImplementedError(f"{place.paddle}{name}: sections are not joined here")
                cut = np.split(array, part.section[1])[part.section[0]] if part.section else array
                moved = cut.T if part.transposed and cut.ndim == 2 else cut
                states[other][getattr(place, other) + getattr(part, other)] = moved
    return states


_TRANSIENT = {"torch": "_non_persistent_buffers_set", "paddle": "_non_persistable_buffer_names_set"}
"""Where a module keeps the names of buffers that are not in its state."""


def fresh_names(framework: Framework) -> contextlib.AbstractContextManager[object]:
    """Paddle numbers parameters and saves optimizers by these names; a program that resumes numbers anew."""
    if framework == "torch":
        return contextlib.nullcontext()
    from paddle.utils import unique_name

    guard: contextlib.AbstractContextManager[object] = unique_name.guard()
    return guard


def load(path: str) -> ModuleType:
    """Import the script under a name of its own."""
    spec = importlib.util.spec_from_file_location(Path(path).name.replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def run(framework: Framework, job: dict[str, Any]) -> None:
    """Write the first weights, if asked to, and train."""
    module = importlib.import_module(framework)
    module.set_default_dtype(module.float32)  # whatever the script before has set
    script = load(job["path"])
    if job.get("weights"):
        seed = getattr(sys.modules[framework], "manual_seed" if framework == "torch" else "seed")
        seed(0)
        for side, state in first_weights(script.build_model(), framework).items():
            np.savez(job["weights"][side], allow_pickle=False, **state)
    for arguments in job["runs"]:
        with fresh_names(framework):
            script.main(arguments)


def main() -> None:
    """Run the jobs of standard input; results go to the file named in the arguments, one JSON line each."""
    framework: Framework = "torch" if sys.argv[1] == "torch" else "paddle"
    os.environ |= {"OMP_NUM_THREADS": "1", "GLOG_minloglevel": "2", "CUDA_VISIBLE_DEVICES": ""}
    warnings.simplefilter("ignore")
    importlib.import_module(framework)
    activate_scalers(framework)
    if framework == "torch":
        import torch

        torch.set_num_threads(1)
    with Path(sys.argv[2]).open("w") as out:
        for line in sys.stdin:
            job = json.loads(line)
            result = {"id": job["id"]}
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    run(framework, job)
            except (Exception, SystemExit):
                result["error"] = traceback.format_exc()
            print(json.dumps(result), file=out, flush=True)


if __name__ == "__main__":
    main()
