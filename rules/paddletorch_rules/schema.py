"""What a table row is made of: frozen records, filled and checked by the loader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from packaging.version import Version

from paddletorch_rules.releases import Framework

Kind = Literal["class", "function", "context", "method", "attribute", "module", "unsupported"]
Apply = Literal["safe", "unsafe", "never"]


class TableError(ValueError):
    """A mistake in a table. The message names the file, the row and the key."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. ``default`` is the default's Python expression, or None if it is required."""

    name: str
    default: str | None = None
    keyword_only: bool = False
    variadic: Literal["", "*", "**"] = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """Ordered parameters, as the framework declares them (``self`` left out)."""

    text: str
    parameters: tuple[Parameter, ...]

    def get(self, name: str) -> Parameter | None:
        """The parameter called ``name``, if there is one."""
        return next((p for p in self.parameters if p.name == name), None)

    @property
    def positional(self) -> tuple[Parameter, ...]:
        """The parameters that can be given by position."""
        return tuple(p for p in self.parameters if not p.keyword_only and not p.variadic)


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """Spellings of one side that share a signature.

    Args:
        names: qualified names (or member names for methods and attributes), the one to emit first.
        since, until: the releases that have it; ``until`` is exclusive.
        signatures: ``(since, signature)``, oldest first.
        fixed: parameters of the other forms that this spelling implies, as expressions.
        template: expression to emit instead of a plain call; ``{self}`` and ``{parameter}`` are holes.
        also: further templates that are recognised and never emitted; on a function that converts by template,
            the larger expression that is recognised (source side), and what takes its place (target side).
    """

    names: tuple[str, ...]
    since: Version
    until: Version | None = None
    signatures: tuple[tuple[Version, Signature], ...] = ()
    fixed: Mapping[str, str] = field(default_factory=dict)
    template: str | None = None
    also: tuple[str, ...] = ()

    def available(self, releases: Iterable[Version]) -> bool:
        """Whether every one of ``releases`` has this spelling."""
        return all(self.since <= v and (self.until is None or v < self.until) for v in releases)

    def signature(self, release: Version) -> Signature | None:
        """The signature in ``release``; the oldest known one for releases before it."""
        found = None
        for since, signature in self.signatures:
            if found is None or since <= release:
                found = signature
        return found


@dataclass(frozen=True, slots=True)
class ParameterPair:
    """Which parameter is which.

    For a parameter that one side lacks, ``neutral`` is the value under which the other side behaves the
    same, ``otherwise`` the diagnostic for any other value, and ``apply`` how sure the rest of the edit
    then is. ``ignore`` marks a parameter without influence on results.
    """

    torch: str | None
    paddle: str | None
    values: str | None = None
    neutral: str | None = None
    otherwise: str | None = None
    apply: Apply = "unsafe"
    ignore: bool = False

    def name(self, side: Framework) -> str | None:
        """The parameter's name on ``side``."""
        return self.torch if side == "torch" else self.paddle


@dataclass(frozen=True, slots=True)
class ValueMap:
    """How a parameter's values translate.

    ``pairs`` are equal values, torch first; ``torch_also`` / ``paddle_also`` spell the same value
    otherwise; ``to_*`` wraps any other expression (hole ``{x}``); ``refuse`` names the diagnostic of a
    value that has no counterpart.
    """

    name: str
    pairs: tuple[tuple[str, str], ...] = ()
    torch_also: Mapping[str, str] = field(default_factory=dict)
    paddle_also: Mapping[str, str] = field(default_factory=dict)
    to_torch: str | None = None
    to_paddle: str | None = None
    refuse: Mapping[str, str] = field(default_factory=dict)
    file: str = ""

    def also(self, side: Framework) -> Mapping[str, str]:
        """Other spellings on ``side``, to the canonical one."""
        return self.torch_also if side == "torch" else self.paddle_also


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A tracked type: what makes an instance, and what shows that a receiver of unknown origin is one.

    Args:
        makes: patterns (fnmatch) of qualified names whose call makes one, either framework.
        protocol: sets of method names; a receiver on which all of one set are called is one.
        names: regular expression for variable names that suggest one.
        tokens: what a file must hold for any member of the type to matter; empty if nothing can be said.
    """

    name: str
    makes: tuple[str, ...] = ()
    protocol: tuple[frozenset[str], ...] = ()
    names: str = ""
    tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DiagnosticSpec:
    """A diagnostic as the table declares it; ``message`` and ``hint`` may hold ``{name}``-style holes."""

    code: str
    name: str
    title: str
    severity: Literal["error", "warning", "info"]
    applicability: Literal["safe", "unsafe", "display-only"]
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One pair of APIs; serves both directions unless ``direction`` names the only target.

    Args:
        receiver: for members, the tracked type that has it; ``instance``: the type that a call makes.
        hook: a named function for what the other keys cannot say.
        report: diagnostic for a use that has no counterpart.
        warn: diagnostic to add to each conversion, by target.
        bare: the name is distinctive enough to be known where nothing binds it (documentation, notebooks).
        unchecked: why the names cannot be held against the installed frameworks, if they cannot.
        tokens: byte strings a file must hold to be looked at; derived from the names when not given.
    """

    id: str
    code: str
    kind: Kind
    title: str
    file: str
    torch: tuple[Form, ...] = ()
    paddle: tuple[Form, ...] = ()
    parameters: tuple[ParameterPair, ...] = ()
    direction: Framework | None = None
    receiver: str | None = None
    instance: str | None = None
    hook: str | None = None
    report: str | None = None
    warn: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False
    tokens: tuple[str, ...] | None = None
    unchecked: str | None = None
    docs: Mapping[str, str] = field(default_factory=dict)

    @property
    def area(self) -> str:
        """The letters of the code: ``AMP`` of ``AMP101``."""
        return self.code.rstrip("0123456789")

    def forms(self, side: Framework) -> tuple[Form, ...]:
        """The spellings on ``side``, the ones to emit first."""
        return self.torch if side == "torch" else self.paddle

    def serves(self, target: Framework) -> bool:
        """Whether the row is used when converting to ``target``."""
        return self.direction in (None, target)

    def emitted(self, target: Framework, releases: Iterable[Version]) -> Form | None:
        """The first form of ``target`` that every release has."""
        versions = tuple(releases)
        return next((f for f in self.forms(target) if f.available(versions)), None)
