"""What generated programs and mutated files have found: a small program for each mistake."""

from __future__ import annotations

import ast

import pytest
from paddletorch.model import Framework, Options, Status

from .promises import check

CASES: dict[str, tuple[Framework, str, str]] = {
    "a name that stands for newer syntax, beside a star import": (
        "paddle",
        "from torch import *\n_ = a + b + c + d\ny = f'{ zeros(2) # c\n}'\nz = zeros(3)\n",
        "y = f'{ zeros(2) # c\n}'\nz = zeros([3])\n",
    ),
    "a statement on a line that goes on from the one above": (
        "torch",
        "import paddle\nz = 1; \\\n    paddle.disable_static(\n    # c\n    ); y = paddle.abs(x)\n",
        "z = 1; \\\n    y = torch.abs(x)\n",
    ),
    "an import that stays where a function imports the target": (
        "torch",
        "import paddle.nn as nn\nlayer = nn.ReLU()\ndef f(x):\n    x = nn.Unknown(nn.functional.relu_(x))\n"
        "    if x:\n        import numpy, torch\n    return x\n",
        "import paddle.nn as nn\nimport torch\nlayer = torch.nn.ReLU()\ndef f(x):\n    x = nn.Unknown(",
    ),
    "a fan that converts in a value that is computed twice": (
        "torch",
        "from paddle import nn\nclass Wide(nn.Linear):\n    def reset(self):\n"
        "        nn.initializer.KaimingUniform(self.weight.shape[0])(self.bias)\n",
        "/ self.weight.t().shape[0] ** 0.5",
    ),
    "an import that stays above decorators of which one goes": (
        "paddle",
        "import torch as th\ndef f(x):\n    @th.jit.script\n    def g(x: th.Unknown): return th.abs(x)\n    return g\n",
        "    import torch as th\n    def g(x: th.Unknown)",
    ),
    "a starred choice that becomes an element of a list": (
        "paddle",
        "import torch\nx = torch.ones(3, *a.shape if c else d, *a or b)\ny = torch.zeros(*(a or b)).permute(*a or b)\n",
        "[3, *(a.shape if c else d), *(a or b)])\ny = paddle.zeros([*(a or b)]).transpose([*(a or b)])\n",
    ),
    "a package that a function imports, below a class that uses that of the top": (
        "torch",
        "import paddle\ndef f(x):\n    class C:\n        y = paddle.vision.transforms.ContrastTransform(0)(x)\n"
        "    from paddle.vision import transforms\n    return transforms.RandomRotation(3, 'bilinear')\n",
        "(x)\n    from torchvision import transforms\n    return",
    ),
    "an operand that becomes a comparison": (
        "torch",
        "import paddle\ndef f(x, z):\n    x += z.stop_gradient\n    x *= paddle.ones([3]).place.is_gpu_place()\n",
        "    x = x + (not z.requires_grad)\n    x = x * (torch.ones([3]).device.type == 'cuda')\n",
    ),
    "a class that would be written above a declaration": (
        "torch",
        "import paddle\nglobal torch\nx = x[1].offset\ndef f(x):\n    return paddle.nn.Linear(3, 4, **kw)\n",
        "import torch\nglobal torch\nx = x[1].offset\ndef f(x):\n    return torch.nn.Linear(3, 4, **kw)\n",
    ),
    "a class that is written above the import whose name it would take": (
        "paddle",
        "import torch as t\ndef f(x):\n    return t.nn.Linear(3, 4, **kw)\nimport paddle as pd\n",
        "import paddle\n\n\nclass TorchLinear(paddle.nn.Linear):\n",
    ),
    "a variable that holds a module of the framework or the framework": (
        "torch",
        "import paddle\nimport paddle.nn.functional as F\nfor m in (F, paddle):\n    m.abs(x)\n",
        "for m in (F, paddle):\n    torch.abs(x)\n",
    ),
    "a guard of what stays and of what converts": (
        "paddle",
        "try:\n    import torch; import torch as F\nexcept ImportError:\n    F = None\n"
        "def f(x): return F.relu(x), torch.unknown(x)\n",
        "try:\n    import paddle\nexcept ImportError:\n    paddle = None\n"
        "def f(x): import torch; return paddle.nn.functional.relu(x), torch.unknown(x)\n",
    ),
    "a class that is written above a guarded import": (
        "torch",
        "from paddle import nn\nclass V(nn.Layer):\n    def __init__(self, n):\n"
        "        self.conv = nn.Conv3D(1, n, 2)\n"
        "        self.norm = nn.BatchNorm(n, momentum=0.8)\ntry:\n    import torch.nn\nexcept ImportError:\n    pass\n",
        "import torch\nfrom torch import nn\n\n\ndef paddle_activated(x, act):\n",
    ),
    "a default value that another use keeps": (
        "paddle",
        "from torch import nn\n\n\nclass C(nn.Sequential):\n"
        "    def __init__(self, n: int, act: type = nn.FractionalMaxPool3d) -> None:\n"
        "        super().__init__()\n        self.act = act(**n)\n",
        "    FractionalMaxPool3d = nn.FractionalMaxPool3d\nexcept ImportError:\n\n    class FractionalMaxPool3d:\n",
    ),
    "a guard that itself needs what stays": (
        "paddle",
        "try:\n    import torch\n    x = torch.unknown\nexcept:\n    x = None\ny = torch.zeros(3)\n",
        "y = torch.zeros(3)\n",
    ),
    "a hook's quotes inside a quoted annotation": (
        "paddle",
        "import torch\ndef f():\n    r: 'torch.cov(torch.tensor([[0]]))' = 1\n",
        "    r: 'paddle.linalg.cov(paddle.cast(paddle.to_tensor([[0]]), \"float32\"))' = 1\n",
    ),
    "an argument whose next line would be a statement": (
        "paddle",
        "import torch\ndef f():\n    q = torch.tensor_split((make())\n[0],2)\n",
        "    values = ((make())\n[0])\n    q = paddle.split(\n        values,\n",
    ),
    "the target's own guarded import": (
        "torch",
        "import paddle as t\ntry:\n    import torch\nexcept:\n    t.nn.Linear(2, 3)\n",
        "except:\n    torch.nn.Linear(2, 3)\n",
    ),
    "blanks around the dots of a module": (
        "paddle",
        "from torch.  nn import Conv2d as C\nfrom \\\n torch . \\\n nn import Linear\nC(2, 3, 4), Linear(2, 3)\n",
        "from paddle.nn import Conv2D as C\nfrom \\\n paddle.nn import Linear\n",
    ),
    "a framework by a variable of its name": (
        "torch",
        "import paddle as T\npaddle = T\ndef f(b): return b, paddle.to_tensor([1])\n",
        "import torch\npaddle = T\ndef f(b): return b, torch.tensor([1])\n",
    ),
    "a scheduler that is returned in brackets": (
        "paddle",
        "import torch\ndef f(o):\n    return(torch.optim.lr_scheduler.StepLR(o, 3))\n",
        "    scheduler = (paddle.optimizer.lr.StepDecay(o.get_lr(), 3))\n",
    ),
    "a name for both frameworks": (
        "paddle",
        "import paddle as torch\nimport torch\ny = torch.max(x)\n",
        "import paddle\ny = paddle.max(x)\n",
    ),
    "statements between carriage returns that change places": (
        "torch",
        "import paddle as pt\rclass torch: nn\rdef f(p):\r    s = pt.optimizer.lr.LinearWarmup(r, 3, a, b)\r"
        "    o = pt.optimizer.SGD(s, p)",
        "    s = pt.optimizer.lr.LinearWarmup(r, 3, a, b)\r    o = pt.optimizer.SGD(s, p)",
    ),
    "a name with its module beside a star import": (
        "torch",
        "from paddle import *\nx = paddle.zeros(width)\ny = ones(3)\n",
        "from torch import ones\nx = torch.zeros(width)\ny = ones([3])",
    ),
    "quotes inside a quoted annotation": (
        "paddle",
        "import torch\ndef f(n: torch.Tensor):\n    x: '(n.long())' = n\n",
        "x: '(n.astype(\"int64\"))' = n",
    ),
    "a line inside a quoted annotation is not broken": (
        "paddle",
        f"import torch as t\nx: 'requires_grad == {'a' * 60} == t.nn.functional.log_softmax(b).tril()' = 1\n",
        "paddle.nn.functional.log_softmax(b, axis=0 if b.ndim in (0, 1, 3) else 1).tril()'",
    ),
    "a string in a call in an annotation is no annotation": (
        "paddle",
        "from torch import *\ndef f(x: g('int16')): pass\ny = zeros(3)\n",
        "g('int16')",
    ),
    "builtins that a star import hides": (
        "paddle",
        "from torch import *\nimport torch\ny = torch.allclose(values, others)\n",
        "torch.allclose(values, others)",
    ),
    "a newer f-string over two lines": (
        "torch",
        "import paddle as t\nf'{()\n}'\ny = t.zeros([3])\n",
        "y = torch.zeros([3])",
    ),
    "a comment behind a dropped argument's neighbour": (
        "torch",
        "import paddle\ny = paddle.zeros([3],  # why\n  name=None)\n",
        "y = torch.zeros([3],  # why\n  )",
    ),
    "a call over lines that end with a carriage return": (
        "paddle",
        "import torch\rscaler = torch.amp.GradScaler(\r    'cuda',  # why\r    init_scale=2.0**10,\r)\r",
        "    init_loss_scaling=2.0**10,\r",
    ),
    "an assignment that may not stand in a comprehension": (
        "paddle",
        "import torch\nclass C:\n    y = [torch.dstack((w := x))]\n",
        "torch.dstack((w := x))",
    ),
    "a yield keeps its brackets": (
        "torch",
        "import paddle\ndef f():\n    y = paddle.sort((yield x))\n",
        "y = torch.sort((yield x))[0]",
    ),
    "arguments in brackets become a list": (
        "paddle",
        "import torch\ny = torch.ones(3).view((1), n)\n",
        ".reshape([(1), n])",
    ),
    "names in letters that Python reads as others": (
        "paddle",
        "import torch\nfrom 𝓽𝓸𝓻𝓬𝓱 import 𝓷𝓷\nx = torch.ones(2)\nx.𝓻𝓮𝓺𝓾𝓲𝓻𝓮𝓼_𝓰𝓻𝓪𝓭 = True\nn = [𝓷𝓷.ReLU6(), x.𝓷𝓾𝓶𝓮𝓵()]\n",
        "from paddle import 𝓷𝓷\nx = paddle.ones([2])\nx.stop_gradient = False\nn = [𝓷𝓷.ReLU6(), x.size]\n",
    ),
    "a module in brackets": (
        "paddle",
        "import torch.nn as nn\ny = ((nn).functional).relu(x)\n",
        "y = nn.functional.relu(x)",
    ),
    "statements that belong to uses which are left": (
        "torch",
        "import paddle as pt\ndef f(p):\n    o = pt.optimizer.SGD(0.1, p)\ndef g(p, torch):\n"
        "    o = pt.optimizer.SGD(1.0, p)\n    s = pt.optimizer.lr.StepDecay(1.0, 3)\n    o.set_lr_scheduler(s)\n",
        "    s = pt.optimizer.lr.StepDecay(1.0, 3)\n    o.set_lr_scheduler(s)\n",
    ),
    "an import of which the use is dropped": (
        "torch",
        "import paddle\nfrom paddle import __version__\ny = paddle.zeros([3], name=__version__)\n",
        "import torch\ny = torch.zeros([3])\n",
    ),
    "a module of which the use is dropped": (
        "paddle",
        "import torchvision\nfrom torchvision.transforms import Resize\n"
        "r = Resize((), torchvision.transforms.InterpolationMode.NEAREST)\n",
        "from paddle.vision.transforms import Resize\nr = Resize((), 'nearest')\n",
    ),
    "an import that goes before the first of several statements on a line": (
        "torch",
        "import paddle\nimport paddle.optimizer as optimizer\ndef f():\n    a(); optimizer.step(); optimizer.clear()\n"
        "y = paddle.flip(x, 1)\n",
        "    a(); import paddle.optimizer as optimizer; optimizer.step(); optimizer.clear()\n",
    ),
    "a name that a class reads before it binds it": (
        "torch",
        "import paddle as t\nclass C: t = t\ny = t.sin(x)\n",
        "import paddle as t\nimport torch\nclass C: t = t\ny = torch.sin(x)\n",
    ),
    "a module under another name, and its own name on another path": (
        "torch",
        "import paddle as t\ntry:\n    import torch as pd\nexcept ImportError:\n    import torch\ny = t.sin(x)\n",
        "y = pd.sin(x)\n",
    ),
    "a base class of which the constructor's call must stay": (
        "paddle",
        "for i in x: from torch import nn\nclass E(nn.GRU):\n    def __init__(self, width):\n"
        "        super().__init__(width, width)\n",
        "class E(nn.GRU):\n    def __init__(self, width):\n        super().__init__(width, width)\n",
    ),
    "a group of tensors that is one assignment": (
        "paddle",
        "from torch.utils.data import TensorDataset\nd = TensorDataset((n := call()))\n",
        "[(n := call())]",
    ),
    "a module that a function imports for all": (
        "paddle",
        "def load():\n    global torch, ready\n    import torch\n    ready = 1\ndef f(x):\n    return torch.max(x)\n",
        "    global paddle, ready\n    import paddle\n",
    ),
    "a module that a function imports for all beside one that stays": (
        "paddle",
        "def load():\n    global torch\n    import torch\ndef f(x):\n    return torch.max(x), torch.foo(x)\n",
        "    global torch, paddle\n    import paddle\n    import torch\n",
    ),
    "a module that a function imports for the one around it": (
        "paddle",
        "def f():\n    import torch\n    def g():\n        nonlocal torch\n        import torch\n    torch.zeros(3)\n",
        "        nonlocal paddle\n        import paddle\n    paddle.zeros([3])\n",
    ),
    "newer syntax in a function that is a decorator": (
        "paddle",
        "import torch\ndef g(f):\n    type X[T] = list[T]\n    return torch.max(f)\n@g\ndef h(x):\n"
        "    return torch.max(x)\n",
        "@g\ndef h(x):\n    return paddle.max(x)\n",
    ),
    "an adapter where the target's name is taken": (
        "torch",
        "import paddle\ndef f(sizes, torch):\n    return paddle.nn.Linear(*sizes)\n",
        "    return PaddleLinear(*sizes)\n",
    ),
    "a class body has no room for what a template evaluates once": (
        "torch",
        "import paddle\nclass C:\n    loss = paddle.nn.CrossEntropyLoss(ignore_index=-1)\n    loss(x, lab - 1)\n",
        "    loss(x, lab - 1)\n",
    ),
    "an import below its use that a star import may have bound before": (
        "paddle",
        "import torch\nfrom torch.utils.data.distributed import *\ndef main(d):\n    s = DistributedSampler(d)\n"
        "    return DataLoader(d, batch_size=torch.max(d), sampler=s)\nmain(())\n"
        "from torch.utils.data import DataLoader\n",
        "main(())\nfrom torch.utils.data import DataLoader\n",
    ),
    "a metric is a tensor for the operator that adds it": (
        "torch",
        "import paddle as t\nfor x in y:\n    with t.binomial(t.full([3], 4), u): pass\n    class C:\n"
        "        x += t.metric.accuracy(a, b)\n",
        "        x = x + (a.topk(1",
    ),
    "a module that is declared global in the module": (
        "paddle",
        "global torch\nimport torch\ny = torch.max(x)\n",
        "global paddle\nimport paddle\ny = paddle.max(x)\n",
    ),
    "a name that is a star's before its import": (
        "torch",
        "from paddle import *\ntry: t.to_tensor(3)\nfinally: import paddle as t\n",
        "try: t.to_tensor(3)\n",
    ),
    "a name that is declared global further down": (
        "torch",
        "import paddle as pt\ntry: y = pt.zeros([3])\nexcept ImportError: global torch\nz = 1\n",
        "try: y = pt.zeros([3])\n",
    ),
    "a choice of devices that is compared": (
        "paddle",
        "import torch\ny = torch.device('cuda' if x else 'cpu') == d\n",
        "y = ('gpu' if x else 'cpu') == d\n",
    ),
    "a choice of devices over two lines": (
        "paddle",
        "import torch\ny = torch.device('cuda' if x\n  else 'cpu')\n",
        "y = ('gpu' if x\n  else 'cpu')\n",
    ),
    "a global statement in a guarded block": (
        "paddle",
        "try: global x\nfinally: pass\nimport torch\n",
        "import paddle\n",
    ),
    "a class in a class of a function that needs the source": (
        "paddle",
        "import torch as t\ndef f():\n    class C:\n        a = t.foo(1)\n        class D: b = t.foo(2)\n"
        "    return t.max(x)\n",
        "def f():\n    import torch as t\n    class C:\n",
    ),
    "a comprehension in a class of a function that needs the source": (
        "paddle",
        "import torch as t\ndef f():\n    class C:\n        a = [t.foo(x) for x in t.foo(1)]\n    return t.max(x)\n",
        "def f():\n    import torch as t\n    class C:\n",
    ),
    "a target that is imported where the source fails": (
        "paddle",
        "import torch as t\ndef f():\n    try:\n        import torch\n        import paddle.nn\n"
        "    except ImportError: pass\n    return t.max(x)\n",
        "    return t.max(x)\n",
    ),
    "a module of Python's in a file without imports": (
        "torch",
        "x = paddle.distributed.ParallelEnv().rank\n",
        "import os\nx = int(os.environ.get('RANK', 0))\n",
    ),
    "a module of Python's above the imports": (
        "torch",
        "x = pt.distributed.ParallelEnv().rank\nimport paddle as pt\n",
        "import os\nx = int(os.environ.get('RANK', 0))\n",
    ),
    "a name without an import that becomes a dotted one": (
        "paddle",
        "x = ShardedGradScaler()\n",
        "import paddle\nx = paddle.distributed.fleet.distributed_scaler(",
    ),
    "builtins that the target's star import hides": (
        "paddle",
        "import torch\nif a:\n    from paddle import *\ny = torch.fmod(x.max(), v)\n",
        "y = torch.fmod(x.max(), v)\n",
    ),
    "a star import that Python refuses": (
        "paddle",
        "class C:\n    def f(strict: bool = False): from torch import *\nimport torch\ny = torch.max(x)\n",
        "    def f(strict: bool = False): from torch import *\nimport paddle\n",
    ),
    "a builtin above the star import that hides it": (
        "torch",
        "def f(decay: float = 9): pass\nfrom paddle import *\ny = zeros([3])\n",
        "def f(decay: float = 9): pass\n",
    ),
    "a limit in a class, which a hook does not see": (
        "torch",
        "import paddle\nclass C:\n    clip = paddle.nn.ClipGradByValue(1)\n"
        "    o = paddle.optimizer.SGD(0.1, m, grad_clip=clip)\n",
        "    o = paddle_clipped(torch.optim.SGD(lr=0.1, params=m), clip)\n",
    ),
    "a starred value of an attribute": (
        "paddle",
        "import torch\nnet = torch.nn.BatchNorm2d(4)\nnet.momentum = *a\n",
        "net.momentum = *a\n",
    ),
    "a loader of a sampler that is left": (
        "paddle",
        "import torch\ndef f(x):\n    s = torch.utils.data.DistributedSampler(0)  # paddletorch: ignore\n"
        "    return torch.utils.data.DataLoader(data, 2, sampler=s)\n",
        "    return torch.utils.data.DataLoader(data, 2, sampler=s)\n",
    ),
    "a loader of a sampler that is made elsewhere": (
        "paddle",
        "import torch\ndef f(s: torch.utils.data.DistributedSampler):\n"
        "    return torch.utils.data.DataLoader(data, 2, sampler=s)\n",
        "def f(s: torch.utils.data.DistributedSampler):\n    return torch.utils.data.DataLoader(data, 2, sampler=s)\n",
    ),
    "a function that imports the target for all": (
        "torch",
        "import paddle\ndef late():\n    global torch\n    import torch\ndef f():\n    return paddle.zeros([4])\n",
        "import torch\ndef late():\n    global torch\n    import torch\ndef f():\n    return torch.zeros([4])\n",
    ),
    "a function that sets the target's name to None": (
        "torch",
        "import paddle\ndef late():\n    global torch\n    torch = None\n    return paddle.zeros([4])\n",
        "    return paddle.zeros([4])\n",
    ),
    "an argument behind a comment that moves": (
        "torch",
        "import paddle\nclass Net(paddle.nn.Layer): pass\nmodel = Net()\nmodel.set_state_dict(\n"
        "  state, # why\n  flag)\n",
        "  state_dict={name: torch.as_tensor(value) for name, value in state.items()}, # why\n  strict=False,\n  )\n",
    ),
    "a comment in a statement that goes": (
        "paddle",
        "import torch.fx\ntorch.fx.wrap(  # why\n'')\nx = 1\ndef f():\n    torch.fx.wrap(  # why not\n'')\n",
        "# why\nx = 1\ndef f():\n    # why not\n    pass\n",
    ),
    "a star before an argument in brackets": (
        "torch",
        "import paddle\nd = paddle.io.TensorDataset((x))\n",
        "d = torch.utils.data.TensorDataset(*(x))\n",
    ),
    "a star before an argument with its name": (
        "torch",
        "import paddle\nd = paddle.io.TensorDataset(tensors=[x, paddle.zeros([3])])\n",
        "d = torch.utils.data.TensorDataset(*[x, torch.zeros([3])])\n",
    ),
    "a backslash on a line of its own": ("torch", "import paddle\n\\\n()", "import torch\n\\\n()"),
    "an unbound name that an operator binds": (
        "paddle",
        "import torch\nx += torch.fft.irfft()\nif x:\n    for x in y:\n        class C[T]([]): ()\n",
        "x.add_(torch.fft.irfft())\n",
    ),
    "an import in a class, which its functions do not see": (
        "paddle",
        "class C:\n    from torch import nn\n    def f(values: torch.Tensor, factor): values *= factor\n",
        "import paddle\n\n\nclass C:\n    from paddle import nn\n",
    ),
    "a function that imports the target was converted": (
        "paddle",
        "def f():\n    from torch import nn\n    self.head = nn.Linear(width, words)\n"
        "    self.head.weight = embed.weight\n",
        "    from paddle import nn\n    self.head = nn.Linear(width, words)\n",
    ),
    "a name of the source that is read above its import": (
        "paddle",
        "import torch\nnn_.cumprod(x,0)\nimport torch as nn_\n",
        "paddle.cumprod(x,0)\nimport paddle\n",
    ),
    "a builtin that an import of everything binds to something else": (
        "paddle",
        "from torch import *\nimport torch as t\nz = isinstance(2.5, (float, t.SymFloat))\n",
        "z = isinstance(2.5, (float32, t.SymFloat))\n",
    ),
    "a class that reads the module's import until it has its own": (
        "torch",
        "import paddle\ndef f(x): return paddle.is_integer(x)\nclass C:\n    for x in y:\n"
        "        paddle.unknown(x)\n        try:\n            import paddle\n"
        "        except ImportError:\n            pass\n",
        "import paddle\nimport torch\n",
    ),
    "a comment below lines that end with a carriage return": (
        "paddle",
        "import torch\rif x:\r    y = torch.equal(# why\r\na,\nb)\n",
        "    # why\r    y = bool(paddle.equal_all(a, b))\n",
    ),
}


