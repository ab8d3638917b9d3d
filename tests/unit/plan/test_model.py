"""The values that planning hands from step to step: uses, drafts, changes, findings and refusals."""

from __future__ import annotations

import ast
import string
from dataclasses import fields

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Edit, Fate, Options, Span
from paddletorch.plan.calls.deferred_text import THE_BATCH_SIZE, THE_OPTIMIZER, why_undecided, with_deferred_text
from paddletorch.plan.model import refusals
from paddletorch.plan.model.changes import NOTHING, Changes, Import, Planned, joined
from paddletorch.plan.model.findings import finding, refused
from paddletorch.plan.model.naming import Naming
from paddletorch.plan.model.refusal_text import code_of, details
from paddletorch.plan.model.refusals import NameTaken, NoSuchUse, Refusal, StatedByTable
from paddletorch.plan.model.site import Anchor, Candidate, Role, Site
from paddletorch.plan.model.use import Draft, Use, Uses
from paddletorch.plan.model.view import FileView
from paddletorch.plan.planner import findings_of
from paddletorch.resolve import Evaluator, ScopeTree
from paddletorch.text.source import Source
from paddletorch.text.suppress import Suppressions
from paddletorch_rules import load

TABLE = load()
EDIT = Edit(Span(0, 1), "new")
OTHER = Edit(Span(2, 3), "other")
NODE = ast.parse("torch.ones(1)", mode="eval").body


def use_of(api: str = "torch.ones", role: Role = "call", target: str | None = "paddle.ones") -> Use:
    """A use that converts, with everything that a use can have."""
    found = TABLE.lookup("torch", api)
    assert found is not None
    row, form = found
    node = ast.parse(f"{api}(1)", mode="eval").body
    assert isinstance(node, ast.Call)
    anchor = Anchor("free", api, node.func, (), frozenset({api}))
    site = Site(node.func, anchor, (Candidate(api, row, form),), role, node, None)
    warned = (finding("API204", node, api, row),)
    return Use(site, row, target, (EDIT,), warned, OTHER, writes_name=True, keeps_name=True, needed_module="paddle")


def test_a_refused_use_keeps_nothing_but_its_site_and_the_reason() -> None:
    use = use_of()
    refusal = NoSuchUse("this use", "paddle.ones")
    left = use.refuse(refusal)
    assert (left.site, left.row) == (use.site, use.row)
    assert [f.refusal for f in left.findings] == [refusal]
    blank = Use(use.site, use.row, None)
    cleared = {field.name for field in fields(Use)} - {"site", "row", "findings"}
    assert {name: getattr(left, name) for name in cleared} == {name: getattr(blank, name) for name in cleared}
    assert not left.converts
    assert left.every_edit == ()


def test_a_refusal_that_another_finding_explains_says_nothing() -> None:
    assert use_of().refuse(None).findings == ()


def test_uses_of_the_same_site_are_replaced_and_others_come_behind() -> None:
    first, second, third = use_of(), use_of("torch.zeros"), use_of("torch.eye")
    uses = Uses((first, second))
    left = first.refuse(NoSuchUse("this use", "paddle.ones"))
    more = uses.with_uses([third, left])
    assert more.items == (left, second, third)
    assert more[first.site] is left
    assert uses.items == (first, second), "the collection itself does not change"
    assert uses.with_uses([]) is uses


def test_apis_that_stay() -> None:
    converted, left = use_of(), use_of("torch.zeros").refuse(None)
    assert Uses((converted, left)).left_apis == {"torch.zeros"}
    assert Uses((converted, converted.refuse(None), left)).left_apis == {"torch.zeros"}


def test_a_draft_gives_back_what_it_changed() -> None:
    first, second = use_of(), use_of("torch.zeros")
    uses = Uses((first, second))
    draft = Draft(uses)
    assert draft.revised == ()
    draft.revise(draft[first.site].with_edits(OTHER))
    draft.refuse(first.site, NoSuchUse("this use", "paddle.ones"))
    assert [use.converts for use in draft] == [False, True]
    assert draft.revised == (draft[first.site],)
    assert uses[first.site] is first, "others do not see the draft"


def test_changes_are_joined_in_order_and_the_last_naming_counts() -> None:
    first, second = Naming({}), Naming({})
    name = ast.Name("x")
    one = Changes((EDIT,), findings=(finding("API203", NODE),), unlisted=(("tensor.step", Fate.SAME),), naming=first)
    two = Changes((OTHER,), imports=(Import(NODE, "paddle"),), handled=frozenset({name}), naming=second)
    both = joined([one, NOTHING, two])
    assert both.edits == (EDIT, OTHER)
    assert [f.code for f in both.findings] == ["API203"]
    assert [i.module for i in both.imports] == ["paddle"]
    assert both.handled == {name}
    assert both.unlisted == (("tensor.step", Fate.SAME),)
    assert both.naming is second
    assert joined([one, Changes(naming=None)]).naming is first
    assert joined([]) == NOTHING


