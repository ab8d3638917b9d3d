"""Looks for programs in a module: classes of modules whose constructor and ``forward`` run with guessed arguments."""

from __future__ import annotations

import importlib
import inspect
import itertools
import signal
import time
import types
from collections.abc import Iterator
from typing import Any

import program_guesses as guesses
from paddletorch.comparison.sides import Side
from paddletorch.comparison.values import NoTensorError, inputs_of, leaves, placed_on
from program_stages import install_finder

MOST_PARAMETERS = 5_000_000
MOST_SECONDS = 1.5


def find(side: Side, job: dict[str, Any]) -> dict[str, Any]:
    """The cases of one module: each what makes it and what it is called with."""
    finder = install_finder(job)
    module = importlib.import_module(job["module"])
    library = side.lib
    found: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    end = time.process_time() + job["limit"] - 5
    extra = {name: [one] if isinstance(one, str) else one for name, one in job.get("values", {}).items()}
    for name, value in _candidates(module, side):
        if len(found) >= job["most"] or time.process_time() > end:
            break
        if job.get("names") and name not in job["names"]:
            continue
        case = _case(side, module, name, value, extra, failed, min(end, time.process_time() + job["each"]))
        if case:
            found.append(case)
    return {"cases": found, "failed": failed, "library": library.__name__, "loaded": len(finder.loaded)}


def _candidates(module: types.ModuleType, side: Side) -> Iterator[tuple[str, Any]]:
    """Functions that may make a model, then classes of modules; the last are usually the largest."""
    own = [(n, v) for n, v in vars(module).items() if getattr(v, "__module__", None) == module.__name__]
    makers = [
        (n, v)
        for n, v in own
        if inspect.isfunction(v) and not n.startswith("_") and "pretrained" in inspect.signature(v).parameters
    ]
    small = ("tiny", "nano", "18", "test", "small", "_b0", "x0_25", "0_5", "atto", "femto", "pico", "s0", "mini", "xxs")
    makers.sort(key=lambda one: not any(mark in one[0].lower() for mark in small))
    yield from makers[:2]
    for name, value in reversed(own):
        if isinstance(value, type) and issubclass(value, side.base) and value.__name__ == name:
            yield name, value


class _TooLong(Exception):
    pass


def _alarm(*_: Any) -> None:
    raise _TooLong


def _case(
    side: Side, module: Any, name: str, value: Any, extra: dict[str, list[str]], failed: dict[str, str], end: float
) -> dict[str, Any] | None:
    last = "no constructor arguments are known"
    heavy = 0
    signal.signal(signal.SIGPROF, _alarm)
    for texts in itertools.islice(guesses.arguments(side, value, extra), 40):
        if time.process_time() > end:
            break
        call = f"{name}({', '.join(f'{key}={text}' for key, text in texts.items())})"
        names = {**vars(module), "nn": side.lib.nn}
        try:
            signal.setitimer(signal.ITIMER_PROF, 2.5)
            side.seed(1)
            model = eval(call, names)
            signal.setitimer(signal.ITIMER_PROF, 0)
        except (Exception, _TooLong) as error:
            signal.setitimer(signal.ITIMER_PROF, 0)
            last = f"{call}: {type(error).__name__}: {error}"[:200]
            heavy += isinstance(error, _TooLong)
            if heavy > 1:
                break
            continue
        if not isinstance(model, side.base):
            last = f"{call}: a {type(model).__name__}"
            continue
        if sum(_size(p) for p in model.parameters()) > MOST_PARAMETERS:
            last = f"{call}: too many parameters"
            heavy += 1
            if heavy > 1:
                break
            continue
        model.eval()
        for inputs in itertools.islice(guesses.inputs(side, model, texts, extra), 60):
            if time.process_time() > end:
                break
            try:
                signal.setitimer(signal.ITIMER_PROF, MOST_SECONDS)
                side.seed(7)
                placed = [placed_on(side, one) for one in inputs_of(inputs, 3, "float32")]
                outputs = list(leaves(side, model(*placed)))
                signal.setitimer(signal.ITIMER_PROF, 0)
            except NoTensorError as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                last = f"{call}: {error}"
                break
            except (Exception, _TooLong) as error:
                signal.setitimer(signal.ITIMER_PROF, 0)
                last = f"{call} on {inputs}: {type(error).__name__}: {error}"[:300]
                continue
            if not any(side.is_tensor(one) for _, one in outputs):
                last = f"{call}: no tensor comes out"
                continue
            return {"name": name, "make": call, "inputs": inputs, "nn": "nn." in call.partition("(")[2]}
    failed[name] = last
    return None


def _size(tensor: Any) -> int:
    total = 1
    for n in tensor.shape:
        total *= int(n)
    return total
