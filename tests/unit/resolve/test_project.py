"""Types across the files of one source tree: small real trees on disk, converted file by file."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from paddletorch.batch.pool import convert_in_pool
from paddletorch.engine.engine import Engine
from paddletorch.model import Options, Status
from paddletorch.resolve.project.module_finder import Location, ModuleFinder

MODELS = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(4, 4)

        def forward(self, x):
            return self.fc(x)

    class Deep(Net):
        def load_state_dict(self, state):
            return state

    class Plain:
        def zero_grad(self):
            pass

    class Bag(torch.utils.data.Dataset):
        pass

    def make(kind) -> nn.Module:
        return REGISTRY[kind]

    def optimizer_for(net):
        return torch.optim.SGD(net.parameters(), lr=0.1)

    def both(net):
        return Net(), torch.optim.SGD(net.parameters(), lr=0.1)

    def either(kind):
        return Net() if kind else torch.zeros(3)

    def same(x):
        return x

    same(torch.zeros(3))
    shared = Net()
    solver = torch.optim.Adam(shared.parameters())
"""


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files by their relative path; text is dedented."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else textwrap.dedent(content).encode())


def converted(folder: Path, name: str, code: str, files: Mapping[str, str | bytes]) -> str:
    """``code`` as the file ``name`` of the tree, converted to Paddle with all tables."""
    write(folder, {**files, name: "import torch\n" + textwrap.dedent(code)})
    path = folder / name
    result = Engine(Options(target="paddle"), tree=True).convert(path.read_bytes(), str(path))
    assert result.status is not Status.FAILED, result.diagnostics
    return result.output.decode()


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from .models import Net", "Net()"),
        ("from pkg.models import Net", "Net()"),
        ("from . import models", "models.Net()"),
        ("import pkg.models as m", "m.Net()"),
        ("import pkg.models", "pkg.models.Net()"),
        ("from pkg import models as m", "m.Net()"),
        ("from pkg import Renamed", "Renamed()"),
        ("from . import Renamed", "Renamed()"),
        ("from .star import Net", "Net()"),
        ("from .models import *", "Net()"),
        ("from .star import *", "Net()"),
        ("from .sub.leaf import Leaf", "Leaf()"),
        ("from .sub import Leaf", "Leaf()"),
        ("from .models import make", "make('a')"),
        ("from .models import both", "both(None)[0]"),
        ("from .models import shared as held", "held"),
        ("from . import models", "models.shared"),
    ],
)
def test_a_module_is_known_however_its_name_came_here(tmp_path: Path, imports: str, call: str) -> None:
    files = {
        "pyproject.toml": "",
        "pkg/__init__.py": "from .models import Net as Renamed\n",
        "pkg/models.py": MODELS,
        "pkg/star.py": "from .models import *\n",
        "pkg/sub/__init__.py": "from .leaf import Leaf\n",
        "pkg/sub/leaf.py": "from ..models import Net\nclass Leaf(Net):\n    pass\n",
    }
    output = converted(tmp_path, "pkg/train.py", f"{imports}\nthing = {call}\nthing.load_state_dict(state)\n", files)
    assert "thing.set_state_dict(state)" in output


@pytest.mark.parametrize("taken", ["parts", "absent"], ids=["cycles", "modules that are no files"])
def test_modules_that_take_everything_from_each_other(tmp_path: Path, taken: str) -> None:
    stars = "".join(f"from .{taken}{number} import *\n" for number in range(12))
    files = {"pkg/__init__.py": stars, "pkg/last.py": MODELS}
    if taken == "parts":
        files |= {f"pkg/parts{number}.py": "from . import *\n" + stars for number in range(12)}
        files["pkg/parts11.py"] += "from .last import *\n"
    code = "from pkg import Net, Absent\nthing, other = Net(), Absent()\n"
    output = converted(tmp_path, "train.py", code + "thing.load_state_dict(s)\nother.load_state_dict(s)\n", files)
    assert output.endswith(f"thing.{'set' if taken == 'parts' else 'load'}_state_dict(s)\nother.load_state_dict(s)\n")


@pytest.mark.parametrize(
    ("imports", "before", "after"),
    [
        ("from .models import optimizer_for", "thing = optimizer_for(m)\nthing.zero_grad()", "thing.clear_grad("),
        ("from .models import solver", "solver.zero_grad()", "solver.clear_grad("),
        ("from .models import both", "one, two = both(m)\ntwo.zero_grad()", "two.clear_grad("),
        ("from .models import Net", "def f(m: Net, v):\n    m.load_state_dict(v)", "m.set_state_dict(v)"),
        (
            "from .models import Net",
            "class Own(Net):\n    def f(self, v):\n        self.load_state_dict(v)",
            "self.set_",
        ),
        ("from .models import Net", "value = Net()(batch)\nvalue.view(2, 3)", "value.reshape([2, 3])"),
        ("from .models import Net", "def f(m, v):\n    if isinstance(m, Net):\n        m.load_state_dict(v)", "m.set_"),
    ],
)
def test_what_comes_from_another_file_is_evidence(tmp_path: Path, imports: str, before: str, after: str) -> None:
    assert after in converted(tmp_path, "pkg/train.py", f"{imports}\n{before}\n", {"pkg/models.py": MODELS})


