"""Every hook is named by a row, in the direction that it is for."""

from __future__ import annotations

from pathlib import Path

from markdown_it import MarkdownIt
from paddletorch_rules import load
from paddletorch_rules.hooks import ENGINE_HOOKS, argument_hooks, elementwise
from paddletorch_rules.hooks.protocol import Hook
from paddletorch_rules.releases import Framework

HOOKS = argument_hooks()
EACH = list({id(hook): hook for hook in HOOKS.values()}.values())
USED: set[tuple[str, Framework]] = {
    (row.hook, target)
    for row in load().rows
    for target in ("torch", "paddle")
    if row.hook is not None and row.serves(target)
}


def test_every_hook_is_named_by_a_row() -> None:
    assert len(EACH) > 200
    assert {hook.name: unused for hook in EACH if (unused := _targets(hook) - USED)} == {}


def _targets(hook: Hook[...]) -> set[tuple[str, Framework]]:
    targets: tuple[Framework, ...] = ("torch", "paddle") if hook.to is None else (hook.to,)
    return {(hook.name, target) for target in targets}


def test_every_hook_of_the_engine_is_named_by_a_row() -> None:
    assert ENGINE_HOOKS
    assert [name for name in sorted(ENGINE_HOOKS) if not {(name, "torch"), (name, "paddle")} & USED] == []


def test_every_hook_says_what_it_is_for() -> None:
    """The first line is a sentence."""
    first = {hook.name: (hook.function.__doc__ or "").partition("\n")[0] for hook in EACH}
    assert {name: line for name, line in first.items() if not line.endswith(".")} == {}


def test_the_page_shows_a_hook_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "add-a-row.md"
    shown = [
        t.content
        for t in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if t.info == "python" and "@hook" in t.content
    ]
    source = Path(elementwise.__file__).read_text(encoding="utf-8")
    assert shown and all(block in source for block in shown)
