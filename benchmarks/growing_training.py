"""Sources with many parts of training programs, for both frameworks: layers, optimizers, schedulers, scalers."""

from __future__ import annotations

from growing_text import PADDLE, TORCH, block, repeated


def calls_of_layer_in_place(n: int) -> str:
    """Calls of a layer that writes into its input, by a name that many classes use."""
    one = "class C{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    one += "        self.act = nn.ReLU(inplace=True)\n\n"
    classes = repeated(one, n)
    return TORCH + classes + "def f(m, x):\n" + block(["y = m.act(x)"] * n + ["return x + y"])


def tied_weights(n: int) -> str:
    """Classes with a linear layer that has the weight of an embedding."""
    one = (
        "class Model{i}(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        "        self.embed = nn.Embedding(3, 4)\n"
        "        self.head = nn.Linear(4, 3, bias=False)\n"
        "        self.head.weight = self.embed.weight\n\n"
        "    def forward(self, x):\n        return self.head(self.embed(x))\n\n\n"
    )
    return TORCH + repeated(one, n)


def tied_weights_of_one_class(n: int) -> str:
    """One class with linear layers that have the weights of embeddings."""
    lines = [
        f"self.embed{i} = nn.Embedding(3, 4)\n        self.head{i} = nn.Linear(4, 3)\n"
        f"        self.head{i}.weight = self.embed{i}.weight"
        for i in range(n)
    ]
    return TORCH + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" + block(lines, 8)


def statistics_of_models(n: int) -> str:
    """Sums over parameters, and keys of running statistics.

    Each sum has a variable of its own: of equal code objects in one function, Python's own compiler compares each pair.
    """
    one = "    a = sum(p{i}.numel() for p{i} in model.parameters())\n    b = state['bn.running_mean']\n"
    return TORCH + "def f(model, state):\n" + repeated(one, n)


def replaced_layers(n: int) -> str:
    """Layers that take the place of the last one."""
    return TORCH + "def f(net):\n" + block([f"net[-1] = nn.Linear(3, {i + 1})" for i in range(n)])


def compiled_functions(n: int) -> str:
    """Functions with a decorator that compiles them."""
    one = "@torch.jit.script\ndef f{i}(x):\n    return x.max(1)[0]\n\n\n"
    return TORCH + repeated(one, n)


def scalers_in_functions(n: int) -> str:
    """Functions that each have an own scaler, gradient clipping and a step."""
    one = (
        "def train_{i}(model, optimizer, loader):\n"
        "    scaler = torch.cuda.amp.GradScaler()\n"
        "    for x, y in loader:\n"
        "        with torch.cuda.amp.autocast():\n"
        "            loss = F.cross_entropy(model(x), y)\n"
        "        optimizer.zero_grad()\n"
        "        scaler.scale(loss).backward()\n"
        "        scaler.unscale_(optimizer)\n"
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
        "        scaler.step(optimizer)\n"
        "        scaler.update()\n\n\n"
    )
    return TORCH + repeated(one, n)


def optimizers_and_schedulers(n: int) -> str:
    """Optimizers with a scheduler each, in one function."""
    lines = [
        f"optimizer_{i} = torch.optim.SGD(model.parameters(), lr=0.{i + 1}, momentum=0.9)\n"
        f"    scheduler_{i} = torch.optim.lr_scheduler.StepLR(optimizer_{i}, step_size=30, gamma=0.1)\n"
        f"    optimizer_{i}.step()\n    scheduler_{i}.step()"
        for i in range(n)
    ]
    return TORCH + "def f(model):\n" + block(lines)


def optimizers_in_functions(n: int) -> str:
    """Functions with an optimizer, its scheduler and a step."""
    one = (
        "def train_{i}(model, loader):\n"
        "    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)\n"
        "    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30, gamma=0.1)\n"
        "    for x in loader:\n"
        "        model(x).backward()\n"
        "        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
        "        optimizer.step()\n"
        "        scheduler.step()\n"
        "        for group in optimizer.param_groups:\n"
        "            group['lr'] = 0.01\n\n\n"
    )
    return TORCH + repeated(one, n)


def optimizers_in_module(n: int) -> str:
    """Optimizers with a scheduler each, at module level."""
    lines = (
        f"optimizer_{i} = torch.optim.Adam(model.parameters(), lr=0.{i + 1})\n"
        f"scheduler_{i} = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer_{i}, T_max=30)\n"
        f"optimizer_{i}.step()\nscheduler_{i}.step()\n"
        for i in range(n)
    )
    return TORCH + "from models import model\n" + "".join(lines)


def loaders(n: int) -> str:
    """Data loaders with a sampler each."""
    lines = (
        f"sampler_{i} = DistributedSampler(data_{i})\n"
        f"loader_{i} = DataLoader(data_{i}, batch_size={i}, sampler=sampler_{i}, drop_last=True)\n"
        for i in range(n)
    )
    head = "from torch.utils.data import DataLoader\nfrom torch.utils.data.distributed import DistributedSampler\n"
    return TORCH + head + "".join(lines)


def autocast_objects(n: int) -> str:
    """Contexts that are bound to names and entered later."""
    lines = [f"ctx_{i} = torch.autocast('cuda')\n    with ctx_{i}:\n        y = model(x)" for i in range(n)]
    return TORCH + "def f(model, x):\n" + block(lines)


def autograd_functions(n: int) -> str:
    """Functions with a gradient of their own."""
    one = (
        "class F{i}(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x.clone()\n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        x, = ctx.saved_tensors\n        return grad * x\n\n\n"
    )
    return TORCH + repeated(one, n)


