"""What a table row is made of: frozen records, filled and checked by the loader."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from packaging.version import Version

from paddletorch_rules.releases import Framework

ShimPart = Literal["scaler", "autocast", "custom", "calls"]
"""What can go to the runtime shim, each alone."""

Kind = Literal["class", "function", "context", "constant", "method", "attribute", "module", "unsupported"]
Apply = Literal["safe", "unsafe", "never"]


class Record:
    """What rows and their forms share: a copy is made by calling the class, twice as fast as filling each slot."""

    __slots__ = ()
    __match_args__: tuple[str, ...]

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, name) for name in self.__match_args__)


class TableError(ValueError):
    """A mistake in a table. The message names the file, the row and the key."""


class Parameter(NamedTuple):
    """One parameter. ``default`` is the default's Python expression, or None if it is required.

    ``annotation`` tells overloads apart: ``int``, ``Tensor``, ``sequence``... (``hooks.KINDS``); empty for anything.
    """

    name: str
    default: str | None = None
    keyword_only: bool = False
    variadic: Literal["", "*", "**"] = ""
    annotation: str = ""


class Signature(NamedTuple):
    """Ordered parameters, as the framework declares them (``self`` left out)."""

    text: str
    parameters: tuple[Parameter, ...]

    def get(self, name: str) -> Parameter | None:
        """The parameter called ``name``, if there is one."""
        for parameter in self.parameters:
            if parameter.name == name:
                return parameter
        return None

    @property
    def positional(self) -> tuple[Parameter, ...]:
        """The parameters that can be given by position."""
        return tuple([p for p in self.parameters if not p.keyword_only and not p.variadic])


class Let(NamedTuple):
    """A template some of whose placeholders are evaluated once, however often they stand in it.

    ``names`` are pairs of a name and the placeholder that it stands for. Where there is room for assignments above,
    the placeholders get names there; elsewhere ``expression`` binds the names in a lambda.
    """

    body: str
    names: tuple[tuple[str, str], ...]

    @property
    def expression(self) -> str:
        """The template as one expression: ``(lambda _x: _x * _x)({x})``."""
        body = self.body
        for name, placeholder in self.names:
            body = body.replace("{" + placeholder + "}", name)
        placeholders = ", ".join("{" + placeholder + "}" for _, placeholder in self.names)
        return f"(lambda {', '.join(name for name, _ in self.names)}: {body})({placeholders})"


@dataclass(frozen=True, slots=True, eq=False)
class Form(Record):
    """Spellings of one side that share a signature.

    Args:
        names: qualified names (or member names for methods and attributes), the one to emit first.
        since, until: the releases that have it; ``until`` is exclusive.
        signatures: ``(since, signature)``, oldest first.
        fixed: parameters of the other forms that this spelling implies, as expressions.
        template: expression to emit instead of a plain call; ``{self}`` and ``{parameter}`` are placeholders, and
            ``{parameter:, axis=%}`` is text that stands there only if the parameter is given.
        let: the template before the names of what is evaluated once were bound in it, if it has any.
        assign: for an attribute or constant: what takes the place of the assignment of a value; ``*`` is any
            other value, with the placeholder ``{value}``.
        applied: the parameter that is given by calling the call's result: ``Normal(0.0, 1.0)(weight)``.
        results: for a source call that gives a named tuple: a template for each field, in order.
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
    results: Mapping[str, str] = field(default_factory=dict)
    assign: Mapping[str, str] = field(default_factory=dict)
    applied: str = ""
    let: Let | None = None

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


class ParameterPair(NamedTuple):
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


class ValueMap(NamedTuple):
    """How a parameter's values translate.

    ``pairs`` are equal values, torch first; ``torch_also`` / ``paddle_also`` spell the same value
    otherwise; ``to_*`` wraps any other expression (placeholder ``{x}``), unless its tracked type is one of
    ``keeps``; with ``strings`` only what can be a string is wrapped; ``refuse`` names the diagnostic of a
    value that has no counterpart.
    """

    name: str
    pairs: tuple[tuple[str, str], ...] = ()
    torch_also: Mapping[str, str] = {}
    paddle_also: Mapping[str, str] = {}
    to_torch: str | None = None
    to_paddle: str | None = None
    refuse: Mapping[str, str] = {}
    keeps: frozenset[str] = frozenset()
    strings: bool = False
    file: str = ""

    def also(self, side: Framework) -> Mapping[str, str]:
        """Other spellings on ``side``, to the canonical one."""
        return self.torch_also if side == "torch" else self.paddle_also


class TypeSpec(NamedTuple):
    """A tracked type: what makes an instance, and what shows that a receiver of unknown origin is one.

    Args:
        makes: patterns (fnmatch) of qualified names whose call makes one, either framework.
        protocol: sets of names; a receiver of which all methods of one set are called, or all attributes read, is one.
        names: regular expression for variable names that suggest one.
        tokens: what a file must hold for any member of the type to matter; empty if nothing can be said.
        base: a type whose members this one has too.
    """

    name: str
    makes: tuple[str, ...] = ()
    protocol: tuple[frozenset[str], ...] = ()
    names: str = ""
    tokens: tuple[str, ...] = ()
    base: str = ""


