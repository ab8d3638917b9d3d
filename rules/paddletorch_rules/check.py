"""Holds the tables against the frameworks that are installed: names, signatures and defaults as written."""

from __future__ import annotations

import ast
import importlib
import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from paddletorch_rules.releases import Framework, installed
from paddletorch_rules.schema import Form, Parameter, Row, ValueMap
from paddletorch_rules.table import Table
from paddletorch_rules.where import filled

SIDES: tuple[Framework, ...] = ("torch", "paddle")
_MISSING = object()


@dataclass(frozen=True, slots=True)
class Problem:
    """One place where a table and an installed framework disagree, and where to mend it."""

    row: str
    file: str
    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: row {self.row!r}: key {self.key!r}: {self.message}"


def frameworks() -> tuple[Framework, ...]:
    """The frameworks that this environment has, and that ``check_installed`` therefore looks at."""
    return tuple(side for side in SIDES if installed(side) is not None)


def check_installed(table: Table) -> list[Problem]:
    """Compare every row with the installed releases; a framework that is not installed is left out.

    Checked are: every spelling that the release should have exists and every other one does not; parameter
    names, order, kinds and defaults; names inside templates, fixed values and value maps.
    """
    problems: list[Problem] = []
    roots: dict[str, Any] = {}
    for side in frameworks():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                roots[side] = importlib.import_module(side)
        except Exception as error:
            problems.append(Problem("", "", side, f"is installed and cannot be imported: {error}"))
    for side in SIDES:
        release = installed(side)
        if side in roots and release is not None:
            checker = _Checker(side, release, roots, problems)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a deprecated name warns when it is looked at
                for row in table.rows:
                    checker.row(row)
    for values in table.values.values():
        _check_values(values, roots, problems)
    return problems


def resolve(name: str) -> object:
    """The object that a dotted name means in this environment, submodules imported as needed.

    Raises:
        AttributeError: there is none.
    """
    parts = name.split(".")
    for length in range(1, len(parts) + 1):  # an attribute hides a module of the same name: paddle.amp.auto_cast
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
            for part in parts[length:]:
                found = getattr(found, part)
        except (ImportError, AttributeError):
            continue
        return found
    raise AttributeError(name)


class _Checker:
    """One framework's side of all rows."""

    def __init__(self, side: Framework, release: Version, roots: Mapping[str, Any], problems: list[Problem]) -> None:
        self.side, self.release, self.roots, self.problems = side, release, roots, problems

    def row(self, row: Row) -> None:
        """Check each of the row's forms on this side."""
        if row.unchecked is not None:
            return
        specimen = _specimen(row, self.side)
        for number, form in enumerate(row.forms(self.side)):
            prefix = f"{self.side}[{number}]."
            report = _Reporter(row, prefix, self.problems)
            present = form.available([self.release])
            for name in form.names:
                if row.receiver is None:
                    self._name(name, form, present, report)
                elif specimen is not None:
                    self._member(name, form, present, specimen, report)
            if present:
                self._expressions(form, specimen, report)

    def _name(self, name: str, form: Form, present: bool, report: _Reporter) -> None:
        if name.partition(".")[0] != self.side:
            return
        try:
            found = resolve(name.removesuffix(".*"))
        except AttributeError:
            found = _MISSING
        if present and found is _MISSING:
            report("names", f"{self.side} {self.release} has no {name}")
        elif not present and found is not _MISSING:
            report("since", f"{self.side} {self.release} has {name}, though the row denies it")
        elif present:
            self._compare(name, found, form, report)

    def _member(self, name: str, form: Form, present: bool, specimen: object, report: _Reporter) -> None:
        has = hasattr(specimen, name) or _is_in_source(name, type(specimen))
        kind = type(specimen).__qualname__
        if present and not has:
            report("names", f"{kind} of {self.side} {self.release} has no member {name}")
        elif not present and has:
            report("since", f"{kind} of {self.side} {self.release} has {name}, though the row denies it")
        elif present:
            self._compare(name, getattr(specimen, name, _MISSING), form, report)

    def _compare(self, name: str, found: object, form: Form, report: _Reporter) -> None:
        declared = form.signature(self.release)
        actual = signature_of(found)
        if declared is None or actual is None:
            return
        if actual and all(p.kind in _OPEN for p in actual):
            return  # an operator hands everything on; tests/rules/test_operators.py asks its schema
        wanted = [(p.name, _kind(p)) for p in declared.parameters]
        named = {p.name for p in declared.parameters}
        actual = [p for p in actual if p.name in named or p.name not in _EVERYWHERE]
        present = [(p.name, _KINDS[p.kind]) for p in actual]
        if wanted != present:
            report("signature", f"{name} of {self.side} {self.release} takes {_shown(actual)}")
            return
        for parameter, real in zip(declared.parameters, actual, strict=True):
            default = _value(parameter.default)
            if not _same(default, real.default):
                report("signature", f"{name}: the default of {real.name} is {real.default!r}")

    def _expressions(self, form: Form, specimen: object, report: _Reporter) -> None:
        for text in form.fixed.values():
            _check_expression(text, self.roots, lambda message: report("fixed", message))
        templates = (*form.also, *form.results.values(), *([form.template] if form.template is not None else []))
        for text in templates:
            _check_expression(text, self.roots, lambda message: report("template", message))
            for member in _members_of_placeholder(text, "self"):
                if specimen is not None and not hasattr(specimen, member):
                    report("template", f"{type(specimen).__qualname__} of {self.side} has no member {member}")


