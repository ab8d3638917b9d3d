"""Other names by rule: they are the same objects in the installed frameworks, and give the same rows as the names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from types import ModuleType

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
from paddletorch.proof.torchvision_operators import load_torchvision
from paddletorch_rules import TableError, load
from paddletorch_rules.aliases import Aliases, expanded
from paddletorch_rules.check import resolve
from paddletorch_rules.loader import read
from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import AliasRule

TABLE = load()
RULES = read(sorted((Path(__file__).parents[2] / "rules" / "paddletorch_rules").glob("aliases.toml"))).aliases
load_torchvision()
PAIRS = [pair for rule in RULES for pair in expanded(rule)]
if "torchvision" not in sys.modules:
    PAIRS = [(alias, name) for alias, name in PAIRS if not name.startswith("torchvision.")]
SIDES: tuple[Framework, ...] = ("torch", "paddle")


def _called(found: object) -> str:
    """Paddle 3.3 wraps some functions where it offers them; they keep their name, but for an underscore."""
    return getattr(found, "__name__", type(found).__name__).removeprefix("_")


def _module(name: str) -> object:
    try:
        return import_module(name)
    except ModuleNotFoundError:  # an attribute that leads to a module of another name
        return resolve(name)


def _same(alias: object, other: object) -> bool:
    """Whether they are one object; torch.compile, once imported, wraps ``torch.manual_seed`` at one of its places."""
    if callable(alias) and callable(other):
        alias, other = unwrap(alias), unwrap(other)
    wrapped = not isinstance(alias, type) and not isinstance(other, type) and _called(alias) == _called(other)
    return alias is other or (wrapped and getattr(other, "__module__", "").startswith("paddle"))


def _names(module: str) -> Iterator[str]:
    """The last names of the APIs that the tables have in ``module``, by rows or by other rules."""
    for side in SIDES:
        yield from (last for last, name in TABLE.exported(side, module).items() if TABLE.lookup(side, name))


def test_an_alias_is_the_same_object() -> None:
    assert len(PAIRS) > 500
    assert {alias: told for alias, name in PAIRS if (told := _told(alias, name))} == {}


def _told(alias: str, name: str) -> str:
    """What is wrong of an alias, if anything is."""
    if not alias.endswith(".*"):
        known = TABLE.lookup(alias.partition(".")[0], name) is not None  # type: ignore[arg-type]
        same = _same(resolve(alias), resolve(name))
        return "" if known and same else f"{name} is {'another object' if known else 'in no row'}"
    defines, offers = _module(alias[:-2]), _module(name[:-2])
    held = [last for last in _names(name[:-2]) if hasattr(defines, last) and hasattr(offers, last)]
    held = [last for last in held if not isinstance(getattr(defines, last), ModuleType)]
    others = [last for last in held if not _same(getattr(defines, last), getattr(offers, last))]
    return f"{others} of {name} are other objects" if others else "" if held else "the rule is of no use"


def test_what_follows_by_rule_is_not_written() -> None:
    """Unless it is what is written out, or has something to say of its own."""
    written = []
    for side in SIDES:
        names = set(TABLE.names(side))
        for row in TABLE.rows:
            for form in row.forms(side) if row.receiver is None and row.serves(_other(side)) else ():
                for name in form.names[1:]:
                    rest = [row for other in TABLE.aliases.others(name) for row, _ in TABLE.overloads(side, other)]
                    written += [name] if row in rest and name in names else []
    assert written == ["paddle.amp.auto_cast.amp_guard"]


def _other(side: Framework) -> Framework:
    return "paddle" if side == "torch" else "torch"


@pytest.mark.parametrize(
    ("side", "alias", "row"),
    [
        ("torch", "torch.nn.modules.conv.Conv2d", "nn.Conv2d"),
        ("torch", "torch.nn.modules.Conv2d", "nn.Conv2d"),
        ("torch", "torch.optim.sgd.SGD", "optim.SGD"),
        ("torch", "torch.functional.einsum", "einsum"),
        ("paddle", "paddle.tensor.math.add", "add"),
        ("paddle", "paddle.tensor.linalg.eigvalsh", "linalg.eigvalsh"),
    ],
)
def test_an_alias_gives_the_row_of_the_name(side: Framework, alias: str, row: str) -> None:
    found = TABLE.lookup(side, alias)
    assert found is not None
    assert found[0].id == row


@pytest.mark.parametrize("name", ["torch.nn.modules.conv.nothing", "torch.nn.modules.nothing.Conv2d", "torch.random"])
def test_what_no_rule_gives_is_unknown(name: str) -> None:
    assert TABLE.lookup("torch", name) is None


def test_a_star_import_binds_what_the_module_holds() -> None:
    found = TABLE.exported("torch", "torch.nn.modules.conv")
    assert found["Conv2d"] == "torch.nn.modules.conv.Conv2d"
    assert TABLE.exported("torch", "torch.autograd")["no_grad"] == "torch.autograd.no_grad"
    code = b"from torch.nn.modules.conv import *\n\nlayer = Conv2d(3, 4, 3)\n"
    result = Engine(Options(target="paddle")).convert(code, "f.py")
    assert b"Conv2D(3, 4, 3)" in result.output


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[alias]]\nof = 'torch.a'\n", "mine.toml: row 'torch.a': key 'at': missing"),
        ("[[alias]]\nof = 'torch.a'\nat = 3\n", "key 'at'"),
        ("[[alias]]\nat = 'torch.a'\n", "row '#1': key 'of': missing"),
        ("[[alias]]\nof = 'torch.a'\nat = 'torch.b.*'\n", "key 'at': 'torch.b.*' and 'torch.a' must both be"),
        ("[[alias]]\nof = 'torch.a'\nat = 'torch.b'\nnames = ['c']\n", "key 'names': 'torch.a' is one name"),
        ("[[alias]]\nof = 'torch.a'\nat = 'torch.b'\nmodules = ['c']\n", "key 'modules': 'torch.a' is one name"),
        ("[[alias]]\nof = 'torch.a'\nat = 'torch.a'\nwrong = 1\n", "key 'wrong': unknown"),
        (
            "[[alias]]\nof = 'torch.a'\nat = 'torch.b'\n[[alias]]\nof = 'torch.b'\nat = 'torch.a'\n",
            "mine.toml: row 'torch.a': key 'at': 'torch.b' is, by the rules, another name of itself",
        ),
        ("[[alias]]\nof = 'torch.a.*'\nat = 'torch.b.*'\n[[alias]]\nof = 'torch.b.*'\nat = 'torch.a.*'\n", "of itself"),
        ("[[alias]]\nof = 'torch.a.*'\nat = 'torch.b.*'\n[[alias]]\nof = 'torch.b.c'\nat = 'torch.a.c'\n", "of itself"),
    ],
)
def test_a_mistake_in_a_rule_is_named(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(TableError) as caught:
        read([path])
    assert says in str(caught.value)


def test_a_table_of_the_user_may_have_rules(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[[alias]]\nof = 'torch.nn.*'\nat = 'torch.mine.*'\nmodules = ['a.b']\nnames = ['Conv2d']\n")
    table = load((str(path),))
    for module in ("torch.mine", "torch.mine.a.b"):
        assert table.overloads("torch", f"{module}.Conv2d") == table.overloads("torch", "torch.nn.Conv2d")
        assert not table.overloads("torch", f"{module}.Linear")


def test_a_row_of_the_user_for_another_name_of_a_built_in_api_overrides(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    row = "[defaults]\ncode = 'MYL101'\n[[row]]\nOVERRIDE\ntorch = 'torch.nn.modules.conv.Conv2d(a)'\n"
    path.write_text(row.replace("OVERRIDE", "") + "paddle = 'paddle.mine.Conv(a)'\n")
    with pytest.raises(TableError, match=r"mine.toml: .*'torch.nn.Conv2d' is defined in layers.toml, row 'nn.Conv2d'"):
        load((str(path),))
    path.write_text(row.replace("OVERRIDE", "override = true") + "paddle = 'paddle.mine.Conv(a)'\n")
    load.cache_clear()
    assert load((str(path),)).overloads("torch", "torch.nn.modules.conv.Conv2d")[0][0].file == "mine.toml"


def test_paths_are_those_of_one_framework() -> None:
    aliases = Aliases([AliasRule("torch.a.*", ("torch.b.c.*",), ("d",)), AliasRule("paddle.a", ("paddle.b",))])
    above = {"torch", "torch.b", "torch.b.c", "torch.b.c.d"}
    assert aliases.paths("torch") == above | {"torch.b.c.*", "torch.b.c.d.*"}
    assert aliases.paths("paddle") == {"paddle", "paddle.b"}
    assert aliases.modules("torch.b") == ["torch.b.c", "torch.b.c.d"]


ELSEWHERE = frozenset(
    "paddle.device.Event paddle.device.Stream paddle.device.cuda.Event paddle.device.cuda.Stream "
    "paddle.distributed.P2POp paddle.nn.Parameter".split()
)
"""Classes that Paddle defines where their names do not tell what users call them."""


@pytest.mark.parametrize("side", SIDES)
def test_the_name_that_a_running_program_has_for_a_class_leads_to_its_row(side: Framework) -> None:
    framework, wrong, found = import_module(side), set(), 0
    for name in TABLE.names(side):
        row = TABLE.lookup(side, name)
        if not name.startswith(f"{side}.") or row is None or row[0].kind != "class":
            continue
        try:
            kind = resolve(name)
        except (AttributeError, ImportError):  # of another release
            continue
        if not isinstance(kind, type):
            continue
        found += 1
        top = getattr(framework, kind.__qualname__, None) is kind
        runtime_name = f"{side if top else kind.__module__}.{kind.__qualname__}"
        if (other := TABLE.lookup(side, TABLE.documented(runtime_name))) is None or other[0] is not row[0]:
            wrong.add(name)
    assert found > 100
    assert wrong <= ELSEWHERE


def test_a_class_of_another_package_keeps_its_name() -> None:
    for name in ("torch.ao.nn.quantized.modules.conv.Conv2d", "zoo.nn.Conv2d", "Conv2d", ""):
        assert TABLE.documented(name) == name
