"""Forms in which text that is right by itself may come out wrong: imports of the other framework, guards, moved
statements, whole blocks of what is removed, kept decorators, files without imports, arguments that are not written out.

They are composed with the generated programs and put into real files.
"""

from __future__ import annotations

import ast
import io
import re
import textwrap
import tokenize

from hypothesis import strategies as st
from paddletorch.model import Framework

OTHER_IMPORTS = (
    "import {other}",
    "import {other} as pd",
    "import {other}.nn",
    "import {other}.nn as other_nn",
    "from {other} import nn as other_nn",
    "import {other} as {root}",
    "import {root}, {other}",
    "import {vision}.transforms",
    "from {vision} import transforms as T",
    "import numpy, {other}",
    "{other} = None",
    "{other} = __import__('{other}')",
    "import importlib\n{other} = importlib.import_module('{other}')",
    "del {root}",
    "from {other} import *",
    "for {other} in (1, 2): pass",
    "with open('x') as {other}: pass",
    "def {other}(): pass",
    "class {other}: nn = None",
    "({other} := None)",
    "[{other} for {other} in ()]",
    "lambda {other}: {other}.nn",
    "global {other}",
)
"""Statements that import, bind or unbind the name of the other framework."""

GUARDS = (
    "try:\n{}\nexcept ImportError:\n    pass",
    "try:\n{}\nexcept (ImportError, OSError) as error:\n    {other} = None",
    "try:\n    import {root}\n{}\nexcept ImportError:\n    pass",
    "try:\n{}\nfinally:\n    pass",
    "try:\n    pass\nfinally:\n{}",
    "try:\n    raise ImportError\nexcept ImportError:\n{}",
    "try:\n    pass\nexcept ImportError:\n    pass\nelse:\n{}",
    "if TYPE_CHECKING:\n{}",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n{}",
    "import typing\nif not typing.TYPE_CHECKING:\n{}",
    "if 0:\n{}",
    "if False:\n    pass\nelse:\n{}",
    "if __name__ == '__main__':\n{}",
    "if x:\n{}\nelse:\n    pass",
    "for i in range(3):\n{}",
    "for i in range(3):\n    break\nelse:\n{}",
    "while x:\n{}\n    break",
    "with suppress(ImportError):\n{}",
    "def late():\n{}\n    return 1",
    "def late():\n    global {other}\n{}",
    "async def late():\n{}",
    "class K:\n{}",
    "class K:\n    def late(self):\n    {}".replace("    {}", "{}"),
    "match x:\n  case 1:\n{}\n  case _: pass",
)
"""Blocks in which such a statement may stand."""

