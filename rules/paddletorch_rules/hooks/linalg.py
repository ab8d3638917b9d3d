"""Linear algebra: transposed operands, tolerances, and results whose form differs."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.arguments import is_call_of, is_plain, is_pure, no_counterpart, rewrite_once
from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("matmul", to="torch")
def matmul(call: BoundCall) -> None:
    """Paddle transposes the last two dimensions of an operand on request."""
    first = "{input}" if call.value("self") is None else "{self}"
    operands = {
        "transpose_x": (first, "self" if call.value("self") is not None else "x"),
        "transpose_y": ("{other}", "y"),
    }
    texts: list[str] = []
    for flag, (operand, source) in operands.items():
        node, asked = call.value(flag), call.literal(flag)
        call.drop(flag)
        turned = f"{operand}.transpose(-2, -1)"
        if node is None or asked is False:
            texts.append(operand)
        elif asked is True:
            texts.append(turned)
        elif is_plain(node) and is_pure(call.value(source)):
            texts.append(f"{turned} if {ast.unparse(node)} else {operand}")
        else:
            no_counterpart(call, flag)
    if texts == [first, "{other}"]:
        return
    call.rewrite(f"torch.matmul({', '.join(texts)})")


@hook("einsum", to="paddle")
def einsum(call: BoundCall) -> None:
    """torch also takes the operands as one list, or each with a list of its axes instead of an equation."""
    node = call.value("operands")
    by_axes = any(isinstance(a, ast.List | ast.Tuple) for a in call.node.args[1::2]) and len(call.node.args) > 2
    if call.is_tensor("equation") or by_axes:
        no_counterpart(call, "equation")
    if isinstance(node, ast.List | ast.Tuple):
        call.wrap("operands", "*", "")


@hook("fftshift", to="paddle")
def fftshift(call: BoundCall, inverse: bool = False) -> None:
    """Paddle 3.3 shifts along one axis or all; several are rolled."""
    node = call.value("dim")
    if not (isinstance(node, ast.Tuple | ast.List) or call.types("dim") == {"sequence"}):
        return
    if node is None or not is_plain(node):
        no_counterpart(call, "dim")
    axes = ast.unparse(node)
    call.drop("dim")
    sign = "-" if inverse else ""
    text = f"paddle.roll({{x}}, [{sign}({{x}}.shape[_a] // 2) for _a in {axes}], {axes})"
    rewrite_once(call, text, x="input")


@hook("real_only", to="paddle")
def real_only(call: BoundCall, otherwise: str) -> None:
    """Matrices that are seen to be complex are left, of which Paddle's result is another one."""
    for name in ("A", "input", "self"):
        if call.value(name) is not None and (call.dtype(name) or "").startswith("complex"):
            no_counterpart(call, name, f"... of complex numbers: {otherwise}")


@hook("pinv", to="paddle")
def pinv(call: BoundCall) -> None:
    """torch's tolerance is the larger side times the precision of the type; Paddle's is a constant."""
    if call.value("atol") is not None and call.literal("atol") is not None:
        no_counterpart(call, "atol")
    real_only(call, "Paddle's result is the conjugate")
    call.drop("atol")
    is_hermitian = call.value("hermitian") is not None and call.literal("hermitian") is not False
    if is_hermitian and not is_call_of(call.origin("A"), "detach"):
        call.report("AGD203", what="of a Hermitian matrix, Paddle's gradient is wrong (3.3.1)")
    relative = next((n for n in ("rcond", "rtol") if call.value(n) is not None and call.literal(n) is not None), None)
    for name in ("rcond", "rtol"):
        if name != relative:
            call.drop(name)
    if relative is None:
        text = (
            "paddle.linalg.pinv({x}, rcond=max({x}.shape[-2:]) * paddle.finfo({x}.dtype).eps{hermitian:, hermitian=%})"
        )
        rewrite_once(call, text, x="A")
    elif relative == "rtol":
        node = call.value("rtol")
        if node is None or not is_plain(node):
            no_counterpart(call, "rtol")
        call.drop("rtol")
        call.force("rcond", _for_each_matrix(call, "rtol", ast.unparse(node)))
    elif call.is_tensor("rcond"):
        call.wrap("rcond", *_around_tolerances(call.value("rcond")))


@hook("pinv", to="torch")
def pinv_to_torch(call: BoundCall) -> None:
    """Tolerances for each matrix stand in a column beside the singular values in Paddle."""
    if call.is_tensor("rcond"):
        call.wrap("rcond", *_around_tolerances(call.value("rcond"), "squeeze"))


def _for_each_matrix(call: BoundCall, name: str, text: str) -> str:
    """A tolerance; a tensor has one for each matrix, which Paddle wants beside the singular values."""
    return text.join(_around_tolerances(call.value(name))) if call.is_tensor(name) else text


def _around_tolerances(node: ast.expr | None, method: str = "unsqueeze") -> tuple[str, str]:
    atomic = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return ("", f".{method}(-1)") if atomic else ("(", f").{method}(-1)")


@hook("powers", to="paddle")
def powers(call: BoundCall) -> None:
    """Paddle's ``vander`` takes one vector, and keeps its dtype where torch makes int64 of integers."""
    if call.ranks("x") == {1} and (call.dtype("x") or "").startswith("float"):
        call.rewrite("paddle.vander({x}{n:, n=%}, increasing=True)")


