"""Sources with many bindings of names: rebound, in branches and loops, by imports, and by functions."""

from __future__ import annotations

from growing_text import TORCH, block, repeated


def rebound_in_module(n: int) -> str:
    """One module-level name, bound anew in each line from itself."""
    return TORCH + "x = torch.zeros(4)\n" + "".join(f"x = x.view({i}, -1)\n" for i in range(n))


def rebound_in_function(n: int) -> str:
    """One parameter, bound anew in each line from itself."""
    return TORCH + "def f(x):\n" + block([f"x = x.view({i}, -1)" for i in range(n)] + ["return x"])


def rebound_tensor_in_function(n: int) -> str:
    """One local name, a tensor from the start, bound anew in each line from itself."""
    lines = ["x = torch.zeros(4)", *(f"x = x.view({i}, -1)" for i in range(n)), "return x"]
    return TORCH + "def f():\n" + block(lines)


def rebound_unknown_in_function(n: int) -> str:
    """A name of unknown type, bound anew by calls that say nothing of the type."""
    lines = [f"x = transform_{i % 7}(x)\n    y = x.max(1)" for i in range(n)]
    return TORCH + "def f(x):\n" + block([*lines, "return x"])


def copied_in_function(n: int) -> str:
    """A name of unknown type that is copied to itself, and shown to be a tensor only in the end."""
    lines = [f"x = x.to(device_{i % 5})" for i in range(n)]
    return TORCH + "def f(x):\n" + block([*lines, "return x.unsqueeze(0)"])


def rebound_in_branches(n: int) -> str:
    """``if``, one after the other, each of which binds the same name."""
    lines = [f"if flag == {i}:\n        x = x.view({i}, -1)" for i in range(n)]
    return TORCH + "def f(x, flag):\n" + block([*lines, "return x"])


def chained_branches(n: int) -> str:
    """``if``, one after the other, each of which binds a name that the next one reads."""
    lines = [f"if flag == {i}:\n        y{i + 1} = y{i}.view({i}, -1)" for i in range(n)]
    return TORCH + "def f(y0, flag):\n" + block([*lines, f"return y{n}"])


def branches_of_one_name(n: int) -> str:
    """``if``, one after the other, in module and function: each binds one name from another."""
    lines = [f"if flag == {i}:\n        y = x.view({i}, -1)\n    z = y.max(1)" for i in range(n)]
    return TORCH + "def f(x, flag):\n    y = x\n" + block([*lines, "return y"])


def branches_in_module(n: int) -> str:
    """``if``, one after the other, at module level."""
    lines = (f"if flag == {i}:\n    y = y.view({i}, -1)\n" for i in range(n))
    return TORCH + "y = torch.ones(3)\n" + "".join(lines)


def elif_chain(n: int) -> str:
    """One ``if`` with many ``elif``, each of which binds the same name."""
    lines = "".join(f"    elif flag == {i}:\n        y = x.view({i}, -1)\n" for i in range(n))
    return TORCH + "def f(x, flag):\n    if flag is None:\n        y = x\n" + lines + "    return y.max(1)\n"


def loops_in_sequence(n: int) -> str:
    """Loops, one after the other, over one name."""
    lines = [f"for i in range({i}):\n        x = x.view(i, -1)" for i in range(n)]
    return TORCH + "def f(x):\n" + block([*lines, "return x"])


