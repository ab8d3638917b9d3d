"""Default values, release by release: the output's effective parameters are the source's.

The signatures below were read from the released wheels and are written down here a second time, apart from
the tables, so that a wrong table is found. Each call is bound to the signature of its release, before and
after, and the two sets of effective parameters are compared through what each parameter means.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import paddle
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version
from paddletorch.engine.engine import Engine
from paddletorch.model import Framework, Options
from paddletorch_rules.releases import DEVELOP, KNOWN, installable

TORCH_SCALER = "(init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True)"
PADDLE_SCALER = (
    "(enable=True, init_loss_scaling={0}, incr_ratio=2.0, decr_ratio=0.5, incr_every_n_steps={1}, "
    "decr_every_n_nan_or_inf={2}, use_dynamic_loss_scaling=True)"
)
AUTO_CAST = [
    ("2.0", "(enable=True, custom_white_list=None, custom_black_list=None)"),
    ("2.2", "(enable=True, custom_white_list=None, custom_black_list=None, level='O1')"),
    ("2.3", "(enable=True, custom_white_list=None, custom_black_list=None, level='O1', dtype='float16')"),
    (
        "2.5",
        "(enable=True, custom_white_list=None, custom_black_list=None, level='O1', dtype='float16', use_promote=True)",
    ),
]
PADDLE_GRAD = (
    "(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, "
    "allow_unused=False, no_grad_vars=None)"
)
TORCH_GRAD = (
    "(outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused={0})"
)

RECORDED: dict[str, list[tuple[str, str | None]]] = {
    "torch.cuda.amp.GradScaler": [("1.6", TORCH_SCALER)],
    "torch.cpu.amp.GradScaler": [("2.3", TORCH_SCALER)],
    "torch.amp.GradScaler": [("2.3", "(device='cuda', " + TORCH_SCALER[1:])],
    "torch.GradScaler": [("2.3", "(device='cuda', " + TORCH_SCALER[1:])],
    "paddle.amp.GradScaler": [
        ("2.0", PADDLE_SCALER.format(32768.0, 1000, 2)),
        ("2.5.1", PADDLE_SCALER.format(65536.0, 2000, 1)),
    ],
    "paddle.amp.grad_scaler.AmpScaler": [("2.0", PADDLE_SCALER.format(32768.0, 1000, 1))],
    "paddle.amp.AmpScaler": [("2.5", PADDLE_SCALER.format(32768.0, 1000, 1))],
    "paddle.fluid.dygraph.AmpScaler": [("2.0", PADDLE_SCALER.format(32768.0, 1000, 1)), ("2.5", None)],
    "torch.cuda.amp.autocast": [
        ("1.6", "(enabled=True)"),
        ("1.10", "(enabled=True, dtype=torch.float16, cache_enabled=True)"),
    ],
    "torch.cpu.amp.autocast": [("1.10", "(enabled=True, dtype=torch.bfloat16, cache_enabled=True)")],
    "torch.autocast": [
        ("1.10", "(device_type, enabled=True, *, dtype=None, cache_enabled=None)"),  # the last two by **kwargs
        ("1.11", "(device_type, dtype=None, enabled=True, cache_enabled=None)"),
    ],
    "torch.amp.autocast": [("1.12", "(device_type, dtype=None, enabled=True, cache_enabled=None)")],
    "paddle.amp.auto_cast": AUTO_CAST,
    "paddle.fluid.dygraph.amp_guard": [*AUTO_CAST[:3], ("2.5", None)],
    "paddle.amp.amp_guard": [AUTO_CAST[3]],
    "paddle.amp.autocast": [("3.3", "(device_type, dtype='float16', enabled=True, cache_enabled=True)")],
    "paddle.cuda.amp.autocast": [("3.3", "(enabled=True, dtype=paddle.float16, cache_enabled=True)")],
    "torch.nn.utils.clip_grad_norm_": [
        ("1.6", "(parameters, max_norm, norm_type=2.0)"),
        ("1.9", "(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False)"),
        ("2.0", "(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None)"),
    ],
    "paddle.nn.utils.clip_grad_norm_": [("2.5", "(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False)")],
    "torch.nn.utils.clip_grad_value_": [
        ("1.6", "(parameters, clip_value)"),
        ("2.0", "(parameters, clip_value, foreach=None)"),
    ],
    "paddle.nn.utils.clip_grad_value_": [("2.6", "(parameters, clip_value)")],
    "torch.autograd.grad": [
        ("1.6", TORCH_GRAD.format("False")),
        ("1.11", TORCH_GRAD.format("False")[:-1] + ", is_grads_batched=False)"),
        ("2.1", TORCH_GRAD.format("None")[:-1] + ", is_grads_batched=False, materialize_grads=False)"),
    ],
    "paddle.grad": [("2.0", PADDLE_GRAD), ("3.3.1", PADDLE_GRAD[:-1] + ", *, dump_backward_graph_path=None)")],
    "paddle.autograd.grad": [
        ("2.1", PADDLE_GRAD),
        ("3.3.1", PADDLE_GRAD[:-1] + ", *, dump_backward_graph_path=None)"),
    ],
    "torch.optim.Optimizer.zero_grad": [
        ("1.6", "()"),
        ("1.7", "(set_to_none=False)"),
        ("2.0", "(set_to_none=True)"),
    ],
    "paddle.optimizer.Optimizer.clear_grad": [("2.0", "()"), ("2.3", "(set_to_zero=True)")],
    "paddle.optimizer.Optimizer.clear_gradients": [("2.0", "()"), ("2.3", "(set_to_zero=True)")],
}
"""By API, oldest first: since which release, and the signature; None from the release that lacks it."""

Meaning = dict[str, object]
OTHER: dict[Framework, Framework] = {"torch": "paddle", "paddle": "torch"}


@cache
def recorded(name: str, release: Version) -> inspect.Signature | None:
    """The signature of ``name`` in ``release``; None where it does not exist."""
    found = None
    for since, text in RECORDED[name]:
        if Version(since) <= release:
            found = text
    if found is None:
        return None
    namespace: dict[str, Any] = {"torch": torch, "paddle": paddle}
    exec(f"def f{found}: ...", namespace)
    return inspect.signature(namespace["f"])


# what the parameters mean ------------------------------------------------------------------------


def scaler(side: Framework, name: str, given: Mapping[str, object]) -> Meaning:
    """What a scaler's constructor decides."""
    torch_names = ("enabled", "init_scale", "growth_factor", "backoff_factor", "growth_interval")
    paddle_names = ("enable", "init_loss_scaling", "incr_ratio", "decr_ratio", "incr_every_n_steps")
    names = torch_names if side == "torch" else paddle_names
    meaning: Meaning = dict(zip(torch_names, (given[n] for n in names), strict=True))
    meaning["overflows per backoff"] = given.get("decr_every_n_nan_or_inf", 1)
    meaning["dynamic"] = given.get("use_dynamic_loss_scaling", True)
    return meaning