@hook("householder_product", to="paddle")
def householder_product(call: BoundCall) -> None:
    """Paddle writes into what its gradient needs."""
    if not is_call_of(call.origin("A"), "detach") or not is_call_of(call.origin("tau"), "detach"):
        call.report("AGD203", what="Paddle's gradient raises an error (3.3.1)")


@hook("fft_of_two", to="paddle")
def fft_of_two(call: BoundCall, several: str) -> None:
    """torch takes any number of axes, Paddle two of them; its function ``several`` takes the others."""
    node = call.value("dim")
    if isinstance(call.literal("dim"), int):
        call.wrap("dim", "[", "]")
        call.rewrite(f"{several}({{x}}{{s:, s=%}}, axes={{axes}}{{norm:, norm=%}})")
    elif isinstance(node, ast.Tuple | ast.List) and len(node.elts) != 2:
        call.rewrite(f"{several}({{x}}{{s:, s=%}}, axes={{axes}}{{norm:, norm=%}})")


@hook("qr")
def qr(call: BoundCall) -> None:
    """With mode "r" torch still gives two results."""
    mode = call.literal("mode")
    if call.value("mode") is not None and mode not in ("reduced", "complete"):
        no_counterpart(call, "mode")


@hook("lstsq", to="paddle")
def lstsq(call: BoundCall) -> None:
    """Gradients end at Paddle's solution."""
    if not is_call_of(call.origin("input"), "detach") or not is_call_of(call.origin("b"), "detach"):
        call.report("AGD203", what="Paddle's solution has no gradient")


@hook("solve", to="paddle")
def solve(call: BoundCall) -> None:
    """Paddle's gradient of the matrix is wrong, or its process ends, where the right side has none."""
    if call.value("left") is None:
        call.rewrite("torch_solve({x}, {y})")


@hook("cholesky_solve", to="paddle")
def cholesky_solve(call: BoundCall) -> None:
    """Paddle's gradient of the factor ends the process where the right side needs none."""
    first = "{x}" if call.value("self") is None else "{self}"
    call.rewrite(f"torch_cholesky_solve({first}, {{y}}{{upper:, upper=%}})")


@hook("triangular", to="paddle")
def triangular_to_paddle(call: BoundCall) -> None:
    """Paddle's gradient of the matrix is wrong where the right side has none, or the diagonal counts as ones."""
    text, left = "torch_solve_triangular({x}, {y}, upper={upper}", call.value("left")
    call.drop("left")
    text += "{unitriangular:, unitriangular=%})" if left is None else "{unitriangular:, unitriangular=%}, left={left})"
    call.rewrite(text, parts={} if left is None else {"left": left})


@hook("triangular", to="torch")
def triangular_to_torch(call: BoundCall) -> None:
    """torch has no default for ``upper``."""
    if call.value("upper") is None:
        call.force("upper", "True")


@hook("matrix_rank", to="paddle")
def matrix_rank(call: BoundCall) -> None:
    """Paddle's tolerances are absolute; its relative one is new in 3.0."""
    for name in ("tol", "atol", "rtol"):
        if call.value(name) is not None and call.literal(name) is not None:
            no_counterpart(call, name)


@hook("stft", to="paddle")
def stft_to_paddle(call: BoundCall) -> None:
    """Paddle's result is complex; the real view of it is made where torch gives one."""
    asked = call.literal("return_complex")
    if call.value("return_complex") is not None and asked not in (True, False, None):
        no_counterpart(call, "return_complex")
    call.drop("return_complex")
    if asked is False:
        call.surround("paddle.as_real(", ".contiguous())")  # 2.6 reads a strided tensor wrongly


@hook("stft", to="torch")
def stft_to_torch(call: BoundCall) -> None:
    """torch gives a complex result, as Paddle does, on request."""
    call.force("return_complex", "True")


@hook("frame", to="torch")
def frame(call: BoundCall) -> None:
    """Frames of the first axis stand before their elements, frames of the last one behind them."""
    axis = call.literal("axis") if call.value("axis") is not None else -1
    if axis not in (0, -1):
        no_counterpart(call, "axis")
    call.drop("axis")
    if axis == 0:
        call.rewrite("torch.unfold_copy({x}, 0, {frame_length}, {hop_length}).movedim(-1, 1)")


@hook("beta_first", to="paddle")
def beta_first(call: BoundCall) -> None:
    """The factors come after the matrices in the call and before them in the sum."""
    for name in ("beta", "alpha"):
        node = call.value(name)
        if node is not None and not is_pure(node):
            no_counterpart(call, name)
    _, sign, product = call.row_template.partition(" + ")
    first = "self" if call.value("self") is not None else "input"
    if call.literal("beta") == 0 and sign:
        if not is_pure(call.value(first)):
            no_counterpart(call, "beta")
        call.rewrite(product)  # torch does not look at what the tensor holds then, which may be nan


@hook("cholesky_inverse", to="paddle")
def cholesky_inverse(call: BoundCall) -> None:
    """The factor may stand above the diagonal: then it comes first in the product as its transpose."""
    upper = call.literal("upper") if call.value("upper") is not None else False
    if upper not in (True, False):
        no_counterpart(call, "upper")
    side = "transpose_x" if upper else "transpose_y"
    call.drop("upper")
    factor = "{self}" if call.value("self") is not None else "{x}"
    call.rewrite(f"paddle.linalg.inv(paddle.matmul({factor}, {factor}, {side}=True))")
