"""Decides how each converted API is written: by its old local name, or by its full name.

If every use of a bound name (an import, an alias) converts below one target, only the binding is edited and the
uses keep their spelling. Otherwise each use that converts is written with its full name.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace

from paddletorch_rules import Row

from paddletorch.model import Conversion, Edit, Span
from paddletorch.plan.inference.dead_fallbacks import never_runs
from paddletorch.plan.model.changes import Changes, Import, Planned
from paddletorch.plan.model.naming import Group, Naming
from paddletorch.plan.model.refusals import LeftWithAnother, Refusal, Refused, UncertainBinding
from paddletorch.plan.model.site import Site
from paddletorch.plan.model.use import Draft, Use
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.bound_names import is_bound, star_may_bind
from paddletorch.plan.names.import_guards import stand_in
from paddletorch.plan.names.spelling import helper_modules, names_root, root_name, scope_of, with_aliases, with_root
from paddletorch.plan.sites.sites import alias_keys
from paddletorch.resolve import Binding, NoneValue, Qualified


def plan_names(view: FileView, planned: Planned) -> Changes:
    """Decide how names are written, and emit the edits of the uses that convert."""
    draft = Draft(planned.uses)
    groups = _decide(view, draft)
    found = [alias for group in groups.values() if (alias := _module_alias(view, group)) is not None]
    aliases = dict(reversed(found))  # the first name of each module is used
    written = _Written()
    for group in groups.values():
        for site in group.sites:
            if not draft[site].converts:
                continue
            try:
                _write(view, group, draft, site, aliases, written)
            except Refused as stop:
                draft.refuse(site, stop.refusal)
    uses = tuple(draft)
    edits = [e for use in uses if use.converts for e in use.edits] + written.edits
    conversions = [_conversion(view, use) for use in uses if _is_changed(view, use, written.edits)]
    return Changes(
        tuple(edits),
        tuple(conversions),
        imports=tuple(written.imports),
        uses=draft.revised,
        naming=Naming(groups, frozenset(written.rewritten), aliases),
    )


@dataclass(slots=True)
class _Written:
    """The edits of names, and the imports that they need, collected so far."""

    edits: list[Edit] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    rewritten: list[Site] = field(default_factory=list)


def _decide(view: FileView, draft: Draft) -> dict[Hashable, Group]:
    """Group the sites by binding and decide which bindings change. A refusal spreads along aliases."""
    sites: dict[Hashable, list[Site]] = {}
    for use in draft:
        sites.setdefault(use.site.anchor.key, []).append(use.site)
    groups = {key: Group(members[0].anchor, tuple(members)) for key, members in sites.items()}
    for use in [one for one in draft.in_role("alias") if one.converts]:
        if (other := stand_in(view, use.site.node)) is not None:
            draft.refuse(use.site, UncertainBinding(view.text(use.site.node), other.lineno))
    groups = _with_other_uses(view, groups, [use.whole for use in draft.in_role("probe") if use.converts])
    groups = {key: _with_fallback(view, draft, group) for key, group in groups.items()}
    while _spread_refusals(view, groups, draft):
        pass
    targets = {key: _binding_target(view, draft, group) for key, group in groups.items()}
    return {key: group._replace(target=targets[key]) if targets[key] else group for key, group in groups.items()}


def _with_fallback(view: FileView, draft: Draft, group: Group) -> Group:
    """Allow a name that may also be the file's own fallback to convert, if none of its uses needs another text."""
    if group.anchor.kind in ("alias", "attribute"):
        return group  # a variable is never renamed
    if all(site.other is None for site in group.sites):
        return group
    if not group.other_uses and not group.hidden and all(draft[site].keeps_name for site in group.sites):
        return group._replace(fallback=True)
    for site in group.sites:
        if draft[site].keeps_name and site.other is not None and view.settings.options.unsafe:
            draft.revise(replace(draft[site], keeps_name=False))  # written in full, whatever else it may be
        elif draft[site].keeps_name and site.other is not None:
            line = int(getattr(site.other, "lineno", 0))
            draft.refuse(site, UncertainBinding(view.text(site.anchor.node), line))
    return group