@pytest.mark.parametrize(
    ("imports", "code"),
    [
        ("from .models import Deep", "thing = Deep()\nthing.load_state_dict(s)"),  # its own method
        ("from .models import Deep", "class Own(Deep):\n    pass\nthing = Own()\nthing.load_state_dict(s)"),
        ("from .models import Plain", "optimizer = Plain()\noptimizer.zero_grad()"),  # none of torch's
        ("from .models import either", "thing = either(1)\nthing.load_state_dict(s)"),  # one of two
        ("from .models import same", "thing = same(batch)\nthing.float()"),  # gives back what it is given
        ("from .models import Absent", "thing = Absent()\nthing.load_state_dict(s)"),
        ("from .absent import Net", "thing = Net()\nthing.load_state_dict(s)"),
        ("from ....models import Net", "thing = Net()\nthing.load_state_dict(s)"),  # above the root
    ],
)
def test_without_evidence_nothing_is_converted(tmp_path: Path, imports: str, code: str) -> None:
    output = converted(
        tmp_path, "pkg/train.py", f"{imports}\n{code}\n", {"pkg/__init__.py": "", "pkg/models.py": MODELS}
    )
    assert output.endswith(code.replace("torch.", "paddle.") + "\n")


def test_a_name_that_this_file_binds_hides_the_imported_one(tmp_path: Path) -> None:
    code = "from .models import *\nclass Net:\n    pass\nthing = Net()\nthing.load_state_dict(s)\n"
    assert converted(tmp_path, "pkg/train.py", code, {"pkg/models.py": MODELS}).endswith("thing.load_state_dict(s)\n")


def test_a_name_that_the_package_binds_hides_its_module(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .net import net\n",
        "pkg/net.py": MODELS + "\n    def net():\n        return Net()\n",
    }
    code = "from pkg import net\nthing = net()\nthing.load_state_dict(s)\n"
    assert "thing.set_state_dict(s)" in converted(tmp_path, "train.py", code, files)


@pytest.mark.parametrize(
    "bad",
    [
        b"class Net(:\n",
        b"\xff\xfe class Net",
        b"class Net\0",
        b"class Net:" + b"(" * 5000,
        b"# -*- coding: none -*-\nNet",
    ],
)
def test_a_file_that_cannot_be_read_tells_nothing(tmp_path: Path, bad: bytes) -> None:
    code = "from .models import Net\nthing = Net()\nthing.load_state_dict(s)\nx = torch.cat([a, b])\n"
    output = converted(tmp_path, "pkg/train.py", code, {"pkg/models.py": bad})
    assert "thing.load_state_dict(s)" in output
    assert "paddle.concat([a, b])" in output


def test_a_folder_with_the_name_of_a_file_tells_nothing(tmp_path: Path) -> None:
    (tmp_path / "pkg/models.py").mkdir(parents=True)
    assert "thing.load" in converted(
        tmp_path, "pkg/t.py", "from .models import N\nthing = N()\nthing.load_state_dict(s)\n", {}
    )


def test_files_that_import_each_other(tmp_path: Path) -> None:
    files = {
        "pkg/a.py": "from torch import nn\nfrom .b import B, loop_b\nclass A(nn.Module):\n    pass\n"
        "class A2(B):\n    pass\ndef loop_a(n):\n    return loop_b(n) if n else A()\n",
        "pkg/b.py": "from .a import A, A2, loop_a\nclass B(A):\n    pass\nclass C(A2):\n    pass\n"
        "class Ring(Ring2):\n    pass\nfrom .c import Ring2\ndef loop_b(n):\n    return loop_a(n)\n",
        "pkg/c.py": "from .b import Ring\nclass Ring2(Ring):\n    pass\n",
    }
    code = """
        from .b import C, Ring, loop_b
        one, two, three = C(), Ring(), loop_b(3)
        one.load_state_dict(s)
        two.load_state_dict(s)
        three.load_state_dict(s)
    """
    output = converted(tmp_path, "pkg/train.py", code, files)
    assert "one.set_state_dict(s)" in output
    assert "two.load_state_dict(s)" in output
    assert "three.set_state_dict(s)" in output