_OPEN = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_EVERYWHERE = frozenset({"name", "out"})
"""Parameters that hundreds of Paddle's functions have and no row needs to mention."""


class _Reporter:
    """Adds problems of one form."""

    def __init__(self, row: Row, prefix: str, problems: list[Problem]) -> None:
        self.row, self.prefix, self.problems = row, prefix, problems

    def __call__(self, key: str, message: str) -> None:
        self.problems.append(Problem(self.row.id, self.row.file, self.prefix + key, message))


_KINDS = {
    inspect.Parameter.POSITIONAL_ONLY: "positional",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "positional",
    inspect.Parameter.KEYWORD_ONLY: "keyword only",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def _kind(parameter: Parameter) -> str:
    return parameter.variadic or ("keyword only" if parameter.keyword_only else "positional")


def signature_of(found: object) -> list[inspect.Parameter] | None:
    """The parameters that a caller sees; None for what has no signature that Python can read."""
    if not callable(found):
        return None
    try:
        return list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):
        return None


def _shown(parameters: Iterable[inspect.Parameter]) -> str:
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in parameters]
    return "(" + ", ".join(map(str, bare)) + ")"


def _same(declared: object, real: object) -> bool:
    return type(declared) is type(real) and bool(declared == real)


def _value(default: str | None) -> object:
    """The value of a declared default: a literal, or a name below an installed framework."""
    if default is None:
        return inspect.Parameter.empty
    try:
        return ast.literal_eval(default)
    except ValueError:
        try:
            return resolve(default)
        except AttributeError:
            return _MISSING


def _scaler(side: Framework) -> object:
    module = importlib.import_module(f"{side}.amp")
    return module.GradScaler("cpu") if side == "torch" else module.GradScaler(enable=False)


def _optimizer(side: Framework) -> object:
    framework = importlib.import_module(side)
    if side == "torch":
        return framework.optim.Optimizer([framework.zeros(1)], {})
    return framework.optimizer.SGD(parameters=[framework.zeros([1])])


_SPECIMENS: dict[str, Callable[[Framework], object]] = {"scaler": _scaler, "optimizer": _optimizer}
"""What a receiver type stands for: an instance, since some members are set when one is made."""


def _specimen(row: Row, side: Framework) -> object | None:
    make = _SPECIMENS.get(row.receiver or "")
    if make is None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make(side)


def _is_in_source(name: str, kind: type) -> bool:
    """Whether the class sets ``self.name`` somewhere: an instance that is switched off lacks some members."""
    for base in kind.__mro__[:-1]:
        try:
            tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(base)))
        except (OSError, TypeError, SyntaxError):
            continue
        if any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(tree)):
            return True
    return False


def _filled(text: str) -> ast.expr:
    return ast.parse(filled(text, "placeholder_"), mode="eval").body


def _members_of_placeholder(text: str, placeholder: str) -> Iterator[str]:
    for node in ast.walk(_filled(text)):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == f"placeholder_{placeholder}"
        ):
            yield node.attr


def _check_expression(text: str, roots: Mapping[str, Any], report: Callable[[str], None]) -> None:
    """Report each dotted name below an installed framework that does not exist."""
    for node in ast.walk(_filled(text)):
        if isinstance(node, ast.Attribute):
            name = ast.unparse(node)
            if all(part.isidentifier() for part in name.split(".")) and name.partition(".")[0] in roots:
                try:
                    resolve(name)
                except AttributeError:
                    report(f"{text!r} names {name}, which does not exist")


def _check_values(values: ValueMap, roots: Mapping[str, Any], problems: list[Problem]) -> None:
    keyed = {
        "pairs": [text for pair in values.pairs for text in pair],
        "torch_also": [*values.torch_also, *values.torch_also.values()],
        "paddle_also": [*values.paddle_also, *values.paddle_also.values()],
        "refuse": list(values.refuse),
        "to_torch": [values.to_torch] if values.to_torch else [],
        "to_paddle": [values.to_paddle] if values.to_paddle else [],
    }
    for key, texts in keyed.items():
        for text in texts:
            _check_expression(
                text,
                roots,
                lambda message, key=key: problems.append(Problem(values.name, values.file, key, message)),  # type: ignore[misc]
            )
