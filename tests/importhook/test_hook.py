"""``install`` converts the modules that it is asked to, and no others."""

from __future__ import annotations

import importlib
import importlib.machinery
import marshal
import pickle
import sys
import threading
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any

import paddletorch
import paddletorch_shim
import pytest
from paddletorch_shim.importhook.hook import HookedLoader

if TYPE_CHECKING:
    from .conftest import Run

NAMES_TORCH = "def framework():\n    import torch\n    return torch.zeros(2)\n"


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test's folder is on the path, nothing is kept, and what the test imports is forgotten."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PADDLETORCH_NO_CACHE", "1")
    before = set(sys.modules)
    yield
    paddletorch_shim.uninstall()
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if file.startswith(str(tmp_path)) or name.startswith("my_"):
            del sys.modules[name]


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = folder / (name.replace("__in__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def framework(name: str) -> str:
    """The framework that ``framework()`` of the module names."""
    names = importlib.import_module(name).framework.__code__.co_names
    return next(name for name in names if name in ("torch", "paddle"))


def test_named_packages_are_converted_and_no_others(tmp_path: Path) -> None:
    for name in ("my_a__in____init__", "my_a__in__inner__in____init__", "my_a__in__inner__in__deep", "my_b", "my_ab"):
        write(tmp_path, **{name: NAMES_TORCH})
    with paddletorch_shim.install("paddle", packages=["my_a"]):
        found = {name: framework(name) for name in ("my_a", "my_a.inner", "my_a.inner.deep", "my_b", "my_ab")}
    assert found == {
        "my_a": "paddle",
        "my_a.inner": "paddle",
        "my_a.inner.deep": "paddle",
        "my_b": "torch",
        "my_ab": "torch",
    }


def test_a_part_of_a_package_can_be_named(tmp_path: Path) -> None:
    for name in ("my_a__in____init__", "my_a__in__one", "my_a__in__other"):
        write(tmp_path, **{name: NAMES_TORCH})
    with paddletorch_shim.install("paddle", packages=["my_a.one"]):
        assert [framework(name) for name in ("my_a", "my_a.one", "my_a.other")] == ["torch", "paddle", "torch"]


def test_folders_are_converted_but_not_what_is_installed_in_them(tmp_path: Path) -> None:
    installed = tmp_path / ".venv" / "lib" / "site-packages"
    write(tmp_path / "src", my_a=NAMES_TORCH)
    write(installed, my_b=NAMES_TORCH, my_c=NAMES_TORCH)
    write(tmp_path / "elsewhere", my_d=NAMES_TORCH)
    sys.path[:0] = [str(tmp_path / "src"), str(installed), str(tmp_path / "elsewhere")]
    try:
        paddletorch_shim.install("paddle", packages=["my_c"], folders=[tmp_path / "src", tmp_path / ".venv"])
        assert [framework(f"my_{x}") for x in "abcd"] == ["paddle", "torch", "paddle", "torch"]
    finally:
        del sys.path[:3]


def test_namespace_packages_archives_and_extensions(tmp_path: Path) -> None:
    write(tmp_path, my_space__in__inside=NAMES_TORCH)
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("my_zipped.py", NAMES_TORCH)
    sys.path.insert(0, str(tmp_path / "archive.zip"))
    sys.modules.pop("_bisect", None)
    try:
        paddletorch_shim.install("paddle", packages=["my_space", "my_zipped", "_bisect"], folders=[tmp_path])
        assert framework("my_space.inside") == "paddle"
        assert framework("my_zipped") == "torch"
        assert not isinstance(importlib.import_module("_bisect").__loader__, HookedLoader)
        assert importlib.import_module("my_space").__file__ is None
    finally:
        del sys.path[0]


def test_a_module_without_source_stays(tmp_path: Path) -> None:
    code = compile(NAMES_TORCH, "my_compiled.py", "exec")
    header = importlib.util.MAGIC_NUMBER + bytes(12)
    (tmp_path / "my_compiled.pyc").write_bytes(header + marshal.dumps(code))
    with paddletorch_shim.install("paddle", packages=["my_compiled"]):
        assert framework("my_compiled") == "torch"


def test_other_loaders_keep_their_modules(tmp_path: Path) -> None:
    class Rewrites(importlib.machinery.SourceFileLoader):
        pass

    class Finder:
        def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
            if name != "my_rewritten":
                return None
            file = str(tmp_path / "my_rewritten.py")
            return importlib.util.spec_from_file_location(name, file, loader=Rewrites(name, file))

    write(tmp_path, my_rewritten=NAMES_TORCH)
    finder: Any = Finder()
    sys.meta_path.insert(0, finder)
    try:
        with paddletorch_shim.install("paddle", packages=["my_rewritten"]):
            assert framework("my_rewritten") == "torch"
    finally:
        sys.meta_path.remove(finder)


PACKAGE = {
    "my_net__in____init__": "from .model import Net\nfrom . import train\n",
    "my_net__in__scalers": (
        "import torch\n\nclass Mixed:\n    def __init__(self):\n        self.scaler = torch.cuda.amp.GradScaler()\n\n"
        "def make():\n    return torch.amp.GradScaler('cuda', init_scale=8.0)\n\n"
        "def steps():\n    return torch.ones(3)\n"
    ),
    "my_net__in__model": (
        "from torch import nn\nfrom .parts.block import Block\n\nclass Net(nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.block = Block(4)\n\n"
        "    def forward(self, x):\n        return self.block(x).max(dim=1)[0]\n"
    ),
    "my_net__in__parts__in____init__": "",
    "my_net__in__parts__in__block": (
        "import torch.nn as nn\n\nclass Block(nn.Module):\n    def __init__(self, n):\n        super().__init__()\n"
        "        self.linear = nn.Linear(n, n)\n\n    def forward(self, x):\n        return self.linear(x)\n"
    ),
    "my_net__in__train": (
        "from .model import Net\nfrom .scalers import Mixed, make, steps\n\ndef step(batch, optimizer):\n"
        "    import torch\n    net, scaler = Net(), make()\n"
        "    loss = net(torch.as_tensor(batch, dtype=torch.float32)).sum(dim=0)\n"
        "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n"
        "    Mixed().scaler.get_scale()\n    return scaler.get_scale(), steps().add(1)\n"
    ),
}


def test_a_package_is_converted_as_the_command_converts_it(tmp_path: Path) -> None:
    write(tmp_path, **PACKAGE)
    files = sorted((tmp_path / "my_net").rglob("*.py"))
    converter = paddletorch.Converter("paddle", shim="auto")
    outputs = {str(file): converter.convert(file.read_bytes(), file).output for file in files}
    train = tmp_path / "my_net" / "train.py"
    alone = paddletorch.convert(train.read_bytes(), to="paddle", shim="auto").output
    assert alone != outputs[str(train)]  # types come from other files
    with paddletorch_shim.install("paddle", packages=["my_net"]):
        importlib.import_module("my_net")
    for name, module in sys.modules.items():
        if name.startswith("my_net"):
            assert isinstance(module.__loader__, HookedLoader)
            assert module.__file__ is not None
            expected = compile(outputs[module.__file__], module.__file__, "exec", dont_inherit=True)
            assert same(module.__loader__.get_code(name), expected), name


def same(one: CodeType, other: CodeType) -> bool:
    """Whether two codes do the same; their lines may differ."""
    if (one.co_code, one.co_names, one.co_varnames) != (other.co_code, other.co_names, other.co_varnames):
        return False
    pairs = list(zip(one.co_consts, other.co_consts, strict=True))
    return all(same(a, b) if isinstance(a, CodeType) else a == b for a, b in pairs)


BLOCKED = "import torch\n\n\ndef f(x):\n    return torch.no_such_thing(x)\n"


def test_a_module_that_cannot_be_converted_is_an_error_where_it_is_imported(tmp_path: Path) -> None:
    write(tmp_path, my_a__in____init__="", my_a__in__blocked=BLOCKED, my_a__in__fine=NAMES_TORCH)
    with paddletorch_shim.install("paddle", packages=["my_a"]):
        assert framework("my_a.fine") == "paddle"
        with pytest.raises(paddletorch_shim.ConversionError) as caught:
            importlib.import_module("my_a.blocked")
    assert "my_a.blocked" not in sys.modules
    error = caught.value
    path = str(tmp_path / "my_a" / "blocked.py")
    assert (error.name, error.path, error.to) == ("my_a.blocked", path, "paddle")
    assert [(f.code, f.line, f.column) for f in error.findings] == [("API225", 5, 12)]
    assert f"{path}:5:12: API225 torch.no_such_thing" in str(error)
    assert 'allow=["API225"]' in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.findings, again.name) == (str(error), error.findings, error.name)


@pytest.mark.parametrize("allow", ["API225", "api22", "API"])
def test_findings_can_be_allowed(allow: str, tmp_path: Path) -> None:
    write(tmp_path, my_a=BLOCKED)
    with paddletorch_shim.install("paddle", packages=["my_a"], allow=["AMP", allow]), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert importlib.import_module("my_a").f.__code__.co_names == ("torch", "no_such_thing")


def test_a_suppressed_finding_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path, my_a="import torch\n\ndef f(x):\n    return torch.no_such(x)  # paddletorch: ignore[API225]\n")
    with paddletorch_shim.install("paddle", packages=["my_a"]):
        assert importlib.import_module("my_a").f.__code__.co_names == ("torch", "no_such")


