"""Code that was converted with ``--shim auto`` or ``always`` trains on its new framework as it did on its own.

Programs without a native form: overflows tolerated, a static scale, several optimizers, a scale set by hand, and
Paddle 2.4's defaults. All programs of one framework share a process of their own.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import paddletorch_rules
import pytest
from paddletorch.model import FileResult, Framework, Options, ShimMode
from paddletorch_rules.releases import KNOWN
from paddletorch_shim import names

from ..fixture_files import FIXTURES, Fixture, converted, engine_for, with_fixtures
from ..once import once

WORKER = Path(__file__).with_name("functions_worker.py")
OVERLAYS = Path(paddletorch_rules.__file__).parent / "shim"

HELPERS = {
    "torch": "import torch as _torch\ndef sgd(parameter): return _torch.optim.SGD([parameter], lr=0.5)\n",
    "paddle": "import paddle as _paddle\n"
    "def sgd(parameter): return _paddle.optimizer.SGD(0.5, parameters=[parameter])\n",
}
"""Set before a program and not converted: optimizers are not the codemod's."""

TO_TORCH = """
{imports}


def train(model, optimizer, loss_fn, batches):
    scaler = {scaler}({arguments})
    seen = []
    for inputs, labels in batches:
        with {context}:
            loss = loss_fn(model(inputs), labels)
        scaled = scaler.scale(loss)
        scaled.backward()
        {step}
        optimizer.clear_grad()
        seen += [float(scaler.state_dict()["scale"][0]), float(model.bias)]
    return seen
"""
STEP_AND_UPDATE = "scaler.step(optimizer); scaler.update()"
MINIMIZE = "scaler.minimize(optimizer, scaled)"

TO_PADDLE = """
{imports}

INF, NAN = float("inf"), float("nan")
FACTORS = [(1.0, 2.0), (INF, 1.0), (1.0, -1.0), (0.5, NAN), (-INF, NAN), (2.0, 1.0), (1.0, 1.0)]


def train(model, optimizer, loss_fn, batches):
    first, second = sgd(model.weight), sgd(model.bias)
    scaler = {scaler}({arguments}init_scale=64.0, growth_interval=2)
    seen = []
    for i, (a, b) in enumerate(FACTORS):
        with {context}:
            losses = [(model.weight * a).sum(), (model.bias * b).sum()]
        scaled = scaler.scale(losses)
        (scaled[0] + scaled[1]).backward()
        {unscale}
        scaler.step(first)
        scaler.step(second)
        scaler.update({new_scale})
        first.zero_grad()
        second.zero_grad()
        seen += [scaler.get_scale(), float(model.weight.sum()), float(model.bias)]
    return seen
"""
UNSCALE_BOTH = "scaler.unscale_(first); scaler.unscale_(second)"
"""Paddle's own scaler then writes NaN into the first optimizer's parameters (S7)."""


@dataclass(frozen=True)
class Program:
    """Source code whose ``train`` is compared before and after its conversion."""

    id: str
    target: Framework
    source: str
    scales: Sequence[float]
    """The loss scale after each step."""
    shim: ShimMode = "auto"
    source_version: str | None = None
    values: int = 2
    """How many numbers ``train`` returns of each step, the scale first."""

    @property
    def options(self) -> Options:
        return Options(target=self.target, shim=self.shim, source_version=self.source_version)

    def convert(self, shim: ShimMode | None = None, source: bytes | None = None) -> FileResult:
        """Convert this program's source, or its output once more."""
        options = replace(self.options, shim=shim or self.shim)
        return converted(options, self.source.encode() if source is None else source, "train.py")


def to_torch(id: str, arguments: str, scales: Sequence[float], **given: Any) -> Program:
    """A Paddle program; its batches overflow at steps 2, 3 and 6."""
    parts = {
        "imports": given.pop("imports", "import paddle"),
        "scaler": given.pop("scaler", "paddle.amp.GradScaler"),
        "context": given.pop("context", "paddle.amp.auto_cast()"),
        "step": given.pop("step", STEP_AND_UPDATE),
    }
    return Program(id, "torch", TO_TORCH.format(arguments=arguments, **parts), scales, **given)


def to_paddle(id: str, scales: Sequence[float], **given: Any) -> Program:
    """A torch program with two optimizers on one scaler."""
    parts = {
        "imports": given.pop("imports", "import torch"),
        "scaler": given.pop("scaler", "torch.amp.GradScaler"),
        "arguments": given.pop("arguments", '"cuda", '),
        "context": given.pop("context", 'torch.autocast("cuda")'),
        "unscale": given.pop("unscale", "pass"),
        "new_scale": given.pop("new_scale", ""),
    }
    return Program(id, "paddle", TO_PADDLE.format(**parts), scales, values=3, **given)


