"""Times the shim's scaler beside torch's on a CUDA device, in one run; checks first that the results are equal.

    python benchmarks/gpu_scaler.py [--rounds 50] [--case NAME ...] [--check-only]

Device time is that between two CUDA events with the launches already queued behind a sleeping kernel, so that
the host's time is not in it, except with a plain optimizer, for which the host waits in the middle; host time
is that of the calls alone. Both are medians over rounds in which the contenders take turns on rotated gradients
that together exceed the L2 cache. Gradients are float32 and finite,
and the scale stays 1.0. The scaler is timed alone: the optimizer's own work is left out.

Needs a CUDA device; `TRITON_INTERPRET=1 ... --check-only` runs the checks on the CPU. Writes
benchmarks/results/gpu-NAME-DATE.json and .png.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
from gpu_check import MAX_NORM, check
from measure import environment
from shim_overhead import resnet50

RESULTS = Path(__file__).with_name("results")
Shape = tuple[int, ...]
L2_BYTES = 2**27
"""More than the L2 cache of any device so far: gradients are rotated until they exceed it."""


def transformer(layers: int, width: int, embeddings: Sequence[Shape], rest: Sequence[Shape]) -> list[Shape]:
    """Shapes of a transformer whose query, key and value are one matrix."""
    block: list[Shape] = [(width,), (width,), (3 * width, width), (3 * width,), (width, width), (width,)]
    block += [(width,), (width,), (4 * width, width), (4 * width,), (width, 4 * width), (width,)]
    return [*embeddings, *(block * layers), *rest]


def bert_large() -> list[Shape]:
    """The 391 parameters of BERT-large, whose query, key and value are matrices of their own."""
    norm: list[Shape] = [(1024,), (1024,)]
    block: list[Shape] = [(1024, 1024), (1024,)] * 4 + norm
    block += [(4096, 1024), (4096,), (1024, 4096), (1024,), *norm]
    return [(30522, 1024), (512, 1024), (2, 1024), *norm, *(block * 24), (1024, 1024), (1024,)]


CASES: Mapping[str, Callable[[], list[Shape]]] = {
    "one of 2^28": lambda: [(2**28,)],
    "ResNet-50": resnet50,
    "BERT-large": bert_large,
    "GPT-2 XL": lambda: transformer(48, 1600, [(50257, 1600), (1024, 1600)], [(1600,), (1600,)]),
    "4,000 of 4,096": lambda: [(4096,)] * 4000,
}


@dataclass(frozen=True)
class Row:
    """One contender on one case. Times in ms; ``bandwidth`` is its bytes a second over the copy's."""

    case: str
    work: str
    mode: str
    contender: str
    device_ms: float
    host_ms: float
    launches: int
    synchronisations: int
    bandwidth: float


@dataclass(frozen=True)
class Contender:
    """Something that is timed: ``run`` takes the number of the gradients' set."""

    name: str
    run: Callable[[int], None]
    passes: int
    """Times that each gradient is read or written."""
    capturable: bool


# ---------------------------------------------------------------------- contenders


@dataclass(frozen=True)
class Sets:
    """The same parameters several times, each with gradients of its own, and two optimizers that do nothing."""

    params: list[list[Any]]
    plain: list[Any]
    folding: list[Any]