FORMS: dict[Framework, tuple[str, ...]] = {
    "torch": (
        "if torch.cuda.is_available():\n    torch.backends.cuda.matmul.allow_tf32 = True\n"
        "    torch.backends.cudnn.allow_tf32 = True",
        "if x:\n    torch.backends.cudnn.allow_tf32 = True\nelif y: torch.backends.cudnn.allow_tf32 = False\n"
        "else:\n    # nothing\n    torch.backends.cuda.matmul.allow_tf32 = False  # why",
        "try:\n    torch.backends.cuda.matmul.allow_tf32 = True\n"
        "except Exception: torch.backends.cudnn.allow_tf32 = True\n"
        "finally:\n    torch.backends.cudnn.allow_tf32 = True",
        "for x in y: torch.backends.cudnn.allow_tf32 = True",
        "def f(): torch.backends.cudnn.allow_tf32 = True; torch.backends.cuda.matmul.allow_tf32 = True",
        "class C:\n    '''Doc.'''\n    torch.backends.cudnn.allow_tf32 = True",
        "@torch.jit.script\ndef f(x: torch.Tensor):\n    return {}",
        "@torch.jit.script\nclass C:\n    def f(self, x):\n        return {}",
        "@torch.no_grad()\n@torch.jit.script_if_tracing\n@f\ndef g(x):\n    return {}",
        "@torch.compile(fullgraph=True)\nasync def f(x): return {}",
        "class C(torch.autograd.Function):\n    @staticmethod\n    @torch.amp.custom_fwd(device_type='cuda')\n"
        "    def forward(ctx, x):\n        return {}",
        "if a:\n    opt = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "    sch = torch.optim.lr_scheduler.StepLR(opt, 3)\n"
        "else:\n    opt = torch.optim.Adam(model.parameters())\nsch.step()",
        "opt = torch.optim.SGD(model.parameters(), lr={})\nprint(opt)\nif a:\n"
        "    sch = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=n)\nelif b:\n    sch = None",
        "def build(kind):\n    opt = torch.optim.SGD(p, lr=0.1)\n    if kind == 1:\n"
        "        return opt, torch.optim.lr_scheduler.StepLR(opt, 3)\n"
        "    sch = torch.optim.lr_scheduler.LambdaLR(opt, f)\n"
        "    return opt, sch",
        "x = torch.zeros(3).scatter_reduce(0, i, s, reduce=kind)",
        "x = torch.zeros(3).float().div(y, rounding_mode=mode)",
        "x = F.interpolate(x, mode=mode, align_corners=a)",
        "x = F.group_norm(torch.zeros(2, 4, 3).float() * h(), g, w, b)",
        "b.mul_(1 - m).add_(m, p)",
        "x = torch.load(p, map_location=torch.device(torch.foo(1)))",
        "x = torch.load(p, map_location={}); y = torch.float8_e4m3fn",
        "x = y.to(dtype=torch.float8_e5m2) if hasattr(torch, 'float8_e5m2') else y.to({})",
        "scaler = torch.cuda.amp.GradScaler(); scaler.scale({}).backward(); scaler.step(opt); scaler.update()",
        "with torch.autocast('cuda', dtype=torch.bfloat16), torch.no_grad():\n    x = {}",
        "del torch.backends.cudnn.benchmark",
        "x = torch.nn.Linear(3, 4, bias=False, **kw)",
        "kw = dict(momentum=0.03, **other)\nx = torch.nn.BatchNorm2d(3, **kw)",
        "x = torch.max(*a), torch.max(*a, **k), torch.max(x, *a), torch.max(x, dim=d)",
        "torch = __import__('torch')",
        "x: torch.Tensor = {}; y: 'torch.Tensor | None' = None",
        "def f(x: 'torch.Tensor' = torch.zeros(3), *y: 'torch.nn.Module') -> \"list[torch.Tensor]\": return {}",
        "x = getattr(torch, 'zeros')(3), getattr(torch.nn, name)(), torch.__version__",
        "import torchvision.transforms as T\nx = T.Resize(s, 2), T.Compose([T.ToTensor(), T.Normalize(m, s)])",
        "from torchvision.transforms import InterpolationMode, Resize\nx = Resize(s, InterpolationMode.BICUBIC)",
        "from torch.nn import functional as F, Module as Base\nclass C(Base): x = {}",
        "from torch.utils.data import DataLoader, DistributedSampler\nx = DataLoader(d, sampler=DistributedSampler(d))",
    ),
    "paddle": (
        "sch = paddle.optimizer.lr.StepDecay(0.1, 3)\nif a:\n"
        "    opt = paddle.optimizer.SGD(learning_rate=sch, parameters=p)\nelif b:\n    opt = MyOpt(learning_rate=sch)",
        "def build():\n    sch = paddle.optimizer.lr.CosineAnnealingDecay({}, T_max=n)\n    if a:\n        print(sch)\n"
        "    opt = paddle.optimizer.Adam(learning_rate=sch, parameters=p)\n    return sch, opt",
        "try:\n    sch = paddle.optimizer.lr.StepDecay(0.1, 3)\nexcept ValueError:\n    sch = None\n"
        "opt = paddle.optimizer.SGD(sch, parameters=p)",
        "for lr in (sch := paddle.optimizer.lr.StepDecay(0.1, 3), 2):\n"
        "    opt = paddle.optimizer.SGD(learning_rate=lr, parameters=p)",
        "sch = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.StepDecay(0.1, 3), 10, 0., 0.1)\n"
        "opts = [paddle.optimizer.SGD(learning_rate=sch, parameters=q) for q in ps]",
        "if paddle.is_compiled_with_cuda(): paddle.device.set_device('gpu')",
        "if x:\n    paddle.disable_static()\nelse:\n    # nothing\n    paddle.disable_static()  # why",
        "try: paddle.disable_static()\nexcept Exception: paddle.disable_static()\nfinally: paddle.disable_static()",
        "paddle.disable_static(); x = {}",
        "def f(): paddle.disable_static()",
        "class C: paddle.disable_static()",
        "@paddle.jit.to_static\ndef f(x):\n    return {}",
        "@paddle.jit.to_static(input_spec=[paddle.static.InputSpec([None, 3])])\n@paddle.no_grad()\n"
        "def f(x): return {}",
        "class C(paddle.nn.Layer):\n    @paddle.jit.not_to_static\n    def forward(self, x):\n        return {}",
        "from paddle.vision.transforms import Resize\nx = Resize(s, 'nearest')",
        "import paddle.vision.transforms as T\nx = T.Compose([T.Resize(s, interpolation=mode), T.ToTensor()])",
        "from paddle.vision import transforms, models\nx = transforms.RandomRotation(3, 'bilinear')",
        "a = inst.astype('int64'); t = inst.numpy()",
        "x = y.astype(kind); z = paddle.cast(x, 'float32'); w = x.cast({})",
        "self.add_sublayer(name='a', sublayer=paddle.nn.Linear(4, 5,\n  #c\n"
        "  weight_attr=paddle.nn.initializer.Constant(value=0.1), name='t'))",
        "x = paddle.nn.Linear(3, 4, weight_attr=paddle.ParamAttr(name='w', learning_rate=0.5), **kw)",
        "x = paddle.nn.functional.interpolate(x, scale_factor=2, mode=mode)",
        "x = paddle.max(*a), paddle.max(*a, **k), paddle.max(x, *a), paddle.max(x, axis=d)",
        "scaler = paddle.amp.GradScaler(init_loss_scaling=1024); scaled = scaler.scale({}); scaled.backward()\n"
        "scaler.minimize(opt, scaled); opt.clear_grad()",
        "with paddle.amp.auto_cast(level='O2', dtype='bfloat16'):\n    x = {}",
        "x: paddle.Tensor = {}; y: 'paddle.Tensor | None' = None",
        "x = getattr(paddle, 'zeros')([3]), getattr(paddle.nn, name)(), paddle.__version__",
        "from paddle.nn import functional as F, Layer as Base, ParamAttr\nclass C(Base): x = {}",
        "from paddle import ParamAttr, nn\n"
        "x = nn.Linear(3, 4, weight_attr=ParamAttr(initializer=nn.initializer.Normal()))",
        "from paddle.io import DataLoader, DistributedBatchSampler\n"
        "x = DataLoader(d, batch_sampler=DistributedBatchSampler(d, 4))",
        "x = paddle.to_tensor({}, stop_gradient=False); x.stop_gradient = True; x += {}",
    ),
}
"""Statements with a meaning of their own in one framework."""

