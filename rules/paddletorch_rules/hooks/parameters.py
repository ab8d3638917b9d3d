"""Parameters made by a call: whether they learn, and the initial values that Paddle's attributes name."""

from __future__ import annotations

import ast
import re

from paddletorch_rules.hooks.arguments import is_call_of, is_plain, is_pure
from paddletorch_rules.hooks.protocol import BoundCall, Step, hook


@hook("parameter", to="paddle")
def parameter(call: BoundCall) -> None:
    """A parameter that learns nothing says so to Paddle by ``trainable``; a complex one can only be that."""
    data = call.value("data")
    is_complex = data is not None and (call.dtype("data") in _COMPLEX or _is_made_complex(data))
    if is_complex and call.literal("requires_grad") is not False:
        call.report("OPT208")
    if data is None:
        call.rewrite("torch_parameter(paddle.empty([0]))")
    elif call.value("requires_grad") is not None and call.literal("requires_grad") is not True:
        call.rewrite("torch_parameter({data}, requires_grad={requires_grad})")


_COMPLEX = frozenset({"complex64", "complex128", "cfloat", "cdouble"})


def _is_made_complex(node: ast.expr) -> bool:
    """Whether an operand is made so, ``scale * torch.rand(n, dtype=torch.cfloat)``: then the result is, too."""
    if isinstance(node, ast.BinOp):
        return _is_made_complex(node.left) or _is_made_complex(node.right)
    dtypes = [k.value for k in node.keywords if k.arg == "dtype"] if isinstance(node, ast.Call) else []
    return any(isinstance(dtype, ast.Attribute) and dtype.attr in _COMPLEX for dtype in dtypes)


@hook("parameter_list", to="paddle")
def parameter_list(call: BoundCall) -> None:
    """torch's list holds anything, and is indexed as a list is; Paddle asserts that all are parameters."""
    given, made = call.value("values"), call.makers("values")
    is_empty = given is None or (isinstance(given, ast.List | ast.Tuple) and not given.elts)
    if call.is_used_as_list:
        call.stop("API221", parameter="values", value="a list that is sliced, added to, or gets other elements")
    elif not is_empty and not (made and made <= _PARAMETERS):
        call.stop("API221", parameter="values", value="what may be no parameter")


_PARAMETERS = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})


@hook("create_parameter", to="torch")
def create_parameter(call: BoundCall) -> None:
    """Initial values: zeros for a bias, else Xavier's uniform, else what the initialiser says."""
    dtype = _DTYPE
    if call.literal("attr") is False:
        call.stop("TEN202", what="attr=False")
    if _is_open(call) and _ask_afterwards(call):
        return
    if _is_open(call):
        default, made = _default(call), f"torch.empty({{shape}}{dtype})"
        if "{" in default:
            call.rewrite(f"paddle_with_attribute(torch.nn.Parameter({made}), {{attr}}, {default})")
        else:
            call.rewrite(f"paddle_with_attribute(torch.nn.Parameter({default}({made})), {{attr}})")
        return
    initial = _initialiser(call)
    frozen = _frozen(call)
    if initial is None:
        default = _default(call)
        if default == _ZEROS:
            call.rewrite(f"torch.nn.Parameter(torch.zeros({{shape}}{dtype}){frozen})")
        elif frozen or default != _XAVIER:
            call.rewrite(f"torch.nn.Parameter({default}(torch.empty({{shape}}{dtype})){frozen})")
        return
    known = _initial(call, initial)
    if known is not None:
        call.rewrite(f"torch.nn.Parameter({known[0]}{frozen})", parts=known[1])
        return
    called = _called(call, initial, f"torch.empty({{shape}}{dtype})")
    if called is None:
        call.stop("TEN202", what=ast.unparse(initial))
    call.rewrite(f"torch.nn.Parameter({called}{frozen})")


_DTYPE = "{dtype:, dtype=%}"