STATIC = [64.0] * 10
TOLERANT = [1024.0, 2048.0, 2048.0, 1024.0, 1024.0, 2048.0, 2048.0, 2048.0, 4096.0, 4096.0]
TWICE = "init_loss_scaling=1024.0, incr_every_n_steps=2, decr_every_n_nan_or_inf=2"
TWO_OPTIMIZERS = [64.0, 32.0, 32.0, 16.0, 8.0, 8.0, 16.0]
SET_AT_FOUR = [64.0, 32.0, 32.0, 16.0, 4.0, 4.0, 8.0]

PROGRAMS = [
    to_torch("static", "init_loss_scaling=64.0, use_dynamic_loss_scaling=False", STATIC, shim="always"),
    to_torch(
        "static-minimize",
        "init_loss_scaling=64.0, use_dynamic_loss_scaling=False",
        STATIC,
        step=MINIMIZE,
        shim="always",
    ),
    to_torch("tolerant", TWICE, TOLERANT),
    to_torch("tolerant-minimize", TWICE, TOLERANT, step=MINIMIZE),
    to_torch("tolerant-always", TWICE, TOLERANT, shim="always"),
    to_torch(
        "tolerant-from-import",
        TWICE,
        TOLERANT,
        imports="from paddle.amp import GradScaler, auto_cast",
        scaler="GradScaler",
        context="auto_cast()",
    ),
    to_torch(
        "tolerant-alias",
        TWICE,
        TOLERANT,
        imports="import paddle as pd\nfrom paddle import amp",
        scaler="amp.GradScaler",
        context="pd.amp.auto_cast()",
    ),
    to_torch(
        "plain-always",
        "incr_every_n_steps=9",
        [65536.0] * 2 + [32768.0] + [16384.0] * 3 + [8192.0] * 4,
        shim="always",
        source_version="3.3",
    ),
    # Paddle 2.4 had other defaults: 32768.0, and two overflows in a row until the scale shrinks.
    to_torch("defaults-of-2.4", "", [32768.0] * 3 + [16384.0] * 7, source_version="2.4"),
    to_torch("defaults-of-2.4-always", "", [32768.0] * 3 + [16384.0] * 7, source_version="2.4", shim="always"),
    to_paddle("two-optimizers", TWO_OPTIMIZERS),
    to_paddle("two-optimizers-unscaled", TWO_OPTIMIZERS, unscale=UNSCALE_BOTH),
    to_paddle("two-optimizers-always", TWO_OPTIMIZERS, shim="always"),
    to_paddle("update-with-scale", SET_AT_FOUR, new_scale="4.0 if i == 4 else None"),
    to_paddle(
        "two-optimizers-from-import",
        TWO_OPTIMIZERS,
        imports="from torch.cuda.amp import GradScaler, autocast",
        scaler="GradScaler",
        arguments="",
        context="autocast()",
    ),
    to_paddle(
        "two-optimizers-alias",
        TWO_OPTIMIZERS,
        imports="import torch as t\nfrom torch import amp",
        scaler="amp.GradScaler",
        context='t.autocast("cuda")',
    ),
    to_paddle(
        "context-kept",
        TWO_OPTIMIZERS,
        imports="import torch\n\n\nclass Region:\n    def __init__(self):\n"
        '        self.context = torch.autocast("cuda")\n\n\nregion = Region()',
        context="region.context",
    ),
]
"""A plain program of Paddle 2.4 cannot be run on its own release here, its scales are given."""


def originals(program: Program) -> bool:
    """Whether the source can be run on the installed release of its framework."""
    return program.source_version != "2.4"


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """What ``train`` returns and the parameters afterwards, by ``(framework, program)``."""
    return once(tmp_path_factory, "shim_conversion", lambda: train(tmp_path_factory.mktemp("shim")))


