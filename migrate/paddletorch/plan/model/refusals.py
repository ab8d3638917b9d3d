"""Why a use stays as it is: one type for each reason, with the facts of the case.

Codes and words are given in ``refusal_text``; whoever has to decide asks for the type.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A reason to leave a use as it is."""


class Refused(Exception):
    """Carries a refusal to where the use is planned."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True, slots=True)
class StatedByTable(Refusal):
    """A row, a value map or a hook names the code itself, and what its message says."""

    code: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class UncertainBinding(Refusal):
    """The name may also be something of the file's own, bound on line ``other``."""

    name: str
    other: int


@dataclass(frozen=True, slots=True)
class AmbiguousApi(Refusal):
    """The name may be one of several APIs that convert differently."""

    name: str
    apis: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class UnseenArguments(Refusal):
    """Arguments come from where they cannot be seen."""

    what: str


@dataclass(frozen=True, slots=True)
class PassedAsValue(Refusal):
    """The API is passed on as a value to callers that give the source's arguments."""

    replacement: str
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class NoSuchUse(Refusal):
    """The counterpart cannot be used in this way."""

    what: str
    replacement: str


@dataclass(frozen=True, slots=True)
class NotInRelease(Refusal):
    """No allowed release of the target has the counterpart; ``since`` is the first one that has."""

    replacement: str
    since: str


@dataclass(frozen=True, slots=True)
class Assigned(Refusal):
    """The API is assigned to, or patched."""

    replacement: str


@dataclass(frozen=True, slots=True)
class LeftWithAnother(Refusal):
    """Another use of the same name, on line ``other``, cannot be converted."""

    name: str
    other: int


@dataclass(frozen=True, slots=True)
class NameTaken(Refusal):
    """A name that new text needs is bound to something else here."""

    name: str
    api: str


@dataclass(frozen=True, slots=True)
class NotLocated(Refusal):
    """The use stands in an f-string or an annotation where its place or its quotes cannot be known."""


@dataclass(frozen=True, slots=True)
class EvaluatedTwice(Refusal):
    """Arguments with an effect would be evaluated twice, in another order or in another scope.

    ``names`` are the target's parameters, or the arguments as they are written.
    """

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultUsedWhole(Refusal):
    """The named tuple that the source returns is used as a whole."""

    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoFormFits(Refusal):
    """Several signatures have the name, and the arguments do not say which one is meant."""

    forms: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ArgumentsDoNotFit(Refusal):
    """The arguments make no sense for the API's signature."""

    signature: str


@dataclass(frozen=True, slots=True)
class TooManyPositionals(ArgumentsDoNotFit):
    """More positional arguments than the signature has."""


@dataclass(frozen=True, slots=True)
class MissingArgument(ArgumentsDoNotFit):
    """A required parameter is not given."""

    parameter: str


@dataclass(frozen=True, slots=True)
class NoSuchParameter(ArgumentsDoNotFit):
    """A keyword that the signature does not have."""

    keyword: str


@dataclass(frozen=True, slots=True)
class GivenTwice(ArgumentsDoNotFit):
    """A parameter has two arguments."""

    parameter: str


@dataclass(frozen=True, slots=True)
class Misused(ArgumentsDoNotFit):
    """A hook finds that the arguments contradict the API; ``problem`` says how."""

    problem: str


@dataclass(frozen=True, slots=True)
class SignatureNotKnown(Refusal):
    """The tables have no signature for an allowed release; ``side`` is the framework's name."""

    side: str


@dataclass(frozen=True, slots=True)
class SharedDict(Refusal):
    """The dict behind ``**`` cannot be changed for this call alone."""

    parameter: str


@dataclass(frozen=True, slots=True)
class DictWouldLoseKey(SharedDict):
    """The dict may hold a key that the target has no parameter for."""


@dataclass(frozen=True, slots=True)
class DictMayHoldNone(SharedDict):
    """The dict may hold None under a key where the target does not take it."""


@dataclass(frozen=True, slots=True)
class ArgumentsNotReadable(Refusal):
    """What stands between the arguments cannot be taken apart."""

    problem: str


@dataclass(frozen=True, slots=True)
class NeedsWholeCall(Refusal):
    """The counterpart is an expression around the call, which cannot stand at this use."""

    use: str
    written: str


@dataclass(frozen=True, slots=True)
class NotOneStatement(Refusal):
    """A statement that belongs to others cannot be rewritten: ``what`` says why.

    The classes below say which kind of statement it is.
    """

    what: str


class UnclearMinimize(NotOneStatement):
    """``scaler.minimize`` with more than an optimizer and a scaled loss."""

    __slots__ = ()


class UnclearUpdate(NotOneStatement):
    """``scaler.update`` with a scale, or a scale that is set."""

    __slots__ = ()


class UnclearDecorate(NotOneStatement):
    """``amp.decorate`` that cannot be taken out."""

    __slots__ = ()


class UnclearSampler(NotOneStatement):
    """A distributed sampler whose loader is not known."""

    __slots__ = ()


class UnclearSchedule(NotOneStatement):
    """A scheduler that cannot be tied to its optimizer."""

    __slots__ = ()


class UnclearGroups(NotOneStatement):
    """Parameter groups that cannot be seen whole."""

    __slots__ = ()


class UnclearClipping(NotOneStatement):
    """Clipping inside an optimizer that cannot become calls."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class OwnProtocol(Refusal):
    """A class of the file's own that follows the source framework's protocol of optimizers or schedulers."""


@dataclass(frozen=True, slots=True)
class ShardedScaler(Refusal):
    """The sharded scaler is used other than by a plain call."""


@dataclass(frozen=True, slots=True)
class LayoutMatters(Refusal):
    """The weight of a linear layer is used where its layout matters."""
