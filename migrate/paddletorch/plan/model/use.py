"""How one site is converted, and the collection of all uses of a file."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from paddletorch_rules import Row
from paddletorch_rules.adapters import Adapter

from paddletorch.model import Edit
from paddletorch.plan.model.findings import Finding, refused
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.site import Role, Site
from paddletorch.resolve import Instance


@dataclass(frozen=True, eq=False, slots=True)
class Use:
    """How one site is converted. ``target`` is None if it is left; ``findings`` say why, or warn."""

    site: Site
    row: Row
    target: str | None
    """The name or template that is written; empty where the use is removed."""
    edits: tuple[Edit, ...] = ()
    findings: tuple[Finding, ...] = ()
    whole: Edit | None = None
    """The edit that replaces the whole call or statement, where the target is not a plain call."""
    writes_name: bool = False
    """The edits write the new name, so the names pass must not."""
    keeps_name: bool = False
    """Several APIs are possible; the edits are the same for each, and the name is left."""
    needed_module: str = ""
    """A module that the edits use and that must be imported."""
    adapter: Adapter | None = None
    """The class that stands in the place of the API and has to be written into the file."""

    @property
    def converts(self) -> bool:
        """Whether the use is converted."""
        return self.target is not None

    @property
    def every_edit(self) -> tuple[Edit, ...]:
        """All edits, including ``whole``."""
        return self.edits if self.whole is None else (*self.edits, self.whole)

    def refuse(self, refusal: Refusal | None) -> Use:
        """The use left as it is, with the refusal as its finding; None if another finding reports it."""
        found = () if refusal is None else (refused(refusal, self.site.node, self.site.name, self.row),)
        return Use(self.site, self.row, None, findings=found)

    def removed_by(self, edit: Edit) -> Use:
        """The use removed, with all that is said of it, by an edit of the text around it."""
        return Use(self.site, self.row, "", whole=edit, writes_name=True)

    def with_edits(self, *edits: Edit) -> Use:
        """The use with additional edits."""
        return replace(self, edits=(*self.edits, *edits))

    def with_findings(self, *findings: Finding) -> Use:
        """The use with additional findings."""
        return replace(self, findings=(*self.findings, *findings))

    def without_finding(self, code: str) -> Use:
        """The use without its findings of this code."""
        return replace(self, findings=tuple(found for found in self.findings if found.code != code))

    def same_as(self, other: Use) -> bool:
        """Whether two possible meanings of a site lead to the same edits and findings."""
        return (
            self.target == other.target
            and self.whole == other.whole
            and sorted(self.edits, key=str) == sorted(other.edits, key=str)
            and [f.code for f in self.findings] == [f.code for f in other.findings]
        )


@dataclass(frozen=True)
class Uses:
    """The uses of a file in source order; those of names that another file imports come last."""

    items: tuple[Use, ...] = ()

    def __iter__(self) -> Iterator[Use]:
        return iter(self.items)

    def __getitem__(self, site: Site) -> Use:
        return self._by_site[site]

    def __bool__(self) -> bool:
        return bool(self.items)

    @cached_property
    def _by_site(self) -> dict[Site, Use]:
        return {use.site: use for use in self.items}

    @cached_property
    def by_instance(self) -> Mapping[str | None, Sequence[Use]]:
        """The uses by the tracked type that their rows make."""
        found: dict[str | None, list[Use]] = {}
        for use in self.items:
            found.setdefault(use.row.instance, []).append(use)
        return found

    @cached_property
    def by_role(self) -> Mapping[Role, Sequence[Use]]:
        """The uses by the role of their sites."""
        found: dict[Role, list[Use]] = {}
        for use in self.items:
            found.setdefault(use.site.role, []).append(use)
        return found

    @cached_property
    def rows(self) -> frozenset[str]:
        """The ids of the rows by which they are planned."""
        return frozenset([use.row.id for use in self.items])

    def with_uses(self, uses: Iterable[Use]) -> Uses:
        """These uses, with ``uses`` in place of those of the same sites; new ones come last."""
        given = {use.site: use for use in uses}
        if not given:
            return self
        items = tuple(given.pop(use.site, use) for use in self.items)
        return Uses((*items, *given.values()))

    def converts(self, site: Site) -> bool:
        """Whether there is a use of this site, and it is converted."""
        return site in self._by_site and self._by_site[site].converts

    def leaves(self, site: Site) -> bool:
        """Whether there is a use of this site, and it is left."""
        return site in self._by_site and not self._by_site[site].converts

    @cached_property
    def converted(self) -> tuple[Use, ...]:
        """The uses that are converted."""
        return tuple(use for use in self.items if use.converts)

    @cached_property
    def partials(self) -> dict[str, dict[ast.Call | None, Use]]:
        """The uses in ``functools.partial``, by API and call."""
        found: dict[str, dict[ast.Call | None, Use]] = {}
        for use in self.items:
            if use.site.role == "partial":
                found.setdefault(use.site.name, {})[use.site.call] = use
        return found

    @cached_property
    def left_apis(self) -> frozenset[str]:
        """APIs whose calls in the file are all left."""
        calls = {use.site.name for use in self.items if use.site.role == "call" and not use.converts}
        return frozenset(calls - {use.site.name for use in self.items if use.converts})

    @cached_property
    def left_calls(self) -> Mapping[ast.Call, bool]:
        """The calls of APIs in the file, each with whether it is left."""
        calls = ((use.site.call, use) for use in self.items if use.site.role == "call")
        return {call: not use.converts for call, use in calls if call is not None}

    def leave(self, instance: Instance) -> bool:
        """Whether the object is left as the source's: its own call is, or all of its API where that is unknown."""
        if instance.call is not None and instance.call in self.left_calls:
            return self.left_calls[instance.call]
        return instance.api in self.left_apis

    def keeps_calls(self, instance: Instance) -> bool:
        """Whether the object's calls stay as the source's, since an adapter with the source's ``forward`` makes it.

        What an adapter holds is one too: of ``transformer.encoder`` the member is known, and not the class.
        """
        if instance.node is None and instance.call in self.left_calls:
            return instance.call in self._adapted_calls
        made = ("base" if instance.node is not None else "call", instance.api) in self._called_as_source
        return made or (instance.call is None and instance.api.rpartition(".")[2] in self._held_as_source)

    @cached_property
    def _adapted_calls(self) -> frozenset[ast.Call | None]:
        adapted = (use for use in self.items if use.adapter is not None and use.adapter.keeps_calls)
        return frozenset(use.site.call for use in adapted if use.site.role == "call")

    @cached_property
    def _called_as_source(self) -> frozenset[tuple[str, str]]:
        adapted = (use for use in self.items if use.adapter is not None and use.adapter.keeps_calls)
        return frozenset((use.site.role, use.site.name) for use in adapted)

    @cached_property
    def _held_as_source(self) -> frozenset[str]:
        adapted = (use.adapter for use in self.items if use.adapter is not None and use.adapter.keeps_calls)
        return frozenset(name for adapter in adapted for name in adapter.members)


class Draft:
    """A pass's working copy of the uses; the pass returns ``revised``."""

    def __init__(self, uses: Uses) -> None:
        self._uses = uses
        self._changed: dict[Site, Use] = {}

    def __getitem__(self, site: Site) -> Use:
        return self._changed.get(site) or self._uses[site]

    def __iter__(self) -> Iterator[Use]:
        return (self._changed.get(use.site, use) for use in self._uses)

    def making(self, instance: str) -> Iterator[Use]:
        """The uses whose rows make an object of a tracked type."""
        return (self._changed.get(use.site, use) for use in self._uses.by_instance.get(instance, ()))

    def in_role(self, *roles: Role) -> Iterator[Use]:
        """The uses whose sites have one of the roles."""
        for role in roles:
            for use in self._uses.by_role.get(role, ()):
                yield self._changed.get(use.site, use)

    def revise(self, use: Use) -> None:
        """Replace the use of the same site."""
        self._changed[use.site] = use

    def refuse(self, site: Site, refusal: Refusal | None) -> None:
        """Leave a site as it is, because of a refusal."""
        self.revise(self[site].refuse(refusal))

    @property
    def revised(self) -> tuple[Use, ...]:
        """The uses that were changed."""
        return tuple(self._changed.values())