def test_what_is_planned_grows_by_changes() -> None:
    use = use_of()
    planned = Planned(Uses((use,)))
    assert planned.with_changes(NOTHING) is planned
    more = planned.with_changes(Changes((EDIT,), uses=(use.refuse(None),)))
    assert more.edits == (EDIT,)
    assert not more.uses[use.site].converts
    assert planned.uses[use.site].converts


def test_a_finding_is_said_once() -> None:
    use = use_of()
    view = view_of("torch.ones(1)\n")
    other = refused(NameTaken("paddle", "torch.ones"), NODE, "torch.ones")
    same = refused(NameTaken("paddle", "torch.ones"), NODE, "torch.ones")
    planned = Planned(Uses((use.with_findings(other, same),)), (Changes(findings=(same, *use.findings)),))
    assert findings_of(view, planned) == [*use.findings, other]


def view_of(text: str) -> FileView:
    """A file that is to be planned."""
    engine = Engine(Options(target="paddle"))
    source = Source(text.encode())
    tree = ScopeTree(ast.parse(text))
    evaluator = Evaluator(tree, ("torch", "paddle"), TABLE, {})
    return FileView(engine.settings, source, tree, evaluator, Suppressions(source))


ABSTRACT = {refusals.ArgumentsDoNotFit, refusals.SharedDict, refusals.NotOneStatement}
"""Types that stand for those derived from them."""
KINDS = [
    kind
    for kind in vars(refusals).values()
    if isinstance(kind, type) and issubclass(kind, Refusal) and kind not in {*ABSTRACT, Refusal, StatedByTable}
]


def _example(kind: type[Refusal]) -> Refusal:
    """A refusal of the type, with a word for each of its details."""
    declared: dict[str, str] = {}
    for base in reversed(kind.__mro__):
        declared |= vars(base).get("__annotations__", {}) if issubclass(base, Refusal) and base is not Refusal else {}
    assert tuple(declared) == kind.details_declared
    words = {name: 7 if of == "int" else ("one", "two") if "tuple" in of else name for name, of in declared.items()}
    return kind(**words)


def test_a_refusal_is_a_value() -> None:
    taken = NameTaken("paddle", api="torch.ones")
    assert taken == NameTaken("paddle", "torch.ones")
    assert hash(taken) == hash(NameTaken("paddle", "torch.ones"))
    assert taken != NameTaken("paddle", "torch.zeros")
    assert taken != StatedByTable("API213")
    assert StatedByTable("API213").details == ()
    with pytest.raises(AttributeError, match="cannot be set"):
        taken.name = "torch"  # type: ignore[misc]
    for values, named in ((), {}), (("a",), {}), (("a", "b", "c"), {}), (("a", "b"), {"other": "c"}):
        with pytest.raises(TypeError, match="takes name, api"):
            NameTaken(*values, **named)


def test_the_types_are_all_here() -> None:
    assert len(KINDS) > 30
    assert {kind.__name__ for kind in Refusal.__subclasses__()} <= set(vars(refusals)), "no type is elsewhere"


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_refusal_has_a_code_and_fills_its_message(kind: type[Refusal]) -> None:
    refusal = _example(kind)
    spec = TABLE.diagnostics[code_of(refusal)]
    given = {name for name, text in details(refusal) if text}
    asked = {name for _, name, _, _ in string.Formatter().parse(spec.message + spec.hint) if name}
    assert asked - given <= {"api", "source", "target"}, "these are filled in for every finding"


def test_a_refusal_that_the_table_states_has_the_tables_code() -> None:
    refusal = StatedByTable("API221", (("parameter", "out"), ("value", "y")))
    assert code_of(refusal) == "API221"
    assert dict(details(refusal)) == {"parameter": "out", "value": "y"}


def test_deferred_text_takes_the_place_of_the_text_that_stands_for_it() -> None:
    edit = Edit(Span(0, 9), "", "LRS101", ("StepLR(__optimizer__, ", Span(3, 5), ")"))
    assert with_deferred_text(edit).parts == ("StepLR(", THE_OPTIMIZER, ", ", Span(3, 5), ")")
    assert with_deferred_text(EDIT) is EDIT
    assert code_of(why_undecided(THE_OPTIMIZER)) == "LRS201"
    assert code_of(why_undecided(THE_BATCH_SIZE)) == "DAT201"
