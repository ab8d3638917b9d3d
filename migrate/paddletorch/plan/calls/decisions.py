"""What a row's hook decides about a bound call: a value that the steps after it read."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import replace
from string import Formatter
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, NoReturn

from paddletorch_rules import Framework, Let
from paddletorch_rules.hooks import argument_hook
from paddletorch_rules.hooks.protocol import Step

from paddletorch.model import Ask, Edit, Question
from paddletorch.model.questions import place_of
from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.initialized import held_as, object_path, tensor_for
from paddletorch.plan.calls.literal_sources import origin_edits
from paddletorch.plan.inference.parts_of_tensors import may_be_part, whole_tensor
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.refusals import Misused, NeedsWholeCall, Refused, StatedByTable, UnseenArguments

ASSIGNMENT = re.compile(r"[\w.{}]+ = ")

Around = tuple[str, str]
"""Text before and after an expression."""

NOTHING_AROUND: Around = ("", "")


_NO_TEXTS: Mapping[str, Any] = MappingProxyType({})


class Decisions(NamedTuple):
    """What becomes of a bound call beside what its row says. Parameters are the source's unless they say otherwise."""

    dropped: frozenset[str] = frozenset()
    """Parameters that leave the call without further question."""
    forced: Mapping[str, str] = _NO_TEXTS
    """The target's parameters that get an expression whatever the source said."""
    wraps: Mapping[str, Around] = _NO_TEXTS
    """Text around arguments."""
    template: str | None = None
    """What is written instead of the row's form."""
    let: Let | None = None
    """The same before the names of what is evaluated once were bound in it, if it has any."""
    around: Around = NOTHING_AROUND
    """Text around the converted call; its placeholders are parameters, which leave the call."""
    steps: tuple[Step, ...] = ()
    """What is done to the object that the call makes."""
    values: Mapping[str, ast.expr] = _NO_TEXTS
    """What stands for the placeholders of the template and of the steps that are no parameters."""
    beside: tuple[Edit, ...] = ()
    """Edits elsewhere in the file that belong to the call."""
    replaced: tuple[tuple[ast.expr, str], ...] = ()
    """Parts of arguments that become something else; ``{self}`` and parameters are placeholders."""
    findings: tuple[Finding, ...] = ()
    """What is to be said of the call, though it converts."""

    @property
    def moves_arguments(self) -> bool:
        """Whether text around the call, or in an argument, takes arguments from their places."""
        return any(self.around) or bool(self.replaced) or bool(self.steps)

    def with_steps_around(self, name: str) -> Decisions:
        """The same with the steps as a function of the object, ``name`` in it, that ``apply`` calls.

        Raises:
            Refused: a step is a statement, which no function of one expression can hold.
        """
        if not self.steps:
            return self
        assigned = next((text for step in self.steps for _, text in step.cases if ASSIGNMENT.match(text)), None)
        if assigned is not None:
            raise Refused(NeedsWholeCall("a statement", assigned))
        texts = [step.expression.replace("{object}", name) for step in self.steps]
        body = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        once = "".join(f", {variable}={value}" for variable, value in (s.once for s in self.steps if s.once))
        before, after = self.around
        return self._replace(steps=(), around=(before, f".apply(lambda {name}{once}: {body}){after}"))

    def with_steps_first(self, first: tuple[Step, ...]) -> Decisions:
        """The same with these steps before its own; what both do is done last.

        Raises:
            Refused: text around the call does something to the object before any step.
        """
        if ".apply(" in self.around[1]:
            raise Refused(NeedsWholeCall("a step", "self".join(self.around)))
        return self._replace(steps=(*(step for step in first if step not in self.steps), *self.steps))

    def with_around(self, before: str, after: str) -> Decisions:
        """The same with this text around the converted call."""
        return self._replace(around=(before, after))

    def dropping(self, *names: str) -> Decisions:
        """The same without these parameters."""
        return self._replace(dropped=self.dropped | set(names)) if names else self

    def with_findings(self, *findings: Finding) -> Decisions:
        """The same with more findings, each of them once."""
        return self._replace(findings=tuple(dict.fromkeys((*self.findings, *findings)))) if findings else self


def decide(binding: CallBinding) -> Decisions:
    """What the row's hook, if it has one, decides about the call.

    Raises:
        Refused: the call must stay.
    """
    hook = argument_hook(binding.row.hook, binding.target) if binding.row.hook else None
    call = _HookCall(binding)
    if hook is not None:
        hook(call, **binding.row.hook_arguments)
    decisions = call.decisions
    if binding.strange:
        return decisions.with_findings(binding.finding("API229", what=", ".join(binding.strange)))
    return decisions