@pytest.mark.parametrize(("target", "source", "expected"), CASES.values(), ids=CASES)
def test_found(target: Framework, source: str, expected: str) -> None:
    result = check(source.encode(), Options(target))
    assert expected in result.output.decode()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-32-be"])
def test_wide_characters_are_refused(encoding: str) -> None:
    data = "\ufeffimport torch\nx = torch.zeros(3)\n".encode(encoding)
    result = check(data, Options("paddle"))
    assert (result.status, result.diagnostics[0].code) == (Status.FAILED, "SRC002")


@pytest.mark.parametrize("cookie", ["undefined", "punycode"])
def test_codecs_that_raise_errors_of_their_own(cookie: str) -> None:
    result = check(f"# coding: {cookie}\nimport torch\nx = torch.zeros(3)\n".encode(), Options("paddle"))
    assert (result.status, result.diagnostics[0].code) == (Status.FAILED, "SRC002")
    assert cookie in result.diagnostics[0].message


@pytest.mark.parametrize("cookie", ["latin-1", "utf-7"])
def test_newer_syntax_under_a_cookie(cookie: str) -> None:
    text = f"# coding: {cookie}\nimport torch\ntype X = int\nname = 'é'\ny = torch.max(x)\n"
    result = check(text.encode(cookie), Options("paddle"))
    assert "paddle.max(x)" in result.output.decode(cookie)