class DiagnosticSpec(NamedTuple):
    """A diagnostic as the table declares it; ``message`` and ``hint`` may hold ``{name}``-style placeholders."""

    code: str
    name: str
    title: str
    severity: Literal["error", "warning", "info"]
    applicability: Literal["safe", "unsafe", "display-only"]
    message: str
    hint: str = ""
    once: bool = False
    """One finding for a file is enough."""
    examined: bool = True
    """Whether it is known what the code there does; without, the use counts as not examined."""
    formerly: str = ""
    """The code that such findings had before; comments, options and baselines that name it still hold."""
    shim_reason: ShimPart | None = None
    """The part of the runtime shim that ``--shim auto`` takes for it: natively there is no exact form."""
    shim_answers: ShimPart | None = None
    """The part of the runtime shim under which it does not apply: the source's behaviour is kept."""


class AreaSpec(NamedTuple):
    """What a rule of the whole API is about; many rows share its code."""

    code: str
    name: str
    title: str


class AliasRule(NamedTuple):
    """Names that are the same objects as others.

    Args:
        of: the name that rows have, or ``module.*`` for every name of a module.
        at: its other names; ``module.*`` where ``of`` ends so.
        modules: modules below those of ``at`` that hold the names, too.
        names: the only names that are meant, of a module; all if empty.
        overloads: names that stand for one of their signatures, ``module.name.overload``, by the overload.
    """

    of: str
    at: tuple[str, ...]
    modules: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    overloads: Mapping[str, tuple[str, ...]] = {}
    file: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Row(Record):
    """One pair of APIs; serves both directions unless ``direction`` names the only target.

    Args:
        receiver: for members, the tracked type that has it; ``instance``: the type that a call makes.
        hook: a named function for what the other keys cannot say; ``hook_arguments``: what it gets beside the call.
        report: diagnostic for a use that has no counterpart.
        warn: diagnostic to add to each conversion, by target.
        initial: the kind of layer in ``initial_values`` of ``facts.toml``, if its default initial values differ.
        bare: the name is distinctive enough to be known where nothing binds it (documentation, notebooks).
        unchecked: why the names cannot be held against the installed frameworks, if they cannot.
        collect: parameters whose positionals become one list on the other side.
        forward: for a layer, the parameters of its call whose names differ.
        distinctive: sides on which the member's name shows the receiver's type by itself.
        any_receiver: the result is right for whatever has the method, arrays too: no type is needed.
        examples: proofs in torch code; ``paddle_examples``: in Paddle code. ``prove``: what is compared.
        tolerance: relative tolerance of the proof, where it is not the usual one.
        annotation: the name has this meaning in annotations and type checks only.
        unverified: why there is no executed proof.
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
    hook_arguments: Mapping[str, str | int | bool] = field(default_factory=dict)
    report: str | None = None
    warn: Mapping[str, str] = field(default_factory=dict)
    initial: str | None = None
    bare: bool = False
    tokens: tuple[str, ...] | None = None
    unchecked: str | None = None
    docs: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False
    """One of the tables of the whole API: any file that names the framework may use it."""
    collect: frozenset[str] = frozenset()
    forward: tuple[ParameterPair, ...] = ()
    distinctive: frozenset[Framework] = frozenset()
    any_receiver: bool = False
    examples: tuple[str, ...] = ()
    paddle_examples: tuple[str, ...] = ()
    prove: Literal["values", "shape", "processes"] = "values"
    tolerance: float | None = None
    annotation: bool = False
    unverified: str | None = None
    reason: str = ""
    """Why there is no counterpart, where the words of ``report`` do not say so; ``instead`` is the way out."""
    instead: str = ""
    """May hold ``{function}``, which stands for the last part of the API's name, without a trailing ``_``."""
    remark: str = ""
    """What differs for values that only a run knows, so that no finding can tell of it."""

    def way_out(self, name: str) -> str:
        """``instead`` for the API ``name``."""
        return self.instead.replace("{function}", name.rpartition(".")[2].rstrip("_"))

    @property
    def area(self) -> str:
        """The letters of the code: ``AMP`` of ``AMP101``."""
        return self.code.rstrip("0123456789")

    @property
    def ignores_arguments(self) -> bool:
        """Whether no argument has influence on results, and the other side is written without any."""
        is_written = any("{" not in (form.template or "{") for form in (*self.torch, *self.paddle))
        return is_written and bool(self.parameters) and all(pair.ignore for pair in self.parameters)

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


class RawTables:
    """What the files held, before they are indexed."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.values: dict[str, ValueMap] = {}
        self.diagnostics: dict[str, DiagnosticSpec] = {}
        self.types: dict[str, TypeSpec] = {}
        self.areas: dict[str, AreaSpec] = {}
        self.aliases: list[AliasRule] = []