def decide_additions(binding: CallBinding, use: str) -> Decisions:
    """What is decided about a call that adds arguments to a partial object, which the hook sees together.

    What the hook decides for the object's own arguments was done where the object is made. ``use`` names the call in
    messages.

    Raises:
        Refused: the object was made for other arguments, or one of its own is needed around the call.
    """
    earlier, own = dict(binding.of_partial), binding.given
    try:
        alone = decide(replace(binding, given=earlier, dictionary=None, unseen=(), strange=()))
    except Refused:
        alone = Decisions()  # the object could not be made without what the call adds
    together = decide(replace(binding, given={**earlier, **own}))
    same_form = alone.around in (NOTHING_AROUND, together.around) and alone.template in (None, together.template)
    same_form = same_form and alone.steps in ((), together.steps)
    if earlier and not (same_form and alone.wraps.items() <= together.wraps.items()):
        raise Refused(NeedsWholeCall(use, "{self}"))
    added = together._replace(
        forced={name: text for name, text in together.forced.items() if alone.forced.get(name) != text},
        around=NOTHING_AROUND if together.around == alone.around else together.around,
        steps=() if together.steps == alone.steps else together.steps,
        template=None if together.template == alone.template else together.template,
        beside=tuple(edit for edit in together.beside if edit not in alone.beside),
        replaced=tuple(part for part in together.replaced if part not in alone.replaced),
        findings=tuple(found for found in together.findings if found not in alone.findings),
    )
    written = added.with_steps_around("{self}")
    texts = [*written.around, *(text for _, text in added.replaced)]
    if not {name.partition(".")[0] for text in texts for name in parameters_in(text)} <= {*own, "self"}:
        raise Refused(NeedsWholeCall(use, "self".join(written.around)))
    return added


def parameters_in(text: str) -> list[str]:
    """The placeholders of a piece of template, in order."""
    return [name for _, name, _, _ in Formatter().parse(text) if name]


