"""What a digest covers: a change that can make a proof or a kept table void changes it, and nothing else does."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paddletorch_rules import compiled, hook_sources, hooks, load, verified
from paddletorch_rules.hook_sources import source_of

_HOOK = """
from paddletorch_rules.hooks.protocol import hook
from paddletorch_rules.hooks.{helper} import helper as shared

NAMES = frozenset({{"a", "b"}})
OTHER = 1


def _local(call):
    return shared(call) in NAMES


@hook("zz_plus", to="paddle")
def plus(call):
    return _local(call), "+"


@hook("zz_minus")
def minus(call):
    return _local(call), "-"


@hook("zz_plain", to="paddle")
def plain_to_paddle(call):
    return OTHER


@hook("zz_plain", to="torch")
def plain_to_torch(call):
    return facts()


@hook("zz_other", to="torch")
def other(call):
    return plus(call)
"""
_HELPER = "def helper(call):\n    return 1\n\n\ndef unused(call):\n    return 2\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose modules are hooks, beside the real ones."""
    monkeypatch.setattr(hooks, "__path__", [*hooks.__path__, str(tmp_path)])
    yield tmp_path
    _forget()


def _forget() -> None:
    for name in [n for n in sys.modules if n.startswith(f"{hooks.__name__}.zz_")]:
        del sys.modules[name]
    hooks.argument_hooks.cache_clear()
    source_of.cache_clear()
    hook_sources._read.cache_clear()


def _sources(folder: Path, number: int, hook: str, helper: str) -> dict[str, tuple[str, ...]]:
    """By hook, its sources, where the modules hold this."""
    _forget()
    for former in folder.glob("zz_*.py"):  # its hooks have the same names
        former.unlink()
    (folder / f"zz_helper{number}.py").write_text(helper)
    (folder / f"zz_hook{number}.py").write_text(hook.format(helper=f"zz_helper{number}"))
    return {name: source_of(name) for name in ("zz_plus", "zz_minus", "zz_plain", "zz_other")}


@pytest.mark.parametrize(
    ("where", "old", "new", "changed"),
    [
        ("hook", "return OTHER", "return -OTHER", {"zz_plain"}),
        ("hook", "OTHER = 1", "OTHER = 2", {"zz_plain"}),
        ("hook", "return facts()", "return not facts()", {"zz_plain"}),
        ("hook", "shared(call) in", "shared(call) not in", {"zz_plus", "zz_minus", "zz_other"}),
        ("hook", '{{"a", "b"}}', '{{"a", "c"}}', {"zz_plus", "zz_minus", "zz_other"}),
        ("hook", 'return _local(call), "-"', 'return _local(call), "*"', {"zz_minus"}),
        ("hook", 'return _local(call), "+"', 'return "+", _local(call)', {"zz_plus", "zz_other"}),
        ("hook", '@hook("zz_minus")', '@hook("zz_minus", to="torch")', {"zz_minus"}),
        ("helper", "return 1", "return 3", {"zz_plus", "zz_minus", "zz_other"}),
        ("helper", "return 2", "return 3", set()),
    ],
)
def test_the_source_of_a_hook_is_what_it_uses(package: Path, where: str, old: str, new: str, changed: set[str]) -> None:
    texts = {"hook": _HOOK, "helper": _HELPER}
    assert old in texts[where]
    before = _sources(package, 1, **texts)
    after = _sources(package, 2, **{**texts, where: texts[where].replace(old, new)})
    assert {name for name in before if before[name] != after[name]} == changed


def test_every_hook_has_a_source() -> None:
    assert not [name for name, _ in hooks.argument_hooks() if not any("@hook(" in text for text in source_of(name))]
    assert not any(source_of(name) for name in hooks.ENGINE_HOOKS)


def test_the_source_does_not_depend_on_the_order_of_sets() -> None:
    program = (
        "import hashlib\n"
        "from paddletorch_rules import hooks\n"
        "from paddletorch_rules.hook_sources import source_of\n"
        "sources = [source_of(name) for name, _ in sorted(hooks.argument_hooks())]\n"
        "assert all(sources)\n"
        "print(hashlib.sha1(repr(sources).encode()).hexdigest())"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]


def test_the_digest_of_a_row_covers_its_hook(monkeypatch: pytest.MonkeyPatch) -> None:
    table = load()
    row = next(row for row in table.rows if source_of(row.hook or ""))
    before, without = verified.digest(row, table), verified.digest(dataclasses.replace(row, hook=None), table)
    monkeypatch.setattr(verified, "source_of", lambda hook: ("changed",))
    assert verified.digest(row, table) != before
    assert verified.digest(dataclasses.replace(row, hook=None), table) == without


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([("a", "bc")], [("ab", "c")]),
        ([("a", ""), ("b", "x")], [("a", "b"), ("", "x")]),
        ([("a", "1"), ("b", "2")], [("b", "2"), ("a", "1")]),
        ([("a", "")], [("a", None)]),
    ],
)
def test_the_digest_of_tables_tells_names_from_content(
    tmp_path: Path, one: list[tuple[str, str | None]], other: list[tuple[str, str | None]]
) -> None:
    digests = set()
    for number, files in enumerate((one, other)):
        paths = [tmp_path / str(number) / f"{name}x" for name, _ in files]
        for path, (_, content) in zip(paths, files, strict=True):
            path.parent.mkdir(exist_ok=True)
            if content is not None:
                path.write_text(content)
        digests.add(compiled.digest_of(paths))
    assert len(digests) == 2
