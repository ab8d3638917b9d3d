"""Writes graphs of models as Python modules, as torch.fx, torch.export and dynamo write them.

    python benchmarks/traced_graphs.py FOLDER FOLDER_OF_PACKAGES < models.json

Each graph becomes a file with what makes it, ``build()``, and a line of ``graphs.json``: its form, its file and what it
is called with. Parameters are inputs, as in the graphs of dynamo and torch.export; in those of torch.fx they belong to
the layers, which are written out as they print themselves.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from paddletorch.comparison.values import inputs_of
from program_vision import define_vision_operators

SECONDS = 60
"""For all graphs of a model."""


class Writer:
    """Puts the graphs of one model into a folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self.graphs: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)

    def write(self, form: str, text: str, values: Sequence[Any], number: int = 0) -> None:
        """Keep a module and what it is called with."""
        name = f"{self._name}-{number}" if number else self._name
        file = self._folder / f"{form}-{number}.py"
        file.write_text(text, encoding="utf-8")
        inputs = [self._described(value) for value in values]
        self.graphs.append({"form": form, "name": name, "file": str(file), "inputs": inputs})

    def _described(self, value: Any) -> str:
        """An input as the bench's cases name it: a number in words, a tensor by its file."""
        if not isinstance(value, torch.Tensor):
            return f"={value!r}"
        array = value.detach().numpy()
        kind = "file" if value.requires_grad or not isinstance(value, Fixed) else "fixed file"
        file = self._folder / f"{hashlib.sha256(array.tobytes() + str(array.shape).encode()).hexdigest()[:16]}.npy"
        if not file.exists():
            part = file.with_suffix(".part.npy")  # the end of the time may come while it is written
            np.save(part, array)
            part.replace(file)
        return f"{kind}:{file}"


class Fixed(torch.Tensor):
    """A buffer or a constant: no gradient is asked for."""


def fixed(value: Any) -> Any:
    """The tensor as one that no gradient is asked for."""
    return value.detach().as_subclass(Fixed) if isinstance(value, torch.Tensor) else value


def module_text(forward: str, init: Sequence[str] = ()) -> str:
    """A module around the text of a graph's ``forward``."""
    forward = forward.strip("\n")
    lines = ["def __init__(self):", "    super().__init__()", *(f"    {line}" for line in init), ""] if init else []
    body = "\n".join(f"    {line}" if line else "" for line in [*lines, *forward.split("\n")])
    return f"{HEAD}\n\nclass GraphModule(torch.nn.Module):\n{body.rstrip()}\n{BUILD}"


HEAD = (
    "import torch\nfrom torch import device\nfrom math import inf, nan\nfrom typing import Union as typing_Union\n\n"
    "NoneType = type(None)\n"
)
BUILD = "\n\ndef build():\n    return GraphModule()\n"


def plain(module: Any) -> str:
    """The code of a graph, with the graphs in it that are passed to operators of higher order, as a module."""
    parts = [(name, one) for name, one in module.named_children() if isinstance(one, torch.fx.GraphModule)]
    text = module_text(module.code, [f"self.{name} = {name}()" for name, _ in parts])
    for name, one in parts:
        inner = module_text(one.code).replace("class GraphModule", f"class {name}")
        text = text.replace(HEAD, inner.removesuffix(BUILD) + "\n", 1)
    return text


def readable(module: Any) -> str:
    """What ``print_readable`` gives, as a module."""
    if any(isinstance(one, torch.fx.GraphModule) for one in module.children()):
        return plain(module)
    text = module.print_readable(print_output=False)
    text = re.sub(r"^class [\w<>]+\(", "class GraphModule(", text.lstrip("\n"))
    return f"{HEAD}\n\n{text.rstrip()}\n{BUILD}"


def with_fx(writer: Writer, model: Any, inputs: Sequence[Any]) -> None:
    """torch.fx: layers stay calls of layers where their text makes them again."""
    graph = Tracer().trace(model)
    made = torch.fx.GraphModule(model, graph)
    init = list(_layers(made))
    writer.write("fx", module_text(made.code, init), inputs)


class Tracer(torch.fx.Tracer):
    """Traces into what cannot be made from its own text."""

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return written_layer(m) is not None


def written_layer(layer: Any) -> str | None:
    """The text that makes a layer of torch again, or None."""
    if type(layer).__module__.split(".")[:2] != ["torch", "nn"] or list(layer.children()):
        return None
    text = f"torch.nn.{layer!r}"
    try:
        made = eval(text, {"torch": torch})
    except Exception:
        return None
    shapes = ({k: v.shape for k, v in one.state_dict().items()} for one in (layer, made))
    return text if type(made) is type(layer) and next(shapes) == next(shapes) else None