def train(folder: Path) -> dict[tuple[str, str], Any]:
    """Run all programs, in a process for each framework."""
    jobs: dict[str, list[str]] = {"torch": [], "paddle": []}

    def add(framework: Framework, id: str, code: bytes, function: str = "train") -> None:
        path = folder / f"{id.replace('/', '-')}-{framework}.py"
        path.write_bytes(HELPERS[framework].encode() + code)
        jobs[framework].append(json.dumps({"id": id, "path": str(path), "function": function, "optimizer": "sgd"}))

    for program in PROGRAMS:
        add(program.target, program.id, program.convert().output)
        if originals(program):
            add(program.options.source, program.id, program.source.encode())
    for fixture in FIXTURES:
        if "run" in fixture.settings:
            options = replace(fixture.options, shim="always")
            output = engine_for(options).convert(fixture.source, "train.py").output
            function = str(fixture.settings["run"])
            add(options.source, f"{fixture.id}-always", fixture.source, function)
            add(options.target, f"{fixture.id}-always", output, function)
    found = {}
    for framework, lines in jobs.items():
        results = folder / f"{framework}.jsonl"
        process = subprocess.run(
            [sys.executable, str(WORKER), framework, str(results)],
            input="\n".join(lines),
            text=True,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert process.returncode == 0, process.stderr[-2000:]
        done = [json.loads(line) for line in results.read_text().splitlines()]
        found |= {(framework, result["id"]): result for result in done}
    return found


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.id)
def test_the_converted_program_trains_as_the_source(program: Program, trained: dict[tuple[str, str], Any]) -> None:
    converted = trained[program.target, program.id]
    assert "error" not in converted, converted["error"]
    assert converted["returned"][:: program.values] == list(program.scales)
    assert all(math.isfinite(x) for x in converted["returned"] + converted["parameters"])
    if originals(program):
        source = trained[program.options.source, program.id]
        assert "error" not in source, source["error"]
        assert source["returned"][:: program.values] == list(program.scales)
        assert converted["returned"] == pytest.approx(source["returned"], rel=2e-5, abs=1e-6)
        assert converted["parameters"] == pytest.approx(source["parameters"], rel=2e-4, abs=2e-6)


@pytest.mark.parametrize("id", ["static", "tolerant", "defaults-of-2.4"])
def test_overflowed_steps_are_skipped_and_no_others(id: str, trained: dict[tuple[str, str], Any]) -> None:
    biases = trained["torch", id]["returned"][1::2]
    assert [i for i in range(1, 10) if biases[i] == biases[i - 1]] == [2, 3, 6]


@with_fixtures(lambda fixture: "run" in fixture.settings)
def test_every_runnable_fixture_trains_alike_with_always(fixture: Fixture, trained: dict[tuple[str, str], Any]) -> None:
    torch, paddle = (trained[f, f"{fixture.id}-always"] for f in ("torch", "paddle"))
    for side in (torch, paddle):
        assert "error" not in side, side["error"]
    # of an overflow, torch keeps inf where Paddle's CPU kernel has nan
    seen = [[x if math.isfinite(x) else 1e30 for x in side["returned"]] for side in (torch, paddle)]
    assert seen[0] == pytest.approx(seen[1], rel=2e-5, abs=1e-6)
    assert torch["parameters"] == pytest.approx(paddle["parameters"], rel=2e-4, abs=2e-6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.id)
def test_it_takes_the_shim_and_says_so(program: Program) -> None:
    result = program.convert()
    assert f"paddletorch_shim.{program.target}".encode() in result.output
    assert {d.code for d in result.diagnostics} == {"AMP250"}
    compile(result.output, "train.py", "exec")


@pytest.mark.parametrize("again", ["never", "auto", "always"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.id)
def test_a_second_run_changes_nothing(program: Program, again: ShimMode) -> None:
    output = program.convert().output
    second = program.convert(again, output)
    assert second.output == output
    assert not second.diagnostics


def test_without_the_shim_these_programs_are_not_done() -> None:
    """Else ``auto`` would have no reason to take it."""
    for program in PROGRAMS:
        if program.shim == "auto":
            assert program.convert("never").diagnostics, program.id


@pytest.mark.parametrize("side", ["torch", "paddle"])
def test_the_overlay_repeats_the_signatures_of_the_tables(side: Framework) -> None:
    """Constructor names and defaults, in every release; those of the shim are what its class really takes."""
    target: Framework = "paddle" if side == "torch" else "torch"
    built_in, shim = paddletorch_rules.load(), paddletorch_rules.load((str(OVERLAYS / "scaler.toml"),))
    for own, overlay in (("GradScaler", f"GradScaler-to-shim-{target}"), ("AmpScaler", "AmpScaler-to-shim-torch")):
        if own == "AmpScaler" and target != "torch":
            continue
        laid_over = shim.row(overlay)
        for form in laid_over.forms(side):
            for name in form.names:
                found = built_in.lookup(side, name)
                assert found is not None and found[0].id == own, name
                for release in KNOWN[side]:
                    assert form.signature(release) == found[1].signature(release), (name, release)
        written = laid_over.forms(target)[0].signature(paddletorch_rules.installable(target)[-1])
        assert written is not None
        assert [p.name for p in written.parameters] == list(names.parameters(side))
