"""Why a use is left as it is: one type for each reason, with its details.

Code that depends on the reason tests the type. Codes and message texts are in ``refusal_text``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """A reason why a use is left as it is."""


class Refused(Exception):
    """Raised while a use is converted; carries the refusal to the caller that plans the use."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


@dataclass(frozen=True)
class StatedByTable(Refusal):
    """A row, a value map or a hook states the code and the message's details."""

    code: str
    details: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class UncertainBinding(Refusal):
    """The name may also be the file's own, bound on line ``other``."""

    name: str
    other: int


@dataclass(frozen=True)
class AmbiguousApi(Refusal):
    """The name may be one of several APIs that convert differently."""

    name: str
    apis: tuple[str, ...]


@dataclass(frozen=True)
class UnseenArguments(Refusal):
    """The contents of ``*args`` or ``**kwargs`` are unknown."""

    what: str


@dataclass(frozen=True)
class PassedAsValue(Refusal):
    """The API is used as a value, and its callers pass the source's arguments."""

    replacement: str
    arguments: str = ""


@dataclass(frozen=True)
class NoSuchUse(Refusal):
    """The counterpart cannot be used in this way."""

    what: str
    replacement: str


@dataclass(frozen=True)
class NotInRelease(Refusal):
    """No allowed release of the target has the counterpart; ``since`` is the first one that has."""

    replacement: str
    since: str


@dataclass(frozen=True)
class Assigned(Refusal):
    """The API is assigned to, or patched."""

    replacement: str


@dataclass(frozen=True)
class LeftWithAnother(Refusal):
    """Another use of the same name, on line ``other``, cannot be converted."""

    name: str
    other: int


@dataclass(frozen=True)
class NameTaken(Refusal):
    """A name that the new text needs is bound to something else here."""

    name: str
    api: str


@dataclass(frozen=True)
class NotLocated(Refusal):
    """The use is in an f-string or annotation where its position or the free quotes are unknown."""


@dataclass(frozen=True)
class EvaluatedTwice(Refusal):
    """Arguments with a side effect would be evaluated twice, in another order or in another scope.

    ``names`` are the target's parameters, or the arguments as they are written.
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class ResultUsedWhole(Refusal):
    """The named tuple that the source returns is used as a whole."""

    fields: tuple[str, ...]


@dataclass(frozen=True)
class NoFormFits(Refusal):
    """The name has several signatures, and the arguments do not show which one is meant."""

    forms: str
    arguments: str


@dataclass(frozen=True)
class ArgumentsDoNotFit(Refusal):
    """The arguments do not fit the API's signature."""

    signature: str


@dataclass(frozen=True)
class TooManyPositionals(ArgumentsDoNotFit):
    """More positional arguments than the signature has."""


@dataclass(frozen=True)
class MissingArgument(ArgumentsDoNotFit):
    """A required parameter is not given."""

    parameter: str


@dataclass(frozen=True)
class NoSuchParameter(ArgumentsDoNotFit):
    """A keyword that the signature does not have."""

    keyword: str


@dataclass(frozen=True)
class GivenTwice(ArgumentsDoNotFit):
    """A parameter has two arguments."""

    parameter: str


@dataclass(frozen=True)
class Misused(ArgumentsDoNotFit):
    """A hook finds that the arguments contradict the API; ``problem`` says how."""

    problem: str


@dataclass(frozen=True)
class SignatureNotKnown(Refusal):
    """The tables have no signature of an allowed release; ``side`` is the framework's name."""

    side: str


@dataclass(frozen=True)
class SharedDict(Refusal):
    """The dict behind ``**`` cannot be changed for this call alone."""

    parameter: str


@dataclass(frozen=True)
class DictWouldLoseKey(SharedDict):
    """The dict may hold a key that the target has no parameter for."""


@dataclass(frozen=True)
class DictMayHoldNone(SharedDict):
    """The dict may hold None under a key where the target does not take it."""


@dataclass(frozen=True)
class ArgumentsNotReadable(Refusal):
    """The text between the arguments cannot be parsed."""

    problem: str


@dataclass(frozen=True)
class NeedsWholeCall(Refusal):
    """The counterpart replaces a whole call, and this use is not a call."""

    use: str
    written: str


@dataclass(frozen=True)
class NotOneStatement(Refusal):
    """Statements that must be rewritten together cannot be: ``what`` says why.

    The subclasses name the kind of statement.
    """

    what: str


class UnclearMinimize(NotOneStatement):
    """``scaler.minimize`` with more than an optimizer and a scaled loss."""


class UnclearUpdate(NotOneStatement):
    """``scaler.update`` with a scale, or a scale that is set."""


class UnclearDecorate(NotOneStatement):
    """``amp.decorate`` that cannot be removed."""


class UnclearSampler(NotOneStatement):
    """A distributed sampler whose loader is not known."""


class UnclearSchedule(NotOneStatement):
    """A scheduler whose optimizer is not clear."""


class UnclearGroups(NotOneStatement):
    """Parameter groups whose contents are not fully known."""


class UnclearClipping(NotOneStatement):
    """Gradient clipping inside an optimizer that cannot become calls before its steps."""


@dataclass(frozen=True)
class OwnProtocol(Refusal):
    """A class of the file that implements the source framework's protocol of optimizers or schedulers."""


@dataclass(frozen=True)
class ShardedScaler(Refusal):
    """The sharded scaler is used without a plain call."""


@dataclass(frozen=True)
class LayoutMatters(Refusal):
    """The weight of a linear layer is used where its layout matters."""