def test_what_was_converted_and_should_be_looked_at_is_a_warning(tmp_path: Path) -> None:
    write(tmp_path, my_a="import torch\n\ndef f():\n    return torch.__version__\n")
    expected = pytest.warns(paddletorch_shim.ConversionWarning, match=r"^DEV203 torch.__version__")
    with paddletorch_shim.install("paddle", packages=["my_a"]), expected as caught:
        assert importlib.import_module("my_a").f.__code__.co_names == ("paddle", "__version__")
    assert (caught[0].filename, caught[0].lineno) == (str(tmp_path / "my_a.py"), 4)


@pytest.mark.parametrize(
    ("text", "to", "code"),
    [
        ("import paddle\ns = paddle.amp.GradScaler(decr_every_n_nan_or_inf=2)\n", "torch", "AMP211"),
        (
            "import torch\ndef f(grad_scaler):\n    return torch.ones(1), grad_scaler.get_scale()\n",
            "paddle",
            "API212",
        ),
        ("import torch\nname = 'torch.cuda.amp.GradScaler'\n", "paddle", "API206"),
    ],
)
def test_what_blocks(text: str, to: Any, code: str, tmp_path: Path) -> None:
    write(tmp_path, my_a=text)
    with (
        paddletorch_shim.install(to, packages=["my_a"], shim="never"),
        pytest.raises(paddletorch_shim.ConversionError, match=code),
    ):
        importlib.import_module("my_a")