def _module_alias(view: FileView, group: Group) -> tuple[str, str] | None:
    """A module of the target and its name in the converted file: ``F`` for ``paddle.nn.functional``."""
    bindings = group.anchor.bindings
    if group.target is None or group.anchor.kind != "import" or not bindings or "." not in group.target:
        return None
    rows = [found[0] for name in group.anchor.names if (found := view.settings.lookup(name)) is not None]
    if bindings[0].scope is view.tree.scope and all(row.kind == "module" for row in rows):
        return group.target, bindings[0].name
    return None


def _with_other_uses(
    view: FileView, groups: dict[Hashable, Group], answers: Iterable[Edit | None]
) -> dict[Hashable, Group]:
    """The groups with the other uses of their names in the file, but those that answered questions take away."""
    gone = [edit for edit in answers if edit is not None]
    used = {id(site.anchor.node) for group in groups.values() for site in group.sites}
    anchors = {group.anchor.node.id for group in groups.values() if isinstance(group.anchor.node, ast.Name)}
    others: dict[Hashable, list[ast.expr]] = {}
    for load in [load for name in sorted(anchors) for load in view.tree.names.get(name, ())]:
        meanings = view.tree.meanings(load)  # of a site, what a class reads as long as it has not bound the name
        for bindings in meanings[1:] if id(load) in used else meanings:
            others.setdefault(id(bindings) if bindings else load.id, []).append(load)
    deleted = {
        id(bindings)
        for scope in view.tree.own.values()
        for bindings in scope.bindings.values()
        if id(bindings) in groups and any(b.kind == "delete" for b in bindings)
    }
    unread = view.source.unread_names
    return {
        key: Group(
            group.anchor,
            group.sites,
            tuple(load for load in others.get(key, ()) if not (gone and _is_taken(view.source.span(load), gone))),
            deleted=key in deleted,
            hidden=isinstance(group.anchor.node, ast.Name) and group.anchor.node.id in unread,
        )
        for key, group in groups.items()
    }


def _is_taken(span: Span, edits: Iterable[Edit]) -> bool:
    """Whether one of the edits replaces the text and does not write it again."""
    around = (edit for edit in edits if edit.span.holds(span))
    return any(not any(isinstance(part, Span) and part.holds(span) for part in edit.parts) for edit in around)


def _spread_refusals(view: FileView, groups: dict[Hashable, Group], draft: Draft) -> bool:
    """Convert an alias with all of its uses or not at all. Returns whether anything changed."""
    changed = _spread_to_parameters(groups, draft)
    if view.tree.stars:
        changed = _spread_below_stars(groups, draft) or changed
    blockers: dict[tuple[Hashable, str | None], Site] = {}
    free: set[tuple[Hashable, str | None]] = set()
    """Aliases without a blocker, until another use is refused."""
    for use in draft.in_role("alias"):
        for key in alias_keys(view, use.site.node):
            group = groups.get(key)
            if group is None:
                continue
            alias = draft[use.site]
            if not alias.converts:
                if _refuse_all(group, draft, use.site):
                    changed = True
                    free.clear()
                continue
            question = key, alias.target
            if question in free:
                continue
            blocker = blockers.get(question) or _blocker(group, draft, alias)
            if blocker is None:
                free.add(question)
                continue
            blockers[question] = blocker  # what is refused stays refused
            draft.refuse(use.site, _left_because_of(use.site, blocker))
            changed = True
            free.clear()
    return changed


def _blocker(group: Group, draft: Draft, alias: Use) -> Site | None:
    """The first use of an alias that is left, or becomes another API than the alias."""
    return next((s for s in group.sites if not draft[s].converts or _differs_from_alias(draft[s], alias)), None)


def _differs_from_alias(use: Use, alias: Use) -> bool:
    """Whether a use of an alias becomes another API than the alias: ``f = torch.max``, whose call becomes ``amax``."""
    if use.target is None or alias.target is None or use.whole is not None or use.writes_name or use.keeps_name:
        return False
    return use.target != alias.target and not use.target.startswith(alias.target + ".")


def _spread_to_parameters(groups: dict[Hashable, Group], draft: Draft) -> bool:
    """Leave the uses of a parameter that an API which is left is passed to. Returns whether anything changed."""
    changed = False
    parameters: dict[str, list[Group]] = {}
    """Groups of parameters by the APIs that they may be."""
    for group in groups.values():
        if group.anchor.bindings and all(b.kind == "parameter" for b in group.anchor.bindings):
            for name in group.anchor.names:
                parameters.setdefault(name, []).append(group)
    for use in draft.in_role("value", "probe"):
        if not use.converts:
            for group in parameters.pop(use.site.name, ()):  # once is enough: all of their uses are left then
                changed = _refuse_all(group, draft, use.site) or changed
    return changed