def test_methods_and_attributes_of_a_class_of_another_file(tmp_path: Path) -> None:
    files = {
        "pkg/trainer.py": """
            import torch
            class Trainer:
                def build(self):
                    return torch.optim.SGD(self.ps, lr=0.1)
                @staticmethod
                def wrapped():
                    return torch.optim.SGD([], lr=0.1)
                def promised(self, x) -> torch.Tensor:
                    return self.hook(x)
        """
    }
    code = """
        from .trainer import Trainer
        class Own(Trainer):
            def run(self):
                self.build().zero_grad()
                return self.promised(1).view(2, 3)
        Trainer().build().zero_grad()
    """
    output = converted(tmp_path, "pkg/train.py", code, {**files})
    assert "self.build().clear_grad(" in output
    assert "self.promised(1).reshape([2, 3])" in output
    assert "Trainer().build().clear_grad(" in output


def test_what_objects_of_a_class_of_another_file_keep(tmp_path: Path) -> None:
    files = {
        "pkg/parts.py": """
            import torch
            from torch import nn
            class Head(nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.fc = nn.Linear(n, 2)
                    self.odd = nn.Linear(n, 2) if n else nn.Conv2d(n, n, 1)
        """,
        "pkg/net.py": """
            import torch
            from .parts import Head
            class Net(Head):
                def __init__(self, n):
                    super().__init__(n)
                    self.head = Head(n)
                    self.where = torch.device("cpu")
            def made(n):
                return Net(n)
        """,
    }
    code = """
        from .net import Net, made
        class Other:
            def __init__(self, fc):
                self.fc = fc
        class Own(Net):
            def sizes(self):
                return self.fc.weight.shape, self.where.type, self.head.fc.weight.shape
        def sizes(n, given: Net, unseen):
            net = made(n)
            for one in [net]:
                one.fc.weight.shape
            given.head.fc.weight.shape
            with open("log"):
                Net(n).where.type
            net.odd.kernel_size
            unseen.where.type
    """
    output = converted(tmp_path, "pkg/train.py", code, files)
    assert "self.fc.weight.t().shape" in output
    assert "self.where.partition(" in output
    assert "self.head.fc.weight.t().shape" in output
    assert "one.fc.weight.t().shape" in output
    assert "given.head.fc.weight.t().shape" in output
    assert "Net(n).where.partition(" in output
    assert "net.odd._kernel_size" not in output
    assert "unseen.where.type" in output


def test_objects_of_a_class_of_this_file_or_of_another(tmp_path: Path) -> None:
    files = {
        "pkg/net.py": """
            import torch
            class Net(torch.nn.Module):
                def __init__(self, n):
                    super().__init__()
                    self.fc = torch.nn.Linear(n, 2)
                    self.conv = torch.nn.Conv2d(n, n, 1)
        """,
    }
    code = """
        import torch
        from .net import Net
        class Odd(torch.nn.Module):
            def __init__(self, n):
                super().__init__()
                self.in_channels = n
        class Own(torch.nn.Module):
            def __init__(self, n):
                super().__init__()
                self.fc = torch.nn.Conv2d(n, n, 1)
                self.conv = Odd(n)
        class Sub(Net):
            def __init__(self, n):
                super().__init__(n)
                self.conv = Odd(n)
        def either(flag, n):
            net = Net(n) if flag else Own(n)
            net.fc.weight.shape
            net.conv.in_channels
        def derived(n):
            sub = Sub(n)
            sub.conv.in_channels
            sub.fc.weight.shape
    """
    output = converted(tmp_path, "pkg/train.py", code, files)
    assert "torch_weight(net.fc).shape" in output
    assert "torch_in_channels(net.conv)" in output
    assert "sub.conv.in_channels" in output
    assert "sub.fc.weight.t().shape" in output


@pytest.mark.parametrize("call", ["super()", "super(Mixin, self)"])
def test_a_mixin_that_hands_its_arguments_on_hides_no_class(tmp_path: Path, call: str) -> None:
    files = {
        "pkg/mixins.py": f"""
            class Mixin:
                def __init__(self, *args, **kwargs):
                    {call}.__init__(*args, **kwargs)
            class Named:
                def __init__(self, *args, name, **kwargs):
                    {call}.__init__(*args, **kwargs)
        """,
        "pkg/draws.py": """
            import torch
            from torch.distributions import Uniform
            from .mixins import Mixin, Named
            class Draw(Mixin, Uniform):
                pass
            class Called(Named, Uniform):
                pass
            class Net(Mixin, torch.nn.Module):
                pass
        """,
    }
    code = """
        from .draws import Called, Draw, Net
        draw = Draw(0.0, 1.0, validate_args=False)
        called = Called(0.0, 1.0, validate_args=False, name="u")
        Net().load_state_dict(s)
    """
    output = converted(tmp_path, "pkg/train.py", code, files)
    assert "Draw(0.0, 1.0)" in output
    assert "Called(0.0, 1.0, validate_args=False" in output
    assert "Net().set_state_dict(s)" in output