def test_uninstalled_hooks_convert_nothing(tmp_path: Path) -> None:
    write(tmp_path, my_a=NAMES_TORCH, my_b=NAMES_TORCH, my_c=NAMES_TORCH)
    before = list(sys.meta_path)
    hook = paddletorch_shim.install("paddle", packages=["my_a"])
    assert paddletorch_shim.install("paddle", packages=["my_a"]) is hook
    other = paddletorch_shim.install("paddle", packages=["my_b"])
    assert len(sys.meta_path) == len(before) + 2
    hook.uninstall()
    hook.uninstall()
    assert (framework("my_a"), framework("my_b")) == ("torch", "paddle")
    other.uninstall()
    assert sys.meta_path == before
    paddletorch_shim.install("paddle", packages=["my_c"])
    paddletorch_shim.uninstall()
    assert framework("my_c") == "torch"
    assert sys.meta_path == before


def test_a_module_that_is_imported_again_is_converted_again(tmp_path: Path) -> None:
    write(tmp_path, my_a=NAMES_TORCH)
    with paddletorch_shim.install("paddle", packages=["my_a"]):
        module = importlib.import_module("my_a")
        write(tmp_path, my_a=NAMES_TORCH.replace("zeros(2)", "zeros(2) + torch.ones(3)"))
        importlib.reload(module)
    assert module.framework.__code__.co_names == ("paddle", "zeros", "ones")


def test_many_threads_import_at_once(tmp_path: Path) -> None:
    names = [f"my_many.part_{n}" for n in range(24)]
    write(tmp_path, my_many__in____init__="")
    for n in range(24):
        imports = f"from my_many import part_{n + 1}\n" if n % 3 else ""
        write(tmp_path, **{f"my_many__in__part_{n}": imports * (n < 23) + NAMES_TORCH})
    found: list[str] = []
    with paddletorch_shim.install("paddle", packages=["my_many"]):
        threads = [threading.Thread(target=lambda n=name: found.append(framework(n))) for name in names * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert found == ["paddle"] * 48


def test_what_the_converter_imports_is_not_for_the_hook(tmp_path: Path, python: Run) -> None:
    write(tmp_path, my_a="import torch\n\ndef framework(a):\n    return torch.sub(a, 1, alpha=2)\n")
    done = python(
        "-c",
        "import paddletorch_shim, sys\n"
        "paddletorch_shim.install('paddle', packages=['my_a', 'libcst', 'click', 'packaging'])\n"
        "import my_a\n"
        "print('libcst' in sys.modules, type(sys.modules['packaging'].__loader__).__name__)\n"
        "print(my_a.framework.__code__.co_names)\n",
    )
    assert done.stdout.splitlines()[0].endswith("SourceFileLoader"), done.stderr
    assert "torch" not in done.stdout.splitlines()[1]


def test_wrong_arguments() -> None:
    install: Any = paddletorch_shim.install
    with pytest.raises(ValueError, match="'torch', 'paddle', not 'jax'"):
        install("jax")
    with pytest.raises(TypeError, match="packages takes several"):
        install("paddle", "my_a")
    with pytest.raises(ValueError, match=r"torch\.nn belongs to a framework"):
        install("paddle", ["torch.nn"])
    with pytest.raises(ValueError, match="not the dotted name"):
        install("paddle", ["a/b"])
    with pytest.raises(ValueError, match="shim must be"):
        install("paddle", shim="yes")
    assert not any(type(finder).__name__ == "ImportHook" for finder in sys.meta_path)


def test_a_package_that_was_imported_before_is_named_in_a_warning(tmp_path: Path) -> None:
    write(tmp_path, my_a=NAMES_TORCH)
    importlib.import_module("my_a")
    with pytest.warns(RuntimeWarning, match="imported before the hook, and not converted: my_a"):
        paddletorch_shim.install("paddle", packages=["my_a"])