def device(name: str, given: Mapping[str, object]) -> object:
    """The device that a torch call names or its spelling implies; Paddle's follow the current device."""
    named = given.get("device", given.get("device_type", "cpu" if ".cpu." in name else "cuda"))
    return str(named).partition(":")[0]


def losses(given: Mapping[str, object]) -> set[str]:
    """The diagnostics that must stand at an applied edit, for what the other side cannot say."""
    found = {"AMP215"} if given.get("custom_white_list") or given.get("custom_black_list") else set()
    found |= {"AMP216"} if given.get("level", "O1") not in ("O0", "O1") else set()
    return found | ({"AMP219"} if given.get("use_promote") is False else set())


def autocast(side: Framework, name: str, given: Mapping[str, object]) -> Meaning:
    """What an autocast region decides; dtype only while it is on."""
    enabled = given["enabled"] if "enabled" in given else given["enable"]
    dtype = given.get("dtype")
    if dtype is None:
        dtype = "bfloat16" if side == "torch" and device(name, given) == "cpu" else "float16"
    dtype = str(dtype).rpartition(".")[2]
    if given.get("level", "O1") == "O0" or (side == "torch" and dtype == "float32"):
        enabled = False
    return {"enabled": bool(enabled), "dtype": dtype if enabled else None}


