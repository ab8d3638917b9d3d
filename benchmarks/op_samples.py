"""Runs single calls with the sample inputs of torch's own tests (OpInfo), and converted to Paddle.

    python benchmarks/op_samples.py --seed 711 [--each 4] [--only cross] [--json FILE]

torch.testing lists samples for each of its operators; `--each` of them are drawn for an operator, as a call of the
function or, by chance, of the method. Each is a program of one line, whose tensors are its parameters. It is converted
with default options and run on Paddle; outputs, dtypes and gradients are compared. Silent: without a finding above a
note. torch's list needs the package expecttest.
"""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

SECONDS = 60
"""For one call on Paddle."""


def spelled(value: Any, tensors: list[Any]) -> str:
    """The text of an argument; tensors are named and kept.

    Raises:
        ValueError: it has no text.
    """
    import torch

    if isinstance(value, torch.Tensor):
        if value.is_sparse or value.layout != torch.strided or value.is_quantized:
            raise ValueError("a tensor of another layout")
        tensors.append(value)
        return f"t{len(tensors) - 1}"
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple, torch.Size):
        items = ", ".join(spelled(one, tensors) for one in value)
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, slice):
        return repr(value)
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    if value is None or isinstance(value, (bool, int, float, complex, str, torch.dtype)):
        return repr(value)
    raise ValueError(type(value).__name__)


def samples(seed: int, each: int, only: str) -> Iterator[dict[str, Any]]:
    """Programs with what torch makes of them."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    draw = random.Random(seed)
    for op in sorted(op_db, key=lambda one: one.full_name + one.variant_test_name):
        if only and only not in op.full_name:
            continue
        dtypes = [d for d in (torch.float32, torch.complex64, torch.int64, torch.bool) if d in op.dtypes]
        if not dtypes:
            continue
        torch.manual_seed(seed)
        np.random.seed(seed)
        random.seed(seed)
        grad = op.supports_autograd and dtypes[0].is_floating_point
        try:
            every = list(op.sample_inputs("cpu", dtypes[0], requires_grad=grad))
        except Exception:
            continue
        chosen = sorted(draw.sample(range(len(every)), min(each, len(every))))
        for number in chosen:
            made = _program(op, every[number], draw.random() < 0.3)
            if made is not None:
                made["name"] = f"{op.full_name}{'.' + op.variant_test_name if op.variant_test_name else ''}/{number}"
                result = _torch_result(made, draw.randrange(1 << 30))
                if result is not None:
                    yield {**made, **result}


def _program(op: Any, sample: Any, as_method: bool) -> dict[str, Any] | None:
    import torch

    tensors: list[Any] = []
    try:
        given = [spelled(sample.input, tensors), *(spelled(one, tensors) for one in sample.args)]
        named = [f"{key}={spelled(one, tensors)}" for key, one in sample.kwargs.items()]
    except ValueError:
        return None
    if getattr(op.op, "__name__", "") == "<lambda>":
        return None  # it takes its arguments in another order
    place: Any = torch
    for part in op.name.split("."):
        place = getattr(place, part, None)
    method = isinstance(sample.input, torch.Tensor) and "." not in op.name and hasattr(torch.Tensor, op.name)
    if method and (as_method or place is None):
        call = f"{given[0]}.{op.name}({', '.join([*given[1:], *named])})"
    elif place is not None:
        call = f"torch.{op.name}({', '.join([*given, *named])})"
    else:
        return None
    parameters = ", ".join(f"t{n}: torch.Tensor" for n in range(len(tensors)))
    return {"text": f"import torch\n\n\ndef program({parameters}):\n    return {call}\n", "tensors": tensors}


_WITHOUT_VALUES = ("empty", "bernoulli", "multinomial")
"""What two runs may give by chance, and another framework does not."""


def _torch_result(made: dict[str, Any], seed: int) -> dict[str, Any] | None:
    import torch

    tensors = made.pop("tensors")
    inputs = [(one.detach().resolve_conj().resolve_neg().numpy().copy(), one.requires_grad) for one in tensors]
    space: dict[str, Any] = {}
    exec(compile(made["text"], "<program>", "exec"), space)
    results = []
    for turn in range(2):
        torch.manual_seed(seed + turn)
        given = [torch.from_numpy(array.copy()).requires_grad_(grad) for array, grad in inputs]
        try:
            outputs = list(flat(space["program"](*given)))
            if any(isinstance(one, torch.Tensor) and one.layout != torch.strided for one in outputs):
                return None
            grads = _gradients(outputs, given, seed, torch.autograd.grad)
            results.append(([_array(one) for one in outputs], grads))
        except Exception:  # also a dtype that NumPy does not have
            return None
    fixed = not any(difference(a, b) for a, b in zip(results[0][0], results[1][0], strict=True))
    fixed = fixed and not any(name in made["text"] for name in _WITHOUT_VALUES)
    return {"inputs": inputs, "outputs": results[0][0], "grads": results[0][1], "seed": seed, "fixed": fixed}


def flat(value: Any) -> Iterator[Any]:
    """The tensors and numbers in a result, in order."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from flat(one)
    else:
        yield value


