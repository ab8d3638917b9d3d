"""Which releases of the two frameworks exist, and what a release specifier on the command line selects.

Sources: the wheels on PyPI that were read for the tables; ``develop`` stands for the branch after the
newest release.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from packaging.version import InvalidVersion, Version

Framework = Literal["torch", "paddle"]

DEVELOP = Version("9999")
"""Sorts after every release; typed as ``develop``."""

KNOWN: dict[Framework, tuple[Version, ...]] = {
    "torch": tuple(
        Version(text)
        for text in [
            "1.6.0",
            "1.7.1",
            "1.8.1",
            "1.9.1",
            "1.10.2",
            "1.11.0",
            "1.12.1",
            "1.13.1",
            "2.0.1",
            "2.1.2",
            "2.2.2",
            "2.3.1",
            "2.4.1",
            "2.5.1",
            "2.6.0",
            "2.7.1",
            "2.8.0",
            "2.9.1",
            "2.10.0",
            "2.11.0",
            "2.12.0",
            "2.13.0",
            "2.14.0",
            "2.15.0",
        ]
    ),
    "paddle": (
        *(
            Version(text)
            for text in [
                "2.0.0",
                "2.1.0",
                "2.2.0",
                "2.3.0",
                "2.4.0",
                "2.4.2",
                "2.5.0",
                "2.5.1",
                "2.5.2",
                "2.6.0",
                "2.6.1",
                "2.6.2",
                "3.0.0",
                "3.1.0",
                "3.1.1",
                "3.2.0",
                "3.2.2",
                "3.3.0",
                "3.3.1",
            ]
        ),
        DEVELOP,
    ),
}

_INSTALLABLE: dict[Framework, tuple[Version, Version]] = {
    "torch": (Version("2.4"), Version("2.15")),
    "paddle": (Version("2.6"), Version("9998")),
}

_DISTRIBUTIONS: dict[Framework, tuple[str, ...]] = {
    "torch": ("torch",),
    "paddle": ("paddlepaddle-gpu", "paddlepaddle"),
}


class ReleaseSet(NamedTuple):
    """The releases that a program may meet.

    ``versions``, oldest first, decides which *names* may be used: every one of them must have the name. ``defaults``
    decides which *default values* are compared: without a specifier that is every known release.
    """

    framework: Framework
    versions: tuple[Version, ...]
    defaults: tuple[Version, ...]

    @property
    def newest(self) -> Version:
        """The newest of ``versions``."""
        return self.versions[-1]


def other_framework(framework: Framework) -> Framework:
    """Paddle for torch, and torch for Paddle."""
    return "paddle" if framework == "torch" else "torch"


def installable(framework: Framework) -> tuple[Version, ...]:
    """The known releases that users can install today: Paddle 2.6 to 3.3, torch 2.4 to 2.15."""
    oldest, newest = _INSTALLABLE[framework]
    return tuple(v for v in KNOWN[framework] if oldest <= v <= newest)


def installed(framework: Framework) -> Version | None:
    """The release of ``framework`` in this environment, without importing it; None if there is none."""
    from importlib import metadata  # slow to import, and asked for rarely

    for name in _DISTRIBUTIONS[framework]:
        try:
            return Version(Version(metadata.version(name)).public)
        except metadata.PackageNotFoundError:
            continue
    return None


def select(framework: Framework, specifier: str | None) -> ReleaseSet:
    """Turn a specifier into releases.

    ``None`` allows every installable release for names and every known one for defaults. ``"3.3"`` means
    3.3 and its patch releases, ``">=2.6,<3"`` a range, ``"installed"`` what this environment has,
    ``"develop"`` the development branch.

    Raises:
        ValueError: the specifier cannot be read, selects nothing, or nothing is installed.
    """
    if specifier is None:
        return ReleaseSet(framework, installable(framework), KNOWN[framework])
    text = specifier.strip()
    if text == "develop":
        chosen: tuple[Version, ...] = (DEVELOP,)
    elif text == "installed":
        found = installed(framework)
        if found is None:
            raise ValueError(f"version 'installed': {framework} is not installed in this environment")
        chosen = (found,)
    elif text[:1].isdigit():
        chosen = _releases_of(framework, text)
    else:
        from packaging.specifiers import InvalidSpecifier, SpecifierSet  # slow to import, and asked for rarely

        try:
            wanted = SpecifierSet(text)
        except InvalidSpecifier as error:
            raise ValueError(f"version {specifier!r} of {framework} cannot be read: {error}") from None
        chosen = tuple(v for v in KNOWN[framework] if v != DEVELOP and v in wanted) if text else ()
        if not chosen:
            raise ValueError(f"version {specifier!r} selects no known release of {framework}")
    return ReleaseSet(framework, chosen, chosen)


def doubt(framework: Framework, specifier: str | None) -> str:
    """What is doubtful about a specifier that :func:`select` takes: a release that the tables do not know; else ""."""
    if specifier is None:
        return ""
    named = [version for version in select(framework, specifier).versions if version not in KNOWN[framework]]
    if not named:
        return ""
    released = [version for version in KNOWN[framework] if version != DEVELOP]
    older = [version for version in released if version < named[0]]
    nearest = older[-1] if older else released[0]
    beyond = "newer than any that the tables know" if nearest == released[-1] else "not one that the tables know"
    return f"release {named[0]} of {framework} is {beyond}: what holds for {nearest} is taken to hold for it"


def _releases_of(framework: Framework, text: str) -> tuple[Version, ...]:
    try:
        version = Version(text)
    except InvalidVersion as error:
        raise ValueError(f"version {text!r} of {framework} cannot be read: {error}") from None
    depth = len(version.release)
    same = tuple(v for v in KNOWN[framework] if v.release[:depth] == version.release)
    oldest = KNOWN[framework][0]
    if not same and version < oldest:
        raise ValueError(f"version {text!r}: {framework} before {oldest} has no mixed precision API")
    return same or (version,)
