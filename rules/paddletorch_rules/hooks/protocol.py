"""What a hook is, and what it sees of the call that it looks at."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, Generic, Literal, NamedTuple, NoReturn, ParamSpec, Protocol

from paddletorch_rules.releases import Framework


class Step(NamedTuple):
    """What is done to the object that a call makes, right after it is made: the first case that applies.

    Each case has a condition, empty where there is none, and an expression. Both are templates: ``{object}`` is the
    object, a source parameter is its argument, and ``{parameter.field}`` one of the step's ``values``.
    """

    cases: tuple[tuple[str, str], ...]
    values: tuple[tuple[str, ast.expr], ...] = ()
    once: tuple[str, str] | None = None
    """A name that the cases use, and the template of what it stands for, which is evaluated once."""
    each: str = ""
    """It is done to each ``parameter`` of the object whose name begins so."""

    @property
    def expression(self) -> str:
        """The cases as one expression."""
        texts = [f"{text} if {condition}" if condition else text for condition, text in self.cases]
        one = " else ".join(texts) + (" else None" if self.cases[-1][0] else "")
        if not self.each:
            return one
        return f"[{one} for name, parameter in {{object}}.named_parameters() if name.startswith('{self.each}')]"


class BoundCall(Protocol):
    """One call, bound to its row. Parameter names are the source side's; ``self`` is a method's receiver.

    ``literal`` gives ``...`` where no constant stands; ``types`` the tracked types that the argument can have, as
    far as they are known, ``is_tensor`` whether it can be nothing but a tensor, and ``dtype`` the dtype of a torch
    tensor if the file shows it; ``ranks`` are the numbers of axes that a tensor can have, and ``input_ranks`` those of
    the tensors that the file passes to the object that the call makes: empty where they are not known, and what the
    hook reports or stops at after asking then says that a recorded run could tell; ``elements`` is what a list is seen
    to hold, ``makers`` the APIs that make all of that, and ``holds_tensors`` whether it is tensors; ``is_used_as_list``
    tells whether the object that the call makes is sliced, added to or has elements assigned. ``row_template`` is the
    template of the row's own form, empty if it has none. ``file_has`` tells whether a negative number is written
    anywhere in the file, ``file_reads`` whether a member of this name stands there.
    ``rewrite`` chooses another template, whose placeholders are the target's parameters, ``let`` says which of them
    are evaluated once, by names that start with ``_``, and ``parts`` gives parts of arguments by their placeholders.
    ``surround`` puts text around the converted call, and ``replace`` in the place of a part of an argument, with
    source parameters as placeholders. ``afterwards`` does something to the object that the call makes, in statements
    of their own if it ``is_named`` there; ``initializes`` says of an initializer that is written in an argument that
    it becomes a call on its tensor, not a function of one, and ``held_as`` what the tensor, the variable or the
    parameter is called that the initializer is for. ``parent`` is the syntax around the call. ``stop`` leaves the
    call as it is, with a diagnostic; ``refuse`` says that the arguments make no sense for the API, ``unseen_in`` that
    the hook needs one that the call does not show.
    """

    @property
    def target(self) -> Framework: ...
    @property
    def fixed(self) -> Mapping[str, str]: ...
    def value(self, name: str) -> ast.expr | None: ...
    def literal(self, name: str) -> object: ...
    def origin(self, name: str) -> ast.expr | None: ...
    def origin_of(self, node: ast.expr) -> ast.expr: ...
    def qualified(self, name: str) -> str | None: ...
    def drop(self, name: str) -> None: ...
    def force(self, target_name: str, expression: str) -> None: ...
    def report(self, code: str, **details: str) -> None: ...
    def wrap(self, name: str, before: str, after: str) -> None: ...
    def refuse(self, problem: str) -> NoReturn: ...
    def stop(self, code: str, **details: str) -> NoReturn: ...
    def unseen_in(self, what: str) -> NoReturn: ...
    @property
    def node(self) -> ast.Call: ...
    def owners(self, name: str) -> frozenset[str]: ...
    def owners_of(self, node: ast.Attribute) -> frozenset[str]: ...
    def stored(self, node: ast.Attribute) -> list[ast.expr]: ...
    def types(self, name: str) -> frozenset[str]: ...
    def may_be_none(self, name: str) -> bool: ...
    def may_be_path(self, name: str) -> bool: ...
    def is_tensor(self, name: str) -> bool: ...
    def dtype(self, name: str) -> str | None: ...
    @property
    def default_dtype(self) -> str: ...
    def ranks(self, name: str) -> frozenset[int]: ...
    def input_ranks(self) -> frozenset[int]: ...
    def has_several_elements(self, name: str) -> bool: ...
    @property
    def row_template(self) -> str: ...
    def rewrite(
        self, template: str, let: Mapping[str, str] | None = None, parts: Mapping[str, ast.expr] | None = None
    ) -> None: ...
    def at_origin(self, name: str) -> bool: ...
    def surround(self, before: str, after: str) -> None: ...
    def replace(self, node: ast.expr, text: str) -> None: ...
    def afterwards(self, *steps: Step) -> None: ...
    def initializes(self, initializer: ast.Call) -> bool: ...
    @property
    def held_as(self) -> str: ...
    @property
    def parent(self) -> ast.AST | None: ...
    @property
    def is_statement(self) -> bool: ...
    @property
    def is_named(self) -> bool: ...
    def file_has(self, negative: int) -> bool: ...
    def file_reads(self, member: str) -> bool: ...
    def elements(self, name: str) -> list[ast.expr]: ...
    def makers(self, name: str) -> frozenset[str]: ...
    @property
    def is_used_as_list(self) -> bool: ...
    def holds_tensors(self, name: str) -> bool: ...
    def used_as(self, kind: Literal["list", "tuple"]) -> bool: ...


Arguments = ParamSpec("Arguments")


@dataclass(frozen=True, slots=True, eq=False)
class Hook(Generic[Arguments]):
    """A function that rows can name. What a row gives beside the name are the function's keyword arguments.

    Args:
        name: how rows name it.
        to: the framework to convert to; None if the function is for both directions.
        function: gets the bound call, and the row's arguments.
    """

    name: str
    to: Framework | None
    function: Callable[Concatenate[BoundCall, Arguments], None]

    def __call__(self, call: BoundCall, /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        self.function(call, *args, **kwargs)

    @property
    def may_need_lines(self) -> bool:
        """Whether it may write arguments that are evaluated once, in lines of their own: it calls ``rewrite_once``."""
        return "rewrite_once" in getattr(self.function, "__code__").co_names  # noqa: B009


def hook(
    name: str, *, to: Framework | None = None
) -> Callable[[Callable[Concatenate[BoundCall, Arguments], None]], Hook[Arguments]]:
    """Make the function below a hook that rows name, for one direction or both."""

    def decorate(function: Callable[Concatenate[BoundCall, Arguments], None]) -> Hook[Arguments]:
        return Hook(name, to, function)

    return decorate