def test_a_suppression_on_a_line_that_ends_with_a_carriage_return() -> None:
    source = b"import torch\ry = torch.max(x)  # paddletorch: ignore\rz = torch.min(x)\r"
    result = check(source, Options("paddle"))
    assert b"y = torch.max(x)  # paddletorch: ignore\rz = paddle.min(x)\r" in result.output


def test_a_file_that_cannot_be_decoded_names_its_codec() -> None:
    result = check(b"# coding: cp424\nimport torch\n", Options("paddle"))
    assert "cp424" in result.diagnostics[0].message


def test_the_shim_is_installed_where_a_file_takes_it() -> None:
    source = b"try:\n    from torch.amp import GradScaler\nexcept ImportError:\n    print(GradScaler)\n"
    result = check(source, Options("paddle", shim="always"))
    assert b"from paddletorch_shim" in result.output


def test_what_stands_for_newer_syntax_is_no_name_of_the_file() -> None:
    source = b"from torch import nn as _\ny = _.ReLU6()\nf'{x if () else (())\n}'"
    result = check(source, Options("paddle", unsafe=True))
    assert result.output == source.replace(b"torch", b"paddle")


def test_a_codec_of_which_a_character_has_no_bytes_of_its_own() -> None:
    text = "# coding: utf-7\nimport paddle\nx = paddle.hann_window(ф)\ny = paddle.zeros([3])\n"
    result = check(text.encode("utf-7"), Options("torch"))
    assert [d.code for d in result.diagnostics] == ["SRC015"]
    assert "y = torch.zeros([3])" in result.output.decode("utf-7")


def test_a_codec_whose_bytes_depend_on_what_an_edit_takes_away() -> None:
    text = "# coding: utf-7\nimport paddle as ф\nx = ф.hann_window(8, 𝓹𝓮𝓻𝓲𝓸𝓭𝓲𝓬=False)\ny = ф.zeros([3])\n"
    result = check(text.encode("utf-7"), Options("torch"))
    assert not result.diagnostics
    assert result.output.decode("utf-7").startswith("# coding: utf-7\nimport torch\nx = torch.hann_window(8, periodic=")


@pytest.mark.parametrize("codec", ["punycode", "iso2022_kr"])
def test_codecs_of_which_a_line_has_no_bytes_of_its_own(codec: str) -> None:
    result = check(f"# coding: {codec}\nimport torch as ф\nx = ф.zeros(3)\n".encode(codec), Options("paddle"))
    assert (result.status, result.diagnostics[0].code) == (Status.FAILED, "SRC002")


def test_a_guard_around_a_class_that_imports() -> None:
    source = (
        b"try:\n    class C:\n        import torch\n        s = torch.optim.lr_scheduler.StepLR(o, 1, 0.5)\n"
        b"        x = torch.linspace(-1, 1, 12)\nexcept Exception:\n    pass\n"
    )
    result = check(source, Options("paddle", select=("LRS",)))
    assert [d.code for d in result.diagnostics] == ["SRC020"]


def test_a_loader_that_the_shim_binds_beside_samplers() -> None:
    source = (
        b"for x in y:\n    from torch.utils.data import DataLoader, RandomSampler\n    kw = {}\n"
        b"    kw.update({'pin_memory': True})\n    for a in DataLoader(ds, **kw): pass\n"
        b"    torch.nn.utils.clip_grad_norm_([p], **cfg)\n"
    )
    assert b"torch_args(DataLoader)(ds, **kw)" in check(source, Options("paddle", shim="auto")).output


def test_a_codec_that_makes_carriage_returns() -> None:
    result = check(b"# -*- coding: unicode_escape -*-\\rx = '~\\\\'\\rimport torch\\r", Options("paddle"))
    assert (result.status, result.diagnostics[0].code) == (Status.FAILED, "SRC002")


def test_a_compiler_that_stays_by_an_import_in_its_function() -> None:
    source = (
        b"import paddle as p\ndef f(x):\n    p.unknown()\n    @p.jit.to_static\n    def g(x): return p.zeros([2])\n"
    )
    result = check(source, Options("torch", select=("TEN",)))
    assert b"    def g(x): return p.zeros([2])\n" in result.output


def test_a_method_that_was_converted_by_a_guess() -> None:
    assert check(b"(m).add_(m, p)\n", Options("paddle", unsafe=True)).output == b"(m).add_(m, p)\n"


def test_a_sum_of_sizes_takes_no_time() -> None:
    source = b"import paddle\ny = " + b" + ".join([b"paddle.rand([2, 3]).shape"] * 40) + b"\n"
    assert check(source, Options("torch", max_file_seconds=5.0)).status is Status.CONVERTED


