"""Sources of any size for each way that code can be long: what the growth of time with size is measured on.

Each family is a function from a size, a multiple of 24, to the text of a module with that many of one thing; a
dictionary names them by the framework that they are converted to.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Literal

Family = Callable[[int], str]

_TORCH = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n"
_PADDLE = "import paddle\nimport paddle.nn as nn\nimport paddle.nn.functional as F\n\n"


def _block(lines: list[str], indent: int = 4) -> str:
    return "".join(f"{' ' * indent}{line}\n" for line in lines)


def rebound_in_module(n: int) -> str:
    """One module-level name, bound anew in each line from itself."""
    return _TORCH + "x = torch.zeros(4)\n" + "".join(f"x = x.view({i}, -1)\n" for i in range(n))


def rebound_in_function(n: int) -> str:
    """One parameter, bound anew in each line from itself."""
    return _TORCH + "def f(x):\n" + _block([f"x = x.view({i}, -1)" for i in range(n)] + ["return x"])


def rebound_tensor_in_function(n: int) -> str:
    """One local name, a tensor from the start, bound anew in each line from itself."""
    lines = ["x = torch.zeros(4)", *(f"x = x.view({i}, -1)" for i in range(n)), "return x"]
    return _TORCH + "def f():\n" + _block(lines)


def rebound_unknown_in_function(n: int) -> str:
    """A name of unknown type, bound anew by calls that say nothing of the type."""
    lines = [f"x = transform_{i % 7}(x)\n    y = x.max(1)" for i in range(n)]
    return _TORCH + "def f(x):\n" + _block([*lines, "return x"])


def copied_in_function(n: int) -> str:
    """A name of unknown type that is copied to itself, and shown to be a tensor only in the end."""
    lines = [f"x = x.to(device_{i % 5})" for i in range(n)]
    return _TORCH + "def f(x):\n" + _block([*lines, "return x.unsqueeze(0)"])


def rebound_in_branches(n: int) -> str:
    """``if``, one after the other, each of which binds the same name."""
    lines = [f"if flag == {i}:\n        x = x.view({i}, -1)" for i in range(n)]
    return _TORCH + "def f(x, flag):\n" + _block([*lines, "return x"])


def chained_branches(n: int) -> str:
    """``if``, one after the other, each of which binds a name that the next one reads."""
    lines = [f"if flag == {i}:\n        y{i + 1} = y{i}.view({i}, -1)" for i in range(n)]
    return _TORCH + "def f(y0, flag):\n" + _block([*lines, f"return y{n}"])


def branches_of_one_name(n: int) -> str:
    """``if``, one after the other, in module and function: each binds one name from another."""
    lines = [f"if flag == {i}:\n        y = x.view({i}, -1)\n    z = y.max(1)" for i in range(n)]
    return _TORCH + "def f(x, flag):\n    y = x\n" + _block([*lines, "return y"])


def branches_in_module(n: int) -> str:
    """``if``, one after the other, at module level."""
    lines = (f"if flag == {i}:\n    y = y.view({i}, -1)\n" for i in range(n))
    return _TORCH + "y = torch.ones(3)\n" + "".join(lines)


def elif_chain(n: int) -> str:
    """One ``if`` with many ``elif``, each of which binds the same name."""
    lines = "".join(f"    elif flag == {i}:\n        y = x.view({i}, -1)\n" for i in range(n))
    return _TORCH + "def f(x, flag):\n    if flag is None:\n        y = x\n" + lines + "    return y.max(1)\n"


def loops_in_sequence(n: int) -> str:
    """Loops, one after the other, over one name."""
    lines = [f"for i in range({i}):\n        x = x.view(i, -1)" for i in range(n)]
    return _TORCH + "def f(x):\n" + _block([*lines, "return x"])


def nested_loops(n: int) -> str:
    """Groups of twelve loops inside each other, each of which binds one name."""
    parts = []
    for group in range(n // 12):
        for depth in range(12):
            parts.append(f"{'    ' * (depth + 1)}for i{depth} in range({group}):\n")
            parts.append(f"{'    ' * (depth + 2)}x = x.view(i{depth}, -1)\n")
    return _TORCH + "def f(x):\n" + "".join(parts) + "    return x\n"


def long_loop(n: int) -> str:
    """One loop whose body binds one name in each line."""
    lines = [f"x = x.view({i}, -1)" for i in range(n)]
    return _TORCH + "def f(x, loader):\n    for batch in loader:\n" + _block(lines, 8) + "    return x\n"


def tries_in_sequence(n: int) -> str:
    """``try`` statements, each of which binds one name in two ways."""
    lines = [f"try:\n        x = x.view({i}, -1)\n    except RuntimeError:\n        x = None" for i in range(n)]
    return _TORCH + "def f(x):\n" + _block([*lines, "return x"])


def with_blocks(n: int) -> str:
    """``with torch.no_grad()``, one after the other."""
    lines = [f"with torch.no_grad():\n        x = x.view({i}, -1)" for i in range(n)]
    return _TORCH + "def f(x):\n" + _block([*lines, "return x"])


def operators_in_place(n: int) -> str:
    """Operators in place on one tensor."""
    lines = [f"x += {i}" for i in range(n)]
    return _TORCH + "def f(a):\n    x = torch.zeros(3)\n" + _block([*lines, "return x"])


def methods_in_place(n: int) -> str:
    """Methods in place on one tensor."""
    lines = [f"x.add_({i})" for i in range(n)]
    return _TORCH + "def f(a):\n    x = torch.zeros(3)\n" + _block([*lines, "return x"])


def operators_on_parameter(n: int) -> str:
    """Operators in place on one parameter."""
    return _TORCH + "def f(x, y):\n" + _block(["x += y"] * n + ["return x"])


def operators_behind_views(n: int) -> str:
    """Operators in place on one parameter, each behind a view of it that takes its name."""
    return _TORCH + "def f(x):\n" + _block(["x = x.view(-1)", "x += 1"] * n + ["return x"])


def operators_behind_branches(n: int) -> str:
    """Operators in place on one parameter, each behind a branch that binds it anew."""
    lines = [f"if flag == {i}:\n        x = x.view(-1)\n    x += 1" for i in range(n)]
    return _TORCH + "def f(x, flag):\n" + _block([*lines, "return x"])


def operators_between_views(n: int) -> str:
    """Operators in place on one tensor, each behind a view that is not read again."""
    lines = [f"y{i} = x.view({i}, -1)\n    x += 1" for i in range(n)]
    return _TORCH + "def f():\n    x = torch.zeros(3)\n" + _block([*lines, "return x"])


def operators_on_attribute(n: int) -> str:
    """Operators in place on one attribute, which is set again and again."""
    lines = ["self.x = torch.zeros(3)", "self.x += x"] * n
    return _TORCH + "class C(nn.Module):\n    def forward(self, x):\n" + _block(lines, 8)


def calls_of_layer_in_place(n: int) -> str:
    """Calls of a layer that writes into its input, by a name that many classes use."""
    one = "class C{i}(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    one += "        self.act = nn.ReLU(inplace=True)\n\n"
    classes = "".join(one.replace("{i}", str(i)) for i in range(n))
    return _TORCH + classes + "def f(m, x):\n" + _block(["y = m.act(x)"] * n + ["return x + y"])


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
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def tied_weights_of_one_class(n: int) -> str:
    """One class with linear layers that have the weights of embeddings."""
    lines = [
        f"self.embed{i} = nn.Embedding(3, 4)\n        self.head{i} = nn.Linear(4, 3)\n"
        f"        self.head{i}.weight = self.embed{i}.weight"
        for i in range(n)
    ]
    return _TORCH + "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n" + _block(lines, 8)


def left_imports(n: int) -> str:
    """Imports of what Paddle does not have, each for one function."""
    imports = "".join(f"from torch._inductor import config as config_{i}\n" for i in range(n))
    one = "def f{i}(x):\n    config_{i}.debug = True\n    return torch.max(x, 1)\n\n\n"
    return "import torch\n" + imports + "".join(one.replace("{i}", str(i)) for i in range(n))


def left_import_in_functions(n: int) -> str:
    """One import of what Paddle does not have, for many functions."""
    one = "def f{i}(x):\n    config.debug = True\n    return torch.max(x, 1)\n\n\n"
    return "import torch\nfrom torch._inductor import config\n" + "".join(one.replace("{i}", str(i)) for i in range(n))


def left_import_in_one_function(n: int) -> str:
    """One import of what Paddle does not have, for many statements of one function."""
    return "import torch\nfrom torch._inductor import config\n\ndef f(x):\n" + _block(["config.debug = True"] * n)


def statistics_of_models(n: int) -> str:
    """Sums over parameters, and keys of running statistics."""
    lines = ["a = sum(p.numel() for p in model.parameters())", "b = state['bn.running_mean']"] * n
    return _TORCH + "def f(model, state):\n" + _block(lines)


def replaced_layers(n: int) -> str:
    """Layers that take the place of the last one."""
    return _TORCH + "def f(net):\n" + _block([f"net[-1] = nn.Linear(3, {i + 1})" for i in range(n)])


def compiled_functions(n: int) -> str:
    """Functions with a decorator that compiles them."""
    one = "@torch.jit.script\ndef f{i}(x):\n    return x.max(1)[0]\n\n\n"
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def variables_in_sequence(n: int) -> str:
    """Many variables, each computed from the one before."""
    lines = ["x0 = torch.zeros(3)", *(f"x{i + 1} = torch.add(x{i}, 1, alpha=2)" for i in range(n))]
    return _TORCH + "def f():\n" + _block([*lines, f"return x{n}"])


def variables_backwards(n: int) -> str:
    """Many variables, each bound in a loop from the one after it."""
    lines = [f"x{i} = x{i + 1}" for i in range(n)]
    return _TORCH + f"def f(x{n}, loader):\n    for b in loader:\n" + _block([*lines, "y = x0.max(1)"], 8)


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
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def optimizers_and_schedulers(n: int) -> str:
    """Optimizers with a scheduler each, in one function."""
    lines = [
        f"optimizer_{i} = torch.optim.SGD(model.parameters(), lr=0.{i + 1}, momentum=0.9)\n"
        f"    scheduler_{i} = torch.optim.lr_scheduler.StepLR(optimizer_{i}, step_size=30, gamma=0.1)\n"
        f"    optimizer_{i}.step()\n    scheduler_{i}.step()"
        for i in range(n)
    ]
    return _TORCH + "def f(model):\n" + _block(lines)


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
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def optimizers_in_module(n: int) -> str:
    """Optimizers with a scheduler each, at module level."""
    lines = (
        f"optimizer_{i} = torch.optim.Adam(model.parameters(), lr=0.{i + 1})\n"
        f"scheduler_{i} = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer_{i}, T_max=30)\n"
        f"optimizer_{i}.step()\nscheduler_{i}.step()\n"
        for i in range(n)
    )
    return _TORCH + "from models import model\n" + "".join(lines)


def guarded_imports(n: int) -> str:
    """Imports of many names in ``try``, each set to None where it fails."""
    names = ("Linear", "Conv2d", "ReLU", "Dropout", "LayerNorm", "Embedding", "BatchNorm2d")
    one = "try:\n    from torch.nn import {name} as name_{i}\nexcept ImportError:\n    name_{i} = None\n"
    lines = (one.format(i=i, name=names[i % len(names)]) for i in range(n))
    return "import torch\n" + "".join(lines) + "".join(f"layer_{i} = name_{i}(3)\n" for i in range(n))


def guarded_imports_of_one_name(n: int) -> str:
    """Imports of one name in ``try``, again and again."""
    one = "try:\n    from torch.cuda.amp import GradScaler\nexcept ImportError:\n    GradScaler = None\n"
    return "import torch\n" + one * n + "scaler = GradScaler(init_scale=2.0)\n" * n


def imports_in_functions(n: int) -> str:
    """Functions that import what they use."""
    one = (
        "def f{i}(x):\n    import torch\n    from torch import nn\n    return nn.Linear(3, 4)(torch.max(x, 1)[0])\n\n\n"
    )
    return "".join(one.replace("{i}", str(i)) for i in range(n))


def names_from_one_module(n: int) -> str:
    """One import of one name under many others, and their uses."""
    names = ", ".join(f"max as max_{i}" for i in range(n))
    return f"from torch import {names}\n" + "".join(f"y{i} = max_{i}([{i}], dim=1)\n" for i in range(n))


def import_statements(n: int) -> str:
    """Imports of one module under many names, and their uses."""
    lines = "".join(f"import torch.nn as nn_{i}\n" for i in range(n))
    return lines + "".join(f"layer_{i} = nn_{i}.Conv2d(3, 4, 1)\n" for i in range(n))


def repeated_imports(n: int) -> str:
    """The same import again and again."""
    return "import torch\nfrom torch import nn\n" * n + "layer = nn.Conv2d(3, 4, 1)\n" * n


def star_imports(n: int) -> str:
    """Imports of all names of a module, again and again."""
    return "from torch.nn import *\n" * n + "".join(f"layer_{i} = Linear(3, {i})\n" for i in range(n))


def star_imports_of_others(n: int) -> str:
    """Imports of all names of many other modules."""
    lines = "".join(f"from package.module_{i} import *\n" for i in range(n))
    return lines + _TORCH + "".join(f"layer_{i} = Linear(3, torch.max(unknown_{i}))\n" for i in range(n))


def dotted_uses(n: int) -> str:
    """Calls by full name, in one function."""
    return _TORCH + "def f(x):\n" + _block([f"y{i} = torch.nn.functional.relu(x, inplace=False)" for i in range(n)])


def classes(n: int) -> str:
    """Classes of layers."""
    one = (
        "class Block{i}(nn.Module):\n"
        "    def __init__(self, dim):\n"
        "        super().__init__()\n"
        "        self.conv = nn.Conv2d(dim, dim, 3, padding=1, bias=False)\n"
        "        self.norm = nn.BatchNorm2d(dim)\n"
        "        self.act = nn.ReLU(inplace=True)\n\n"
        "    def forward(self, x):\n"
        "        x = self.act(self.norm(self.conv(x)))\n"
        "        return x.flatten(1).mean(dim=1, keepdim=True)\n\n\n"
    )
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def layers_of_one_class(n: int) -> str:
    """One class with many layers."""
    lines = [f"self.layer_{i} = nn.Linear(3, {i})" for i in range(n)]
    calls = [f"x = self.layer_{i}(x).view({i}, -1)" for i in range(n)]
    head = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    return _TORCH + head + _block(lines, 8) + "\n    def forward(self, x):\n" + _block([*calls, "return x"], 8)


def methods_of_one_class(n: int) -> str:
    """One class with many methods that call each other."""
    one = "    def step_{i}(self, x):\n        x = self.step_{j}(x)\n        return x.max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return _TORCH + "class Model(nn.Module):\n" + "".join(lines)


def one_attribute_in_many_classes(n: int) -> str:
    """Classes without a base that set an attribute of one name, which is read everywhere."""
    one = "class C{i}:\n    def __init__(self, x):\n        self.x = x\n\n"
    one += "    def get(self):\n        return self.x.max(1)\n\n"
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def stores_to_one_attribute(n: int) -> str:
    """One attribute, set again and again from itself."""
    lines = [f"self.x = self.x.view({i}, -1)" for i in range(n)]
    return _TORCH + "class C(nn.Module):\n    def forward(self, x):\n        self.x = x\n" + _block(lines, 8)


def deep_inheritance(n: int) -> str:
    """Classes, each of which inherits from the one before."""
    one = (
        "class C{j}(C{i}):\n    def __init__(self):\n        super().__init__()\n        self.a{j} = nn.Linear(3, 4)\n"
    )
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return _TORCH + "C0 = nn.Module\n" + "".join(lines)


def deep_inheritance_of_forward(n: int) -> str:
    """Classes, each of which inherits from the one before and calls its ``forward``."""
    one = "class C{j}(C{i}):\n    def forward(self, x):\n        return super().forward(x).max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return _TORCH + "class C0(nn.Module):\n    pass\n\n" + "".join(lines)


def subclasses_of_one_class(n: int) -> str:
    """Classes that all inherit from one class of the module."""
    one = "class C{i}(Base):\n    def forward(self, x):\n        return self.act(x).max(1)[0]\n\n"
    base = (
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = nn.ReLU()\n\n"
    )
    return _TORCH + base + "".join(one.replace("{i}", str(i)) for i in range(n))


def function_chain(n: int) -> str:
    """Functions, each of which calls the next one."""
    one = "def f{i}(x):\n    return f{j}(x).max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return _TORCH + "".join(lines) + f"def f{n}(x):\n    return torch.max(x)\n\nf0(torch.zeros(3))\n"


def calls_of_one_function(n: int) -> str:
    """Calls of one function of the module, with tensors."""
    head = "def f(x, y=None):\n    return x.max(1)[0]\n\n"
    return _TORCH + head + "".join(f"a{i} = f(torch.zeros({i}))\nb{i} = a{i}.max(1)\n" for i in range(n))


def functions_of_one_name(n: int) -> str:
    """Functions of one name, each with a call."""
    return _TORCH + "def f(x):\n    return x.max(1)[0]\n\ny = f(torch.zeros(3))\n\n" * n


def many_parameters(n: int) -> str:
    """One function with many parameters, and a call with as many arguments."""
    names = ", ".join(f"p{i}" for i in range(n))
    uses = _block([f"q{i} = p{i}.max(1)" for i in range(n)])
    given = ", ".join("torch.zeros(3)" for _ in range(n))
    return _TORCH + f"def f({names}):\n{uses}\n\nf({given})\n"


def nested_calls(n: int) -> str:
    """Groups of 24 calls inside each other."""
    lines = ("torch.relu(" * 24 + f"x{i}" + ")" * 24 for i in range(n // 24))
    return _TORCH + "def f(x):\n" + _block([f"y = {line}" for line in lines])


def nested_rewritten_calls(n: int) -> str:
    """Groups of 24 calls inside each other, each of which is written in another form."""
    lines = ("torch.rsub(" * 24 + "x, 2" + "), 1" * 23 + ")" for i in range(n // 24))
    return (
        _TORCH
        + "def f(x):\n    x = torch.zeros(3)\n"
        + _block([f"y = {line.replace('), 1', ', 1)')}" for line in lines])
    )


def method_chain(n: int) -> str:
    """Methods of a tensor called on each other's results, in groups of 24."""
    lines = (f"y = torch.zeros({i})" + ".relu().view(3, -1)" * 24 for i in range(n // 24))
    return _TORCH + "def f(x):\n" + _block(list(lines))


def attribute_chain(n: int) -> str:
    """Attributes of attributes, in groups of 24."""
    lines = (f"y = torch.relu(config{''.join(f'.a{j}' for j in range(24))}.b{i})" for i in range(n // 24))
    return _TORCH + "def f(x):\n" + _block(list(lines))


def long_operator_chain(n: int) -> str:
    """A sum of tensors in one expression, in groups of 24."""
    lines = ("y = " + " + ".join(["torch.zeros(3)", *(f"torch.ones({j})" for j in range(24))]) for _ in range(n // 24))
    return _TORCH + "def f(x):\n" + _block(list(lines))


def arguments_of_one_call(n: int) -> str:
    """One call with many arguments."""
    return _TORCH + "y = nn.Sequential(" + ", ".join(f"nn.Linear(3, {i})" for i in range(n)) + ")\n"


def arguments_on_lines(n: int) -> str:
    """One call with many arguments, each on a line of its own."""
    return (
        _TORCH + "y = nn.Sequential(\n" + "".join(f"    nn.Conv2d(3, {i}, 1, bias=False),\n" for i in range(n)) + ")\n"
    )


def keywords_of_one_call(n: int) -> str:
    """One call with many keywords."""
    return _TORCH + "y = dict(" + ", ".join(f"k{i}=torch.max(x{i}, 1)" for i in range(n)) + ")\n"


def keyword_dicts(n: int) -> str:
    """Calls that each take the keywords of a dict."""
    lines = (
        f"options_{i} = dict(in_features={i}, out_features=4)\nlayer_{i} = nn.Linear(**options_{i})\n" for i in range(n)
    )
    return _TORCH + "".join(lines)


def keyword_dicts_in_functions(n: int) -> str:
    """Functions that each pass a dict on to a call."""
    one = "def f{i}():\n    options = {'kernel_size': 3}\n    options['bias'] = False\n"
    one += "    return nn.Conv2d(3, {i}, **options)\n\n"
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def one_keyword_dict(n: int) -> str:
    """One dict whose keywords are passed to many calls."""
    lines = "".join(f"layer_{i} = nn.Linear({i}, 4, **options)\n" for i in range(n))
    return _TORCH + "options = dict(bias=False)\n" + lines


def dict_entries(n: int) -> str:
    """One dict with many entries, on lines of their own."""
    return _TORCH + "TABLE = {\n" + "".join(f"    'k{i}': torch.float16,\n" for i in range(n)) + "}\n"


def dict_entries_in_one_line(n: int) -> str:
    """One dict with many entries, in one line."""
    return _TORCH + "TABLE = {" + ", ".join(f"'k{i}': torch.relu" for i in range(n)) + "}\n"


def list_entries(n: int) -> str:
    """One list with many entries that are calls."""
    return _TORCH + "LAYERS = [" + ", ".join(f"nn.Linear(3, {i})" for i in range(n)) + "]\n"


def numbers(n: int) -> str:
    """One list of many numbers, in one line, beside a use."""
    return _TORCH + "y = torch.tensor([" + ", ".join(str(i % 97) for i in range(n)) + "])\n"


def tuple_of_tensors(n: int) -> str:
    """One tuple of many tensors, which is unpacked."""
    values = ", ".join(f"torch.zeros({i})" for i in range(n))
    targets = ", ".join(f"x{i}" for i in range(n))
    return _TORCH + f"values = {values},\n{targets} = values\n" + "".join(f"y{i} = x{i}.max(1)\n" for i in range(n))


def edits_in_one_line(n: int) -> str:
    """Statements in one line."""
    return _TORCH + "; ".join(f"x{i} = torch.max(y, dim=1)" for i in range(n)) + "\n"


def statements_in_one_line(n: int) -> str:
    """Statements in one line of a function that is not ASCII."""
    return _TORCH + "def f(é): " + "; ".join(f"x{i} = é.unsqueeze(1)" for i in range(n)) + "\n"


def decorators(n: int) -> str:
    """One function with many decorators."""
    return _TORCH + "@torch.no_grad()\n" * n + "def f(x):\n    return x.max(1)\n"


def decorated_functions(n: int) -> str:
    """Functions with a decorator each."""
    one = "@torch.cuda.amp.autocast()\ndef f{i}(x):\n    return torch.relu(x)\n\n"
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def lambda_defaults(n: int) -> str:
    """Lambdas with a default each."""
    return _TORCH + "".join(f"f{i} = lambda x, y=torch.zeros({i}): torch.max(x, y)\n" for i in range(n))


def lambdas_of_one_name(n: int) -> str:
    """One name, bound to many lambdas and called."""
    return _TORCH + "".join(f"f = lambda x: x.view({i}, -1)\ny = f(torch.zeros(3))\n" for i in range(n))


def comments_of_suppression(n: int) -> str:
    """Comments that suppress a conversion each."""
    return _TORCH + "".join(f"x{i} = torch.max(y, dim=1)  # paddletorch: ignore\n" for i in range(n))


def idle_suppressions(n: int) -> str:
    """Comments that suppress nothing."""
    return _TORCH + "".join(f"x{i} = {i}  # paddletorch: ignore[AMP213]\n" for i in range(n))


def suppressions_of_the_file(n: int) -> str:
    """Comments that each suppress a code in the whole file."""
    comments = "".join(f"# paddletorch: ignore-file[API{200 + i % 40}]\n" for i in range(n))
    return comments + _TORCH + "".join(f"x{i} = torch.max(y, dim=1)\n" for i in range(n))


def findings(n: int) -> str:
    """Uses that are reported."""
    return _TORCH + "".join(f"torch.backends.cudnn.benchmark_limit = {i}\ntorch.jit.script(f{i})\n" for i in range(n))


def findings_in_one_statement(n: int) -> str:
    """Uses that are reported, in one statement."""
    return _TORCH + "y = [\n" + "".join(f"    torch.jit.script(f{i}),\n" for i in range(n)) + "]\n"


def strings(n: int) -> str:
    """Strings that name APIs."""
    return _TORCH + "".join(f"name_{i} = 'torch.nn.Linear'\nmessage_{i} = 'needs torch.{i}'\n" for i in range(n))


def fstrings(n: int) -> str:
    """f-strings with uses in them."""
    return _TORCH + "".join(f"print(f'{{torch.max(x, dim=1)}} and {{y.max(1)}} {i}')\n" for i in range(n))


def one_fstring(n: int) -> str:
    """One f-string with many uses."""
    return _TORCH + "print(f'" + " ".join("{torch.max(x, dim=1)}" for _ in range(n)) + "')\n"


def string_annotations(n: int) -> str:
    """Functions with annotations that are strings."""
    return _TORCH + "".join(
        f"def f{i}(x: 'torch.Tensor') -> 'torch.FloatTensor':\n    return x.max(1)\n\n" for i in range(n)
    )


def annotations(n: int) -> str:
    """Annotated variables."""
    return _TORCH + "".join(f"x{i}: torch.Tensor = torch.zeros({i}, device='cpu')\n" for i in range(n))


def type_checks(n: int) -> str:
    """Checks of one name's type in a loop over modules."""
    one = "        if isinstance(m, nn.Conv2d):\n            nn.init.constant_(m.weight, 0)\n"
    return _TORCH + "def f(model):\n    for m in model.modules():\n" + one * n


def asserted_types(n: int) -> str:
    """Checks of one name's type by ``assert``."""
    return _TORCH + "def f(m):\n" + _block(["assert isinstance(m, nn.Conv2d)\n    y = m.weight.max(1)"] * n)


def subscripts(n: int) -> str:
    """Subscripts of one tensor."""
    return _TORCH + "def f(x):\n    x = torch.zeros(3)\n" + _block([f"y{i} = x[..., None, {i}]" for i in range(n)])


def shapes(n: int) -> str:
    """Sizes of one tensor, unpacked."""
    return _TORCH + "def f(x):\n    x = torch.zeros(3)\n" + _block(["b, c = x.size()\n    x = x.reshape(b, c)"] * n)


def mixed_dtypes(n: int) -> str:
    """Sums of tensors of different dtypes."""
    lines = ["a = torch.zeros(3, dtype=torch.int64)", "b = torch.zeros(3)", *(f"c{i} = a + b * {i}" for i in range(n))]
    return _TORCH + "def f():\n" + _block(lines)


def rebound_dtypes(n: int) -> str:
    """One tensor whose dtype changes in each line."""
    lines = ["a = torch.zeros(3, dtype=torch.int64)", *(f"a = (a + {i}).float() + a.long()" for i in range(n))]
    return _TORCH + "def f():\n" + _block([*lines, "return a"])


def templates(n: int) -> str:
    """Calls that are written in another form, one in each line."""
    return _TORCH + "def f(x):\n" + _block([f"y{i} = torch.cuda.is_available() and x.size({i})" for i in range(n)])


def values_passed_on(n: int) -> str:
    """APIs that are passed as values."""
    return _TORCH + "".join(f"layer_{i} = build(nn.Conv2d, act=nn.ReLU, norm=F.relu)\n" for i in range(n))


def aliases(n: int) -> str:
    """Names for an API, each made from the one before."""
    return _TORCH + "a0 = nn.Conv2d\n" + "".join(f"a{i + 1} = a{i}\nlayer{i} = a{i}(3, 4, 1)\n" for i in range(n))


def one_alias(n: int) -> str:
    """One name for an API, bound again and again."""
    return _TORCH + "".join("Conv = nn.Conv2d\nlayer = Conv(3, 4, 1, padding_mode='zeros')\n" for i in range(n))


def partial_objects(n: int) -> str:
    """``functools.partial`` of an API, and calls of the result."""
    lines = (
        f"make_{i} = partial(nn.Conv2d, bias=False)\nlayer_{i} = make_{i}(3, 4, kernel_size=1)\n" for i in range(n)
    )
    return _TORCH + "from functools import partial\n" + "".join(lines)


def loaders(n: int) -> str:
    """Data loaders with a sampler each."""
    lines = (
        f"sampler_{i} = DistributedSampler(data_{i})\n"
        f"loader_{i} = DataLoader(data_{i}, batch_size={i}, sampler=sampler_{i}, drop_last=True)\n"
        for i in range(n)
    )
    head = "from torch.utils.data import DataLoader\nfrom torch.utils.data.distributed import DistributedSampler\n"
    return _TORCH + head + "".join(lines)


def autocast_objects(n: int) -> str:
    """Contexts that are bound to names and entered later."""
    lines = [f"ctx_{i} = torch.autocast('cuda')\n    with ctx_{i}:\n        y = model(x)" for i in range(n)]
    return _TORCH + "def f(model, x):\n" + _block(lines)


def autograd_functions(n: int) -> str:
    """Functions with a gradient of their own."""
    one = (
        "class F{i}(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x.clone()\n\n"
        "    @staticmethod\n    def backward(ctx, grad):\n        x, = ctx.saved_tensors\n        return grad * x\n\n\n"
    )
    return _TORCH + "".join(one.replace("{i}", str(i)) for i in range(n))


def parameter_groups(n: int) -> str:
    """One optimizer with many groups of parameters."""
    groups = ", ".join(f"{{'params': model.layer_{i}.parameters(), 'lr': 0.{i + 1}}}" for i in range(n))
    return _TORCH + f"def f(model):\n    return torch.optim.AdamW([{groups}], lr=0.1)\n"


def rates_set(n: int) -> str:
    """The rate of one optimizer set again and again."""
    lines = [f"for group in optimizer.param_groups:\n        group['lr'] = 0.{i + 1}" for i in range(n)]
    return _TORCH + "def f(model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + _block(lines)


def steps_of_one_optimizer(n: int) -> str:
    """Many steps of one optimizer, each with clipping."""
    one = "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n    optimizer.zero_grad()"
    return _TORCH + "def f(model):\n    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n" + _block([one] * n)


def probes(n: int) -> str:
    """Questions whether a module has a name."""
    return _TORCH + "".join("if hasattr(torch, 'compile'):\n    f = torch.compile(g)\n" for _ in range(n))


def globals_declared(n: int) -> str:
    """Functions that declare one global name and bind it."""
    one = "def f{i}():\n    global state\n    state = state.view({i}, -1)\n\n"
    return _TORCH + "state = torch.zeros(3)\n" + "".join(one.replace("{i}", str(i)) for i in range(n))


def nested_functions(n: int) -> str:
    """Groups of twelve functions inside each other that read one variable of the outermost."""
    parts = []
    for group in range(n // 12):
        parts.append(f"def f{group}(x):\n    x = torch.zeros(3)\n")
        for depth in range(1, 12):
            parts.append(f"{'    ' * depth}def g():\n{'    ' * (depth + 1)}y = x.max(1)\n")
    return _TORCH + "".join(parts)


def comprehensions(n: int) -> str:
    """Comprehensions over one variable."""
    return (
        _TORCH
        + "xs = [torch.zeros(3)]\n"
        + "".join("ys = [x.max(1) for x in xs if x.unsqueeze(0)]\n" for _ in range(n))
    )


def comments_in_calls(n: int) -> str:
    """Calls with a comment after each argument."""
    return _TORCH + "y = torch.max(\n    x,  # the input\n    dim=1,  # the axis\n)\n" * n


def unfinished(n: int) -> str:
    """A module that does not parse: an error in its last line."""
    return _TORCH + "x = torch.max(y, dim=1)\n" * n + "x = (\n"


def paddle_calls(n: int) -> str:
    """Calls of layers and functions, in lines."""
    return _PADDLE + "".join(
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
    return _PADDLE + "".join(one.replace("{i}", str(i)) for i in range(n))


def paddle_rebound(n: int) -> str:
    """One parameter, bound anew in each line from itself."""
    return _PADDLE + "def f(x):\n" + _block([f"x = x.reshape([{i}, -1])" for i in range(n)] + ["return x"])


def paddle_operators(n: int) -> str:
    """Operators in place on one parameter, which is passed on too."""
    return _PADDLE + "def f(x, y):\n" + _block(["x += y", "g(x)"] * n + ["return x"])


def paddle_operators_on_counter(n: int) -> str:
    """Operators in place on a name that nothing else binds."""
    return _PADDLE + "def f(y):\n" + _block(["x += y"] * n + ["return x"])


def paddle_operators_behind_views(n: int) -> str:
    """Operators in place on one parameter, each behind a view of it that takes its name."""
    return _PADDLE + "def f(x):\n" + _block(["x = x.reshape([-1])", "x += 1"] * n + ["return x"])


def paddle_branches(n: int) -> str:
    """``if``, one after the other, each of which binds the same name."""
    lines = [f"if flag == {i}:\n        x = paddle.reshape(x, [{i}, -1])" for i in range(n)]
    return _PADDLE + "def f(x, flag):\n" + _block([*lines, "return x"])


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
    return _PADDLE + "".join(one.replace("{i}", str(i)) for i in range(n))


def paddle_schedulers(n: int) -> str:
    """Schedulers with an optimizer each, in one function."""
    lines = [
        f"scheduler_{i} = paddle.optimizer.lr.StepDecay(0.1, step_size=30)\n"
        f"    opt_{i} = paddle.optimizer.Momentum(scheduler_{i}, parameters=model.parameters())\n"
        f"    opt_{i}.step()\n    scheduler_{i}.step()"
        for i in range(n)
    ]
    return _PADDLE + "def f(model):\n" + _block(lines)


def paddle_schedulers_in_functions(n: int) -> str:
    """Functions with a scheduler and its optimizer."""
    one = (
        "def train_{i}(model, loader):\n"
        "    scheduler = paddle.optimizer.lr.CosineAnnealingDecay(0.1, T_max=30)\n"
        "    opt = paddle.optimizer.AdamW(scheduler, parameters=model.parameters(), weight_decay=0.1)\n"
        "    for x in loader:\n        model(x).backward()\n        opt.step()\n        opt.clear_grad()\n"
        "        scheduler.step()\n\n\n"
    )
    return _PADDLE + "".join(one.replace("{i}", str(i)) for i in range(n))


def paddle_guarded_imports(n: int) -> str:
    """Imports of many names in ``try``, each set to None where it fails."""
    one = "try:\n    from paddle.nn import Linear as name_{i}\nexcept ImportError:\n    name_{i} = None\n"
    lines = (one.replace("{i}", str(i)) for i in range(n))
    return "import paddle\n" + "".join(lines) + "".join(f"layer_{i} = name_{i}(3, 4)\n" for i in range(n))


def paddle_findings(n: int) -> str:
    """Uses that are reported."""
    return _PADDLE + "".join(f"paddle.jit.to_static(f{i})\npaddle.static.data('x{i}', [3])\n" for i in range(n))


def _families(*, paddle: bool) -> dict[str, Family]:
    functions = [(name, value) for name, value in globals().items() if inspect.isfunction(value) and name[0] != "_"]
    return {name.replace("_", " "): value for name, value in functions if name.startswith("paddle_") is paddle}


FAMILIES: dict[Literal["paddle", "torch"], dict[str, Family]] = {
    "paddle": _families(paddle=False),
    "torch": _families(paddle=True),
}
"""The families by the framework that they are converted to, each by its name."""