def nested_loops(n: int) -> str:
    """Groups of twelve loops inside each other, each of which binds one name."""
    parts = []
    for group in range(n // 12):
        for depth in range(12):
            parts.append(f"{'    ' * (depth + 1)}for i{depth} in range({group}):\n")
            parts.append(f"{'    ' * (depth + 2)}x = x.view(i{depth}, -1)\n")
    return TORCH + "def f(x):\n" + "".join(parts) + "    return x\n"


def long_loop(n: int) -> str:
    """One loop whose body binds one name in each line."""
    lines = [f"x = x.view({i}, -1)" for i in range(n)]
    return TORCH + "def f(x, loader):\n    for batch in loader:\n" + block(lines, 8) + "    return x\n"


def tries_in_sequence(n: int) -> str:
    """``try`` statements, each of which binds one name in two ways."""
    lines = [f"try:\n        x = x.view({i}, -1)\n    except RuntimeError:\n        x = None" for i in range(n)]
    return TORCH + "def f(x):\n" + block([*lines, "return x"])


def with_blocks(n: int) -> str:
    """``with torch.no_grad()``, one after the other."""
    lines = [f"with torch.no_grad():\n        x = x.view({i}, -1)" for i in range(n)]
    return TORCH + "def f(x):\n" + block([*lines, "return x"])


def operators_in_place(n: int) -> str:
    """Operators in place on one tensor."""
    lines = [f"x += {i}" for i in range(n)]
    return TORCH + "def f(a):\n    x = torch.zeros(3)\n" + block([*lines, "return x"])


def methods_in_place(n: int) -> str:
    """Methods in place on one tensor."""
    lines = [f"x.add_({i})" for i in range(n)]
    return TORCH + "def f(a):\n    x = torch.zeros(3)\n" + block([*lines, "return x"])


def operators_on_parameter(n: int) -> str:
    """Operators in place on one parameter."""
    return TORCH + "def f(x, y):\n" + block(["x += y"] * n + ["return x"])


def operators_behind_views(n: int) -> str:
    """Operators in place on one parameter, each behind a view of it that takes its name."""
    return TORCH + "def f(x):\n" + block(["x = x.view(-1)", "x += 1"] * n + ["return x"])


def operators_behind_branches(n: int) -> str:
    """Operators in place on one parameter, each behind a branch that binds it anew."""
    lines = [f"if flag == {i}:\n        x = x.view(-1)\n    x += 1" for i in range(n)]
    return TORCH + "def f(x, flag):\n" + block([*lines, "return x"])


def operators_between_views(n: int) -> str:
    """Operators in place on one tensor, each behind a view that is not read again."""
    lines = [f"y{i} = x.view({i}, -1)\n    x += 1" for i in range(n)]
    return TORCH + "def f():\n    x = torch.zeros(3)\n" + block([*lines, "return x"])


def operators_on_attribute(n: int) -> str:
    """Operators in place on one attribute, which is set again and again."""
    lines = ["self.x = torch.zeros(3)", "self.x += x"] * n
    return TORCH + "class C(nn.Module):\n    def forward(self, x):\n" + block(lines, 8)


def left_imports(n: int) -> str:
    """Imports of what Paddle does not have, each for one function."""
    imports = "".join(f"from torch._inductor import config as config_{i}\n" for i in range(n))
    one = "def f{i}(x):\n    config_{i}.debug = True\n    return torch.max(x, 1)\n\n\n"
    return "import torch\n" + imports + repeated(one, n)


def left_import_in_functions(n: int) -> str:
    """One import of what Paddle does not have, for many functions."""
    one = "def f{i}(x):\n    config.debug = True\n    return torch.max(x, 1)\n\n\n"
    return "import torch\nfrom torch._inductor import config\n" + repeated(one, n)


def left_import_in_one_function(n: int) -> str:
    """One import of what Paddle does not have, for many statements of one function."""
    return "import torch\nfrom torch._inductor import config\n\ndef f(x):\n" + block(["config.debug = True"] * n)


def variables_in_sequence(n: int) -> str:
    """Many variables, each computed from the one before."""
    lines = ["x0 = torch.zeros(3)", *(f"x{i + 1} = torch.add(x{i}, 1, alpha=2)" for i in range(n))]
    return TORCH + "def f():\n" + block([*lines, f"return x{n}"])


def variables_backwards(n: int) -> str:
    """Many variables, each bound in a loop from the one after it."""
    lines = [f"x{i} = x{i + 1}" for i in range(n)]
    return TORCH + f"def f(x{n}, loader):\n    for b in loader:\n" + block([*lines, "y = x0.max(1)"], 8)


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


def guarded_framework_and_imports(n: int) -> str:
    """Uses of the framework, which is imported in ``try`` and then again and again."""
    head = "try:\n    import torch\nexcept ImportError:\n    torch = None\n\n"
    return head + repeated("import torch\n\ndef f{i}(x):\n    return torch.outer(x, x)\n\n", n)


def guarded_framework_in_functions(n: int) -> str:
    """Functions with a guarded import of their own, whose handlers read its name, above imports in a branch."""
    one = "def f{i}(x):\n    try:\n        import torch\n    except ImportError:\n        print(torch)\n"
    return repeated(one + "    return torch.outer(x, x)\n\n", n) + "if True:\n    import torch\n" * n


def imports_in_functions(n: int) -> str:
    """Functions that import what they use."""
    one = (
        "def f{i}(x):\n    import torch\n    from torch import nn\n    return nn.Linear(3, 4)(torch.max(x, 1)[0])\n\n\n"
    )
    return repeated(one, n)


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
    return lines + TORCH + "".join(f"layer_{i} = Linear(3, torch.max(unknown_{i}))\n" for i in range(n))


def function_chain(n: int) -> str:
    """Functions, each of which calls the next one."""
    one = "def f{i}(x):\n    return f{j}(x).max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return TORCH + "".join(lines) + f"def f{n}(x):\n    return torch.max(x)\n\nf0(torch.zeros(3))\n"


def calls_of_one_function(n: int) -> str:
    """Calls of one function of the module, with tensors."""
    head = "def f(x, y=None):\n    return x.max(1)[0]\n\n"
    return TORCH + head + "".join(f"a{i} = f(torch.zeros({i}))\nb{i} = a{i}.max(1)\n" for i in range(n))


def functions_of_one_name(n: int) -> str:
    """Functions of one name, each with a call."""
    return TORCH + "def f(x):\n    return x.max(1)[0]\n\ny = f(torch.zeros(3))\n\n" * n


def lambda_defaults(n: int) -> str:
    """Lambdas with a default each."""
    return TORCH + "".join(f"f{i} = lambda x, y=torch.zeros({i}): torch.max(x, y)\n" for i in range(n))


def lambdas_of_one_name(n: int) -> str:
    """One name, bound to many lambdas and called."""
    return TORCH + "".join(f"f = lambda x: x.view({i}, -1)\ny = f(torch.zeros(3))\n" for i in range(n))


def mixed_dtypes(n: int) -> str:
    """Sums of tensors of different dtypes."""
    lines = ["a = torch.zeros(3, dtype=torch.int64)", "b = torch.zeros(3)", *(f"c{i} = a + b * {i}" for i in range(n))]
    return TORCH + "def f():\n" + block(lines)


def rebound_dtypes(n: int) -> str:
    """One tensor whose dtype changes in each line."""
    lines = ["a = torch.zeros(3, dtype=torch.int64)", *(f"a = (a + {i}).float() + a.long()" for i in range(n))]
    return TORCH + "def f():\n" + block([*lines, "return a"])


def aliases(n: int) -> str:
    """Names for an API, each made from the one before."""
    return TORCH + "a0 = nn.Conv2d\n" + "".join(f"a{i + 1} = a{i}\nlayer{i} = a{i}(3, 4, 1)\n" for i in range(n))


def one_alias(n: int) -> str:
    """One name for an API, bound again and again."""
    return TORCH + "".join("Conv = nn.Conv2d\nlayer = Conv(3, 4, 1, padding_mode='zeros')\n" for i in range(n))


def partial_objects(n: int) -> str:
    """``functools.partial`` of an API, and calls of the result."""
    lines = (
        f"make_{i} = partial(nn.Conv2d, bias=False)\nlayer_{i} = make_{i}(3, 4, kernel_size=1)\n" for i in range(n)
    )
    return TORCH + "from functools import partial\n" + "".join(lines)


def globals_declared(n: int) -> str:
    """Functions that declare one global name and bind it."""
    one = "def f{i}():\n    global state\n    state = state.view({i}, -1)\n\n"
    return TORCH + "state = torch.zeros(3)\n" + repeated(one, n)


def nested_functions(n: int) -> str:
    """Groups of twelve functions inside each other that read one variable of the outermost."""
    parts = []
    for group in range(n // 12):
        parts.append(f"def f{group}(x):\n    x = torch.zeros(3)\n")
        for depth in range(1, 12):
            parts.append(f"{'    ' * depth}def g():\n{'    ' * (depth + 1)}y = x.max(1)\n")
    return TORCH + "".join(parts)