def test_a_scheduler_whose_rate_is_of_a_name_that_nothing_binds() -> None:
    source = (
        b"import paddle\ndef f():\n    m = fill(paddle.nn.Linear(4, 3))\n"
        b"    s = paddle.optimizer.lr.StepDecay(kw['a'], 3, 0.5)\n"
        b"    o = paddle.optimizer.SGD(learning_rate=s, parameters=m.parameters())\n"
    )
    assert b"torch.optim.SGD(lr=kw['a']" in check(source, Options("torch")).output


def test_clips_of_one_name_of_which_one_is_made_in_a_class() -> None:
    block = (
        b"    m = fill(t.nn.Linear(4, 3))\n    clip = t.nn.ClipGradByNorm(clip_norm=0.5)\n"
        b"    o = t.optimizer.SGD(0.1, parameters=m.parameters(), grad_clip=clip)\n"
    )
    result = check(b"import paddle as t\ndef g():\n" + block + b"class C:\n" + block, Options("torch"))
    assert result.output.count(b"o = paddle_clipped(torch.optim.SGD(") == 1
    assert result.output.count(b"o.register_step_pre_hook(") == 1


def test_a_function_that_is_kept_from_the_compiler_by_a_decorator_that_stays() -> None:
    source = (
        b"import paddle as t\ndef f():\n    class C(t.nn.Layer):\n        @t.jit.not_to_static\n"
        b"        def forward(self, x):\n            return t.randperm(5)\n    import torch\n"
    )
    check(source, Options("torch"))


@pytest.mark.parametrize("syntax", ["", "type A = int\n"])
def test_a_field_of_a_result_that_is_assigned_to(syntax: str) -> None:
    source = (
        f"import torch\n{syntax}for torch.min(x, 0, True)[1] in net: pass\ntorch.max(x, 0)[0] = 3\n"
        "torch.max(x, 0).values = 3\nprint(torch.min(x, 0)[1])\n"
    ).encode()
    result = check(source, Options("paddle"))
    assert b"print(paddle.argmin(x, axis=0))" in result.output
    assert b"for (paddle.min(x, axis=0, keepdim=True), " in result.output


def test_a_statement_behind_others_on_its_line_gets_a_variable_on_that_line() -> None:
    source = b"import paddle\nif a: y = paddle.nn.functional.sequence_mask(x.sum(), maxlen=4); print(y)\n"
    result = check(source, Options("torch"))
    assert b"if a: lengths = x.sum(); y = (torch.arange(4, device=lengths.device)" in result.output


def test_a_call_that_becomes_an_attribute_may_stand_twice() -> None:
    source = b"import paddle\nif a: y = f(x, paddle.nn.functional.sequence_mask(x.is_sparse(), maxlen=4))\n"
    assert b"x.is_sparse.unsqueeze(-1)" in check(source, Options("torch")).output


def test_a_comprehension_in_a_class_does_not_see_the_imports_of_the_class() -> None:
    source = (
        b"from torch.nn import *\nimport torch\nclass C:\n"
        b"    def f(x, z: torch._foreach_tanh([x]) = None): pass\n    import torch, paddle\n"
    )
    result = check(source, Options("paddle"))
    assert b"torch._foreach_tanh([x])" in result.output and "API222" in [d.code for d in result.diagnostics]


def test_torchvision_that_is_imported_in_a_loop_and_used_behind_it() -> None:
    source = (
        b"for i in range(3):\n    from torch.utils.data import DataLoader\n    from torchvision import transforms\n"
        b"    augment = transforms.Compose([])\nevaluate = transforms.Compose([])\nx = DataLoader(data, batch_size=4)\n"
    )
    assert b"torchvision" not in check(source, Options("paddle")).output


def test_a_part_that_is_written_from_an_argument_of_several_lines_that_end_in_carriage_returns() -> None:
    source = (
        b"import torch\ndef f(x: torch.Tensor, w: torch.Tensor):\n    y = x * 1\n    y[:1, 2:].copy_(\n"
        b"        w[:1, None]\n        + 0  # a sum\n    )\n    return y\n"
    )
    result = check(source.replace(b"\n", b"\r"), Options("paddle"))
    assert result.output.replace(b"\r", b"\n") == check(source, Options("paddle")).output


def test_a_weight_of_one_of_two_layers_stays_open_when_the_layers_are_converted() -> None:
    source = (
        b"from torch import nn\ndef init(m):\n    if isinstance(m, kind):\n"
        b'        return nn.init._calculate_correct_fan(m.weight, "fan_out")\n'
        b"print(init(nn.Linear(3, 5)), init(nn.Conv2d(3, 5, 2)))\n"
    )
    assert "NNL209" in [d.code for d in check(source, Options("paddle")).diagnostics]


def test_groups_of_an_optimizer_stay_where_a_star_may_bind_the_name_of_the_written_function() -> None:
    source = b"import torch\nfrom helpers import *\ndef f(optimizer):\n  for g in optimizer.param_groups: print(g)\n"
    result = check(source, Options("paddle"))
    assert b"torch_rates" not in result.output
    assert [(d.line, d.code) for d in result.diagnostics if d.fate] == [(4, "TRN201")]


def test_a_keyword_that_only_a_bracket_keeps_apart_from_what_is_converted() -> None:
    source = (
        b"from paddle.io import DataLoader\ndef collate(batch):return(),np()\n"
        b"for y in DataLoader((),batch_size=2,collate_fn=collate): pass\n"
    )
    assert b"return torch.utils.data.default_convert(" in check(source, Options("torch")).output


@pytest.mark.parametrize(
    "source",
    [
        b"class Wrapped:from torch import nn\nprint(torch.tensor([]), torch.chunk(x,dim))\n",
        b'"""Doc."""\n\n@decorated\ndef f(x, d):\n    import torch\n    return torch.chunk(x, d)\n',
        b"def f(x, d):\n    import torch\n    return torch.chunk(x, d)\nimport torch\n",
    ],
)
def test_a_written_function_in_a_file_that_imports_the_framework_further_down(source: bytes) -> None:
    output = check(source, Options("paddle")).output
    assert output.index(b"import paddle\n\n\ndef torch_chunk(") < output.index(b"torch_chunk(x")


def test_a_walk_over_parameters_in_brackets() -> None:
    source = b"import torch\nsum(p.numel()for p in(model.parameters()))\n"
    assert b"in(model.named_parameters()) if name" in check(source, Options("paddle")).output


@pytest.mark.parametrize(
    "given", ['(y := "torch.cuda.amp.GradScaler")', '"torch.Tensor" if typed else "torch.nn.Module"']
)
def test_strings_inside_of_annotations(given: str) -> None:
    output = check(
        f"import torch\ndef f():\n    scaler: {given} = 3\n    return scaler\n".encode(), Options("paddle")
    ).output
    assert b"torch." not in output.replace(b"paddle", b"")


def test_a_star_behind_an_augmented_assignment_is_no_python() -> None:
    check(b"import paddle\nw = paddle.ones([2])\nw+=*a\nprint(w)\n", Options("torch"))


def test_a_weight_of_a_layer_of_any_class_stays_open_when_the_annotation_is_converted() -> None:
    source = (
        b"import torch.nn as nn\nimport torch.nn.init as init\n"
        b"def _init(module:nn.Module):fan_in=init._calculate_fan_in_and_fan_out(module.weight)\n"
    )
    assert "NNL209" in [d.code for d in check(source, Options("paddle")).diagnostics]


def test_an_import_that_nothing_reads_keeps_no_other_at_the_top() -> None:
    source = b"import torch.rpc\nimport torch.rpc as nn\ndef shapes():((nn))\n"
    assert b"def shapes():import torch.rpc as nn; ((nn))" in check(source, Options("paddle")).output


def test_a_shape_that_is_assigned_to() -> None:
    source = (
        b'import paddle\n(batch["x"].shape)=channels\ndef shape_of():return batch["x"].shape\nprint(shape_of({})+[])\n'
    )
    assert b"return list(batch" in check(source, Options("torch")).output


def test_a_name_of_a_star_import_is_not_bound_anew_while_a_use_of_it_is_left() -> None:
    source = b"import paddle\nfrom paddle.amp import*\ndef f():\n    with autocast():a=()\n    with autocast:i=()\n"
    result = check(source, Options("torch"))
    assert b"torch.amp" not in result.output
    assert {"API210", "API211"} <= {d.code for d in result.diagnostics}


def test_the_docstring_of_a_class_that_is_written_above_a_statement_repeats_no_code() -> None:
    source = b"import torch\nmodel = torch.nn.Linear(4, 1).double()\nnet = torch.nn.Linear(*sizes)\n"
    assert b"model = paddle.nn.Linear(4, 1).to(dtype='float64')" in check(source, Options("paddle")).output


def test_a_dtype_that_becomes_a_text_needs_no_import() -> None:
    source = b"import torch\nfrom torch import autocast\nwith autocast('cuda', torch.float16):\n    pass\n"
    assert check(source, Options("paddle")).output.startswith(b"from paddle.amp import")


def test_a_guard_that_stays_is_left_alone_whatever_ends_the_lines() -> None:
    source = b"try:import torch\rexcept:None\rsizes\rsizes=torch.ShortTensor(values)\rodd=torch"
    assert check(source, Options("paddle")).output == source


def test_a_file_that_only_gets_comments_is_not_taken_for_changed() -> None:
    source = b"try:import torch\nexcept:torch\nsizes=torch.ShortTensor"
    assert check(source, Options("paddle", annotate=True)).output.endswith(source)


def test_a_guard_in_a_function_that_stays_leaves_the_module_below_one_on_top() -> None:
    source = (
        b"try:\n    import torch\nexcept ImportError:\n    torch = None\n"
        b"def local():\n    try:\n        import torch\n    except ImportError:\n        torch.package()\n"
        b"    return torch.tensor\n"
    )
    assert b"return paddle.to_tensor" in check(source, Options("paddle")).output


def test_an_import_that_nothing_reads_keeps_no_other_on_top() -> None:
    source = b"import paddle.nn as other\nimport paddle\ndef held():\n    own = paddle\n    return own\n"
    assert b"    import paddle\n" in check(source, Options("torch")).output


