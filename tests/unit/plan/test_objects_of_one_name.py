"""A training object is what made it: programs with the same names beside each other convert as each does alone."""

from __future__ import annotations

import ast
from functools import cache

import pytest
from paddletorch import Result, convert
from paddletorch.model import Framework

HEADS: dict[Framework, str] = {"torch": "import paddle\n", "paddle": "import torch\n"}
"""By the target."""

PADDLE = {
    "clip_scaler": """def NAME(model, loader):
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=paddle.nn.ClipGradByGlobalNorm(1.0))
    scaler = paddle.amp.GradScaler()
    for x in loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.clear_grad()
""",
    "unscaled_param": """def NAME(model, optimizer, scaler, loss):
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
""",
    "unscaled_own": """def NAME(model, loader):
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=paddle.nn.ClipGradByNorm(2.0))
    scaler = paddle.amp.GradScaler()
    for x in loader:
        loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
""",
    "plain": """def NAME(model, loader):
    optimizer = paddle.optimizer.SGD(0.1, parameters=model.parameters())
    scaler = None
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
        optimizer.clear_grad()
""",
    "named_clip": """def NAME(model, loader):
    clip = paddle.nn.ClipGradByValue(0.5)
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters(), grad_clip=clip)
    for x in loader:
        model(x).mean().backward()
        optimizer.step()
""",
    "no_clip_name": """def NAME(model, loader, clip=None):
    optimizer = paddle.optimizer.Adam(0.1, parameters=model.parameters(), grad_clip=None)
    if clip:
        print(clip)
    optimizer.step()
""",
    "other_clip": """def NAME(model, loader):
    clip = paddle.nn.ClipGradByGlobalNorm(clip_norm=3.0)
    optimizer = paddle.optimizer.Momentum(0.1, parameters=model.parameters(), grad_clip=clip)
    optimizer.step()
    return model
""",
    "escaping": """def NAME(model):
    clip = paddle.nn.ClipGradByGlobalNorm(clip_norm=3.0)
    optimizer = paddle.optimizer.Momentum(0.1, parameters=model.parameters(), grad_clip=clip)
    return optimizer
""",
    "scheduled": """def NAME(model, loader):
    scheduler = paddle.optimizer.lr.StepDecay(0.1, step_size=3)
    optimizer = paddle.optimizer.SGD(scheduler, parameters=model.parameters())
    for x in loader:
        optimizer.step()
        scheduler.step()
        print(optimizer.get_lr())
""",
    "scheduled_cosine": """def NAME(model, loader):
    scheduler = paddle.optimizer.lr.CosineAnnealingDecay(0.5, T_max=3)
    optimizer = paddle.optimizer.SGD(learning_rate=scheduler, parameters=model.parameters())
    for x in loader:
        optimizer.step()
        scheduler.step()
    state = scheduler.state_dict()
    return state
""",
    "set_lr": """def NAME(model, loader):
    optimizer = paddle.optimizer.SGD(0.3, parameters=model.parameters())
    optimizer.set_lr(0.1)
    optimizer.step()
""",
    "param_opt": """def NAME(optimizer, scheduler, lr):
    optimizer.set_lr(lr)
    print(optimizer.get_lr())
    scheduler.step()
""",
    "sampler": """def NAME(ds):
    sampler = paddle.io.DistributedBatchSampler(ds, batch_size=4)
    loader = paddle.io.DataLoader(ds, batch_sampler=sampler)
    state = {}
    return loader, state
""",
    "loader": """def NAME(ds):
    sampler = paddle.io.BatchSampler(ds, batch_size=8, shuffle=True)
    loader = paddle.io.DataLoader(ds, batch_sampler=sampler, num_workers=2, prefetch_factor=3)
    return loader
""",
    "state_scaler": """def NAME(path):
    scaler = paddle.amp.GradScaler()
    state = scaler.state_dict()
    print(state["incr_ratio"])
    return scaler
""",
    "state_plain": """def NAME(state):
    print(state["incr_ratio"])
    scaler = state["scaler"]
    return scaler
""",
    "warmup": """def NAME(model):
    scheduler = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.StepDecay(0.1, 2), 5, 0.0, 0.1)
    optimizer = paddle.optimizer.Adam(scheduler, parameters=model.parameters())
    optimizer.step()
    scheduler.step()
""",
    "groups": """def NAME(model, head):
    rest = [{"params": model.parameters()}]
    optimizer = paddle.optimizer.Adam(0.1, parameters=[{"params": head.parameters(), "learning_rate": 0.5}])
    optimizer.step()
    return rest
""",
}