HEADLESS: dict[Framework, tuple[str, ...]] = {
    "torch": (
        'def f(a, b=1):\n    """Does it.\n\n    Args:\n        a (torch.Tensor): what.\n'
        '        b (`torch.Tensor`): more.\n    """\n    {}',
        'def f(a):\n    """a (Tensor): it."""\n    return {}',
        "def f(a: 'torch.Tensor', b: \"Optional[torch.Tensor]\" = None) -> 'torch.Tensor':\n    return {}",
        "def f(tensor, mean):\n    tensor.add_(mean); tensor.mul_({})",
        "def f(a):\n    a.requires_grad_(True).unsqueeze(0).clamp_(min=0)\n    return a.max(dim=1)[0], {}",
        "class C:\n    def forward(self, x):\n        # type: (torch.Tensor) -> torch.Tensor\n"
        "        return x.permute(0, 1), {}",
        "def p(tensor): g(tensor.grad_fn, tensor.is_leaf, {})",
        "def train(model, optimizer, loss):\n    optimizer.zero_grad(); loss.backward(); optimizer.step()\n"
        "    for g in optimizer.param_groups: g['lr'] = {}",
        "b.mul_(1 - m).add_(m, p)",
        "x = model.to('cuda').half().state_dict(); y = scaler.get_scale(); z = {}",
    ),
    "paddle": (
        'def f(a, b=1):\n    """Does it.\n\n    Args:\n        a (paddle.Tensor): what.\n'
        '        b (Tensor): more.\n    """\n    {}',
        "def f(a: 'paddle.Tensor', b: \"Optional[paddle.Tensor]\" = None) -> 'paddle.Tensor':\n    return {}",
        "def f(x):\n    x.stop_gradient = False\n    return x.transpose([1, 0]).astype('float32'), {}",
        "def train(model, optimizer, loss):\n    loss.backward(); optimizer.step(); optimizer.clear_grad()\n"
        "    optimizer.set_lr({}); return optimizer.get_lr()",
        "class C:\n    def forward(self, x):\n        return x.unsqueeze([0]).reshape([-1]).tile([2]), {}",
        "a = inst.astype('int64'); t = inst.numpy(); z = {}",
        "x = model.set_state_dict(sd); scaler.minimize(opt, {})",
    ),
}
"""Statements of files that import no framework: what is a tensor shows in annotations, docstrings and methods."""