def test_an_api_that_the_program_replaces_holds_no_scheduler() -> None:
    source = b"import torch\ntorch.optim.SGD = torch.optim.lr_scheduler.StepLR(optimizer, 30)\n"
    assert b"set_lr_scheduler(torch" not in check(source, Options("paddle")).output


def test_the_name_of_an_api_in_a_string_that_an_edit_copies_or_moves_is_reported() -> None:
    source = b"import torch\ny = torch.max(f('torch.nn.Linear'), 1)\nx = torch.split(g('torch.nn.Conv2d'), 2)\n"
    assert [(d.line, d.code) for d in check(source, Options("paddle")).diagnostics] == [(2, "API206"), (3, "API206")]


def test_one_of_several_results_is_no_part_of_a_tensor() -> None:
    source = b"import torch\nx = torch.zeros(2, 2)\nx.max(0)[1].add_(1)\ntorch.sort(x)[1].mul_(2)\n"
    assert b"+=" not in check(source, Options("paddle")).output


def test_a_dtype_that_was_looked_up_in_the_target_is_not_looked_up_again() -> None:
    source = (
        b"import paddle\nclass A(paddle.nn.Block):\n    def __init__(self, dtype):\n"
        b"        super().__init__()\n        self.to(device=None, dtype=dtype)\n"
    )
    assert check(source, Options("torch")).output.count(b"getattr(torch") == 1


def test_a_base_class_whose_name_is_also_imported_from_the_target_is_not_guarded() -> None:
    source = (
        b"import torch as paddle\nimport paddle\nclass T(paddle.optimizer.Optimizer):\n    pass\n"
        b"x = paddle.concat([1])\n"
    )
    assert b"try:" not in check(source, Options("torch")).output


def test_a_call_of_a_parameter_that_may_be_a_written_class_is_wrapped_once() -> None:
    source = (
        b"import torch\nfrom torch import nn\nclass Block(nn.Module):\n"
        b"    def __init__(self, dim, norm_layer=nn.RMSNorm):\n        super().__init__()\n"
        b"        self.other = norm_layer(dim, eps=1e-5)\nb = Block((nn))\n"
    )
    assert check(source, Options("paddle", shim="auto")).output.count(b"torch_args") == 1


def test_a_variable_with_the_name_of_the_target_stays_the_function_s_own() -> None:
    source = b"import torch\ndef f():\n    global torch\n    for paddle in (1, 2): pass\ntorch.zeros(1)\n"
    output = check(source, Options("paddle")).output
    assert b"global torch" in output and b"paddle.zeros" in output


def test_a_global_that_nothing_binds_does_not_bind_a_framework() -> None:
    check(b"from torch import nn\ntorch.max(x, 1)\ndef f():\n    global torch\n", Options("paddle"))


def test_a_class_that_deletes_a_name_of_the_module_deletes_nothing() -> None:
    source = b"import paddle\nclass C:\n    for i in y: del paddle\npaddle.to_tensor([1])\ndef f(): global paddle\n"
    check(source, Options("torch"))


def test_a_star_import_whose_names_are_written_in_full_brings_no_name() -> None:
    star = b"from torch.distributed.fsdp.sharded_grad_scaler import *\n"
    assert b"from" not in check(star * 2 + b"scaler = ShardedGradScaler()\n", Options("paddle")).output


def test_a_global_statement_below_a_use_keeps_its_name() -> None:
    source = b"import paddle\nimport paddle as pt\ndef f():\n    pt.float16\n    global paddle\n"
    assert b"global paddle" in check(source, Options("torch")).output


def test_star_imports_of_several_modules_go_when_all_that_they_bring_is_converted() -> None:
    source = b"from paddle.optimizer import *\nfrom paddle.io import *\nSGD(0.1, parameters=p)\nTensorDataset([x])\n"
    assert b"paddle" not in check(source, Options("torch")).output


def test_an_import_that_stands_twice_and_that_nothing_reads() -> None:
    assert b"import torch" not in check(b"import torch\n" * 2 + b"t.chunk(x)\n", Options("paddle")).output


def test_an_import_that_stands_again_in_a_guard_and_that_nothing_reads() -> None:
    result = check(b"import torch\ntry:import torch\nexcept :pass\nt.chunk(x)\n", Options("paddle"))
    assert result.output.startswith(b"import paddle\ntry:import torch\n")
    assert [d.code for d in result.diagnostics] == ["API243"]


@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_a_guard_of_nothing_but_a_repeated_import_goes_with_it(source: str, target: Framework) -> None:
    program = "import torch\ntry:\n    import torch.amp\nexcept ImportError:\n    pass\nb = torch.nn.ReLU()\n"
    output = check(program.replace("torch", source).encode(), Options(target)).output.decode()
    assert output == f"import {target}\nb = {target}.nn.ReLU()\n"


@pytest.mark.parametrize("sets", ["", "    ok = True\n"])
@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_an_import_whose_failure_is_noted_is_left_with_a_finding(source: str, target: Framework, sets: str) -> None:
    guard = f"try:\n    import torch.amp\n{sets}except ImportError:\n    ok = False\n"
    program = f"import torch\n{guard}b = torch.nn.ReLU()\n".replace("torch", source)
    result = check(program.encode(), Options(target))
    assert guard.replace("torch", source) in result.output.decode()
    assert [(d.line, d.code) for d in result.diagnostics] == [(3, "API243")]


def test_an_initializer_that_is_called_with_a_starred_argument_is_left() -> None:
    result = check(b"import paddle as t\nt.nn.initializer.Assign(v)(*a)\n", Options("torch"))
    assert [d.code for d in result.diagnostics] == ["API203"]


def test_a_module_of_python_is_imported_where_it_is_bound_on_every_path() -> None:
    source = b"for x in y:\n    fleet.worker_num()\n    import paddle.distributed.fleet as fleet\n"
    assert check(source, Options("torch")).output.startswith(b"import os\n")


def test_the_rate_of_another_function_s_optimizer_is_not_the_scheduler_of_this_one() -> None:
    source = (
        b"import paddle\ndef build():\n    if optimizer._learning_rate.step() == 'sgd':\n        optimizer = None\n"
        b"def inline(weights):\n"
        b"    optimizer = paddle.optimizer.SGD(paddle.optimizer.lr.StepDecay(0.1, step_size=30), parameters=weights)\n"
        b"    optimizer._learning_rate.step()\n"
    )
    output = check(source, Options("torch")).output
    assert output.count(b"scheduler.step()") == 1 and b"if optimizer._learning_rate.step()" in output


def test_an_unbound_name_beside_it_does_not_excuse_the_name_of_a_framework() -> None:
    source = b'import paddle\nif optimizer._learning_rate == "":optimizer=paddle.optimizer.SGD(paddle, parameters)\n'
    assert {d.code for d in check(source, Options("torch")).diagnostics} == {"SRC013"}


def test_the_head_of_a_match_statement_is_left_without_its_cases() -> None:
    guard = b"try:\n    import paddle\nexcept ImportError:\n    paddle = None\n"
    source = guard + b"match opt.set_lr(0.1):\n    case 1: paddle.amp.GradScaler()\nwith x(paddle.Own()) as a: pass\n"
    check(source, Options("torch"))


def test_a_name_that_is_read_below_a_global_statement_is_not_imported_for_nothing() -> None:
    source = b"import paddle\ntry: import paddle.amp\nexcept: pass\nb = paddle.nn.Linear(2, 3)\n"
    check(source + b"def g():\n    global paddle\n    return paddle.nn.ClipGradByNorm(1.0)\n", Options("torch"))


def test_a_name_of_a_class_body_is_not_read_in_a_lambda() -> None:
    source = (
        b"import torch\nx = torch.ones(9, 9)\nclass C:\n    for x in y:\n"
        b"        (x * 2).__iadd__(x.size(1))\n"
        b"        (x * 2).__iadd__(x.shape[1])\n"
    )
    result = check(source, Options("paddle"))
    assert b"lambda" not in result.output
    assert [(d.line, d.code) for d in result.diagnostics if d.code == "API222"] == [(5, "API222"), (6, "API222")]


def test_an_unbound_name_beside_it_does_not_excuse_a_package_of_the_target() -> None:
    source = b"import paddle as T\npaddle = T\nif x: import paddle, torch\ny = paddle.vision.ops.RoIAlign(counts)\n"
    result = check(source, Options("torch"))
    assert "SRC013" in {d.code for d in result.diagnostics} and b"paddle.vision.ops.RoIAlign" in result.output


def test_a_name_that_the_default_of_a_lambda_binds_is_bound_around_the_lambda() -> None:
    source = (
        b"import paddle\ns = paddle.optimizer.lr.LinearWarmup(5, (y := 3), start_lr=0, end_lr=5)\n"
        b"o = paddle.optimizer.SGD(learning_rate=s, parameters=m())\nf(y)\n"
    )
    assert b"steps=(y := 3)" in check(source, Options("torch")).output


def test_a_use_that_is_left_in_a_text_is_left_again_beside_its_converted_argument() -> None:
    source = b"import torch\nf'{f\"{torch.cumulative_trapezoid(torch.tensor([8]))}\"}'\n"
    assert b"torch.cumulative_trapezoid(paddle.to_tensor([8]))" in check(source, Options("paddle")).output


def test_a_call_that_becomes_several_has_no_name_to_be_wrapped() -> None:
    source = b"import torch\ndef f(k):\n    return torch.aminmax(*k)\n"
    assert "API203" in {d.code for d in check(source, Options("paddle", shim="auto")).diagnostics}


@pytest.mark.parametrize("optimizer", ["get()", "optimizers(1)[0]", "trainer.parts().first"])
def test_a_private_member_of_paddles_optimizers_is_reported_on_whatever_it_is_read(optimizer: str) -> None:
    source = f"import paddle\nfrom parts import get\n\ndef f(x):\n    {optimizer}._learning_rate.step()\n"
    assert [(d.line, d.code) for d in check(source.encode(), Options("torch")).diagnostics] == [(5, "TRN201")]