def same_names(*names: str) -> Callable[[Framework, str, Mapping[str, object]], Meaning]:
    """Parameters that are called the same on both sides; one that a release lacks has no influence."""

    def meaning(side: Framework, name: str, given: Mapping[str, object]) -> Meaning:
        return {n: given.get(n) or None for n in names}  # None, False and a missing parameter act alike here

    return meaning


def zero_grad(side: Framework, name: str, given: Mapping[str, object]) -> Meaning:
    """Whether gradients become zero (or None)."""
    return {"zero": given.get("set_to_zero", True) if side == "paddle" else not given.get("set_to_none", False)}


@dataclass(frozen=True)
class Api:
    """One pair of APIs: what can be called on each side, what it means, and values to give."""

    id: str
    meaning: Callable[[Framework, str, Mapping[str, object]], Meaning]
    names: Mapping[Framework, tuple[str, ...]]
    values: Mapping[str, tuple[str, ...]]
    """Argument expressions by parameter name, either side's."""
    required: tuple[str, ...] = ()


FLAGS = ("True", "False", "flag")
DTYPES = ("torch.float16", "torch.bfloat16", "torch.half", "amp_dtype")
SCALER = Api(
    "scaler",
    scaler,
    {
        "torch": (
            "torch.cuda.amp.GradScaler",
            "torch.amp.GradScaler",
            "torch.GradScaler",
            "torch.cpu.amp.GradScaler",
        ),
        "paddle": (
            "paddle.amp.GradScaler",
            "paddle.amp.AmpScaler",
            "paddle.amp.grad_scaler.AmpScaler",
            "paddle.fluid.dygraph.AmpScaler",
        ),
    },
    {
        "device": ("'cuda'", "'cpu'", "'cuda:0'"),
        "enabled": FLAGS,
        "init_scale": ("65536.0", "32768.0", "2.**10", "2 ** 16", "scale"),
        "growth_factor": ("2.0", "2", "1.5", "factor"),
        "backoff_factor": ("0.5", "0.25", "1 / 2"),
        "growth_interval": ("2000", "1000", "n"),
        "enable": FLAGS,
        "init_loss_scaling": ("65536.0", "32768.0", "2.**10", "2 ** 15", "scale"),
        "incr_ratio": ("2.0", "2", "1.5", "factor"),
        "decr_ratio": ("0.5", "0.25"),
        "incr_every_n_steps": ("2000", "1000", "n"),
        "decr_every_n_nan_or_inf": ("1", "2", "n"),
        "use_dynamic_loss_scaling": FLAGS,
    },
)
AUTOCAST = Api(
    "autocast",
    autocast,
    {
        "torch": (
            "torch.cuda.amp.autocast",
            "torch.amp.autocast",
            "torch.autocast",
            "torch.cpu.amp.autocast",
        ),
        "paddle": (
            "paddle.amp.auto_cast",
            "paddle.amp.amp_guard",
            "paddle.amp.autocast",
            "paddle.cuda.amp.autocast",
            "paddle.fluid.dygraph.amp_guard",
        ),
    },
    {
        "device_type": ("'cuda'", "'cpu'", "'cuda:1'"),
        "enabled": FLAGS,
        "enable": FLAGS,
        "cache_enabled": ("True", "False"),
        "dtype": (),  # by side: see ``values_of``
        "custom_white_list": ("None", "[]", "{'matmul_v2'}"),
        "custom_black_list": ("None", "set()", "['softmax']"),
        "level": ("'O1'", "'O2'", "'O0'"),
        "use_promote": ("True", "False"),
    },
    ("device_type",),
)
CLIP_NORM = Api(
    "clip_grad_norm_",
    same_names("parameters", "max_norm", "norm_type", "error_if_nonfinite"),
    {"torch": ("torch.nn.utils.clip_grad_norm_",), "paddle": ("paddle.nn.utils.clip_grad_norm_",)},
    {
        "parameters": ("[p]",),
        "max_norm": ("1.0", "scale"),
        "norm_type": ("2.0", "2", "1.5"),
        "error_if_nonfinite": FLAGS,
        "foreach": ("None", "True", "False"),
    },
    ("parameters", "max_norm"),
)
CLIP_VALUE = Api(
    "clip_grad_value_",
    same_names("parameters", "clip_value"),
    {"torch": ("torch.nn.utils.clip_grad_value_",), "paddle": ("paddle.nn.utils.clip_grad_value_",)},
    {"parameters": ("[p]",), "clip_value": ("1.0", "scale"), "foreach": ("None", "True", "False")},
    ("parameters", "clip_value"),
)
GRAD_PARAMETERS = (
    "outputs inputs grad_outputs retain_graph create_graph only_inputs allow_unused no_grad_vars "
    "is_grads_batched materialize_grads"
).split()
GRAD = Api(
    "grad",
    same_names(*GRAD_PARAMETERS),
    {"torch": ("torch.autograd.grad",), "paddle": ("paddle.grad", "paddle.autograd.grad")},
    {
        "outputs": ("[loss]",),
        "inputs": ("[p]",),
        "grad_outputs": ("None", "[y]"),
        "retain_graph": ("None", "True", "False"),
        "create_graph": FLAGS,
        "only_inputs": ("True",),
        "allow_unused": FLAGS,
        "is_grads_batched": ("True", "False"),
        "materialize_grads": ("True", "False"),
        "no_grad_vars": ("None", "[p]"),
        "dump_backward_graph_path": ("None",),
    },
    ("outputs", "inputs"),
)
ZERO_GRAD = Api(
    "zero_grad",
    zero_grad,
    {
        "torch": ("torch.optim.Optimizer.zero_grad",),
        "paddle": ("paddle.optimizer.Optimizer.clear_grad", "paddle.optimizer.Optimizer.clear_gradients"),
    },
    {"set_to_none": FLAGS, "set_to_zero": FLAGS},
)
APIS = (SCALER, AUTOCAST, CLIP_NORM, CLIP_VALUE, GRAD, ZERO_GRAD)