def _spread_below_stars(groups: dict[Hashable, Group], draft: Draft) -> bool:
    """Leave all uses of a name that ``import *`` binds if one is left and the target's own import would bind it anew.

    Returns whether anything changed.
    """
    changed = False
    for group in groups.values():
        if group.anchor.kind == "free":
            bare = [site for site in group.sites if site.node is site.anchor.node]
            blocker = next((site for site in bare if not draft[site].converts), None)
            names = {(draft[site].target or "").rpartition(".")[2] for site in bare if draft[site].converts}
            if blocker is not None and isinstance(blocker.node, ast.Name) and blocker.node.id in names:
                changed = _refuse_all(group, draft, blocker) or changed
    return changed


def _refuse_all(group: Group, draft: Draft, blocker: Site) -> bool:
    """Leave all uses of a name because of ``blocker``. Returns whether any would have been converted."""
    converting = [site for site in group.sites if draft[site].converts]
    for site in converting:
        draft.refuse(site, _left_because_of(site, blocker))
    return bool(converting)


def _left_because_of(site: Site, blocker: Site) -> Refusal:
    return LeftWithAnother(ast.unparse(site.node), blocker.node.lineno)


def _binding_target(view: FileView, draft: Draft, group: Group) -> str | None:
    anchor = group.anchor
    if anchor.kind in ("alias", "attribute"):
        return _alias_target(view, group)
    if anchor.kind != "import" or group.other_uses or group.hidden:
        return None
    if not group.fallback and not stands_for_imports(view, anchor.bindings):
        return None
    return import_target(view, anchor.names, [draft[site] for site in group.sites])


def stands_for_imports(view: FileView, bindings: Iterable[Binding]) -> bool:
    """Whether each binding of a name is an import, an alias of an API, None for a failed import, or a ``del``."""
    return all(
        b.qualified is not None or b.kind == "delete" or _is_alias(view, b) or never_runs(view, b) for b in bindings
    )


def _is_alias(view: FileView, binding: Binding) -> bool:
    values = view.evaluator.bound([binding]) if binding.kind == "assign" else frozenset({None})
    return all(isinstance(v, NoneValue) or (isinstance(v, Qualified) and view.settings.lookup(v.name)) for v in values)


def _alias_target(view: FileView, group: Group) -> str | None:
    return _common_target(view, group.anchor.names)


def _common_target(view: FileView, names: Iterable[str]) -> str | None:
    """The one name of the target for all names that convert or should; others, of a fallback, do not count."""
    known = (name for name in names if view.settings.is_of_source(name) or view.settings.lookup(name) is not None)
    targets = {target_of(view, name) for name in known}
    return targets.pop() if len(targets) == 1 else None


def target_of(view: FileView, name: str) -> str | None:
    """The target's name in an import of ``name``, if the counterpart is a plain name."""
    found = view.settings.lookup(name)
    if found is None:
        return None
    plain = _plain_name(view, found[0])
    if plain is not None:
        return plain
    for row, _ in view.settings.overloads(name):  # a call of `torch.Tensor` is an expression, the class is a name
        if row.kind == "constant" and (plain := _plain_name(view, row)) is not None:
            return plain
    return None


def _plain_name(view: FileView, row: Row) -> str | None:
    form = view.settings.emitted(row) if row.kind != "unsupported" else None
    return form.names[0] if form is not None and form.names and form.template is None else None


def import_target(view: FileView, names: frozenset[str], uses: Iterable[Use]) -> str | None:
    """The target's name in imports of ``names``, if every use converts to it or to a member of it."""
    target = _common_target(view, names)
    if target is None:
        return None
    members = list(uses)
    plain = [use for use in members if not use.converts or (use.whole is None and not use.writes_name)]
    if members and not plain:
        return None  # nothing uses the name any more
    for use in plain:
        if use.target is None or (use.target != target and not use.target.startswith(target + ".")):
            return None
    return target