def test_the_annotation_of_a_variable_of_a_function_that_is_called_is_not_evaluated() -> None:
    check(b"import torch\ndef traced():\n    held: torch(())\ntraced()\n", Options("paddle"))


def test_an_unknown_decorator_of_a_compiler_keeps_its_function() -> None:
    result = check(b"import torch\n@torch.jit.overhead\ndef f(x): return torch.squeeze(x)\n", Options("paddle"))
    assert "SRC014" in {d.code for d in result.diagnostics} and b"return torch.squeeze" in result.output


def test_a_name_that_a_class_imports_of_the_target_is_the_source_s_in_the_module() -> None:
    source = b"class C: import torch.nn as nn\ntry: import torch as nn\nexcept: ()\ndef build(): nn\n"
    assert b"try: import torch as nn" in check(source, Options("paddle")).output


def test_a_member_without_counterpart_that_a_class_is_asked_for_is_reported() -> None:
    source = b"from torch.amp import GradScaler\nscaler = GradScaler\nfor x in loader:\n    scaler.scale()\n"
    assert 4 in {d.line for d in check(source, Options("paddle")).diagnostics}


def test_a_rate_that_is_set_is_not_read_where_statements_are_not_selected() -> None:
    source = b'import torch\noptimizer.param_groups[0]["lr"] = x\n'
    assert b'["lr"] = x' in check(source, Options("paddle", select=("AMP213",))).output


@pytest.mark.parametrize("test", ["", "    if torch is None: return x\n"])
@pytest.mark.parametrize("again", ["    import torch\n", "    if torch is None:\n        import torch\n"])
@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_a_guarded_name_that_a_function_imports_again_is_the_target_s(
    source: str, target: Framework, again: str, test: str
) -> None:
    guard = "try:\n    import torch\nexcept ImportError:\n    torch = None\n"
    program = f"{guard}def load():\n    global torch\n{again}def f(x):\n{test}    return torch.abs(x)\n"
    result = check(program.replace("torch", source).encode(), Options(target))
    assert result.output.decode() == program.replace("torch", target) and not result.diagnostics


def test_a_guarded_name_that_a_function_imports_again_and_keeps_is_left() -> None:
    source = (
        b"try:\n    import torch\nexcept ImportError:\n    torch = None\ndef load():\n    global torch\n"
        b"    import torch\n    return torch.no_such_thing()\ndef f(x):\n    return torch.abs(x)\n"
    )
    assert check(source, Options("paddle")).output == source


def test_a_use_that_an_answered_question_takes_away_keeps_no_import() -> None:
    source = (
        b"import torch.nn.functional as F\ndef f(x):\n    if x:\n        import paddle\n"
        b'    return F.no() if hasattr(F, "no") else F.relu(x)\n'
    )
    result = check(source, Options("paddle"))
    assert b"import paddle.nn.functional as F" in result.output and b"return F.relu(x)" in result.output


def test_a_function_stands_below_an_earlier_import_where_the_last_one_shares_its_line() -> None:
    source = (
        b"import torch as t\ntry:\n    import os.path as p; print(t.result_type(mask, 2))\nfinally: pass\n"
        b"import os.path as p; print(t.result_type(mask, 2))\n"
    )
    assert check(source, Options("paddle")).output.count(b"print(torch_result_type(mask, 2))") == 2


def test_a_name_that_a_quoted_annotation_would_bind_was_unbound_before() -> None:
    source = (
        b"def f():\n    t._foreach_clamp_max([], [])\n    x = f'{ ()#\n}'\ndef g(): y\nx: '(y := t.Tensor)' = 1\n"
        b"import torch as t\n"
    )
    output = check(source, Options("paddle")).output
    assert b"x: '(y := paddle.Tensor)' = 1" in output


@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_a_guarded_import_whose_uses_are_written_in_full_becomes_the_target_s(
    source: Framework, target: Framework
) -> None:
    program = (
        "import torch\ntry:\n    import torch.nn.functional as F\nexcept ImportError:\n    class F: pass\n"
        "def f(x): return F.relu(x)\n"
    )
    output = check(program.replace("torch", source).encode(), Options(target, unsafe=True)).output.decode()
    assert f"    import {target}.nn.functional as F\nexcept" in output and f"return {target}.nn" in output


def test_a_guarded_import_that_goes_beside_the_target_s_is_no_question() -> None:
    source = (
        b"import torch\ntry:\n    import torch.nn.functional as F\n    from torch import as_tensor\n"
        b"except ImportError:\n    class F: pass\ndef f(x): return F.relu(x), as_tensor([x])\n"
    )
    result = check(source, Options("paddle", unsafe=True))
    assert b"import as_tensor" not in result.output and not result.diagnostics


@pytest.mark.parametrize("name", ["as_tensor", "as_tensor as tensor_of"])
def test_a_name_that_an_import_asks_for_is_left_with_a_finding(name: str) -> None:
    local = name.rpartition(" ")[2]
    source = (
        f"import torch\ntry:\n    from torch import {name}\n    ok = True\nexcept ImportError:\n    ok = False\n"
        f"def f(x): return {local}([x]), torch.zeros(2)\n"
    )
    result = check(source.encode(), Options("paddle"))
    assert [d.code for d in result.diagnostics] == ["API243"]


def test_a_function_stands_below_an_earlier_import_where_all_that_call_it_share_the_line_of_the_last() -> None:
    output = check(b"import paddle\nimport os; paddle.geometric.send_u_recv(x, b, '')\n", Options("torch")).output
    assert output.index(b"def paddle_send_u_recv") < output.index(b"import os; paddle_send_u_recv(")


@pytest.mark.parametrize("initializer", ["f\n(3)", "paddle.nn.initializer.\nXavierUniform(fan_in if c else d)"])
def test_an_initializer_over_lines_keeps_together_where_it_leaves_the_call(initializer: str) -> None:
    source = f"import paddle\nlayer = paddle.nn.Linear(2, 3, paddle.ParamAttr(initializer={initializer}))\n"
    assert f"\n({initializer})(layer.weight)\n" in check(source.encode(), Options("torch")).output.decode()


def test_a_layer_of_an_initializer_that_is_left_is_left() -> None:
    layer = b"layer = paddle.nn.Linear(2, 3, weight_attr=paddle.nn.initializer.\nXavierUniform(fan_in if c else d))\n"
    result = check(b"import paddle\n" + layer + b"x = paddle.abs(x)\n", Options("torch"))
    assert layer in result.output
    assert {d.code for d in result.diagnostics} == {"API221", "NNL203"}


def test_a_base_class_is_left_with_an_initializer_in_its_constructor_s_arguments() -> None:
    source = (
        b"from paddle import nn\nclass L(nn.Linear):\n    def __init__(self):\n"
        b"        super().__init__(1, 2, weight_attr=nn.\ninitializer.XavierUniform(fan_in=f if c else d))\n"
        b"    def forward(self, x): return x.transpose([0, 1])\n"
    )
    result = check(source, Options("torch"))
    assert b"super().__init__(1, 2, weight_attr=nn." in result.output
    assert {"API221", "NNL203"} <= {d.code for d in result.diagnostics}


def test_a_class_stands_below_an_earlier_import_of_the_source_where_the_last_import_shares_its_line() -> None:
    uses = b"import os; th.nn.HSigmoidLoss(4, classes)\n"
    output = check(b"import paddle as th\n" + uses, Options("torch")).output
    assert b"\nclass PaddleHSigmoidLoss(torch.nn.Module):" in output and b"import os; PaddleHSigmoidLoss(" in output
    check(b"import paddle as th\nth.nn.HSigmoidLoss(4, 5)\n" + uses, Options("torch"))
    check(b"import os\nimport paddle as th; th.nn.HSigmoidLoss(4, 5)\n", Options("torch"))


def test_what_a_codec_lacks_of_a_written_function_leaves_its_use_and_not_the_statement_below_the_function() -> None:
    source = b"# coding: cp864\nimport torch\ny = 1\nx = torch.linalg.norm(x, ord='')\nz = torch.max(x)\n"
    result = check(source, Options("paddle"))
    assert [(d.line, d.code) for d in result.diagnostics if d.code.startswith("SRC")] == [(4, "SRC015")]
    assert b"z = paddle.max(x)" in result.output


def test_tensors_of_a_class_with_a_base_in_no_table_are_left_in_a_second_run() -> None:
    source = (
        b"import paddle\nfrom paddle import nn\nclass Mixer(nn.Attention): pass\ndef filled(model):\n"
        b"    for parameter in model.parameters(): parameter.copy_(values)\n"
        b"mixer = filled(Mixer())\ny = paddle.abs(x)\n"
    )
    result = check(source, Options("torch"))
    assert "API225" in {d.code for d in result.diagnostics} and b"parameter.data.copy_(values)" in result.output


@pytest.mark.parametrize("use", ["class A(nn.NoSuch): pass", "kinds = {'a': nn.NoSuch}"])
@pytest.mark.parametrize(("source", "target"), [("torch", "paddle"), ("paddle", "torch")])
def test_a_name_in_no_table_is_reported_where_its_import_is_guarded(source: str, target: Framework, use: str) -> None:
    program = f"import {source}\nfrom {source} import nn\n{use}\ny = {source}.abs(x)\n"
    result = check(program.encode(), Options(target))
    assert b"\nexcept ImportError:" in result.output
    assert [(d.line, d.code) for d in result.diagnostics] == [(3, "API225")]


@pytest.mark.parametrize("head", ["", "import torch as paddle\n"])
def test_a_guarded_base_class_with_a_fallback_keeps_its_name_with_unsafe_too(head: str) -> None:
    source = (
        "try:\n    from torch.nn.modules.batchnorm import _BatchNorm\nexcept ImportError:\n    _BatchNorm = object\n"
        "class Norm(_BatchNorm):\n    pass\n"
    )
    output = check(f"{head}{source}".encode(), Options("paddle", unsafe=True, annotate=True)).output.decode()
    assert output.endswith("_BatchNormBase as _BatchNorm" + source.partition("_BatchNorm")[2])