def make_sets(shapes: Sequence[Shape]) -> Sets:
    """As many sets as exceed the L2 cache, at most 4: the fused backend keeps the tables of 8, on two streams."""
    import torch

    elements = sum(torch.Size(shape).numel() for shape in shapes)
    params = []
    for _ in range(max(1, min(4, -(-L2_BYTES // (4 * elements)) + 1))):
        some = [torch.nn.Parameter(torch.empty(shape, device="cuda")) for shape in shapes]
        for param in some:
            param.grad = torch.randn_like(param)
        params.append(some)

    def idle(params: list[Any], supports: bool) -> Any:
        def step() -> None:
            pass

        groups = [{"params": params}]
        return SimpleNamespace(param_groups=groups, step=step, _step_supports_amp_scaling=supports)

    return Sets(params, [idle(p, False) for p in params], [idle(p, True) for p in params])


def contenders(sets: Sets, work: str) -> list[Contender]:
    """Everyone who can do one of ``WORKS``."""
    import torch
    from paddletorch_shim.torch import GradScaler

    folds, clips, plain = "fused optimizer" in work, "clip" in work, "plain optimizer" in work
    optimizers = sets.folding if folds else sets.plain
    one = torch.ones(1, device="cuda")
    found: list[Contender] = []

    own = torch.amp.GradScaler("cuda", init_scale=1.0, growth_interval=2**30)
    own.scale(one)  # places the state

    def run_own(number: int) -> None:
        optimizer = optimizers[number]
        if clips or not (folds or plain):
            own.unscale_(optimizer)
        if clips:
            torch.nn.utils.clip_grad_norm_(sets.params[number], MAX_NORM)
        if folds or plain:
            own.step(optimizer)
        own.update()

    found.append(Contender("torch", run_own, 2 + 3 * clips, not plain))
    for name in ("native", "fused"):
        ours = GradScaler(init_loss_scaling=1.0, incr_every_n_steps=2**30, decr_every_n_nan_or_inf=1, backend=name)
        ours.scale(one)

        def run(number: int, ours: Any = ours) -> None:
            optimizer = optimizers[number]
            if clips:
                ours.unscale_and_clip_(optimizer, MAX_NORM)
            elif not (folds or plain):
                ours.unscale_(optimizer)
            # update() wants a step before it. One that reads found_inf launches nothing and does not wait.
            optimizer._step_supports_amp_scaling = not plain
            ours.step(optimizer)
            optimizer._step_supports_amp_scaling = folds
            ours.update()

        passes = 2 + 3 * clips
        if name == "fused":
            passes = 1 if folds else 2 + clips
        found.append(Contender(f"shim, {name}", run, passes, not plain))
    if work == "unscale":
        found += apex(sets)
    return found


def apex(sets: Sets) -> list[Contender]:
    """Apex's kernel, if it is installed; it has no rule on the device."""
    import torch

    try:
        import amp_C
        from apex.multi_tensor_apply import multi_tensor_applier
    except ImportError:
        return []
    noop = torch.zeros(1, dtype=torch.int, device="cuda")
    grads = [[param.grad for param in params] for params in sets.params]

    def run(number: int) -> None:
        multi_tensor_applier(amp_C.multi_tensor_scale, noop, [grads[number], grads[number]], 1.0)

    return [Contender("apex, unscale only", run, 2, True)]


# ---------------------------------------------------------------------- measuring


def device_times(runs: Sequence[Callable[[int], None]], sets: int, rounds: int, host: float) -> list[float]:
    """Median ms between events of each, in turns; ``host`` seconds is what queueing the slowest takes."""
    import torch

    cycles = int(max(host * 3, 2e-4) * 2.5e9)  # longer than the host needs, at any clock up to 2.5 GHz
    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds):
        for which, run in enumerate(runs):
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            torch.cuda._sleep(cycles)
            start.record()
            run(number % sets)
            end.record()
            end.synchronize()
            times[which].append(start.elapsed_time(end))
    return [statistics.median(some) for some in times]


def host_times(runs: Sequence[Callable[[int], None]], sets: int, rounds: int) -> list[float]:
    """Median ms of the calls alone, in turns, with an idle device."""
    import torch

    times: list[list[float]] = [[] for _ in runs]
    for number in range(rounds):
        for which, run in enumerate(runs):
            torch.cuda.synchronize()
            start = time.perf_counter()
            run(number % sets)
            times[which].append((time.perf_counter() - start) * 1e3)
    return [statistics.median(some) for some in times]


def launches(run: Callable[[int], None]) -> int:
    """Kernels, copies and fills of one call."""
    import torch
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as measured:
        run(0)
        torch.cuda.synchronize()
    return sum(event.count for event in measured.key_averages() if event.device_type.name == "CUDA")


def synchronisations(run: Callable[[int], None]) -> int:
    """Waits of one call for the device, as torch notices them."""
    import torch

    torch.cuda.set_sync_debug_mode("warn")
    try:
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            run(0)
    finally:
        torch.cuda.set_sync_debug_mode("default")
    return sum("synchronizing" in str(warning.message) for warning in seen)


def captured(run: Callable[[int], None], sets: int) -> Callable[[int], None]:
    """The call as replays of graphs, one for each set of gradients."""
    import torch

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(2):
            for number in range(sets):
                run(number)
    torch.cuda.current_stream().wait_stream(side)
    graphs = []
    for number in range(sets):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            run(number)
        graphs.append(graph)
    return lambda number: graphs[number].replay()


def copy_bandwidth(rounds: int) -> float:
    """Bytes a second of a copy of 2^28 float32, read and written."""
    import torch

    source, target = (torch.empty(2**28, device="cuda") for _ in range(2))
    (milliseconds,) = device_times([lambda _: target.copy_(source)], 1, rounds, 1e-4)
    return 2 * 4 * 2**28 / milliseconds * 1e3


WORKS = (
    "unscale",
    "step with a plain optimizer",
    "step with a fused optimizer",
    "unscale and clip",
    "clip and step with a fused optimizer",
)


def measure(case: str, rounds: int, bandwidth: float) -> list[Row]:
    """All contenders on one case, eager and as graphs."""
    import torch

    sets = make_sets(CASES[case]())
    count, elements = len(sets.params), sum(p.numel() for p in sets.params[0])
    rows = []
    for work in WORKS:
        many = contenders(sets, work)
        for mode in ("eager", "graph"):
            taking_part = many if mode == "eager" else [c for c in many if c.capturable]
            runs = [c.run if mode == "eager" else captured(c.run, count) for c in taking_part]
            if not runs:
                continue
            for run in runs:
                for number in range(3 * count):
                    run(number % count)
            on_host = host_times(runs, count, rounds)
            on_device = device_times(runs, count, rounds, max(on_host) / 1e3)
            for contender, run, device, host in zip(taking_part, runs, on_device, on_host, strict=True):
                share = 4 * elements * contender.passes / (device / 1e3) / bandwidth
                waits = synchronisations(run)
                rows.append(Row(case, work, mode, contender.name, device, host, launches(run), waits, share))
            del runs
    del sets
    torch.cuda.empty_cache()
    return rows


# ---------------------------------------------------------------------- output


def table(rows: Sequence[Row]) -> str:
    """A Markdown table; x torch compares with torch's scaler at the same work and mode."""
    head = (
        "| case | work | mode | scaler | device, ms | x torch | host, ms | x torch | launches | host waits "
        "| of copy bandwidth |\n|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|"
    )
    own = {(r.case, r.work, r.mode): r for r in rows if r.contender == "torch"}
    lines = [head]
    for r in rows:
        base = own[r.case, r.work, r.mode]
        lines.append(
            f"| {r.case} | {r.work} | {r.mode} | {r.contender} | {r.device_ms:.3f} | "
            f"{r.device_ms / base.device_ms:.2f} | {r.host_ms:.3f} | {r.host_ms / base.host_ms:.2f} | "
            f"{r.launches} | {r.synchronisations} | {r.bandwidth:.0%} |"
        )
    return "\n".join(lines)


def draw(path: Path, rows: Sequence[Row], title: str) -> None:
    """Device time over torch's, for every case and work, eager."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3 * len(WORKS)), layout="constrained")
    figure.suptitle(title)
    panels = figure.subplots(len(WORKS), 1, sharex=True)
    cases = list(dict.fromkeys(r.case for r in rows))
    for axes, work in zip(panels, WORKS, strict=True):
        some = [r for r in rows if r.work == work and r.mode == "eager"]
        names = list(dict.fromkeys(r.contender for r in some))
        own = {r.case: r.device_ms for r in some if r.contender == "torch"}
        for place, name in enumerate(names):
            heights = {r.case: r.device_ms / own[r.case] for r in some if r.contender == name}
            positions = [cases.index(case) + (place - (len(names) - 1) / 2) * 0.8 / len(names) for case in heights]
            axes.bar(positions, list(heights.values()), 0.8 / len(names), label=name)
        axes.axhline(1.0, color="black", linewidth=0.5)
        axes.set_ylabel("device time / torch's")
        axes.set_title(work)
        axes.legend(fontsize="small")
        axes.set_xticks(range(len(cases)), cases)
    figure.savefig(path)


@click.command()
@click.option("--rounds", default=50, show_default=True, type=click.IntRange(min=3))
@click.option("--case", "chosen", multiple=True, type=click.Choice(list(CASES)), help="By default all.")
@click.option("--check-only", is_flag=True, help="Compare results, time nothing.")
def main(rounds: int, chosen: tuple[str, ...], check_only: bool) -> None:
    """Check, measure, print a table, and write it with a plot to benchmarks/results."""
    import torch
    from paddletorch_shim.backends import BackendError, kernels

    interpreted = kernels.interpreter_asked()
    if not torch.cuda.is_available() and not (interpreted and check_only):
        click.echo("no CUDA device: nothing was measured (TRITON_INTERPRET=1 with --check-only checks here)", err=True)
        sys.exit(2)
    if interpreted and not check_only:
        click.echo("TRITON_INTERPRET is set: the kernel would not run on the device; unset it", err=True)
        sys.exit(2)
    try:
        for line in check("cpu" if interpreted else "cuda"):
            click.echo(f"equal: {line}")
    except (AssertionError, BackendError) as error:
        click.echo(f"not equal, nothing was measured: {error}", err=True)
        sys.exit(1)
    if check_only:
        return
    name = torch.cuda.get_device_name()
    bandwidth = copy_bandwidth(rounds)
    where = f"{name}, copy {bandwidth / 1e12:.2f} TB/s; CUDA {torch.version.cuda}; " + environment("torch", "triton")
    click.echo(where)
    rows = [row for case in chosen or CASES for row in measure(case, rounds, bandwidth)]
    click.echo(table(rows))
    RESULTS.mkdir(exist_ok=True)
    stem = f"gpu-{re.sub(r'[^A-Za-z0-9]+', '-', name).strip('-')}-{date.today():%Y-%m-%d}"
    content = {"device": name, "copy_bytes_per_s": bandwidth, "where": where, "rows": [asdict(r) for r in rows]}
    (RESULTS / f"{stem}.json").write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    draw(RESULTS / f"{stem}.png", rows, name)
    click.echo(f"written: {RESULTS / stem}.json and .png")


if __name__ == "__main__":
    main()
