"""Defaults of parameters, from release to release."""

from __future__ import annotations

from dataclasses import dataclass

from packaging.version import Version

from paddletorch_rules.releases import Framework
from paddletorch_rules.schema import ParameterPair, Row


@dataclass(frozen=True, slots=True)
class Since:
    """A default from a release on; None where the releases from there on lack the parameter."""

    release: Version
    default: str | None


def history(row: Row, pair: ParameterPair, side: Framework) -> list[Since]:
    """The parameter's default on ``side`` from release to release; empty if it is required or not known."""
    forms = [form for form in row.forms(side) if form.names and form.signatures]
    name = pair.name(side)
    if name is None:
        return [Since(form.since, pair.neutral) for form in forms[:1] if pair.neutral is not None]
    starts = {release for form in forms for release in (form.since, *(since for since, _ in form.signatures))}
    found: list[Since] = []
    for release in sorted(starts):
        form = next((form for form in forms if form.available([release])), None)
        signature = form.signature(release) if form is not None else None
        if form is None or signature is None:
            continue
        parameter = signature.get(name)
        if parameter is not None and parameter.default is None:
            return []
        default = form.fixed.get(name) or (parameter.default if parameter is not None else None)
        if not found or found[-1].default != default:
            found.append(Since(release, default))
    return found if any(since.default is not None for since in found) else []