def _array(value: Any) -> Any:
    if hasattr(value, "detach"):
        value = value.detach()
    for name in ("resolve_conj", "resolve_neg"):
        value = getattr(value, name)() if hasattr(value, name) else value
    return value.numpy() if hasattr(value, "numpy") else value


def _gradients(outputs: Sequence[Any], given: Sequence[Any], seed: int, grad: Any) -> list[Any] | None:
    """The gradients of a weighted sum of what is differentiable."""
    rng = np.random.default_rng(seed)
    wanted = [one for one in given if _requires(one)]
    parts = []
    for one in outputs:
        if hasattr(one, "dtype") and hasattr(one, "shape") and "float" in str(one.dtype):
            weight = rng.standard_normal(tuple(one.shape)).astype("float32")
            if _requires(one):
                parts.append((one * _like(one, weight)).sum())
    if not wanted or not parts:
        return None
    found = grad([sum(parts[1:], parts[0])], wanted, allow_unused=True)
    zeros = (np.zeros(tuple(one.shape), "float32") for one in wanted)
    return [zero if one is None else _array(one) for one, zero in zip(found, zeros, strict=True)]


def _requires(value: Any) -> bool:
    if hasattr(value, "requires_grad"):
        return bool(value.requires_grad)
    return hasattr(value, "stop_gradient") and not value.stop_gradient


def _like(tensor: Any, weight: Any) -> Any:
    module = sys.modules[type(tensor).__module__.partition(".")[0]]
    return module.to_tensor(weight) if hasattr(module, "to_tensor") else module.from_numpy(np.array(weight))


def difference(expected: Any, found: Any, values: bool = True) -> str:
    """What differs; empty if nothing does."""
    if not isinstance(expected, np.ndarray) and not hasattr(expected, "dtype"):
        if isinstance(expected, (int, float, complex)) and isinstance(found, (int, float, complex)):
            return "" if np.allclose(expected, found, 2e-3, 1e-4, equal_nan=True) else f"{found} for {expected}"
        return "" if str(expected) == str(found) else f"{found!r} for {expected!r}"
    expected, found = np.asarray(expected), np.asarray(found)
    if expected.dtype != found.dtype:
        return f"dtype {found.dtype} for {expected.dtype}"
    if expected.shape != found.shape:
        return f"shape {found.shape} for {expected.shape}"
    if values and not np.allclose(expected, found, 2e-3, 1e-4, equal_nan=True):
        return "values"
    return ""


