"""Default values of parameters by release, on each side."""

from __future__ import annotations

import ast

from packaging.version import Version
from paddletorch_rules import Form, Framework, ValueMap, other_framework

from paddletorch.plan.calls.binding import CallBinding
from paddletorch.plan.calls.translate import translate_default
from paddletorch.plan.model.refusals import NotInRelease, Refused
from paddletorch.plan.syntax.constants import same_value


def means(default: str, text: str, values: ValueMap | None, target: Framework) -> bool:
    """Whether a default of the target means the value ``text``, translated in either direction."""
    if same_value(default, text):
        return True
    source = other_framework(target)
    try:
        return values is not None and same_value(
            translate_default(default, values, source), translate_default(text, values, source)
        )
    except Refused:
        return False


def in_every_release(binding: CallBinding, form: Form, name: str) -> bool:
    """Whether every allowed release of the target has the parameter."""
    settings = binding.view.settings

    def look_up() -> bool:
        versions = settings.target_releases.versions
        return all((s := form.signature(v)) is not None and s.get(name) is not None for v in versions)

    return settings.cached("in every release", (form, name), look_up)


def first_default(form: Form, name: str) -> str | None:
    """The parameter's first default, which is how earlier releases without it behave."""
    found = next((s.get(name) for _, s in form.signatures if s.get(name) is not None), None)
    return found.default if found is not None else None


def is_every_default(binding: CallBinding, form: Form, name: str, value: ast.expr, values: ValueMap | None) -> bool:
    """Whether the given value is the behaviour of every allowed release by default, with or without the parameter."""
    first = first_default(form, name)
    if first is None:
        return False
    given = binding.view.qualified(value) or ast.unparse(value)
    try:
        text = translate_default(given, values, binding.target)
    except (Refused, SyntaxError):
        return False
    defaults = [first, *defaults_of(binding, form, name)]
    return all(means(default, text, values, binding.target) for default in defaults)


def not_in_release(binding: CallBinding, target_name: str) -> Refused:
    """The refusal for a parameter that an allowed release does not have."""
    since = next(
        (
            str(release)
            for form in binding.row.forms(binding.target)
            for release, signature in form.signatures
            if signature.get(target_name) is not None
        ),
        "?",
    )
    return Refused(NotInRelease(f"parameter {target_name!r}", since))


def source_defaults(binding: CallBinding, name: str) -> tuple[list[str], str | None]:
    """The different defaults of a source parameter in the allowed releases, and that of the newest one."""
    settings, form = binding.view.settings, binding.form

    def look_up() -> tuple[list[str], str | None]:
        releases = settings.source_releases
        each = (_parameter_in(form, name, version) for version in releases.versions)
        known = list(dict.fromkeys(default for default in each if default is not None))
        return known, _parameter_in(form, name, releases.newest) or first_default(form, name)

    return settings.cached("source default", (form, name), look_up)


def defaults_of(binding: CallBinding, form: Form, name: str) -> tuple[str, ...]:
    """The different defaults of a target parameter in the releases that have it."""
    settings = binding.view.settings

    def look_up() -> tuple[str, ...]:
        releases = [r for r in settings.target_releases.defaults if form.available([r])]
        found = [_parameter_in(form, name, release) for release in releases]
        return tuple(dict.fromkeys(text for text in found if text is not None))

    return settings.cached("target defaults", (form, name), look_up)


def _parameter_in(form: Form, name: str, release: Version) -> str | None:
    signature = form.signature(release)
    parameter = signature.get(name) if signature else None
    return parameter.default if parameter else None
