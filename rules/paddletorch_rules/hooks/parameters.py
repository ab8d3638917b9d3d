"""Parameters made by a call: whether they learn, and the initial values that Paddle's attributes name."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.arguments import is_call_of, is_plain, is_pure
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook


@hook("parameter", to="paddle")
def parameter(call: BoundCall) -> None:
    """A parameter that learns nothing says so to Paddle by ``trainable``."""
    if call.value("data") is None:
        call.rewrite("paddle.base.framework.EagerParamBase.from_tensor(paddle.empty([0]))")
    elif call.value("requires_grad") is not None and call.literal("requires_grad") is not True:
        call.rewrite("paddle.base.framework.EagerParamBase.from_tensor({data}, trainable={requires_grad})")


@hook("create_parameter", to="torch")
def create_parameter(call: BoundCall) -> None:
    """Initial values: zeros for a bias, else Xavier's uniform, else what the initialiser says."""
    dtype = "{dtype:, dtype=%}"
    if call.literal("attr") is False:
        call.stop("TEN202", what="attr=False")
    if _is_open(call) and _ask_afterwards(call, dtype):
        return
    if _is_open(call):
        made = f"torch.nn.Parameter(torch.empty({{shape}}{dtype}))"
        asked = "None if attr is False else (other(made), attr(made) if callable(attr) else None, made)[-1]"
        call.rewrite(f"(lambda made, attr, other: {asked})({made}, {{attr}}, {_default(call)})")
        return
    initial = _initialiser(call)
    frozen = _frozen(call)
    if initial is None:
        default = _default(call)
        if default == _ZEROS:
            call.rewrite(f"torch.nn.Parameter(torch.zeros({{shape}}{dtype}){frozen})")
        elif frozen or default != _XAVIER:
            function = f"({default})" if default.startswith("lambda") else default
            call.rewrite(f"torch.nn.Parameter({function}(torch.empty({{shape}}{dtype})){frozen})")
        return
    made = _initial(initial, dtype) or _called(call, initial, f"torch.empty({{shape}}{dtype})") or ""
    if not made:
        call.stop("TEN202", what=ast.unparse(initial))
    call.rewrite(f"torch.nn.Parameter({made}{frozen})")


def _ask_afterwards(call: BoundCall, dtype: str) -> bool:
    """Fill ``self.name`` as if there were no attribute, and ask in statements of their own what the attribute holds."""
    target = call.parent.targets[0] if isinstance(call.parent, ast.Assign) else None
    attribute, default = call.value("attr"), call.origin("default_initializer")
    plain = isinstance(attribute, ast.Name | ast.Attribute) and is_pure(attribute)
    if not call.is_named or not isinstance(target, ast.Attribute) or attribute is None or not plain:
        return False
    steps: list[Step] = []
    if default is not None and call.literal("default_initializer") is not None:
        filled = _initial(default, dtype)
    elif (function := _default(call)) == _ZEROS:
        filled = f"torch.zeros({{shape}}{dtype})"
    elif function == _SHORT:
        filled = f"torch.empty({{shape}}{dtype})"
        steps.append(Step((("", _SHORT.removeprefix("lambda tensor: ").replace("tensor", "{object}")),)))
    else:
        filled = f"{function}(torch.empty({{shape}}{dtype}))"
    if filled is None:
        return False
    name = ast.unparse(attribute)
    without = f"{ast.unparse(target.value)}.register_parameter('{target.attr}', None)"
    cases = ((f"{name} is False", without), (f"callable({name})", f"{name}({{object}})"))
    call.rewrite(f"torch.nn.Parameter({filled})")
    call.afterwards(*steps, Step(cases))
    return True


_ZEROS, _XAVIER = "torch.nn.init.zeros_", "torch.nn.init.xavier_uniform_"
_SHORT = "lambda tensor: torch.nn.init.uniform_(tensor, -(3 / tensor.numel()) ** 0.5, (3 / tensor.numel()) ** 0.5)"
"""Xavier's uniform of fewer than two dimensions: Paddle counts the length as both fans, torch raises."""


def _default(call: BoundCall) -> str:
    """What fills a parameter whose attribute has no initialiser."""
    given = call.origin("default_initializer")
    if given is not None and call.literal("default_initializer") is not None:
        if isinstance(given, ast.Call) and _counts_fans(given):
            call.stop("TEN202", what=ast.unparse(given))
        return "{default_initializer}" if isinstance(given, ast.Call) else f"{{default_initializer}} or {_XAVIER}"
    bias = call.literal("is_bias")
    if call.value("is_bias") is not None and bias not in (True, False):
        call.stop("TEN202", what="is_bias=" + ast.unparse(call.value("is_bias") or ast.Constant(None)))
    if bias is True:
        return _ZEROS
    shape = call.value("shape")
    return _SHORT if isinstance(shape, ast.List | ast.Tuple) and len(shape.elts) < 2 else _XAVIER


def _is_open(call: BoundCall) -> bool:
    """Whether only the running program knows what the attribute holds."""
    value = call.value("attr")
    if value is None or isinstance(value, ast.Constant):
        return False
    origin = call.origin("attr")
    if not isinstance(origin, ast.Call) or not is_call_of(origin, "ParamAttr"):
        return not (isinstance(origin, ast.Call) and call.types("attr") & {"initializer"})
    flags = [k.value for k in origin.keywords if k.arg == "trainable"]
    return not all(is_plain(f) for f in flags)