def run_on_paddle(folder: Path) -> None:
    """Run the converted programs from where an earlier process ended; a line of results for each."""
    import signal

    import paddle

    jobs = pickle.loads((folder / "jobs.pkl").read_bytes())
    done = folder / "done.jsonl"
    start = len(done.read_text().splitlines()) if done.exists() else 0
    with done.open("a") as file:
        for job in jobs[start:]:
            signal.alarm(SECONDS)  # ends the process, which counts as a crash
            file.write(json.dumps(_outcome(job, paddle)) + "\n")
            file.flush()


def _outcome(job: Mapping[str, Any], paddle: Any) -> list[str]:
    space: dict[str, Any] = {}
    try:
        exec(compile(job["output"], "<program>", "exec"), space)
        paddle.seed(1)
        given = [paddle.to_tensor(array, stop_gradient=not grad) for array, grad in job["inputs"]]
        outputs = list(flat(space["program"](*given)))
        arrays = [_array(one) for one in outputs]
    except BaseException as error:
        return ["raises", f"{type(error).__name__}: {str(error).strip()[-200:]}"]
    if len(arrays) != len(job["outputs"]):
        return ["differs", f"{len(arrays)} results for {len(job['outputs'])}"]
    for number, (expected, found) in enumerate(zip(job["outputs"], arrays, strict=True)):
        told = difference(expected, found, job["fixed"])
        if told:
            return ["differs", f"output {number}: {told}"]
    if job["grads"] is None or not job["fixed"]:
        return ["equal", ""]
    try:
        grads = _gradients(outputs, given, job["seed"], paddle.grad)
    except BaseException as error:
        return ["raises", f"gradient: {type(error).__name__}: {str(error).strip()[-200:]}"]
    if grads is None:  # torch gives zeros where Paddle's result has none
        return ["differs", "no gradient"] if any(map(np.any, job["grads"])) else ["equal", ""]
    for number, (expected, found) in enumerate(zip(job["grads"], grads, strict=True)):
        told = difference(expected, found)
        if told:
            return ["differs", f"gradient {number}: {told}"]
    return ["equal", ""]


@click.command()
@click.option("--seed", default=0, show_default=True)
@click.option("--each", default=4, show_default=True, help="Samples of an operator.")
@click.option("--only", default="", metavar="TEXT", help="Only operators whose name has this in it.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every outcome to this file.")
@click.option("--paddle", "paddle_folder", type=click.Path(path_type=Path), hidden=True)
def main(seed: int, each: int, only: str, json_file: Path | None, paddle_folder: Path | None) -> None:
    """Draw the samples, convert and run them, print the counts."""
    if paddle_folder:
        run_on_paddle(paddle_folder)
        return
    from paddletorch.api.convert import convert
    from paddletorch.model import Severity

    jobs = list(samples(seed, each, only))
    for job in jobs:
        result = convert(job["text"], to="paddle")
        job["output"] = result.output
        job["codes"] = sorted({one.code for one in result.findings if one.severity is not Severity.INFO})
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "jobs.pkl").write_bytes(pickle.dumps(jobs))
        done = folder / "done.jsonl"
        done.touch()
        while len(done.read_text().splitlines()) < len(jobs):
            command = [sys.executable, __file__, "--paddle", str(folder)]
            if subprocess.run(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False).returncode:
                with done.open("a") as file:
                    file.write(json.dumps(["raises", "the process ended"]) + "\n")
        outcomes = [json.loads(line) for line in done.read_text().splitlines()]
    counts = Counter((what, bool(job["codes"])) for job, (what, _) in zip(jobs, outcomes, strict=True))
    for (what, reported), count in sorted(counts.items()):
        click.echo(f"{what}, {'reported' if reported else 'silent'}: {count} of {len(jobs)}")
    if json_file:
        lines = [
            {"name": job["name"], "text": job["text"], "output": job["output"], "codes": job["codes"], "outcome": one}
            for job, one in zip(jobs, outcomes, strict=True)
        ]
        json_file.write_text(json.dumps(lines, indent=1))


if __name__ == "__main__":
    main()
