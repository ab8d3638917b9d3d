"""The child's side of ``compare``: makes the model of one framework, runs it, and on the converted side compares."""

from __future__ import annotations

import importlib
import pickle
import sys
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from paddletorch.children.absent import FAMILIES, absent_name, make_absent
from paddletorch.comparison.blame import BEHIND, Lines, lines_of_functions, lines_of_row
from paddletorch.comparison.cases import OWN_FUNCTIONS
from paddletorch.comparison.measure import TOLERANCES
from paddletorch.comparison.recording import Recorder, roots_of
from paddletorch.comparison.rows import Row, rows_of
from paddletorch.comparison.sides import Side, sides
from paddletorch.comparison.stages import (
    ALL_STAGES,
    ROUNDING,
    Own,
    is_finite,
    perturb,
    rounded_input,
    stages,
)
from paddletorch.comparison.weights import fill_weights

Send = Callable[[Mapping[str, Any]], None]

_UNSTABLE = 0.05
"""A difference of two runs of one model that is no matter of rounding: it draws random numbers."""


class UnusableSource(Exception):
    """The source's model cannot be run in a way that something can be compared with."""


def main(job: dict[str, Any], send: Send) -> None:
    """Do a job: ``role``, ``framework``, ``model``, ``arguments``, ``mode``, ``file`` and what to run."""
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(4000)
    absent = FAMILIES["paddle" if job["framework"] == "torch" else "torch"]
    make_absent(absent)
    stage = ["import"]
    try:
        importlib.import_module(job["framework"])
    except Exception as error:
        name = job["framework"]
        hint = f"pip install 'paddletorch[{name}]'"
        send({"unusable": f"{name} is not usable here ({type(error).__name__}: {_short(str(error))}): {hint}"})
        return
    try:
        answer = _Run(job, stage).do()
    except UnusableSource as error:
        answer = {"unusable": str(error)}
    except BaseException as error:
        from paddletorch_shim.weights import WeightsError

        if job["role"] == "source" and isinstance(error, WeightsError):
            send({"unusable": str(error)})
            return
        answer = {"failed": {**_described(error), "absent": absent_name(error, absent)}, "stage": stage[0]}
    send(answer)