def test_to_torch_as_well(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "nets.py": "import paddle\nclass Net(paddle.nn.Layer):\n    pass\n",
            "train.py": "import paddle\nfrom nets import Net\nthing = Net()\nthing.set_state_dict(s)\n",
        },
    )
    path = tmp_path / "train.py"
    result = Engine(Options(target="torch"), tree=True).convert(path.read_bytes(), str(path))
    assert b"thing.load_state_dict({name: torch.as_tensor(value) for name, value in s.items()}" in result.output


def test_an_engine_without_a_tree_looks_at_no_other_file(tmp_path: Path) -> None:
    write(tmp_path, {"models.py": MODELS})
    code = b"import torch\nfrom models import Net\nthing = Net()\nthing.load_state_dict(s)\n"
    assert b"load_state_dict" in Engine(Options(target="paddle")).convert(code, str(tmp_path / "train.py")).output


def test_worker_processes_know_the_tree(tmp_path: Path) -> None:
    code = "import torch\nfrom .models import Net\nthing = Net()\nthing.load_state_dict(s)\n"
    write(tmp_path, {"pkg/models.py": MODELS, "pkg/a.py": code, "pkg/b.py": code})
    paths = [str(path) for path in sorted((tmp_path / "pkg").glob("?.py"))]
    results = list(convert_in_pool(paths, [len(code)] * 2, Options(target="paddle"), 2))
    assert [b"thing.set_state_dict(s)" in r.result.output for r in results] == [True, True]


@pytest.mark.parametrize(("arguments", "known"), [(("--stdin-filename", "pkg/train.py"), True), ((), False)])
def test_stdin_with_a_name_stands_in_its_tree(tmp_path: Path, arguments: tuple[str, ...], known: bool) -> None:
    write(tmp_path, {"pkg/models.py": MODELS, "models.py": MODELS})
    code = b"import torch\nfrom .models import Net\nthing = Net()\nthing.load_state_dict(s)\n"
    command = [sys.executable, "-m", "paddletorch", "convert", "-", "--to", "paddle", *arguments]
    done = subprocess.run(command, input=code, capture_output=True, cwd=tmp_path, check=False)
    assert (b"thing.set_state_dict(s)" in done.stdout) is known


@pytest.mark.parametrize(
    ("name", "importer", "found"),
    [
        (".b.X", "pkg/a.py", ("pkg/b.py", "X")),
        ("..pkg.b.X.y", "pkg/sub/a.py", ("pkg/pkg/b.py", "X", "y")),
        ("pkg.b.X", "tools/run.py", ("pkg/b.py", "X")),  # from the project's root
        ("lib.b.X", "tools/run.py", ("src/lib/b.py", "X")),
        ("b.X", "pkg/a.py", ("pkg/b.py", "X")),  # run as a script
        ("pkg.X", "pkg/a.py", ("pkg/__init__.py", "X")),
        ("pkg.b", "pkg/a.py", ("pkg/__init__.py", "b")),
        ("plain.c.X", "run.py", ("plain/c.py", "X")),  # a folder without __init__.py
        ("plain.X", "run.py", None),
        ("numpy.X", "pkg/a.py", None),
        ("os.path", "pkg/a.py", None),
        ("torch.nn", "pkg/a.py", None),
        ("pkg", "pkg/a.py", None),
    ],
)
def test_where_a_name_stands(tmp_path: Path, name: str, importer: str, found: tuple[str, ...] | None) -> None:
    files = ("pkg/__init__.py", "pkg/b.py", "pkg/pkg/b.py", "src/lib/__init__.py", "src/lib/b.py", "plain/c.py")
    write(tmp_path, dict.fromkeys((*files, "setup.py", "torch/nn.py", "os/path.py", "tools/run.py"), ""))
    location = ModuleFinder({"torch"}).find(name, str((tmp_path / importer).parent)).location
    assert location == (Location(str(tmp_path / found[0]), found[1:]) if found is not None else None)


def test_without_a_mark_of_a_project_the_package_around_is_one(tmp_path: Path) -> None:
    write(tmp_path, dict.fromkeys(("pkg/__init__.py", "pkg/b.py", "pkg/data/run.py", "other/run.py"), ""))
    finder = ModuleFinder({"torch"})
    assert finder.find("pkg.b.X", str(tmp_path / "pkg" / "data")).location == (str(tmp_path / "pkg" / "b.py"), ("X",))
    assert finder.find("pkg.b.X", str(tmp_path / "other")).location is None