PADDLE_DTYPES = ("'float16'", "'bfloat16'", "paddle.float16", "paddle.bfloat16", "amp_dtype")


def values_of(api: Api, side: Framework, parameter: str) -> tuple[str, ...]:
    """Expressions to give for a parameter."""
    if parameter == "dtype":
        return DTYPES if side == "torch" else PADDLE_DTYPES
    return api.values[parameter]


# calls -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A source call, written out."""

    name: str
    positional: tuple[str, ...] = ()
    keywords: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """As it stands in the file."""
        arguments = [*self.positional, *(f"{name}={value}" for name, value in self.keywords)]
        callee = "opt." + self.name.rpartition(".")[2] if ".Optimizer." in self.name else self.name
        return f"{callee}({', '.join(arguments)})"


def chosen_calls(api: Api, side: Framework, name: str, signature: inspect.Signature, thorough: bool) -> Iterator[Call]:
    """No argument, all by keyword; where ``thorough``, each single one and every number by position too."""
    names = list(signature.parameters)
    first = {n: values_of(api, side, n)[0] for n in names}
    needed = tuple((n, first[n]) for n in names if n in api.required)
    last = {n: values_of(api, side, n)[-1] for n in names}
    yield Call(name, (), needed)
    yield Call(name, (), tuple(first.items()))
    yield Call(name, (), tuple(reversed(last.items())))
    if not thorough:
        return
    for n in names:
        for value in values_of(api, side, n):
            yield Call(name, (), (*((m, v) for m, v in needed if m != n), (n, value)))
    positional = [n for n, p in signature.parameters.items() if p.kind is not p.KEYWORD_ONLY]
    for length in range(len(needed), len(positional) + 1):
        yield Call(name, tuple(first[n] for n in positional[:length]))
        yield Call(name, tuple(last[n] for n in positional[:length]))


@st.composite
def drawn_calls(draw: st.DrawFn, api: Api, side: Framework, name: str, signature: inspect.Signature) -> Call:
    """Any subset of the parameters, any part of them by position, keywords in any order."""
    names = list(signature.parameters)
    positional = [n for n, p in signature.parameters.items() if p.kind is not p.KEYWORD_ONLY]
    value = {n: draw(st.sampled_from(values_of(api, side, n))) for n in names}
    by_position = draw(st.integers(0, len(positional)))
    rest = [n for n in names if n not in positional[:by_position]]
    keywords = [n for n in rest if n in api.required or draw(st.booleans())]
    order = draw(st.permutations(keywords))
    return Call(name, tuple(value[n] for n in positional[:by_position]), tuple((n, value[n]) for n in order))


