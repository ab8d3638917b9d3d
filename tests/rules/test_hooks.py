"""Every hook is named by a row, in the direction that it is for."""

from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from paddletorch_rules import load
from paddletorch_rules.hooks import ENGINE_HOOKS, argument_hooks, elementwise
from paddletorch_rules.hooks.protocol import Hook
from paddletorch_rules.releases import Framework

HOOKS = argument_hooks()
USED: set[tuple[str, Framework]] = {
    (row.hook, target)
    for row in load().rows
    for target in ("torch", "paddle")
    if row.hook is not None and row.serves(target)
}


@pytest.mark.parametrize("hook", {id(hook): hook for hook in HOOKS.values()}.values(), ids=lambda hook: hook.name)
def test_a_hook_is_named_by_a_row(hook: Hook[...]) -> None:
    targets: tuple[Framework, ...] = ("torch", "paddle") if hook.to is None else (hook.to,)
    assert {(hook.name, target) for target in targets} <= USED


@pytest.mark.parametrize("name", sorted(ENGINE_HOOKS))
def test_a_hook_of_the_engine_is_named_by_a_row(name: str) -> None:
    assert {(name, "torch"), (name, "paddle")} & USED


@pytest.mark.parametrize("hook", {id(hook): hook for hook in HOOKS.values()}.values(), ids=lambda hook: hook.name)
def test_a_hook_says_what_it_is_for(hook: Hook[...]) -> None:
    first = (hook.function.__doc__ or "").partition("\n")[0]
    assert first.endswith("."), "the first line is a sentence"


def test_the_page_shows_a_hook_as_it_is() -> None:
    page = Path(__file__).parents[2] / "docs" / "add-a-row.md"
    shown = [
        t.content
        for t in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if t.info == "python" and "@hook" in t.content
    ]
    source = Path(elementwise.__file__).read_text(encoding="utf-8")
    assert shown and all(block in source for block in shown)
