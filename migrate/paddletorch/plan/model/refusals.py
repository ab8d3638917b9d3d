"""Why a use is left as it is: one type for each reason, with its details.

Code that depends on the reason tests the type. Codes and message texts are in ``refusal_text``.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, ClassVar, NoReturn

from paddletorch.model.questions import Question

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_):
        """Say nothing: only type checkers are told."""
        return lambda cls: cls


@dataclass_transform(frozen_default=True)
class Refusal:
    """A reason why a use is left as it is.

    A subclass declares its details as a frozen dataclass does. The methods stand here once for all of them: made by
    ``dataclass`` for each of the forty, they would take a tenth of the time that importing the planner takes.
    """

    details_declared: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.details_declared = (*cls.details_declared, *inspect.get_annotations(cls))

    def __init__(self, *values: object, **named: object) -> None:
        given = dict(zip(self.details_declared, values, strict=False), **named)
        missing = [name for name in self.details_declared if name not in given and not hasattr(self, name)]
        if missing or len(values) > len(self.details_declared) or not given.keys() <= set(self.details_declared):
            raise TypeError(f"{type(self).__name__} takes {', '.join(self.details_declared) or 'no details'}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is a value: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash((type(self), self._values()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._values()!r}"

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.details_declared)


class Refused(Exception):
    """Raised while a use is converted; carries the refusal to the caller that plans the use."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal)
        self.refusal = refusal


class StatedByTable(Refusal):
    """A row, a value map or a hook states the code and the message's details."""

    code: str
    details: tuple[tuple[str, str], ...] = ()
    questions: tuple[Question, ...] = ()
    """What a recorded run could answer, so that the reason may go."""


class UncertainBinding(Refusal):
    """The name may also be the file's own, bound on line ``other``."""

    name: str
    other: int


class AmbiguousApi(Refusal):
    """The name may be one of several APIs that convert differently."""

    name: str
    apis: tuple[str, ...]


class UnseenArguments(Refusal):
    """The contents of ``*args`` or ``**kwargs`` are unknown."""

    what: str


class PassedAsValue(Refusal):
    """The API is used as a value, and its callers pass the source's arguments."""

    replacement: str
    arguments: str = ""


class NoSuchUse(Refusal):
    """The counterpart cannot be used in this way."""

    what: str
    replacement: str


class NotInRelease(Refusal):
    """No allowed release of the target has the counterpart; ``since`` is the first one that has."""

    replacement: str
    since: str


class Assigned(Refusal):
    """The API is assigned to, or patched."""

    replacement: str


class LeftWithAnother(Refusal):
    """Another use of the same name, on line ``other``, cannot be converted."""

    name: str
    other: int


class NameTaken(Refusal):
    """A name that the new text needs is bound to something else here."""

    name: str
    api: str


class NotLocated(Refusal):
    """The use is in an f-string or annotation where its position or the free quotes are unknown."""


class EvaluatedTwice(Refusal):
    """Arguments with a side effect would be evaluated twice, in another order or in another scope.

    ``names`` are the target's parameters, or the arguments as they are written.
    """

    names: tuple[str, ...]


class ResultUsedWhole(Refusal):
    """The named tuple that the source returns is used as a whole."""

    fields: tuple[str, ...]


class NoFormFits(Refusal):
    """The name has several signatures, and the arguments do not show which one is meant."""

    forms: str
    arguments: str


class ArgumentsDoNotFit(Refusal):
    """The arguments do not fit the API's signature."""

    signature: str


class TooManyPositionals(ArgumentsDoNotFit):
    """More positional arguments than the signature has."""


class MissingArgument(ArgumentsDoNotFit):
    """A required parameter is not given."""

    parameter: str


class NoSuchParameter(ArgumentsDoNotFit):
    """A keyword that the signature does not have."""

    keyword: str


class GivenTwice(ArgumentsDoNotFit):
    """A parameter has two arguments."""

    parameter: str


class Misused(ArgumentsDoNotFit):
    """A hook finds that the arguments contradict the API; ``problem`` says how."""

    problem: str


class SignatureNotKnown(Refusal):
    """The tables have no signature of an allowed release; ``side`` is the framework's name."""

    side: str


class SharedDict(Refusal):
    """The dict behind ``**`` cannot be changed for this call alone."""

    parameter: str


class DictWouldLoseKey(SharedDict):
    """The dict may hold a key that the target has no parameter for."""


class DictMayHoldNone(SharedDict):
    """The dict may hold None under a key where the target does not take it."""


class ArgumentsNotReadable(Refusal):
    """The text between the arguments cannot be parsed."""

    problem: str


class NeedsWholeCall(Refusal):
    """The counterpart replaces a whole call, and this use is not a call."""

    use: str
    written: str


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


class OwnProtocol(Refusal):
    """A class of the file that implements the source framework's protocol of optimizers or schedulers."""


class ShardedScaler(Refusal):
    """The sharded scaler is used without a plain call."""


class LayoutMatters(Refusal):
    """The weight of a linear layer is used where its layout matters."""