# the check ---------------------------------------------------------------------------------------

HEADERS = {
    "torch": "import torch\nopt = torch.optim.SGD(params, lr=0.1)\n",
    "paddle": "import paddle\nopt = paddle.optimizer.SGD(parameters=params)\n",
}


@dataclass(frozen=True)
class Target:
    """The releases that the output must run on, as a user types them (or None for no release given)."""

    framework: Framework
    specifier: str | None
    promised: tuple[Version, ...]

    @property
    def compared(self) -> tuple[Version, ...]:
        """Releases in which the output, where it runs, must mean the same."""
        return KNOWN[self.framework] if self.specifier is None else self.promised


WIDE = {
    "torch": (("1.6.0", "2.0.1"), ("1.10.2", "1.13.1"), ("2.2.2", "2.4.1")),
    "paddle": (("2.0.0", "2.3.0"), ("2.4.2", "2.5.0"), ("2.5.0", "2.5.1"), ("2.6.2", "3.3.1")),
}
"""Runs of releases within which a signature, a default or a name changes."""


def targets(framework: Framework) -> list[Target]:
    """No release given, each single one, and some runs of them."""
    single = [Target(framework, typed(release), (release,)) for release in KNOWN[framework]]
    return [*wide_targets(framework), *single]


def wide_targets(framework: Framework) -> list[Target]:
    """No release given, and some runs of them: the first is compared with the output in every release."""
    wide = [run_of(framework, Version(low), Version(high)) for low, high in WIDE[framework]]
    return [Target(framework, None, installable(framework)), *wide]


def run_of(framework: Framework, low: Version, high: Version) -> Target:
    """Every known release from ``low`` to ``high``."""
    return Target(framework, f">={low},<={high}", tuple(r for r in KNOWN[framework] if low <= r <= high))


@st.composite
def ranges(draw: st.DrawFn, framework: Framework) -> Target:
    """Any run of releases."""
    releases = [release for release in KNOWN[framework] if release != DEVELOP]
    low = draw(st.integers(0, len(releases) - 1))
    high = draw(st.integers(low, len(releases) - 1))
    return run_of(framework, releases[low], releases[high])


@cache
def engine(target: Framework, source_version: str | None, target_version: str | None) -> Engine:
    areas = ("AMP", "OPT101", "OPT102", "NNU", "AGD101")
    options = Options(target=target, source_version=source_version, target_version=target_version, select=areas)
    return Engine(options)


def typed(release: Version) -> str:
    """A release as a user types it."""
    return "develop" if release == DEVELOP else str(release)


NAMES = {"flag": True, "n": 7, "scale": 4096.0, "factor": 1.25, "p": "p", "y": "y", "loss": "y"}
"""What the free names in arguments stand for when the effective parameters are computed."""


def bound(side: Framework, name: str, node: ast.Call, release: Version) -> dict[str, object]:
    """Every parameter's value in ``release``, defaults filled in.

    Raises:
        LookupError: the release has no such API.
        TypeError: the arguments do not fit.
    """
    signature = recorded(name, release)
    if signature is None:
        raise LookupError(f"{name} is not in {release}")
    root = {"torch": torch, "paddle": paddle}[side]
    names = {**NAMES, "torch": torch, "paddle": paddle, "amp_dtype": root.bfloat16}

    def value(expression: ast.expr) -> object:
        return eval(compile(ast.Expression(expression), "<argument>", "eval"), dict(names))

    keywords = {k.arg: value(k.value) for k in node.keywords if k.arg is not None}
    arguments = signature.bind(*map(value, node.args), **keywords)
    arguments.apply_defaults()
    return arguments.arguments