PLAIN = (
    "def f():\n    x = {}\n    del x\n    x = {}\n    return x",
    "def f():\n    global y\n    y = {}\ndef g():\n    return y, {}",
    "def f(x):\n    def g():\n        nonlocal x\n        x = {}\n    g()\n    return x",
    "class C:\n    x = {}\n    y = [x for _ in range(3)]\n    def f(self): return x, {}",
    "x = {}\nclass C:\n    x = x\n    z = lambda self, x=x: (x, {})",
    "if x:\n    def f(a={}): return a\nelse:\n    def f(a): return {}",
    "try:\n    x = {}\nexcept Exception as x:\n    print(x)\nfinally:\n    y = x",
    "def f():\n    try:\n        return {}\n    finally:\n        print({})",
    "def f(*, x={}, y=lambda z={}: z): return x, y",
    "if (n := {}) and (m := n): print(n, m)",
    "while (x := {}): x = x - 1",
    "[y := {}, y ** 2]; print(y)",
    "x = [(a, b) for a in {} if (b := a) for c in {}]",
    "async def f():\n    return [x async for x in {} if await x], await {}",
    "def f(): yield; x = yield {}; return x",
    "def f(x, /, y, *, z): return {}",
    "with ({} as x, {} as y): print(x, y)",
    "x = {}; x = x.x = x[0] = {}",
    "for x in {}:\n    if x: continue\n    y = {}\nelse:\n    y = 0\nprint(y)",
    "@lambda f: f\n@(f := {})\ndef g(): pass",
    "print(f'{x = }', f'{x!r:{y}}', f\"{'a' if x else {}}\")",
    "print(f'{f\"{x}\"}' '{{}}' f'{{}}{x}', '{0} {x}'.format({}))",
    "assert isinstance({}, object), f'{{x}} {x}'",
    "match {}:\n    case {'k': v, **rest}: x = {}\n    case [a, *b] | (a, b): pass\n"
    "    case str() as s if s: pass\n    case x: pass",
    "match = {}; case = match; type = case; print(match, case, type)",
    "type X = {}; type Y[T: (int, {})] = T",
    "def f[T: int = int](x: T) -> T: return {}",
    "class C[T](Base[T], k={}): y: T = {}",
    "try:\n    x = {}\nexcept* ValueError as e:\n    y = {}",
    "if x: pass\nelse: {}",
    "if x:\n\tx = {}\n\ty = {}",
    "x = ({}\n# alone\n, # c\n{} # d\n)",
    "def f(a, # first\n    b = {}, # second\n    # third\n    *c): return a",
    "x = f( # 0\n a, # 1\n b = {} # 2\n , # 3\n ** d # 4\n)",
)
"""Statements of every scope and binding that Python has; ``{}`` is a use, other braces are what they are."""