TORCH = {
    "scheduled": """def NAME(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    for x in loader:
        optimizer.step()
        scheduler.step()
""",
    "sets_rate": """def NAME(model, lr):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.step()
""",
    "sets_rate_param": """def NAME(optimizer, lr):
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad()
""",
    "sets_first": """def NAME(optimizer, lr):
    optimizer.param_groups[0]["lr"] = lr
    optimizer.step()
""",
    "two_schedulers": """def NAME(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)
    second = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    scheduler.step()
    second.step()
""",
    "sequential": """def NAME(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)
    second = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [first, second], [4])
    scheduler.step()
""",
    "first_second": """def NAME(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    optimizer.step()
    first.step()
""",
    "amp": """def NAME(model, loader):
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cuda")
    for x in loader:
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(x).mean()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
""",
    "amp_two": """def NAME(gen, disc, optimizer, optimizer_d, scaler, loss):
    with torch.autocast("cuda", dtype=torch.float16):
        pass
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.step(optimizer_d)
    scaler.update()
""",
    "direct": """def NAME(model, optimizer, loss):
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
""",
    "groups": """def NAME(model, head):
    optimizer = torch.optim.SGD([{"params": model.parameters()}, {"params": head.parameters(), "lr": 0.5}], lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    print(optimizer.param_groups[1]["lr"])
    scheduler.step()
    print(scheduler.get_last_lr())
""",
    "last_lr": """def NAME(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    scheduler.step()
    print(scheduler.get_last_lr())
""",
    "state": """def NAME(scaler):
    state = scaler.state_dict()
    state["x"] = 1
    return state
""",
    "scaler_state": """def NAME():
    scaler = torch.amp.GradScaler("cuda")
    state = scaler.state_dict()
    state["growth_factor"] = 3.0
    scaler.load_state_dict(state)
""",
    "load": """def NAME(model, other):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    state = other.state_dict()
    optimizer.load_state_dict(state)
""",
    "load_own": """def NAME(model):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    other = torch.optim.Adam(model.parameters(), lr=0.1)
    state = optimizer.state_dict()
    optimizer.load_state_dict(state)
    other.step()
""",
    "sampler": """def NAME(ds):
    sampler = torch.utils.data.distributed.DistributedSampler(ds)
    loader = torch.utils.data.DataLoader(ds, batch_size=4, sampler=sampler)
    return loader
""",
    "sampler_random": """def NAME(ds):
    sampler = torch.utils.data.RandomSampler(ds)
    loader = torch.utils.data.DataLoader(ds, batch_size=8, sampler=sampler)
    return loader
""",
    "autocast_kept": """def NAME(model, loader):
    context = torch.autocast("cuda", dtype=torch.float16)
    for x in loader:
        with context:
            model(x)
""",
    "autocast_once": """def NAME(model, x):
    context = torch.autocast("cuda", dtype=torch.float16)
    with context:
        return model(x)
""",
    "rmsprop": """def NAME(model):
    optimizer = torch.optim.RMSprop(model.parameters(), lr=0.1, momentum=0.9)
    optimizer.step()
""",
    "sgd_returned": """def NAME(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    optimizer.step()
    return optimizer
""",
}

PROGRAMS: dict[Framework, dict[str, str]] = {"torch": PADDLE, "paddle": TORCH}
CASES = [(target, form, name) for target, of in PROGRAMS.items() for form in ("function", "class") for name in of]


def as_class(text: str) -> str:
    """The function as a class that keeps its variables in attributes: what it assigns first is made in ``__init__``."""
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    parameters = [a.arg for a in function.args.args]
    stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names = stored.union(parameters)

    class OfSelf(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return ast.Attribute(ast.Name("self"), node.id, node.ctx) if node.id in names else node

    body = [OfSelf().visit(statement) for statement in function.body]
    first = next(n for n, statement in enumerate([*body, None]) if not isinstance(statement, ast.Assign))
    made = [f"self.{p} = {p}" for p in parameters] + [ast.unparse(s) for s in body[:first]]
    run = [ast.unparse(s) for s in body[first:]] or ["pass"]
    lines = [f"class {function.name}:", f"    def __init__({', '.join(['self', *parameters])}):"]
    lines += [f"        {line}" for one in made or ["pass"] for line in one.splitlines()]
    lines += ["    def run(self):", *(f"        {line}" for one in run for line in one.splitlines())]
    return "\n".join(lines) + "\n"


def written(target: Framework, form: str, name: str) -> str:
    text = PROGRAMS[target][name].replace("NAME", f"{name}_{form}")
    return text if form == "function" else as_class(text)


@cache
def converted(text: str, target: Framework) -> Result[str]:
    return convert(text, to=target)


def meaning(text: str, target: Framework, name: str) -> tuple[str, list[tuple[str, int]]]:
    """What becomes of the function or class, and what is found in it, by the line in it; notes come once for a file."""
    result = converted(text, target)
    place = next(n for n in ast.parse(text).body if getattr(n, "name", "") == name)
    there = next(n for n in ast.parse(result.output).body if getattr(n, "name", "") == name)
    found = [(f.code, f.line - place.lineno) for f in result.findings if f.severity.value != "info"]
    return ast.unparse(there), sorted(one for one in found if 0 <= one[1] <= (place.end_lineno or 0) - place.lineno)


@pytest.mark.parametrize(("target", "form", "name"), CASES)
def test_beside_others_of_the_same_names(target: Framework, form: str, name: str) -> None:
    alone = HEADS[target] + written(target, form, name)
    beside = HEADS[target] + "".join(written(target, other, one) for to, other, one in CASES if to == target)
    assert meaning(beside, target, f"{name}_{form}") == meaning(alone, target, f"{name}_{form}")