def _ask_afterwards(call: BoundCall) -> bool:
    """Fill ``self.name`` as if there were no attribute, and ask in statements of their own what the attribute holds."""
    target = call.parent.targets[0] if isinstance(call.parent, ast.Assign) else None
    attribute, default = call.value("attr"), call.origin("default_initializer")
    plain = isinstance(attribute, ast.Name | ast.Attribute) and is_pure(attribute)
    if not call.is_named or not isinstance(target, ast.Attribute) or attribute is None or not plain:
        return False
    parts: dict[str, ast.expr] = {}
    if default is not None and call.literal("default_initializer") is not None:
        known = _initial(call, default)
        if known is None:
            return False
        filled, parts = known
    elif (function := _default(call)) == _ZEROS:
        filled = f"torch.zeros({{shape}}{_DTYPE})"
    else:
        filled = f"{function}(torch.empty({{shape}}{_DTYPE}))"
    name = ast.unparse(attribute)
    without = f"{ast.unparse(target.value)}.register_parameter('{target.attr}', None)"
    cases = ((f"{name} is False", without), (f"callable({name})", f"{name}({{object}})"))
    call.rewrite(f"torch.nn.Parameter({filled})", parts=parts)
    call.afterwards(Step(cases))
    return True


_ZEROS, _XAVIER = "torch.nn.init.zeros_", "torch.nn.init.xavier_uniform_"
_SHORT = "paddle_xavier_uniform_"
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
        if initial is not call.value("default_initializer"):
            return None
        if len(shape.elts) == 1:  # Paddle counts the length of a vector as its fans, torch raises
            return f"({{default_initializer}})({empty}[None])[0]"
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


_INITIALIZER_FIELDS: dict[str, dict[str, str]] = {
    "Constant": {"value": "0.0"},
    "Normal": {"mean": "0.0", "std": "1.0"},
    "TruncatedNormal": {"mean": "0.0", "std": "1.0"},
    "Uniform": {"low": "-1.0", "high": "1.0"},
    "XavierUniform": {},
    "XavierNormal": {},
    "Assign": {"value": ""},
}
"""What initialisers are given, with the defaults, in Paddle's order."""

_FILLS = {
    "Constant": "torch.nn.init.constant_({empty}, {value})",
    "Normal": "torch.nn.init.normal_({empty}, {mean}, {std})",
    "TruncatedNormal": "torch.nn.init.trunc_normal_({empty}, {mean}, {std})",
    "Uniform": "torch.nn.init.uniform_({empty}, {low}, {high})",
    "XavierUniform": "torch.nn.init.xavier_uniform_({empty})",
    "XavierNormal": "torch.nn.init.xavier_normal_({empty})",
    "Assign": "torch.as_tensor({value}, dtype={dtype}).clone()",  # the value's shape counts, not the one that is given
}


def _initial(call: BoundCall, node: ast.expr) -> tuple[str, dict[str, ast.expr]] | None:
    """The initial values of an initialiser as a template, and what its placeholders are; None if they are not known."""
    if not isinstance(node, ast.Call):
        return None
    name = ast.unparse(node.func).rpartition(".")[2]
    fields = _INITIALIZER_FIELDS.get(name)
    if fields is None or len(node.args) > len(fields) or any(isinstance(a, ast.Starred) for a in node.args):
        return None
    given = dict(zip(fields, node.args, strict=False)) | {k.arg or "**": k.value for k in node.keywords}
    if not given.keys() <= {*fields, "name"} or (name == "Assign" and "value" not in given):
        return None
    written = {field: f"{{initializer.{field}}}" for field in given}
    if not any(node in ast.walk(argument) for argument in (*call.node.args, *(k.value for k in call.node.keywords))):
        if not all(is_plain(value) for value in given.values()) or (name == "Assign" and not is_pure(given["value"])):
            return None  # it is evaluated where it is written, not here
        written = {field: ast.unparse(v).replace("{", "{{").replace("}", "}}") for field, v in given.items()}
    dtype = "torch.get_default_dtype()" if call.value("dtype") is None else "{dtype}"
    fills = _FILLS[name].replace("{empty}", f"torch.empty({{shape}}{_DTYPE})").replace("{dtype}", dtype)
    for field, default in fields.items():
        fills = fills.replace(f"{{{field}}}", written.get(field, default))
    return fills, {f"initializer.{field}": value for field, value in given.items()}