ONE_SIDED = {
    "decr_every_n_nan_or_inf": {"1"},
    "use_dynamic_loss_scaling": {"True"},
    "is_grads_batched": {"False"},
    "materialize_grads": {"False"},
    "no_grad_vars": {"None"},
}
"""Parameters without a counterpart, and the arguments that are as good as none."""

ADDED_LATE = {
    "dtype": {"torch": "1.11", "paddle": "2.3"},
    "error_if_nonfinite": {"torch": "1.9", "paddle": "2.5"},
    "set_to_none": {"torch": "1.7", "paddle": "2.3"},
    "set_to_zero": {"torch": "1.7", "paddle": "2.3"},
    "device_type": {"torch": "1.11", "paddle": "2.0"},
    "zero_grad": {"torch": "1.7", "paddle": "2.3"},
}
"""Parameters (and one method's only one) whose counterpart older releases lack."""

NORMS = {"1.5"}
"""Norms that Paddle refuses: it takes infinity, 0, 1 and 2."""


def may_be_left(api: Api, call: Call, source: Framework, release: Version, promised: Sequence[Version]) -> bool:
    """Whether a call has no equal in every promised release (or none that is sure), and may be left."""
    target = OTHER[source]
    if not all(any(recorded(n, release) for n in api.names[target]) for release in promised):
        return True
    for parameter, value in [*arguments_of(call, release), (api.id, "")]:
        if parameter == "norm_type" and value in NORMS and target == "paddle":
            return True
        if parameter in ONE_SIDED and value not in ONE_SIDED[parameter]:
            return True
        if parameter in ADDED_LATE and any(r < Version(ADDED_LATE[parameter][target]) for r in promised):
            return True
    return False


def arguments_of(call: Call, release: Version) -> list[tuple[str, str]]:
    """Every parameter of a call with its expression, or its default as one."""
    signature = recorded(call.name, release)
    assert signature is not None
    given = signature.bind(*call.positional, **dict(call.keywords)).arguments
    rest = {p.name: repr(p.default) for p in signature.parameters.values() if p.name not in given}
    return [*given.items(), *rest.items()]


def api_name(api: Api, node: ast.Call) -> str:
    """The API that a call in the output is one of."""
    text = ast.unparse(node.func)
    return next((n for side in api.names.values() for n in side if text == "opt." + n.rpartition(".")[2]), text)


def differences(
    api: Api, calls: Sequence[Call], source: Framework, source_release: Version | None, target: Target
) -> list[str]:
    """Convert the calls in one file and compare each with what it became; what is wrong."""
    source_typed = None if source_release is None else typed(source_release)
    text = HEADERS[source] + "".join(f"r{n} = {call.text}\n" for n, call in enumerate(calls))
    result = engine(target.framework, source_typed, target.specifier).convert(text.encode(), "calls.py")
    tree = ast.parse(result.output)
    values = {s.targets[0].id: s.value for s in tree.body if isinstance(s, ast.Assign)}  # type: ignore[attr-defined]
    first_line = HEADERS[source].count("\n") + 1
    found: list[str] = []
    for number, call in enumerate(calls):
        codes = {d.code for d in result.diagnostics if d.line == first_line + number}
        output = values[f"r{number}"]
        wrong = _difference(api, call, output, source, source_release, target, codes)
        if wrong is not None:
            versions = f"{source} {source_typed} to {target.specifier}"
            found.append(f"{versions}: {call.text} -> {ast.unparse(output)} {sorted(codes)}: {wrong}")
    return found


def _difference(
    api: Api,
    call: Call,
    output: ast.expr,
    source: Framework,
    source_release: Version | None,
    target: Target,
    codes: set[str],
) -> str | None:
    before = ast.parse(call.text, mode="eval").body
    assert isinstance(before, ast.Call)
    if not isinstance(output, ast.Call):
        return "is no call"
    if ast.dump(output) == ast.dump(before):
        if not codes:
            return "left in silence"
        return (
            None
            if may_be_left(api, call, source, source_release or _newest(call.name, source), target.promised)
            else "could have been converted"
        )
    given = bound(source, call.name, before, source_release or _newest(call.name, source))
    wanted = api.meaning(source, call.name, given)
    silent = losses(given) if wanted.get("enabled", True) else set()
    if source == "torch" and api in (SCALER, AUTOCAST) and device(call.name, given) != "cuda":
        silent |= {"AMP213"} if wanted["enabled"] else set()
    if silent - codes:
        return f"no {silent - codes}"
    output, stays = _without_static_scale(output)
    name = api_name(api, output)
    for release in target.compared:
        try:
            taken = bound(target.framework, name, output, release)
        except (LookupError, TypeError) as error:
            if release in target.promised:
                return f"in {release}: {error}"
            continue
        got = {**api.meaning(target.framework, name, taken), **stays}
        if got != wanted:
            return f"in {release} {got}, wanted {wanted}"
        if source == "paddle" and device(name, taken) != device("", given):
            return f"in {release} for the device {device(name, taken)}"
    return None


