"""The diagnostic code of each refusal, and the text for its message's placeholders."""

from __future__ import annotations

import re
from collections.abc import Callable

from paddletorch.plan.model.refusals import (
    AmbiguousApi,
    ArgumentsDoNotFit,
    ArgumentsNotReadable,
    Assigned,
    DictMayHoldNone,
    DictWouldLoseKey,
    EvaluatedTwice,
    GivenTwice,
    LayoutMatters,
    LeftWithAnother,
    MissingArgument,
    Misused,
    NameTaken,
    NeedsWholeCall,
    NoFormFits,
    NoSuchParameter,
    NoSuchUse,
    NotInRelease,
    NotLocated,
    OwnProtocol,
    PassedAsValue,
    Refusal,
    ResultUsedWhole,
    ShardedScaler,
    SharedDict,
    SignatureNotKnown,
    StatedByTable,
    TooManyPositionals,
    UncertainBinding,
    UnclearClipping,
    UnclearDecorate,
    UnclearGroups,
    UnclearMinimize,
    UnclearSampler,
    UnclearSchedule,
    UnclearUpdate,
    UnseenArguments,
)

_CODES: dict[type[Refusal], str] = {
    UncertainBinding: "API201",
    AmbiguousApi: "API202",
    UnseenArguments: "API203",
    PassedAsValue: "API204",
    NoSuchUse: "API205",
    NotInRelease: "API208",
    Assigned: "API209",
    ArgumentsDoNotFit: "API210",
    LeftWithAnother: "API211",
    NameTaken: "API213",
    NotLocated: "API216",
    EvaluatedTwice: "API222",
    ResultUsedWhole: "API223",
    NoFormFits: "API224",
    SignatureNotKnown: "API230",
    SharedDict: "API231",
    ArgumentsNotReadable: "API232",
    NeedsWholeCall: "API233",
    UnclearDecorate: "AMP229",
    UnclearMinimize: "AMP230",
    UnclearUpdate: "AMP231",
    ShardedScaler: "AMP234",
    UnclearSampler: "DAT201",
    UnclearSchedule: "LRS201",
    LayoutMatters: "NNL209",
    UnclearGroups: "OPT202",
    UnclearClipping: "OPT203",
    OwnProtocol: "TRN201",
}
"""The code of a type applies to its subclasses too."""

_PROBLEMS: dict[type[Refusal], Callable[..., str]] = {
    TooManyPositionals: lambda r: "too many positional arguments",
    MissingArgument: lambda r: f"{r.parameter!r} is missing",
    NoSuchParameter: lambda r: f"there is no parameter {r.keyword!r}",
    GivenTwice: lambda r: f"{r.parameter} is given twice",
    Misused: lambda r: str(r.problem),
    DictWouldLoseKey: lambda r: f"{r.parameter!r} would have to go, and a statement of its own puts it in",
    DictMayHoldNone: lambda r: f"{r.parameter!r} is None in one of its cases",
}


def code_of(refusal: Refusal) -> str:
    """The code of the diagnostic that reports a refusal."""
    if isinstance(refusal, StatedByTable):
        return refusal.code
    return next(_CODES[one] for one in type(refusal).__mro__ if one in _CODES)


def details(refusal: Refusal) -> tuple[tuple[str, str], ...]:
    """Text for the placeholders of the diagnostic's message, by name."""
    if isinstance(refusal, StatedByTable):
        return refusal.details
    found = {name: _text(getattr(refusal, name)) for name in refusal.details_declared}
    if isinstance(refusal, AmbiguousApi):
        found["apis"] = " or ".join(refusal.apis)
    if isinstance(refusal, NeedsWholeCall):
        found["written"] = _short(refusal.written)
    if isinstance(refusal, EvaluatedTwice):
        found = {"argument": ", ".join(refusal.names)}
    problem = _PROBLEMS.get(type(refusal))
    if problem is not None:
        found["problem"] = problem(refusal)
    return tuple(sorted(found.items()))


def _short(template: str) -> str:
    """A template shortened for a message: the function it calls, or "an expression"; other text is unchanged."""
    if re.fullmatch(r"[\w ,.]+", template):
        return template
    called = re.match(r"[A-Za-z_][\w.]*\(", template)
    return f"{called.group()}...)" if called else "an expression of several parts"


def _text(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
