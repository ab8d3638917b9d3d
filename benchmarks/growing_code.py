"""Sources with much of one kind of code: classes, calls, displays, statements in a line, comments and strings."""

from __future__ import annotations

from growing_text import TORCH, block, repeated


def dotted_uses(n: int) -> str:
    """Calls by full name, in one function."""
    return TORCH + "def f(x):\n" + block([f"y{i} = torch.nn.functional.relu(x, inplace=False)" for i in range(n)])


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
    return TORCH + repeated(one, n)


def layers_of_one_class(n: int) -> str:
    """One class with many layers."""
    lines = [f"self.layer_{i} = nn.Linear(3, {i})" for i in range(n)]
    calls = [f"x = self.layer_{i}(x).view({i}, -1)" for i in range(n)]
    head = "class Model(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
    return TORCH + head + block(lines, 8) + "\n    def forward(self, x):\n" + block([*calls, "return x"], 8)


def methods_of_one_class(n: int) -> str:
    """One class with many methods that call each other."""
    one = "    def step_{i}(self, x):\n        x = self.step_{j}(x)\n        return x.max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return TORCH + "class Model(nn.Module):\n" + "".join(lines)


def one_attribute_in_many_classes(n: int) -> str:
    """Classes without a base that set an attribute of one name, which is read everywhere."""
    one = "class C{i}:\n    def __init__(self, x):\n        self.x = x\n\n"
    one += "    def get(self):\n        return self.x.max(1)\n\n"
    return TORCH + repeated(one, n)


def stores_to_one_attribute(n: int) -> str:
    """One attribute, set again and again from itself."""
    lines = [f"self.x = self.x.view({i}, -1)" for i in range(n)]
    return TORCH + "class C(nn.Module):\n    def forward(self, x):\n        self.x = x\n" + block(lines, 8)


def deep_inheritance(n: int) -> str:
    """Classes, each of which inherits from the one before."""
    one = (
        "class C{j}(C{i}):\n    def __init__(self):\n        super().__init__()\n        self.a{j} = nn.Linear(3, 4)\n"
    )
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return TORCH + "C0 = nn.Module\n" + "".join(lines)


def deep_inheritance_of_forward(n: int) -> str:
    """Classes, each of which inherits from the one before and calls its ``forward``."""
    one = "class C{j}(C{i}):\n    def forward(self, x):\n        return super().forward(x).max(1)[0]\n\n"
    lines = (one.replace("{i}", str(i)).replace("{j}", str(i + 1)) for i in range(n))
    return TORCH + "class C0(nn.Module):\n    pass\n\n" + "".join(lines)


def subclasses_of_one_class(n: int) -> str:
    """Classes that all inherit from one class of the module."""
    one = "class C{i}(Base):\n    def forward(self, x):\n        return self.act(x).max(1)[0]\n\n"
    base = (
        "class Base(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = nn.ReLU()\n\n"
    )
    return TORCH + base + repeated(one, n)


def constructors_of_base_classes(n: int) -> str:
    """Classes with a base each, to which they pass a parameter that is read."""
    one = (
        "class Base{i}(nn.Module):\n    def __init__(self, x):\n        super().__init__()\n        y = x.max(1)\n\n"
        "class C{i}(Base{i}):\n    def __init__(self, x):\n        super().__init__(x)\n        y = x.max(1)\n\n"
    )
    return TORCH + repeated(one, n)


def many_parameters(n: int) -> str:
    """One function with many parameters, and a call with as many arguments."""
    names = ", ".join(f"p{i}" for i in range(n))
    uses = block([f"q{i} = p{i}.max(1)" for i in range(n)])
    given = ", ".join("torch.zeros(3)" for _ in range(n))
    return TORCH + f"def f({names}):\n{uses}\n\nf({given})\n"


