"""Requirements on the source framework, as pip reads them: ``torch>=1.10; python_version > "3.8"``."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from paddletorch_rules.packages import normalized, packages
from paddletorch_rules.releases import DEVELOP, ReleaseSet

from paddletorch.model import Framework
from paddletorch.project_files.found import CPU_BUILD, REQUIREMENT, Found, Replaced

OWN: dict[Framework, tuple[str, ...]] = {"torch": ("torch",), "paddle": ("paddlepaddle", "paddlepaddle-gpu")}
"""The frameworks' own distributions; the first one is written."""

_BUILDS = re.compile(r"paddlepaddle-\w+|pytorch|torch-\w*(?:cuda|rocm)\w*")
INDEX: dict[Framework, re.Pattern[str]] = {
    "torch": re.compile(r"download\.pytorch\.org"),
    "paddle": re.compile(r"paddlepaddle\.org\.cn|paddle-wheel\.bj\.bcebos\.com"),
}
"""The frameworks' own indexes of packages."""

_OPERATOR = r"(?:===|==|~=|!=|<=|>=|<|>)"
_REQUIREMENT = re.compile(
    rf"""\s*(?P<name>[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)
    (?P<extras>[ \t]*\[[^\]]*\])?
    (?P<versions>(?P<before>[ \t]*){_OPERATOR}(?P<behind>[ \t]*)[\w.*+!-]+
      (?:[ \t]*,[ \t]*{_OPERATOR}[ \t]*[\w.*+!-]+)*)?
    (?P<rest>[ \t]*(?:[;\#\\@].*|--hash.*)?)\Z""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Target:
    """What a run writes: the framework and its releases."""

    source: Framework
    target: Framework
    releases: ReleaseSet

    @property
    def distribution(self) -> str:
        """The target's distribution."""
        return OWN[self.target][0]


def requirement(text: str, target: Target) -> Found | None:
    """What one requirement is, if it is on the source framework or on a package that is built on it."""
    match = _REQUIREMENT.match(text)
    if match is None:
        return None
    name = normalized(match["name"])
    start, end = match.start("name"), match.end("versions") if match["versions"] else match.end("name")
    found = Found(start, end, REQUIREMENT, text[start:end].strip())
    if name in OWN[target.source]:
        return _converted(found, match, target)
    if name == "torchvision" and target.source == "torch":
        instead = "Its uses become paddle.vision: remove the requirement when no file imports torchvision."
        return found.left("Paddle has no package of its own for it", instead)
    if _BUILDS.fullmatch(name) and ("paddle" in name) is (target.source == "paddle"):
        return found.left(
            "it is a build for one kind of device", f"Choose the build of {target.target} for the device."
        )
    package = packages(target.source).distributed_as(name)
    if package is None:
        return None
    return found.left(f"it is built on {target.source} ({package.of})", package.instead)


def in_list(items: Iterable[tuple[int, str]], target: Target) -> list[Found]:
    """What is found in one list of requirements, by the place of each; the target is named once in it at most."""
    several = list(items)
    names = [normalized(m["name"]) for _, text in several if (m := _REQUIREMENT.match(text))]
    taken = any(name in OWN[target.target] for name in names)
    found: list[Found] = []
    for place, text in several:
        one = requirement(text, target)
        if one is None:
            continue
        if one.edits:
            one = one.left(f"{target.distribution} is required here already", "Remove it.") if taken else one
            taken = True
        found.append(one.moved(place))
    return found


def left_with_index(found: Iterable[Found], source: Framework, text: str) -> list[Found]:
    """The same, with all requirements left where the text takes the framework from an index of its own."""
    index = INDEX[source].search(text)
    if index is None:
        return list(found)
    problem = f"it comes from {index[0]}, which has the framework's builds by device"
    instead = "Name the target's index for the device by hand."
    return [one.left(problem, instead) if one.code == REQUIREMENT and one.edits else one for one in found]


def _converted(found: Found, match: re.Match[str], target: Target) -> Found:
    rest = (match["rest"] or "").lstrip()
    if match["extras"]:
        return found.left("it has extras, which the target's package does not know")
    if rest.startswith("@"):
        return found.left("it names a file or an address", "Name the target's wheel by hand.")
    if "--hash" in rest or rest.startswith("\\"):
        return found.left(
            "it has hashes or goes on on the next line", "Let the tool that wrote the hashes write them anew."
        )
    versions = _versions(match["versions"] or "", target.releases)
    if versions is None:
        return found.left(
            "its version names a build for one device, or cannot be read", "Choose the target's build by hand."
        )
    if versions:
        first = re.match(_OPERATOR, versions)
        assert first is not None
        versions = f"{match['before']}{first[0]}{match['behind']}{versions[first.end() :]}"
    written = target.distribution + versions
    also = (CPU_BUILD,) if target.target == "paddle" and "+cpu" not in (match["versions"] or "") else ()
    return Found(
        found.start,
        found.end,
        found.code,
        found.name,
        edits=(Replaced(found.start, found.end, written),),
        replacement=written,
        also=also,
    )


def _versions(text: str, releases: ReleaseSet) -> str | None:
    """The target's versions in place of the source's: a pin stays a pin, and bounds stay bounds."""
    text = text.strip()
    if not text:
        return ""
    try:
        given = list(SpecifierSet(text))
    except InvalidSpecifier:
        return None
    known = [version for version in releases.versions if version != DEVELOP]
    if not known or any(one.operator == "===" for one in given):
        return None
    if any("+" in one.version and not one.version.endswith("+cpu") for one in given):
        return None
    lowest, newest = known[0], known[-1]
    if any(one.operator == "==" and not one.version.endswith("*") for one in given):
        return f"=={newest}"
    if any(one.operator in ("<", "<=", "~=", "==") for one in given):
        return f">={lowest},<{newest.major}.{newest.minor + 1}"
    return f">={lowest}"