def _write(view: FileView, group: Group, draft: Draft, site: Site, aliases: dict[str, str], written: _Written) -> None:
    """Emit the edit of a use's name, and complete the names in its other edits.

    Raises:
        Refused: a name that the new text needs is bound to something else here.
    """
    _check_against_stars(view, site)
    use, imports = _with_names(view, draft[site], aliases)
    edit: Edit | None = None
    rewritten = False
    if use.keeps_name:
        pass
    elif use.writes_name or use.whole is not None:
        edit, rewritten = use.whole, True
    else:
        edit, more = _name_edit(view, group, use)
        imports += more
        rewritten = bool(more)
    if use is not draft[site]:
        draft.revise(use)
    written.imports += imports
    if rewritten:
        written.rewritten.append(site)
    if edit is not None:
        written.edits.append(edit)


def _check_against_stars(view: FileView, site: Site) -> None:
    """Check that an ``import *`` does not bind the name to something else where its own import may not have run.

    Raises:
        Refused: one may.
    """
    node = site.anchor.node
    if site.anchor.kind != "import" or not view.tree.stars or not isinstance(node, ast.Name):
        return
    if star_may_bind(view, node.id, node, site.anchor.names):
        raise Refused(UncertainBinding(node.id, view.tree.stars[0].lineno))


def _name_edit(view: FileView, group: Group, use: Use) -> tuple[Edit | None, list[Import]]:
    """The edit of the use's own name, and the import that a full name needs."""
    assert use.target is not None
    site, code = use.site, use.row.code
    span = view.source.span(site.node)
    if group.target is not None:
        anchor = view.source.span(site.anchor.node)
        start, tail = anchor.end, use.target[len(group.target) :]
        if b")" in view.source.body[start : span.end]:  # (nn).Linear
            return Edit(span, view.written(site.anchor.node) + tail, code), []
        return _unless_same(view, Span(start, span.end), tail, code), []
    if site.anchor.kind == "free" and isinstance(site.anchor.node, ast.Name) and site.node is site.anchor.node:
        return _unless_same(view, span, use.target.rpartition(".")[2], code), []
    if use.target.partition(".")[0] == view.target:
        written = root_name(view, site) + use.target[len(view.target) :]
        return Edit(span, written, code), [Import(site.node, view.target, site)]
    module, _, name = use.target.rpartition(".")
    scope = scope_of(view, site.node)
    imported = view.module_imports.get(module, ())
    known = (n for n in imported if scope.lookup(n) is view.tree.scope.bindings[n] and is_bound(view, n, site.node))
    return Edit(span, f"{next(known, module)}.{name}", code), [Import(site.node, module, site)]


def _with_names(view: FileView, use: Use, aliases: dict[str, str]) -> tuple[Use, list[Import]]:
    """The use with the names in its edits as the file spells them, and the imports that those need.

    Raises:
        Refused: a name is bound to something else.
    """
    if not (use.edits or use.whole is not None or use.needed_module):
        return use, []
    site = use.site
    scope = scope_of(view, site.node)
    use = use if not aliases else _with_each(use, lambda edit: with_aliases(view, aliases, edit, site.node))
    modules = [m for edit in use.every_edit for m in helper_modules(view, edit, scope, site.name)]
    if use.needed_module:
        modules.append(use.needed_module)
    imports = [Import(site.node, module, site) for module in modules]
    if not any(names_root(view, edit) for edit in use.every_edit):
        return use, imports
    root = root_name(view, site)
    imports.append(Import(site.node, view.target, site))
    return use if root == view.target else _with_each(use, lambda edit: with_root(view, edit, root)), imports


def _with_each(use: Use, change: Callable[[Edit], Edit]) -> Use:
    whole = None if use.whole is None else change(use.whole)
    return replace(use, edits=tuple(map(change, use.edits)), whole=whole)


def _unless_same(view: FileView, span: Span, text: str, code: str) -> Edit | None:
    written = "".join(view.source.slice(span).split())
    return None if written == text else Edit(span, text, code)


def _is_changed(view: FileView, use: Use, names: Iterable[Edit]) -> bool:
    """Whether a use's text changes; a name that nothing binds may be spelled alike on both sides."""
    if not use.converts or use.row.kind == "module":
        return False
    if use.site.anchor.kind != "free" or use.edits or use.whole is not None or view.tree.stars:
        return True
    span = view.source.span(use.site.node)
    return any(span.holds(edit.span) for edit in names)


def _conversion(view: FileView, use: Use) -> Conversion:
    return view.conversion(use.row.code, use.site.node, use.site.name, use.target or "removed", use.row.id)
