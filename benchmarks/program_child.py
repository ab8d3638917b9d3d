"""Runs programs in forked processes: one server has one framework, and the other one is out of its reach.

    python benchmarks/program_child.py torch FOLDER...      # jobs as JSON lines on stdin, replies on stdout

A job runs a program of the server's framework as it is (``source``), runs its converted form and compares
(``target``), or looks for programs in a module (``find``).
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pickle
import re
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from paddletorch.children.absent import FAMILIES, absent_name, make_absent
from paddletorch.comparison.measure import compared
from paddletorch.comparison.sides import Side, sides
from paddletorch.comparison.stages import stages
from paddletorch.comparison.values import inputs_of
from paddletorch.comparison.weights import fill_weights
from program_stages import entry_of, install_finder, made_model, run_source
from program_vision import define_vision_operators


class StageError(Exception):
    """A stage that failed; the cause is the failure."""


def run_target(side: Side, job: dict[str, Any]) -> dict[str, Any]:
    """Run the converted program with the original's weights and hold each stage against the original's."""
    source = pickle.loads(Path(job["source"]).read_bytes())
    stage = "import"
    finder = install_finder(job)
    covered: set[tuple[str, int]] = set()
    result: dict[str, Any] = {"outcome": "equal", "stages": list(source["stages"])}
    worst: dict[str, float] = {}
    try:
        if job["mode"] == "float64":
            side.set_float64()
        entry = entry_of(job["entry"])
        stage = "make"
        with _coverage(job, covered):
            model = made_model(side, entry, job)
        names: Any = None
        if source["plan"] is not None:
            stage = "weights"
            if not isinstance(model, side.base):
                raise TypeError(f"the converted model is a {type(model).__name__}")
            names = fill_weights(side, model, source)
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
        absent = absent_name(error, FAMILIES["paddle" if side.name == "torch" else "torch"])
        result |= {"outcome": "fails", "stage": stage, "absent": absent, **_described(error)}
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
    # what Python code does that Paddle calls back, such as a backward, is told in the message only
    inner = re.findall(r"(?m)^\s*(/\S+\.py)\((\d+)\): (\w+)", message)
    frames += [(file, int(line), function, "") for file, line, function in reversed(inner)]
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
    make_absent(FAMILIES[other])
    side = sides(name)
    if name == "torch":
        define_vision_operators(side.lib)
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