def _without_static_scale(output: ast.Call) -> tuple[ast.Call, Meaning]:
    """The scaler that ``paddle_loss_scaling`` is given, and whether its scale may change."""
    if not isinstance(output.func, ast.Name) or output.func.id != "paddle_loss_scaling":
        return output, {}
    made, dynamic = output.args
    assert isinstance(made, ast.Call)
    return made, {"dynamic": eval(ast.unparse(dynamic), dict(NAMES))}


def _newest(name: str, side: Framework) -> Version:
    return next(r for r in reversed(KNOWN[side]) if recorded(name, r) is not None)


def turning_points(name: str, side: Framework) -> set[Version]:
    """The first known release with each signature of ``name``."""
    since = [Version(text) for text, _ in RECORDED[name]]
    return {next(r for r in KNOWN[side] if r >= first) for first in since}


def sources(side: Framework) -> list[Version | None]:
    return [None, *KNOWN[side]]


@pytest.mark.parametrize("api", APIS, ids=lambda api: api.id)
@pytest.mark.parametrize(
    ("source", "release"),
    [(side, release) for side in ("torch", "paddle") for release in sources(side)],  # type: ignore[arg-type]
    ids=str,
)
def test_effective_parameters_stay(api: Api, source: Framework, release: Version | None) -> None:
    """From no release given, to each target; from the first releases of a signature, to the first ones and some runs.

    What lies between two first releases has the signatures of the one before it, and what the tables say of it is seen
    from no release given. From releases whose signatures are those of the one before: to the runs alone.
    """
    calls: list[Call] = []
    asked = wide_targets(OTHER[source])
    for name in api.names[source]:
        signature = recorded(name, release or _newest(name, source))
        if signature is not None:
            thorough = release is None or release in turning_points(name, source)
            calls += chosen_calls(api, source, name, signature, thorough)
            asked = targets_of(api, source, release) if thorough else asked
    found = [text for target in asked for text in differences(api, calls, source, release, target)]
    assert not found, f"{len(found)} calls, such as\n" + "\n".join(found[:: max(1, len(found) // 12)])


def targets_of(api: Api, source: Framework, release: Version | None) -> list[Target]:
    """All targets where no release is given, else the runs and the first releases of each signature of ``api``."""
    side = OTHER[source]
    if release is None:
        return targets(side)
    first = {since for name in api.names[side] for since in turning_points(name, side)}
    return [target for target in targets(side) if len(target.promised) > 1 or target.promised[0] in first]


def known(api: Api, side: Framework, release: Version | None) -> list[str]:
    """The names of ``api`` that a release has."""
    return [n for n in api.names[side] if recorded(n, release or _newest(n, side)) is not None]


@given(data=st.data())
@pytest.mark.parametrize("api", APIS, ids=lambda api: api.id)
def test_any_arguments_between_any_releases(api: Api, data: st.DataObject) -> None:
    source: Framework = data.draw(st.sampled_from(("torch", "paddle")))
    release = data.draw(st.sampled_from([r for r in sources(source) if known(api, source, r)]))
    target = data.draw(st.sampled_from(targets(OTHER[source])) | ranges(OTHER[source]))
    name = data.draw(st.sampled_from(known(api, source, release)))
    signature = recorded(name, release or _newest(name, source))
    assert signature is not None
    call = data.draw(drawn_calls(api, source, name, signature))
    assert not differences(api, [call], source, release, target)