@st.composite
def other_import(draw: st.DrawFn, source: Framework) -> str:
    """A statement about the other framework's name, bare or guarded."""
    names = {
        "root": source,
        "other": "paddle" if source == "torch" else "torch",
        "vision": "paddle.vision" if source == "torch" else "torchvision",
    }
    text = _named(draw(st.sampled_from(OTHER_IMPORTS[:10]) | st.sampled_from(OTHER_IMPORTS)), names)
    if draw(st.integers(0, 2)):
        guard = draw(st.sampled_from(GUARDS))
        inner = textwrap.indent(text, "        " if "def late(self)" in guard else "    ")
        text = _named(guard, names).replace("{}", inner)
    return text


def _named(text: str, names: dict[str, str]) -> str:
    return re.sub(r"\{(root|other|vision)\}", lambda m: names[m.group(1)], text)


@st.composite
def commented(draw: st.DrawFn, text: str) -> str:
    """A comment at each boundary of what stands in brackets, in some lines or everywhere."""
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text
    depth = 0
    places: list[tuple[int, int]] = []
    for token in tokens:
        if token.type == tokenize.OP:
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.string, 0)
        if depth > 0 and token.type == tokenize.OP and token.string in "([{,)]}=":
            places.append(token.end)
    if not places:
        return text
    first = draw(st.integers(0, len(places) - 1))
    count = draw(st.sampled_from((3, 8, len(places))))
    written = draw(st.sampled_from(("  # c\n", " # (\n    ", "\n# '\n", " \\\n", "#\n\n")))
    lines = text.splitlines(keepends=True)
    for line, column in sorted(set(places[first : first + count]), reverse=True):
        if line <= len(lines):
            lines[line - 1] = lines[line - 1][:column] + written + lines[line - 1][column:]
    return "".join(lines)


@st.composite
def loosened(draw: st.DrawFn, text: str) -> str:
    """One literal or argument of an expression becomes what is known only at run time."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    nodes: list[ast.expr] = [n for n in ast.walk(tree) if isinstance(n, ast.Constant)]
    nodes += [a for n in ast.walk(tree) if isinstance(n, ast.Call) for a in (*n.args, *(k.value for k in n.keywords))]
    nodes = [n for n in nodes if n.lineno == n.end_lineno]
    if not nodes or not text.isascii() or "\r" in text:  # columns and lines as ast counts them
        return text
    node = draw(st.sampled_from(nodes))
    lines = text.split("\n")
    line = lines[node.lineno - 1]
    old = line[node.col_offset : node.end_col_offset]
    forms = (
        "kind",
        "x",
        "self.n",
        "*a",
        "**k",
        "f({})",
        "(y := {})",
        "{} if c else d",
        "(lambda: {})()",
        "kw['a']",
        "({},)",
    )
    new = draw(st.sampled_from(forms)).replace("{}", old)
    changed = line[: node.col_offset] + new + line[node.end_col_offset :]
    whole = "\n".join([*lines[: node.lineno - 1], changed, *lines[node.lineno :]])
    try:
        ast.parse(whole)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    return whole


_UNKNOWN = (
    "kind",
    "x",
    "self.n",
    "*a",
    "**k",
    "f({})",
    "(y := {})",
    "{} if c else d",
    "(lambda: {})()",
    "kw['a']",
    "({},)",
)
_WIDE = {chr(ord("a") + i): chr(0x1D4EA + i) for i in range(26)}  # mathematical script letters
_FULL = {chr(c): chr(c + 0xFEE0) for c in (*range(ord("a"), ord("z") + 1), *range(ord("A"), ord("Z") + 1))}


@st.composite
def spelled(draw: st.DrawFn, text: str) -> str:
    """One name in letters that Python takes for the usual ones (NFKC)."""
    words = sorted(set(re.findall(r"[A-Za-z]{2,}", text)))
    if not words:
        return text
    word = draw(st.sampled_from(["torch", "paddle", *words]))
    letters = draw(st.sampled_from((_WIDE, _FULL)))
    count = draw(st.sampled_from((0, 1)))
    new = "".join(letters.get(c, c) for c in word)
    return re.sub(rf"\b{word}\b", new, text, count=count)