class _HookCall:
    """The bound call as a hook sees it, and what the hook says of it (``paddletorch_rules.hooks.BoundCall``)."""

    def __init__(self, binding: CallBinding) -> None:
        self._binding = binding
        self._dropped: set[str] = set()
        self._forced: dict[str, str] = {}
        self._wraps: dict[str, Around] = {}
        self._template: str | None = None
        self._let: Let | None = None
        self._parts: dict[str, ast.expr] = {}
        self._around = NOTHING_AROUND
        self._steps: list[Step] = []
        self._beside: list[Edit] = []
        self._replaced: list[tuple[ast.expr, str]] = []
        self._findings: list[Finding] = []
        self._questions: list[Question] = []
        """What it asked and the file does not show: a finding that it then makes may go once a run has answered."""

    @property
    def decisions(self) -> Decisions:
        """What the hook has said."""
        return Decisions(
            frozenset(self._dropped),
            self._forced,
            self._wraps,
            self._template,
            self._let,
            self._around,
            tuple(self._steps),
            {**self._parts, **{name: value for step in self._steps for name, value in step.values}},
            tuple(self._beside),
            tuple(self._replaced),
            tuple(dict.fromkeys(self._findings)),
        )

    # -------------------------------------------------------- what it asks

    @property
    def target(self) -> Framework:
        return self._binding.target

    @property
    def fixed(self) -> Mapping[str, str]:
        return self._binding.fixed

    @property
    def node(self) -> ast.Call:
        return self._binding.node

    @property
    def parent(self) -> ast.AST | None:
        return self._binding.view.parent(self._binding.expression)

    @property
    def is_statement(self) -> bool:
        return self._binding.is_statement

    @property
    def row_template(self) -> str:
        return self._binding.row_template

    def value(self, name: str) -> ast.expr | None:
        return self._binding.value(name)

    def literal(self, name: str) -> object:
        return self._binding.literal(name)

    def origin(self, name: str) -> ast.expr | None:
        return self._binding.origin(name)

    def origin_of(self, node: ast.expr) -> ast.expr:
        return self._binding.origin_of(node)

    def qualified(self, name: str) -> str | None:
        return self._binding.qualified(name)

    def owners(self, name: str) -> frozenset[str]:
        return self._binding.owners(name)

    def owners_of(self, node: ast.Attribute) -> frozenset[str]:
        return self._binding.owners_of(node)

    def stored(self, node: ast.Attribute) -> list[ast.expr]:
        return self._binding.stored(node)

    def types(self, name: str) -> frozenset[str]:
        return self._binding.types(name)

    def may_be_none(self, name: str) -> bool:
        return self._binding.may_be_none(name)

    def may_be_path(self, name: str) -> bool:
        return self._binding.may_be_path(name)

    def is_tensor(self, name: str) -> bool:
        return self._binding.is_tensor(name)

    def is_learning(self, name: str) -> bool:
        return self._binding.is_learning(name)

    def whole_tensor(self, name: str) -> ast.expr | None:
        node = self._binding.value(name)
        return None if node is None or name in self.fixed else whole_tensor(self._binding.view, node)

    def may_be_part(self, name: str) -> bool:
        node = self.whole_tensor(name)
        return node is not None and may_be_part(self._binding.view, node)

    def dtype(self, name: str) -> str | None:
        return self._binding.dtype(name)

    @property
    def default_dtype(self) -> str:
        return self._binding.default_dtype

    def ranks(self, name: str) -> frozenset[int]:
        return self._all_ranks(self._binding.ranks(name))

    def input_ranks(self) -> frozenset[int]:
        return self._all_ranks(self._binding.input_ranks())

    def axis_counts(self, name: str) -> frozenset[int]:
        return self._binding.axis_counts(name)

    def _all_ranks(self, found: Mapping[ast.expr, frozenset[int]]) -> frozenset[int]:
        """All of them together; empty, with the questions noted, if one of them is not known."""
        unknown = [node for node, ranks in found.items() if not ranks]
        view = self._binding.view
        self._questions += [Question(Ask.RANK, place_of(node)) for node in unknown if not view.in_string(node)]
        return frozenset().union(*found.values()) if not unknown else frozenset()

    def has_several_elements(self, name: str) -> bool:
        return self._binding.has_several_elements(name)

    def elements(self, name: str) -> list[ast.expr]:
        return self._binding.elements(name)

    def makers(self, name: str) -> frozenset[str]:
        return self._binding.makers(name)

    @property
    def is_used_as_list(self) -> bool:
        return self._binding.is_used_as_list()

    def holds_tensors(self, name: str) -> bool:
        return self._binding.holds_tensors(name)

    def used_as(self, kind: Literal["list", "tuple"]) -> bool:
        return self._binding.used_as(kind)

    @property
    def is_named(self) -> bool:
        view, call = self._binding.view, self._binding.expression
        makes_partial = view.qualified(call.func) == "functools.partial"  # which has the name then
        return not makes_partial and object_path(view, call) is not None

    @property
    def held_as(self) -> str:
        tensor = self._binding.value("tensor")
        if tensor is not None:
            return ast.unparse(tensor)
        return tensor_for(self._binding.view, self._binding.node) or held_as(self._binding.view, self._binding.node)

    def libraries(self, name: str) -> frozenset[str]:
        return self._binding.libraries(name)

    def may_hold(self, name: str, number: int) -> bool:
        return self._binding.may_hold(name, number)

    def targets_may_hold(self, number: int) -> bool:
        return self._binding.targets_may_hold(number)

    def file_reads(self, member: str) -> bool:
        return member in self._binding.view.tree.members

    # -------------------------------------------------------- what it says

    def drop(self, name: str) -> None:
        self._dropped.add(name)

    def force(self, target_name: str, expression: str) -> None:
        self._forced[target_name] = expression

    def wrap(self, name: str, before: str, after: str) -> None:
        self._wraps[name] = (before, after)

    def surround(self, before: str, after: str) -> None:
        inner = self._around
        self._around = (before + inner[0], inner[1] + after)

    def afterwards(self, *steps: Step) -> None:
        self._steps += steps

    def initializes(self, initializer: ast.Call) -> bool:
        return tensor_for(self._binding.view, initializer) is not None

    def replace(self, node: ast.expr, text: str) -> None:
        self._replaced.append((node, text))

    def rewrite(
        self, template: str, let: Mapping[str, str] | None = None, parts: Mapping[str, ast.expr] | None = None
    ) -> None:
        self._parts = dict(parts or {})
        self._let = Let(template, tuple(let.items())) if let else None
        self._template = template if self._let is None else self._let.expression

    def at_origin(self, name: str) -> bool:
        """Translate the argument's value at the literals that it comes from, if all of them are seen."""
        binding, node = self._binding, self._binding.value(name)
        values = binding.values(name)
        if values is None or node is None:
            return False
        edits = origin_edits(binding.view, node, values, binding.row.code)
        self._beside += edits or []
        return edits is not None

    def report(self, code: str, **details: str) -> None:
        found = self._binding.finding(code, **details)
        self._findings.append(replace(found, questions=tuple(self._questions)) if self._questions else found)

    def stop(self, code: str, **details: str) -> NoReturn:
        raise Refused(StatedByTable(code, tuple(sorted(details.items())), tuple(self._questions)))

    def unseen_in(self, what: str) -> NoReturn:
        raise Refused(UnseenArguments(what))

    def refuse(self, problem: str) -> NoReturn:
        binding = self._binding
        signature = binding.form.signature(binding.view.settings.source_releases.newest)
        raise Refused(Misused(signature.text if signature else "?", problem))