def parameter_groups(n: int) -> str:
    """One optimizer with many groups of parameters."""
    groups = ", ".join(f"{{'params': model.layer_{i}.parameters(), 'lr': 0.{i + 1}}}" for i in range(n))
    return TORCH + f"def f(model):\n    return torch.optim.AdamW([{groups}], lr=0.1)\n"


def rates_set(n: int) -> str:
    """The rate of one optimizer set again and again."""
    lines = [f"for group in optimizer.param_groups:\n        group['lr'] = 0.{i + 1}" for i in range(n)]
    return TORCH + "def f(model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + block(lines)


def steps_of_one_optimizer(n: int) -> str:
    """Many steps of one optimizer, each with clipping."""
    one = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n    optimizer.zero_grad()"
    return TORCH + "def f(model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + block([one] * n)


def paddle_calls(n: int) -> str:
    """Calls of layers and functions, in lines."""
    return PADDLE + "".join(
        f"y{i} = paddle.concat([nn.Linear(3, {i})(x), paddle.zeros([3])], axis=1)\n" for i in range(n)
    )


def paddle_classes(n: int) -> str:
    """Classes of layers."""
    one = (
        "class Block{i}(nn.Layer):\n"
        "    def __init__(self, dim):\n"
        "        super().__init__()\n"
        "        self.conv = nn.Conv2D(dim, dim, 3, padding=1, bias_attr=False)\n"
        "        self.norm = nn.BatchNorm2D(dim)\n\n"
        "    def forward(self, x):\n"
        "        x = F.relu(self.norm(self.conv(x)))\n"
        "        return x.flatten(1).mean(axis=1, keepdim=True)\n\n\n"
    )
    return PADDLE + repeated(one, n)


def paddle_rebound(n: int) -> str:
    """One parameter, bound anew in each line from itself."""
    return PADDLE + "def f(x):\n" + block([f"x = x.reshape([{i}, -1])" for i in range(n)] + ["return x"])


def paddle_operators(n: int) -> str:
    """Operators in place on one parameter, which is passed on too."""
    return PADDLE + "def f(x, y):\n" + block(["x += y", "g(x)"] * n + ["return x"])


def paddle_operators_on_counter(n: int) -> str:
    """Operators in place on a name that nothing else binds."""
    return PADDLE + "def f(y):\n" + block(["x += y"] * n + ["return x"])


def paddle_operators_behind_views(n: int) -> str:
    """Operators in place on one parameter, each behind a view of it that takes its name."""
    return PADDLE + "def f(x):\n" + block(["x = x.reshape([-1])", "x += 1"] * n + ["return x"])


def paddle_branches(n: int) -> str:
    """``if``, one after the other, each of which binds the same name."""
    lines = [f"if flag == {i}:\n        x = paddle.reshape(x, [{i}, -1])" for i in range(n)]
    return PADDLE + "def f(x, flag):\n" + block([*lines, "return x"])


def paddle_scalers(n: int) -> str:
    """Functions that each have an own scaler and optimizer with gradient clipping."""
    one = (
        "def train_{i}(model, loader):\n"
        "    clip = nn.ClipGradByGlobalNorm(1.0)\n"
        "    opt = paddle.optimizer.SGD(0.1, parameters=model.parameters(), grad_clip=clip)\n"
        "    scaler = paddle.amp.GradScaler(init_loss_scaling=1024)\n"
        "    for x, y in loader:\n"
        "        with paddle.amp.auto_cast():\n"
        "            loss = F.cross_entropy(model(x), y)\n"
        "        scaled = scaler.scale(loss)\n"
        "        scaled.backward()\n"
        "        scaler.minimize(opt, scaled)\n"
        "        opt.clear_grad()\n\n\n"
    )
    return PADDLE + repeated(one, n)


def paddle_schedulers(n: int) -> str:
    """Schedulers with an optimizer each, in one function."""
    lines = [
        f"scheduler_{i} = paddle.optimizer.lr.StepDecay(0.1, step_size=30)\n"
        f"    opt_{i} = paddle.optimizer.Momentum(scheduler_{i}, parameters=model.parameters())\n"
        f"    opt_{i}.step()\n    scheduler_{i}.step()"
        for i in range(n)
    ]
    return PADDLE + "def f(model):\n" + block(lines)


def paddle_schedulers_in_functions(n: int) -> str:
    """Functions with a scheduler and its optimizer."""
    one = (
        "def train_{i}(model, loader):\n"
        "    scheduler = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=30)\n"
        "    opt = paddle.optimizer.AdamW(scheduler, parameters=model.parameters(), weight_decay=0.1)\n"
        "    for x in loader:\n        model(x).backward()\n        opt.step()\n        opt.clear_grad()\n"
        "        scheduler.step()\n\n\n"
    )
    return PADDLE + repeated(one, n)


def paddle_guarded_imports(n: int) -> str:
    """Imports of many names in ``try``, each set to None where it fails."""
    one = "try:\n    from paddle.nn import Linear as name_{i}\nexcept ImportError:\n    name_{i} = None\n"
    lines = (one.replace("{i}", str(i)) for i in range(n))
    return "import paddle\n" + "".join(lines) + "".join(f"layer_{i} = name_{i}(3, 4)\n" for i in range(n))


def paddle_findings(n: int) -> str:
    """Uses that are reported."""
    return PADDLE + "".join(f"paddle.jit.to_static(f{i})\npaddle.static.data('x{i}', [3])\n" for i in range(n))