@pytest.mark.parametrize("given", ["('betas'): (0.8, 0.9)", "'betas': ((0.8, 0.9))"])
def test_betas_of_a_group_in_brackets_are_left(given: str) -> None:
    source = f"import torch\no = torch.optim.Adam([{{'params': head, {given}}}])\n"
    assert {d.code for d in check(source.encode(), Options("paddle")).diagnostics} == {"OPT202"}


@pytest.mark.parametrize("given", ["('beta1'): 0.8", "'beta1': (0.8), 'beta2': 0.9"])
def test_a_beta_of_a_group_in_brackets_is_left(given: str) -> None:
    source = f"import paddle\no = paddle.optimizer.Adam(0.1, parameters=[{{'params': head, {given}}}])\n"
    assert {d.code for d in check(source.encode(), Options("torch")).diagnostics} == {"OPT202"}


def test_a_variable_of_a_written_function_is_no_call_of_a_function_of_its_name() -> None:
    source = (
        b"while True:\n  def f(): (i, y)\ntry: ()\nexcept ValueError as e: torch.rnn_tanh_cell(y, m, (), m[:])\n"
        b"for y in (): x\ntype X = ()\n"
    )
    assert b"torch_recurrent_cell('tanh', y" in check(source, Options("paddle")).output


def test_the_constructor_of_a_base_class_without_counterpart_is_reported() -> None:
    source = b"class MeanLoss(paddle.metric.Metric):\n    def __init__():super().__init__()\n"
    assert {d.code for d in check(source, Options("torch")).diagnostics} == {"TRN201"}


def test_a_file_of_the_target_alone_has_no_sizes_of_the_source() -> None:
    source = b"import torch as th\nx = th.adaptive_max_pool1d((), 4)\nisinstance(x.shape, tuple)\n"
    assert b"isinstance(x.shape, tuple)" in check(source, Options("paddle")).output


def test_an_argument_that_becomes_arithmetic_may_be_written_twice_where_no_line_is_free() -> None:
    head = b"import torch as t\ny = t.hypot(x, x)\n"
    source = head + b"f = lambda: t.distributions.constraints.square.check(t.addcdiv(x, y, p))\n"
    assert b"(x + y / p).shape[:-2]" in check(source, Options("paddle")).output


def test_a_class_of_a_module_that_stays_is_not_wrapped_for_the_shim() -> None:
    result = check(b"import torch as T\ntorch = T\ntorch.nn.Conv2d(*a)\n", Options("paddle", shim="always"))
    assert b"torch_args" not in result.output
    assert {d.code for d in result.diagnostics} == {"API242", "API203"}


@pytest.mark.parametrize("index", ["None, ([0])", "(None), [0]", "((None), ((([0]))))", "(  # (\n None), ([0])"])
def test_an_early_new_axis_among_parts_in_brackets(index: str) -> None:
    source = f"import torch\ndef picked(x: torch.Tensor):\n    return x[{index}]\n"
    assert b".unsqueeze(0)" in check(source.encode(), Options("paddle")).output


@pytest.mark.parametrize("test", ["(hasattr(torch, 'no')) and ({})", "{} and ((hasattr(torch, 'no')) and ({}))"])
def test_a_probe_in_brackets_takes_its_operands_along(test: str) -> None:
    source = f"import torch\nz = {test.format('x.sum()', 'y.max()')}\ny = torch.hypot(x, x)\n"
    output = check(source.encode(), Options("paddle")).output
    assert b"False" in output and b"hasattr" not in output


@pytest.mark.parametrize("given", ["(w), (w.block)", "((w)), w.block", "w, ((w.block))"])
def test_a_block_in_brackets_is_left_out(given: str) -> None:
    source = f"import paddle\nw = paddle.ones([2])\nfill = paddle.nn.initializer.Constant(1.0)\nfill({given})\n"
    assert b"block" not in check(source.encode(), Options("torch")).output


def test_a_codec_for_names_of_hosts_is_refused() -> None:
    assert {d.code for d in check(b"#coding:idna torch", Options("paddle")).diagnostics} == {"SRC002"}


def test_no_import_stays_for_a_name_that_a_string_replaces() -> None:
    source = b"import torch\nx=i.prod(dtype=torch.float32)\n"
    assert check(source, Options("paddle", unsafe=True)).output == b"x=i.prod(dtype='float32')\n"


def test_what_only_looks_like_the_names_of_dtypes_stays_where_the_file_has_its_own_str() -> None:
    body = b"with paddle.amp.auto_cast(dtype=str(dtype).rpartition('.')[-1], enable=dtype): ()\n"
    assert b"str(dtype)" in check(b"import paddle\ndef str(x): return x\n" + body, Options("torch")).output
    check(b"import paddle\nfrom paddle.amp import auto_cast as str\n" + body, Options("torch"))


def test_the_backward_of_an_autograd_function_hides_no_call_of_a_loss() -> None:
    source = (
        b"import torch\nclass Twice(torch.autograd.Function):\n"
        b"    @staticmethod\n    def backward(ctx, g): return g * 2\n"
        b"class Trainer:\n    def backward(self, loss): loss.backward()\n"
        b"def step(loss, again=False): loss.backward(create_graph=again)\n"
        b"def scaled(loss, scaler=torch.cuda.amp.GradScaler()): scaler.scale(loss).backward(gradient=torch.ones(1))\n"
    )
    result = check(source, Options("paddle"))
    assert b"create_graph=" not in result.output and b"backward(grad_tensor=" in result.output
    assert "API228" in {d.code for d in result.diagnostics} and "AMP238" not in {d.code for d in result.diagnostics}


def test_a_module_in_arithmetic_is_left() -> None:
    source = b"import torch\nnorm=torch.nn.BatchNorm2d(5if c else d)\nnorm.momentum*=((torch.nn))\ny = 2 * torch.nn\n"
    assert {d.code for d in check(source, Options("paddle")).diagnostics} >= {"API233"}


def test_a_written_function_takes_the_size_as_it_is() -> None:
    source = b"import torch as T\nT\nimport torch as t\nt.Tensor(x.shape)\n"
    assert b"\ntorch_tensor_of_shape(x.shape, 'float32')" in check(source, Options("paddle")).output


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("import torch as th", "th.device"),
        ("import torch\nfrom torch import device", "device"),
        ("import torch", "(torch).device"),
    ],
)
def test_a_device_is_a_context_by_whatever_name(head: str, name: str) -> None:
    source = f"{head}\ndef build(d='cpu'):\n    with {name}(d):\n        return [1]\n"
    assert b"with torch_default_device(" in check(source.encode(), Options("paddle")).output


def test_a_scaler_whose_class_stands_in_brackets_is_wrapped_whole() -> None:
    head = b"from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler\n"
    output = check(head + b"s = (ShardedGradScaler)(enabled=on)\n", Options("paddle")).output
    assert b"distributed_scaler(paddle.amp.GradScaler(enable=on" in output


@pytest.mark.parametrize("statement", ["(y[0].clip_(max=2))", "y[\n    0].clip_(max=2)"])
def test_a_part_is_written_back_whatever_stands_around_it(statement: str) -> None:
    source = f"import torch\ndef f(y: torch.Tensor):\n    {statement}\n    return y\n"
    output = check(source.encode(), Options("paddle")).output.decode()
    assert "y[0] = y[0].clone().clip_(max=2)" in ast.unparse(ast.parse(output))


@pytest.mark.parametrize("copied", ["((b).dtype).is_complex", "b.dtype.is_complex", "b.dtype  # c\n    .is_complex"])
def test_no_copy_of_what_converts_is_written_however_it_is_laid_out(copied: str) -> None:
    source = f"import torch\ndef f(a: torch.Tensor, b):\n    return torch.linalg.pinv(a, rtol=({copied}))\n"
    assert b"rcond=b.dtype.is_complex" not in check(source.encode(), Options("paddle")).output


@pytest.mark.parametrize(
    ("target", "source"),
    [
        ("paddle", "import torch\nfor p in m.parameters():\n    (p.requires_grad_(False))\n"),
        ("paddle", "import torch\ndef f(x: torch.Tensor, out: torch.Tensor):\n    (torch.add(x, x, out=out[0]))\n"),
        ("torch", "import paddle\nx = paddle.ones([2])\ny = (x)[::-1]\n"),
        ("paddle", "import torch\n(torch._assert((x.ndim == 2), ('a matrix')))\n"),
        (
            "paddle",
            "import torch\nfrom torch.nn.modules.loss import _Loss\nclass L(_Loss):\n    def __init__(self, x):\n"
            "        super().__init__(reduction='mean' if x\n            else 'sum')\n",
        ),
        (
            "torch",
            "import paddle\nclass A:\n    def __init__(self, model):\n"
            "        self.model = paddle.DataParallel(model\n            .net)\n",
        ),
    ],
)
def test_statements_and_parts_in_brackets_convert(target: Framework, source: str) -> None:
    result = check(source.encode(), Options(target))
    assert result.status is Status.CONVERTED
    assert not {"SRC009", "SRC006"} & {d.code for d in result.diagnostics}


def test_a_second_run_leaves_the_members_in_a_written_function() -> None:
    output = check(b"import torch as t\nd.requires_grad_()\n", Options("paddle")).output
    assert output.endswith(b"\ntorch_requires_grad_of(d)\n") and output.count(b"torch_requires_grad_of(") == 2


def test_a_walk_over_parameters_where_no_quotation_marks_are_left_is_reported() -> None:
    source = b"""f'{f"{[(()>1)for p in net.parameters()]}"}{()}'"""
    assert check(source, Options("paddle", initial_values="source")).output == source