class _Run:
    def __init__(self, job: dict[str, Any], stage: list[str]) -> None:
        from paddletorch_shim.weights.models import Reference

        self._job = job
        self._stage = stage
        self._side: Side = sides(job["framework"])
        if job["mode"] == "float64":
            self._side.set_float64()
        self._side.use_mixed_precision_of_gpus()
        self._reference = Reference(job["framework"], job["model"], job["arguments"])
        self._roots = roots_of(job["model"].partition(":")[0].rpartition("/")[0] or ".")
        self._recorder = Recorder(self._side, self._roots)
        self._module = self._reference.module()
        self._functions = {name: self._function(job[name]) for name in OWN_FUNCTIONS}

    def do(self) -> dict[str, Any]:
        return self._source() if self._job["role"] == "source" else self._target()

    def _model(self, seed: int) -> Any:
        self._stage[0] = "make"
        self._side.seed(seed)
        np.random.seed(seed)
        model = self._reference.build()
        _without_inner_dropout(model)
        return self._side.doubled(model) if self._job["mode"] == "float64" else model

    def _own(self, events: dict[str, list[Any]]) -> Own:
        @contextmanager
        def around(mode: str) -> Any:
            with self._recorder.recording() as found:
                yield
            events[mode] = list(found)

        return Own(**self._functions, steps=self._job["steps"], around=around)

    def _function(self, name: str | None) -> Any:
        """A function of the program's own: of the model's module, or of another as MODULE:NAME."""
        if name is None:
            return None
        place, _, last = name.rpartition(":")
        return getattr(importlib.import_module(place) if place else self._module, last)

    def _source(self) -> dict[str, Any]:
        from paddletorch_shim.weights import layout
        from paddletorch_shim.weights.arrays import to_array

        mode = self._job["mode"]
        first = self._model(1)
        given, keywords = self._inputs(first)
        layers = self._recorder.name_layers(first)
        perturb(self._side, first, 11)
        held = {k: to_array(k, v) for k, v in first.state_dict().items() if hasattr(v, "shape")}
        result: dict[str, Any] = {
            "plan": layout.plan(first, self._side.name),
            "state": {key: one.having(one.values.copy()) for key, one in held.items()},  # training changes them
            "inputs": (given, keywords),
            "layers": layers,
            "functions": lines_of_functions(self._functions),
            "stages": {},
            "noise": {},
            "left": {},
        }
        try:
            second = self._model(2)
        except Exception as error:
            raise UnusableSource(f"the model cannot be built twice: {error}") from error
        if unlike := _unlike(first, second):
            raise UnusableSource(f"the model cannot be built twice: {unlike}")
        self._recorder.name_layers(second)
        _load(self._side, second, first)
        random = np.random.default_rng(9)
        rounded = [rounded_input(one, random, ROUNDING[mode]) for one in given]
        wanted: Sequence[str] = ALL_STAGES
        if self._job["scaler"] and mode == "float64":
            wanted = [name for name in wanted if name != "steps"]
            result["left"]["steps"] = "Paddle's loss scaler leaves gradients of float64 as they are"
        runs = [
            self._stages(model, inputs, keywords, wanted, seed)
            for model, inputs, seed in ((first, given, 7), (second, rounded, 8))
        ]
        for (name, one), (_, other) in zip(*runs, strict=False):
            if any(name.startswith(left) for left in result["left"]) or (name == "steps" and "train" in result["left"]):
                continue
            reason = self._both(name, one, other, result)
            if reason and name == "eval":
                raise UnusableSource(f"nothing can be compared with {self._job['model']}: {reason}")
            if reason:
                result["left"][name] = reason
        Path(self._job["file"]).write_bytes(pickle.dumps(result))
        return {"done": True, "left": result["left"]}

    def _both(self, name: str, one: Callable[[], Any], other: Callable[[], Any], result: dict[str, Any]) -> str:
        """Run a stage twice; keep it, or say why it cannot be compared."""
        self._stage[0] = name
        try:
            made, again = one(), other()
        except Exception as error:
            return f"the source itself fails there: {type(error).__name__}: {_short(str(error))[:120]}"
        rows = {row.key: row for row in rows_of(name, made, again, dict)}
        random = [row for row in rows.values() if row.found.problem or row.found.error > _UNSTABLE]
        if [row for row in random if row.what in ("output", "loss", "out")]:
            return "two runs of the source differ: it draws random numbers, which the other framework draws otherwise"
        if not is_finite({key: value for key, value in (made or {}).items() if key != "events"}):
            return "what the source makes is not finite"
        result["stages"][name] = made
        result["noise"] |= rows
        return ""

    def _stages(self, model: Any, inputs: Any, keywords: Any, wanted: Any, seed: int) -> Any:
        """The stages to run, each with what went through the layers."""
        events: dict[str, list[Any]] = {}
        own = self._own(events)

        def with_events(name: str, function: Callable[[], Any]) -> Callable[[], Any]:
            def run() -> Any:
                made = function()
                return {**made, "events": events[name]} if name in events else made

            return run

        for name, function in stages(self._side, model, inputs, keywords, wanted, seed, own=own):
            yield name, with_events(name, function)

    def _inputs(self, model: Any) -> tuple[list[Any], dict[str, Any]]:
        from paddletorch_shim.weights import check

        if self._job["inputs"]:
            found = check.random_inputs(self._job["inputs"], check.smallest_vocabulary(model))
        else:
            found = check.example_inputs(self._module, "--input")
        given = [_numbers(one, self._job["mode"]) for one in found.args]
        return given, {key: _numbers(one, self._job["mode"]) for key, one in (found.kwargs or {}).items()}

    def _target(self) -> dict[str, Any]:
        source = pickle.loads(Path(self._job["file"]).read_bytes())
        model = self._model(1)
        layers = self._recorder.name_layers(model)
        self._stage[0] = "weights"
        rename = fill_weights(self._side, model, source)
        inputs, keywords = source["inputs"]
        given = self._job["tolerance"]
        tolerance = {"output": given, "gradient": given} if given else TOLERANCES[self._job["mode"]]
        rows: list[Row] = []
        events: list[Any] = []
        wrong: list[Row] = []
        left: dict[str, str] = {}
        for name, function in self._stages(model, inputs, keywords, source["stages"], 7):
            if name not in source["stages"]:
                continue
            self._stage[0] = name
            try:
                made = function()
            except Exception as error:
                if name != "eval_grad" or "train_grad" not in source["stages"]:
                    raise
                # Paddle's recurrent layers have none in evaluation mode; training, which needs them, comes next
                left[name] = f"the converted model fails there: {type(error).__name__}: {_short(str(error))[:120]}"
                continue
            events = made["events"] if made and "events" in made else events
            forward = source["stages"].get(name.removesuffix("_grad"), {}).get("events", [])
            order = {event["layer"]: number for number, event in enumerate(forward) if event["kind"] == "out"}
            found = list(rows_of(name, source["stages"][name], made, rename, order))
            rows += found
            wrong = [row for row in found if row.exceeds(tolerance, source["noise"])]
            if wrong:
                break
        fault = self._fault(wrong[0], source, events, layers) if wrong else None
        shown = _plain([row for row in rows if not row.is_variance])
        return {"rows": shown, "fault": fault, "stages": list(source["stages"]), "left": left}

    def _fault(self, row: Row, source: Any, events: Sequence[Any], layers: Any) -> dict[str, Any]:
        stage = "eval" if row.stage.startswith("eval") or "train" not in source["stages"] else "train"
        theirs = source["stages"][stage]["events"]
        own = lines_of_functions(self._functions)
        return {
            **_plain([row])[0],
            "type": source["layers"].get(row.layer, {}).get("type", ""),
            "source": _behind(row, source["functions"]) or _lines(row, theirs, source["layers"]),
            "converted": _behind(row, own) or _lines(row, events, layers),
        }


