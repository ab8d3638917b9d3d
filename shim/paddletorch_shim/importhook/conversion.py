"""Converts one module; the only part of the hook that imports the converter."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from types import CodeType

from paddletorch.api.converter import Converter
from paddletorch.model import Diagnostic, Options, Question, Severity, Status
from paddletorch.model.dependencies import Dependencies
from paddletorch.text.position_map import converted_tree

from paddletorch_shim.importhook.findings import ConversionError, Finding


@dataclass(frozen=True, slots=True)
class Converted:
    """A module's code on the other framework, and what it rests on beside the module's own bytes."""

    code: CodeType
    findings: tuple[Finding, ...]
    dependencies: Dependencies | None
    """None: a file changed while the module was converted, so that nobody can say what it rests on."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the conversion of a module leaves open, and what that rests on, as of :class:`Converted`."""

    questions: tuple[Question, ...]
    dependencies: Dependencies | None


class ModuleConverter:
    """Converts the modules of one hook.

    Raises:
        ValueError: a table or a release specifier is wrong.
    """

    def __init__(self, options: Options) -> None:
        self._converter = Converter.from_options(options)
        self._to = options.target

    def convert(self, name: str, source: bytes, path: str, place: str) -> Converted:
        """Code whose lines are those of ``source``, and what has to be said about it.

        ``path`` is what tracebacks name; the imports of the module are looked up from ``place``, an absolute path.

        Raises:
            SyntaxError: the module is no Python.
            ConversionError: the module cannot be converted at all.
        """
        try:
            result = self._converter.convert(source, place, kind="python").file
            tree = None if result.status is Status.FAILED else converted_tree(result, path)
            code = None if tree is None else compile(tree, path, "exec", dont_inherit=True)
        except Exception as error:
            compile(source, path, "exec", dont_inherit=True)  # what is no Python fails as it does without a hook
            problem = f"internal error: {type(error).__name__}: {error}"
            raise ConversionError(
                name, path, self._to, [Finding("SRC900", problem, 0, 0, "Please report it.", True)]
            ) from error
        if code is None:
            compile(source, path, "exec", dont_inherit=True)
            raise ConversionError(name, path, self._to, [_finding(d, blocks=True) for d in result.diagnostics])
        converted = {(c.line, c.column, c.name) for c in result.conversions}
        findings = [_finding(d, blocks=_blocks(d, converted)) for d in result.diagnostics if d.fate is not None]
        return Converted(code, tuple(findings), self._converter.dependencies(place))

    def ask(self, source: bytes, place: str) -> Asked:
        """What the module's conversion leaves open; nothing where it cannot be converted at all."""
        result = self._converter.convert(source, place, kind="python").file
        questions = {question for diagnostic in result.diagnostics for question in diagnostic.questions}
        return Asked(tuple(sorted(questions)), self._converter.dependencies(place))


def _finding(diagnostic: Diagnostic, *, blocks: bool) -> Finding:
    return Finding(
        diagnostic.code, diagnostic.message, diagnostic.line, diagnostic.column, diagnostic.hint, blocks=blocks
    )


def _blocks(diagnostic: Diagnostic, converted: Set[tuple[int, int, str]]) -> bool:
    """Whether the module may not run: an error, or no use that was converted and should be looked at."""
    place = diagnostic.line, diagnostic.column, diagnostic.name
    return diagnostic.severity is Severity.ERROR or place not in converted
