"""What a hook is, and what it sees of the call that it looks at."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Concatenate, Generic, Literal, NoReturn, ParamSpec, Protocol

from paddletorch_rules.releases import Framework


class BoundCall(Protocol):
    """One call, bound to its row. Parameter names are the source side's; ``self`` is a method's receiver.

    ``literal`` gives ``...`` where no constant stands; ``types`` the tracked types that the argument can have, as
    far as they are known, ``is_tensor`` whether it can be nothing but a tensor, and ``dtype`` the dtype of a torch
    tensor if the file shows it. ``row_template`` is the template of the row's own form, empty if it has none.
    ``rewrite`` chooses another template, whose placeholders are the target's parameters, and ``let`` says which of
    them are evaluated once, by names that start with ``_``. ``surround`` puts text around the converted call, and
    ``replace`` in the place of a part of an argument, with source parameters as placeholders. ``parent`` is the
    syntax around the call. ``stop`` leaves the call as it is, with a diagnostic; ``refuse`` says that the arguments
    make no sense for the API, ``unseen_in`` that the hook needs one that the call does not show.
    """

    @property
    def target(self) -> Framework: ...
    @property
    def fixed(self) -> Mapping[str, str]: ...
    def value(self, name: str) -> ast.expr | None: ...
    def literal(self, name: str) -> object: ...
    def origin(self, name: str) -> ast.expr | None: ...
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
    def types(self, name: str) -> frozenset[str]: ...
    def is_tensor(self, name: str) -> bool: ...
    def dtype(self, name: str) -> str | None: ...
    def has_several_elements(self, name: str) -> bool: ...
    @property
    def row_template(self) -> str: ...
    def rewrite(self, template: str, let: Mapping[str, str] | None = None) -> None: ...
    def at_origin(self, name: str) -> bool: ...
    def surround(self, before: str, after: str) -> None: ...
    def replace(self, node: ast.expr, text: str) -> None: ...
    @property
    def parent(self) -> ast.AST | None: ...
    @property
    def is_statement(self) -> bool: ...
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


def hook(
    name: str, *, to: Framework | None = None
) -> Callable[[Callable[Concatenate[BoundCall, Arguments], None]], Hook[Arguments]]:
    """Make the function below a hook that rows name, for one direction or both."""

    def decorate(function: Callable[Concatenate[BoundCall, Arguments], None]) -> Hook[Arguments]:
        return Hook(name, to, function)

    return decorate