@pytest.mark.parametrize("kept", ["y = ", "return ", "torch.linalg.pinv(torch.linalg.pinv(g()))\n    y = "])
def test_lines_of_nested_calls_stand_in_the_order_of_their_values(kept: str) -> None:
    source = f"import torch\ndef f():\n    {kept}torch.linalg.pinv(torch.linalg.pinv(g()))\n    return y\n".encode()
    names: dict[str, object] = {"paddle": __import__("paddle"), "g": lambda: __import__("paddle").eye(3)}
    exec(check(source, Options("paddle")).output.replace(b"import paddle", b""), names)
    assert names["f"]().shape == [3, 3]  # type: ignore[operator]


def test_a_written_class_that_an_earlier_run_wrote_below_is_no_name_to_use_above() -> None:
    source = (
        b"import paddle as t\ntry:import torchvision\nexcept:\n    global torch\n"
        b"    for x in{()}:(t.sparse.nn.SubmConv3D(2,3,3))(s)\nif ((x),):(t.sparse.nn.Conv3D(2,3,3))"
    )
    assert b"(t.sparse.nn.SubmConv3D(2,3,3))(s)" in check(source, Options("torch")).output


def test_a_file_whose_last_character_has_other_bytes_before_a_written_class_loses_no_other_edit() -> None:
    """The class would stand behind the shifted form feed, whose last byte UTF-7 drops before a line's end."""
    source = b"#coding:utf7\ny = t.ones([2])\ndef f():t.optimizer.SGD(learning_rate,())\nt\nimport paddle as t+AAw-"
    result = check(source, Options("torch"))
    assert "SRC006" not in {d.code for d in result.diagnostics}


@pytest.mark.parametrize(
    ("target", "source", "expected"),
    [
        ("paddle", "import torch\ny = torch.serialization.DEFAULT_PROTOCOL.real\n", "y = (2).real\n"),
        ("torch", "import paddle;loss=paddle.nn.MSELoss()\nloss(\uff4cabel=y)", "loss(target=y)"),
        (
            "torch",
            "import paddle as p\n(name==p.nn.Linear(4,5,#\nw,\nname=''))",
            "(name==torch.nn.Linear(in_features=4,out_features=5,#\n).apply(",
        ),
        (
            "torch",
            "import numpy as np\nimport paddle\nx=np.asarray(a)\n"
            "y=paddle.ones([2, 2]).reshape(x.shape[:1] + x.shape[2:])\n",
            ".reshape(x.shape[:1] + x.shape[2:])",
        ),
        (
            "paddle",
            "import torch as t\ndef f(): return (), x\nsum=f'{comment\n}'\nx,=t.histc(f())\n",
            "values = f()\nx,=paddle.histogram(values, 100, 0, 0)",
        ),
    ],
)
def test_what_is_written_beside_odd_neighbours(target: Framework, source: str, expected: str) -> None:
    assert expected in check(source.encode(), Options(target)).output.decode()


def test_a_first_statement_below_a_continued_empty_line() -> None:
    source = (
        b"\\\nfrom torch.utils.data import DataLoader\n"
        b"def f(data, order):\n    return DataLoader(data, None, sampler=order)\n"
    )
    assert b"def f(data, order):\n    from torch.utils.data import" in check(source, Options("paddle")).output


def test_a_written_function_around_results_stands_below_the_lines_that_they_need() -> None:
    source = (
        b"import torch\ndef f(x: torch.Tensor, a: torch.Tensor, b: torch.Tensor):\n"
        b"    torch.median(x, dim=g(1), out=(a, b))\n    torch.histc(h(), out=a)\n"
    )
    output = check(source, Options("paddle")).output
    assert b"    axis = g(1)\n    torch_out((" in output
    assert b"    values = h()\n    paddle.assign(" in output


def test_a_file_with_one_framework_by_the_others_name_is_left_if_a_second_run_would_change_it() -> None:
    source = (
        b"if x:\n    import paddle\n    import torch as paddle\nimport paddle.nn as nn\n"
        b"nn.initializer()\ndef f(c:nn)->paddle.Tensor:()"
    )
    result = check(source, Options("torch"))
    assert result.output == source and {d.code for d in result.diagnostics} >= {"SRC016"}


def test_what_a_chain_of_calls_begins_with_gets_its_lines() -> None:
    source = b"import torch\ndef k(x):\n    return torch.histc(h(x)).hsplit(2)[0].sum()\n"
    output = check(source, Options("paddle")).output.decode()
    assert "    values = h(x)\n    values = paddle.histogram(values" in output and "lambda" not in output


def test_gradients_of_an_optimizer_that_steps_on_a_loops_line_are_clipped_by_a_hook() -> None:
    source = (
        b"import paddle\nfrom paddle import nn\n"
        b"o=paddle.optimizer.SGD(parameters=p,learning_rate=1,grad_clip=nn.ClipGradByNorm(5))\n"
        b"for _ in y:(f());o.step()\n"
    )
    output = check(source, Options("torch")).output
    assert b"o.register_step_pre_hook(" in output and output.endswith(b"for _ in y:(f());o.step()\n")


def test_a_dtype_by_name_that_autocast_takes_is_read_once() -> None:
    source = b'import torch\nwith torch.autocast("cuda", getattr(torch, str(p).rpartition(".")[-1])):\n    f()\n'
    assert b"with paddle.amp.auto_cast(dtype=p):" in check(source, Options("paddle")).output


def test_a_fallback_of_an_import_becomes_the_targets_with_it() -> None:
    source = b"try:\n    from torch.amp import autocast\nexcept ImportError:\n    from torch.cuda.amp import autocast\n"
    result = check(source, Options("paddle"))
    assert result.output.count(b"    from paddle.amp import auto_cast as autocast\n") == 2
    assert not result.diagnostics


def test_what_a_call_evaluates_later_keeps_no_line_from_its_first_argument() -> None:
    source = (
        b"from paddle import *\ndef f(p):\n    y = crop(binomial(full([], 5), p.astype()), shape=[1])\n    return y\n"
    )
    output = check(source, Options("torch")).output.decode()
    assert "    prob = p.astype()\n    y = torch.binomial(count.to(prob.dtype), prob).long()[:1]\n" in output


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            b"from torch.cuda.amp import *\nscaler = GradScaler()\nfrom torch.cuda.amp import *\n",
            b"from paddle.amp import GradScaler\nscaler = GradScaler(",
        ),
        (
            b"from torch import *\nx = zeros(3)\nfrom torch import *\ny = own(zeros(3))\n",
            b"from paddle import zeros\nx = zeros([3])\nfrom torch import *\nfrom paddle import zeros\n",
        ),
    ],
    ids=["all of it converts", "some of it may stay"],
)
def test_names_that_are_read_between_two_stars(source: bytes, expected: bytes) -> None:
    assert expected in check(source, Options("paddle")).output


def test_a_rate_of_names_that_nothing_binds_is_repeated_above_a_function_that_reads_them_too() -> None:
    source = (
        b"import paddle as t\nwith x as y:\n"
        b"    s = t.optimizer.lr.StepDecay(0.5 if c else 1.0, 3)\n"
        b"    o = t.optimizer.SGD(learning_rate=s, parameters=m.parameters())\n"
        b"async def g(): return c\nclass C[T]: pass\n"
    )
    assert not check(source, Options("torch")).diagnostics


def test_an_import_of_the_target_that_makes_its_name_local_stays() -> None:
    source = (
        b"match x:\n  case 1: import paddle\ndef train():\n    paddle()\n    import torch\n    torch.zeros(3)\n"
        b"torch.ones(3)\n"
    )
    result = check(source, Options("paddle"))
    assert [d.code for d in result.diagnostics] == ["SRC013"]
    assert b"    import torch\n    torch.zeros(3)\npaddle.ones([3])\n" in result.output


def test_a_written_function_calls_what_may_be_a_scheduler_of_an_unknown_class() -> None:
    source = b"import paddle as t\ns = t.optimizer.lr.Own()\ndef f(): t.optimizer.SGD(s, ())\n"
    check(source, Options("torch"))


def test_a_tensor_beside_other_sizes_and_a_dtype_by_its_keyword() -> None:
    source = b"import paddle as t\ny = t.empty(t.cast(x, float64), n, dtype='')\n"
    check(source, Options("torch"))


def test_a_member_in_other_letters_that_is_renamed() -> None:
    source = "import torch\nkept = [p for p in model.𝓹arameters()]\nnames = {() in model.named_parameters()}\n"
    assert "model.named_parameters() if" in check(source.encode(), Options("paddle")).output.decode()


@pytest.mark.parametrize("statement", ["y = n + {}", "n += {}"])
def test_a_value_that_rebinds_what_stands_before_it_gets_no_line(statement: str) -> None:
    source = "import torch\ndef f(n, x):\n    " + statement.format("torch.fmod((n := x + 1), 2)") + "\n"
    assert "values = (n :=" not in check(source.encode(), Options("paddle")).output.decode()


def test_a_class_that_lacks_a_counterpart_is_reported_below_a_star() -> None:
    source = b"from torch import *\nclass B(nn.Module):\n    def make(self):\n        return nn.RMSNorm(3)\n"
    result = check(source, Options("paddle"))
    assert b"return nn.RMSNorm(3)" in result.output
    assert [d.code for d in result.diagnostics] == ["NNL205"]


def test_a_state_for_a_class_is_left_with_it() -> None:
    source = b"import paddle\nfrom paddle import nn\n(nn.Linear).set_state_dict(c)\npaddle.zeros([3])\n"
    assert b"(nn.Linear).set_state_dict(c)" in check(source, Options("torch")).output


def test_an_import_for_type_checkers_stands_below_the_name_that_it_asks() -> None:
    source = (
        b"import paddle\nx = 1\nfrom typing import TYPE_CHECKING\ndef f():\n"
        b"    y: paddle.NoSuchThing = None\n    return paddle.zeros([1])\n"
    )
    result = check(source, Options("torch"))
    assert not [one for one in result.diagnostics if "TYPE_CHECKING" in one.message]