def _behind(row: Row, functions: Mapping[str, Lines]) -> Lines | None:
    """The function of the program's own that is likely to be behind a difference, if there is one."""
    return next((functions[name] for name in BEHIND.get(row.what, ()) if name in functions), None)


def _lines(row: Row, events: Sequence[Any], layers: Any) -> Lines | None:
    return lines_of_row(row.what, row.layer, row.call, events, layers)


def _plain(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "stage": row.stage,
            "what": row.what,
            "layer": row.layer,
            "call": row.call,
            "name": row.name,
            "error": row.found.error,
            "size": row.found.size,
            "problem": row.found.problem,
        }
        for row in rows
    ]


def _without_inner_dropout(model: Any) -> None:
    """Recurrent layers drop inside a kernel, which no function can be put in the place of."""
    for module in [model, *(model.modules() if hasattr(model, "modules") else model.sublayers())]:
        if any(base.__name__ == "RNNBase" for base in type(module).__mro__) and hasattr(module, "dropout"):
            module.dropout = 0.0


def _load(side: Side, model: Any, original: Any) -> None:
    if side.name == "torch":
        model.load_state_dict(original.state_dict())
    else:
        model.set_state_dict({k: v.clone() for k, v in original.state_dict().items() if hasattr(v, "clone")})


def _unlike(first: Any, second: Any) -> str:
    """What two models of the same code have not alike, or an empty string."""
    one, other = (
        {key: list(value.shape) for key, value in model.state_dict().items() if hasattr(value, "shape")}
        for model in (first, second)
    )
    for key in [*one, *other]:
        if one.get(key) != other.get(key):
            return f"{key} is {one.get(key, 'not there')} the first time, {other.get(key, 'not there')} the second"
    return ""


def _numbers(value: Any, mode: str) -> Any:
    """An input as numpy has it, floating-point ones in the dtype of the run."""
    if hasattr(value, "numbers"):
        values = value.numbers()
        return values.astype(mode) if values.dtype.kind == "f" else values
    if isinstance(value, (list, tuple)):
        return type(value)(_numbers(one, mode) for one in value)
    if isinstance(value, dict):
        return {key: _numbers(one, mode) for key, one in value.items()}
    return value


def _described(error: BaseException) -> dict[str, Any]:
    seen: BaseException = error
    while seen.__cause__ is not None:
        seen = seen.__cause__
    frames = [[frame.filename, frame.lineno or 0] for frame in traceback.extract_tb(seen.__traceback__)]
    return {"error": type(seen).__name__, "message": _short(str(seen)), "frames": frames[-40:]}


def _short(message: str) -> str:
    """A message; of Paddle's long ones, the part that says what is wrong."""
    for mark in ("InvalidArgumentError: ", "NotFoundError: ", "UnimplementedError: ", "PreconditionNotMetError: "):
        if mark in message and "----" in message:
            message = mark + message.rpartition(mark)[2]
    return " ".join(message.split())[:400]