def _frozen(call: BoundCall) -> str:
    """What a ``ParamAttr`` with ``trainable`` adds to the parameter's call."""
    attribute = call.origin("attr")
    if not isinstance(attribute, ast.Call):
        return ""
    flags = [k.value for k in attribute.keywords if k.arg == "trainable"]
    return "" if not flags or ast.unparse(flags[0]) == "True" else f", requires_grad={ast.unparse(flags[0])}"


def _called(call: BoundCall, initial: ast.expr, empty: str) -> str | None:
    """The initialiser as a function of the empty tensor, where it stands in the call.

    Paddle counts a matrix's first dimension as the input's, torch its second.
    """
    if isinstance(initial, ast.Call) and _counts_fans(initial):
        shape = call.value("shape")
        if not isinstance(shape, ast.List | ast.Tuple) or any(isinstance(e, ast.Starred) for e in shape.elts):
            return None
        if len(shape.elts) < 2 or initial is not call.value("default_initializer"):
            return None
        if len(shape.elts) == 2:
            return f"(lambda made: ({{default_initializer}}(made.t()), made)[-1])({empty})"
    if initial in (call.value("default_initializer"), call.origin("default_initializer")):
        return f"({{default_initializer}})({empty})"
    attribute = call.origin("attr")
    inside = isinstance(attribute, ast.Call) and any(k.value is initial for k in attribute.keywords)
    return f"({{attr}})({empty})" if inside or initial is attribute else None


def _counts_fans(initial: ast.Call) -> bool:
    """Whether its numbers depend on which dimension is the input's."""
    name = ast.unparse(initial.func).rpartition(".")[2]
    given = {k.arg for k in initial.keywords} & {"fan_in", "fan_out"}
    return bool(re.search("Kaiming|MSRA", name) or (name.startswith("Xavier") and (given or initial.args)))


def _initialiser(call: BoundCall) -> ast.expr | None:
    """The initialiser that counts: the attribute's before the default's."""
    attribute = call.origin("attr")
    if attribute is not None and call.literal("attr") is not None:
        found = _of_attribute(call, attribute)
        if found is not None:
            return found
    default = call.origin("default_initializer")
    if default is None or call.literal("default_initializer") is None:
        return None
    return default if isinstance(default, ast.Call) else call.value("default_initializer")


_ATTRIBUTES = ("initializer", "name", "trainable", "learning_rate", "regularizer", "need_clip", "do_model_average")
"""What a ``ParamAttr`` holds; its own row reports what torch's parameters cannot carry."""


def _of_attribute(call: BoundCall, attribute: ast.expr) -> ast.expr | None:
    """The initialiser inside a ``ParamAttr``, or the attribute itself if it is one."""
    if isinstance(attribute, ast.Constant):
        return None
    if isinstance(attribute, ast.Call) and not is_call_of(attribute, "ParamAttr"):
        return attribute
    if not isinstance(attribute, ast.Call) or any(k.arg not in _ATTRIBUTES for k in attribute.keywords):
        call.stop("TEN202", what="attr=" + ast.unparse(attribute))
    return next((k.value for k in attribute.keywords if k.arg == "initializer"), None)


def _initial(node: ast.expr, dtype: str) -> str | None:
    """The initial values of an initialiser with plain arguments, as a template; None if it is not known."""
    if not isinstance(node, ast.Call) or not all(is_plain(a) for a in [*node.args, *(k.value for k in node.keywords)]):
        return None
    name = ast.unparse(node.func).rpartition(".")[2]
    fields = {
        "Constant": ("value",),
        "Normal": ("mean", "std"),
        "TruncatedNormal": ("mean", "std"),
        "Uniform": ("low", "high"),
        "XavierUniform": (),
        "XavierNormal": (),
        "Assign": ("value",),
    }
    if name not in fields or len(node.args) > len(fields[name]):
        return None
    given: dict[str, ast.expr] = dict(zip(fields[name], node.args, strict=False))
    given |= {k.arg or "**": k.value for k in node.keywords}
    if not given.keys() <= {*fields[name], "name"}:
        return None
    text = {k: ast.unparse(v).replace("{", "{{").replace("}", "}}") for k, v in given.items()}
    empty = f"torch.empty({{shape}}{dtype})"
    if name == "Constant":
        return f"torch.nn.init.constant_({empty}, {text.get('value', '0.0')})"
    if name in ("Normal", "TruncatedNormal"):
        function = "normal_" if name == "Normal" else "trunc_normal_"
        return f"torch.nn.init.{function}({empty}, {text.get('mean', '0.0')}, {text.get('std', '1.0')})"
    if name.startswith("Xavier"):
        return f"torch.nn.init.{'xavier_uniform_' if name == 'XavierUniform' else 'xavier_normal_'}({empty})"
    if name == "Uniform":
        return f"torch.nn.init.uniform_({empty}, {text.get('low', '-1.0')}, {text.get('high', '1.0')})"
    value = given.get("value")
    if value is None or not is_pure(value):
        return None
    return f"torch.as_tensor({text['value']}{dtype}).clone()"