def nested_calls(n: int) -> str:
    """Groups of 24 calls inside each other."""
    lines = ("torch.relu(" * 24 + f"x{i}" + ")" * 24 for i in range(n // 24))
    return TORCH + "def f(x):\n" + block([f"y = {line}" for line in lines])


def nested_rewritten_calls(n: int) -> str:
    """Groups of 24 calls inside each other, each of which is written in another form."""
    lines = ("torch.rsub(" * 24 + "x, 2" + "), 1" * 23 + ")" for i in range(n // 24))
    return (
        TORCH + "def f(x):\n    x = torch.zeros(3)\n" + block([f"y = {line.replace('), 1', ', 1)')}" for line in lines])
    )


def method_chain(n: int) -> str:
    """Methods of a tensor called on each other's results, in groups of 24."""
    lines = (f"y = torch.zeros({i})" + ".relu().view(3, -1)" * 24 for i in range(n // 24))
    return TORCH + "def f(x):\n" + block(list(lines))


def attribute_chain(n: int) -> str:
    """Attributes of attributes, in groups of 24."""
    lines = (f"y = torch.relu(config{''.join(f'.a{j}' for j in range(24))}.b{i})" for i in range(n // 24))
    return TORCH + "def f(x):\n" + block(list(lines))


def long_operator_chain(n: int) -> str:
    """A sum of tensors in one expression, in groups of 24."""
    lines = ("y = " + " + ".join(["torch.zeros(3)", *(f"torch.ones({j})" for j in range(24))]) for _ in range(n // 24))
    return TORCH + "def f(x):\n" + block(list(lines))


def member_calls_in_one_sum(n: int) -> str:
    """One sum of calls of one method that is written in another form."""
    return TORCH + "def f(i):\n    i = torch.zeros(3)\n    y = " + " + ".join(["i.unique()"] * n) + "\n    return y\n"


def arguments_of_one_call(n: int) -> str:
    """One call with many arguments."""
    return TORCH + "y = nn.Sequential(" + ", ".join(f"nn.Linear(3, {i})" for i in range(n)) + ")\n"


def arguments_on_lines(n: int) -> str:
    """One call with many arguments, each on a line of its own."""
    return (
        TORCH + "y = nn.Sequential(\n" + "".join(f"    nn.Conv2d(3, {i}, 1, bias=False),\n" for i in range(n)) + ")\n"
    )


def keywords_of_one_call(n: int) -> str:
    """One call with many keywords."""
    return TORCH + "y = dict(" + ", ".join(f"k{i}=torch.max(x{i}, 1)" for i in range(n)) + ")\n"


def keyword_dicts(n: int) -> str:
    """Calls that each take the keywords of a dict."""
    lines = (
        f"options_{i} = dict(in_features={i}, out_features=4)\nlayer_{i} = nn.Linear(**options_{i})\n" for i in range(n)
    )
    return TORCH + "".join(lines)


def keyword_dicts_in_functions(n: int) -> str:
    """Functions that each pass a dict on to a call."""
    one = "def f{i}():\n    options = {'kernel_size': 3}\n    options['bias'] = False\n"
    one += "    return nn.Conv2d(3, {i}, **options)\n\n"
    return TORCH + repeated(one, n)


def one_keyword_dict(n: int) -> str:
    """One dict whose keywords are passed to many calls."""
    lines = "".join(f"layer_{i} = nn.Linear({i}, 4, **options)\n" for i in range(n))
    return TORCH + "options = dict(bias=False)\n" + lines


def dict_entries(n: int) -> str:
    """One dict with many entries, on lines of their own."""
    return TORCH + "TABLE = {\n" + "".join(f"    'k{i}': torch.float16,\n" for i in range(n)) + "}\n"


def dict_entries_in_one_line(n: int) -> str:
    """One dict with many entries, in one line."""
    return TORCH + "TABLE = {" + ", ".join(f"'k{i}': torch.relu" for i in range(n)) + "}\n"


def list_entries(n: int) -> str:
    """One list with many entries that are calls."""
    return TORCH + "LAYERS = [" + ", ".join(f"nn.Linear(3, {i})" for i in range(n)) + "]\n"


def numbers(n: int) -> str:
    """One list of many numbers, in one line, beside a use."""
    return TORCH + "y = torch.tensor([" + ", ".join(str(i % 97) for i in range(n)) + "])\n"


def tuple_of_tensors(n: int) -> str:
    """One tuple of many tensors, which is unpacked."""
    values = ", ".join(f"torch.zeros({i})" for i in range(n))
    targets = ", ".join(f"x{i}" for i in range(n))
    return TORCH + f"values = {values},\n{targets} = values\n" + "".join(f"y{i} = x{i}.max(1)\n" for i in range(n))


def edits_in_one_line(n: int) -> str:
    """Statements in one line."""
    return TORCH + "; ".join(f"x{i} = torch.max(y, dim=1)" for i in range(n)) + "\n"


def statements_in_one_line(n: int) -> str:
    """Statements in one line of a function that is not ASCII."""
    return TORCH + "def f(é): " + "; ".join(f"x{i} = é.unsqueeze(1)" for i in range(n)) + "\n"


def decorators(n: int) -> str:
    """One function with many decorators."""
    return TORCH + "@torch.no_grad()\n" * n + "def f(x):\n    return x.max(1)\n"


def decorated_functions(n: int) -> str:
    """Functions with a decorator each."""
    one = "@torch.cuda.amp.autocast()\ndef f{i}(x):\n    return torch.relu(x)\n\n"
    return TORCH + repeated(one, n)


def comments_of_suppression(n: int) -> str:
    """Comments that suppress a conversion each."""
    return TORCH + "".join(f"x{i} = torch.max(y, dim=1)  # paddletorch: ignore\n" for i in range(n))


def idle_suppressions(n: int) -> str:
    """Comments that suppress nothing."""
    return TORCH + "".join(f"x{i} = {i}  # paddletorch: ignore[AMP213]\n" for i in range(n))


def suppressions_of_the_file(n: int) -> str:
    """Comments that each suppress a code in the whole file."""
    comments = "".join(f"# paddletorch: ignore-file[API{200 + i % 40}]\n" for i in range(n))
    return comments + TORCH + "".join(f"x{i} = torch.max(y, dim=1)\n" for i in range(n))


def findings(n: int) -> str:
    """Uses that are reported."""
    return TORCH + "".join(f"torch.backends.cudnn.benchmark_limit = {i}\ntorch.jit.script(f{i})\n" for i in range(n))


def findings_in_one_statement(n: int) -> str:
    """Uses that are reported, in one statement."""
    return TORCH + "y = [\n" + "".join(f"    torch.jit.script(f{i}),\n" for i in range(n)) + "]\n"


def strings(n: int) -> str:
    """Strings that name APIs, between uses."""
    one = "name_{i} = 'torch.nn.Linear'\nmessage_{i} = 'needs torch.{i}'\ny_{i} = torch.max(x, 1)\n"
    return TORCH + repeated(one, n)


def fstrings(n: int) -> str:
    """f-strings with uses in them."""
    return TORCH + "".join(f"print(f'{{torch.max(x, dim=1)}} and {{y.max(1)}} {i}')\n" for i in range(n))


def one_fstring(n: int) -> str:
    """One f-string with many uses."""
    return TORCH + "print(f'" + " ".join("{torch.max(x, dim=1)}" for _ in range(n)) + "')\n"


def string_annotations(n: int) -> str:
    """Functions with annotations that are strings."""
    return TORCH + "".join(
        f"def f{i}(x: 'torch.Tensor') -> 'torch.FloatTensor':\n    return x.max(1)\n\n" for i in range(n)
    )


def annotations(n: int) -> str:
    """Annotated variables."""
    return TORCH + "".join(f"x{i}: torch.Tensor = torch.zeros({i}, device='cpu')\n" for i in range(n))


def type_checks(n: int) -> str:
    """Checks of one name's type in a loop over modules."""
    one = "        if isinstance(m, nn.Conv2d):\n            nn.init.constant_(m.weight, 0)\n"
    return TORCH + "def f(model):\n    for m in model.modules():\n" + one * n


def asserted_types(n: int) -> str:
    """Checks of one name's type by ``assert``."""
    return TORCH + "def f(m):\n" + block(["assert isinstance(m, nn.Conv2d)\n    y = m.weight.max(1)"] * n)


def subscripts(n: int) -> str:
    """Subscripts of one tensor."""
    return TORCH + "def f(x):\n    x = torch.zeros(3)\n" + block([f"y{i} = x[..., None, {i}]" for i in range(n)])


def shapes(n: int) -> str:
    """Sizes of one tensor, unpacked."""
    return TORCH + "def f(x):\n    x = torch.zeros(3)\n" + block(["b, c = x.size()\n    x = x.reshape(b, c)"] * n)


def templates(n: int) -> str:
    """Calls that are written in another form, one in each line."""
    return TORCH + "def f(x):\n" + block([f"y{i} = torch.cuda.is_available() and x.size({i})" for i in range(n)])


def values_passed_on(n: int) -> str:
    """APIs that are passed as values."""
    return TORCH + "".join(f"layer_{i} = build(nn.Conv2d, act=nn.ReLU, norm=F.relu)\n" for i in range(n))


def probes(n: int) -> str:
    """Questions whether a module has a name."""
    return TORCH + "".join("if hasattr(torch, 'compile'):\n    f = torch.compile(g)\n" for _ in range(n))


def comprehensions(n: int) -> str:
    """Comprehensions over one variable."""
    return (
        TORCH + "xs = [torch.zeros(3)]\n" + "".join("ys = [x.max(1) for x in xs if x.unsqueeze(0)]\n" for _ in range(n))
    )


def comments_in_calls(n: int) -> str:
    """Calls with a comment after each argument."""
    return TORCH + "y = torch.max(\n    x,  # the input\n    dim=1,  # the axis\n)\n" * n


def unfinished(n: int) -> str:
    """A module that does not parse: an error in its last line."""
    return TORCH + "x = torch.max(y, dim=1)\n" * n + "x = (\n"