def _layers(module: Any) -> Iterator[str]:
    """Statements that make the layers, parameters and buffers of a graph."""
    for path, layer in module.named_modules():
        if path:
            yield _assigned(path, written_layer(layer) or "torch.nn.Module()", "add_module")
    for path, value in [*module.named_parameters(), *module.named_buffers()]:
        if written_layer(module.get_submodule(path.rpartition(".")[0])) is None:
            made = f"torch.zeros({list(value.shape)}, dtype={value.dtype})"
            if isinstance(value, torch.nn.Parameter):
                yield _assigned(path, f"torch.nn.Parameter({made})", "register_parameter")
            else:
                owner, name = _owner(path)
                yield f'{owner}.register_buffer("{name}", {made})'


def _assigned(path: str, text: str, register: str) -> str:
    owner, name = _owner(path)
    return f"{owner}.{name} = {text}" if name.isidentifier() else f'{owner}.{register}("{name}", {text})'


def _owner(path: str) -> tuple[str, str]:
    """The expression of what a path's last name belongs to, as torch.fx writes it, and that name."""
    *above, name = path.split(".")
    text = "self"
    for part in above:
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text, name


def with_export(writer: Writer, model: Any, inputs: Sequence[Any]) -> None:
    """torch.export: operators of ATen as traced, and decomposed into the core ones."""
    program = torch.export.export(model, tuple(inputs))
    for form, one in (("export", program), ("core", program.run_decompositions())):
        values = _export_values(one, inputs)
        text = plain(one.graph_module) if form == "core" else readable(one.graph_module)
        writer.write(form, text, values)


def _export_values(program: Any, inputs: Sequence[Any]) -> list[Any]:
    given = iter(torch.utils._pytree.tree_leaves(tuple(inputs)))
    state = {**program.constants, **program.state_dict}
    values = []
    for spec in program.graph_signature.input_specs:
        kind = spec.kind.name
        if kind == "USER_INPUT":
            values.append(next(given))
        else:
            values.append(state[spec.target] if kind == "PARAMETER" else fixed(state[spec.target]))
    return values


def with_dynamo(writer: Writer, model: Any, inputs: Sequence[Any], dynamic: bool) -> None:
    """dynamo: functions of torch, one graph for each part of the model that is compiled."""
    form = "dynamo-dynamic" if dynamic else "dynamo"
    found: list[Any] = []

    def backend(graph: Any, examples: Any) -> Callable[..., Any]:
        number = len(found)
        found.append(graph)
        texts = {form: plain(graph)}
        if not dynamic:
            texts["dynamo-readable"] = readable(graph)
        done = False

        def call(*values: Any) -> Any:
            nonlocal done
            if not done and number < 3:
                done = True
                kept = [v if isinstance(v, torch.nn.Parameter) else _copied(v, inputs) for v in values]
                for name, text in texts.items():
                    writer.write(name, text, kept, number)
            return graph(*values)

        return call

    torch._dynamo.reset()
    torch.compile(model, backend=backend, dynamic=dynamic)(*inputs)


def _copied(value: Any, inputs: Sequence[Any]) -> Any:
    if not isinstance(value, torch.Tensor):
        return value
    given = any(value is one for one in inputs)
    return value.detach().clone() if given else fixed(value.clone())


def trace(folder: Path, job: Mapping[str, Any]) -> dict[str, Any]:
    """Write all graphs of a model."""
    writer = Writer(folder, job["name"])
    failed: dict[str, str] = {}

    def made() -> Any:
        space: dict[str, Any] = {"torch": torch}
        torch.manual_seed(0)
        exec(job["code"], space)
        model = space["build"]()
        return model.train() if job.get("train") else model.eval()

    inputs = [torch.from_numpy(v) if isinstance(v, np.ndarray) else v for v in inputs_of(job["inputs"], 3, "float32")]
    steps: dict[str, Callable[..., None]] = {
        "fx": with_fx, "export": with_export, "dynamo": lambda w, m, i: with_dynamo(w, m, i, False),
        "dynamo-dynamic": lambda w, m, i: with_dynamo(w, m, i, True),
    }  # fmt: skip
    for name, step in steps.items():
        signal.alarm(SECONDS)
        try:
            with torch.no_grad() if job.get("no_grad") else torch.enable_grad():
                step(writer, made(), inputs)
        except BaseException as error:
            failed[name] = f"{type(error).__name__}: {error}"[:300]
            if job.get("verbose"):
                traceback.print_exc()
        finally:
            signal.alarm(0)
    return {"graphs": writer.graphs, "failed": failed}


def _late(*_: Any) -> None:
    raise TimeoutError(f"not traced after {SECONDS} s")


def main() -> None:
    """Trace the models of standard input."""
    place = Path(sys.argv[1])
    sys.path.extend(sys.argv[2:])
    signal.signal(signal.SIGALRM, _late)
    define_vision_operators(torch)
    for job in json.load(sys.stdin):
        folder = place / re.sub(r"[^\w.-]", "_", job["name"])
        result = trace(folder, job)
        (folder / "graphs.json").write_text(json.dumps({"key": job["key"], **result}))
        print(job["name"], len(result["graphs"]), result["failed"] or "", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
