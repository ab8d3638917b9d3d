"""Decides how each converted API is written: by its old local name, or by its full name.

A name that the file binds (an import, an alias) keeps its spelling when everything it is used for converts
to one target: then only the binding changes. Otherwise the uses that convert are written out in full.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache

from paddletorch.model import Edit, Span
from paddletorch.plan.model.findings import Finding
from paddletorch.plan.model.outcome import Outcome
from paddletorch.plan.model.refusals import Refusal
from paddletorch.plan.model.view import FileView
from paddletorch.plan.sites.sites import Anchor, Site, alias_keys
from paddletorch.resolve import Binding, NoneValue, Qualified, Scope


@dataclass
class Group:
    """All uses of one binding of a name (or one attribute name)."""

    anchor: Anchor
    members: list[tuple[Site, Outcome]] = field(default_factory=list)
    other_uses: list[ast.expr] = field(default_factory=list)
    deleted: bool = False
    hidden: bool = False
    """The name may also be used in syntax that this Python cannot read."""
    fallback: bool = False
    """The name may also be something of the file's own, which suits every use as it is converted."""
    target: str | None = None
    """What the name stands for afterwards; None if the binding stays."""


@dataclass
class Naming:
    """The decided names: groups by anchor key, edits at the uses, and where the target must be imported."""

    groups: dict[Hashable, Group]
    edits: list[Edit] = field(default_factory=list)
    full: list[Site] = field(default_factory=list)
    """Sites that no longer use the source's name."""
    replaced: list[Edit] = field(default_factory=list)
    """All edits at sites that replace text."""
    rooted: list[tuple[Site, str]] = field(default_factory=list)
    """Sites where a module must be imported: the target's root, or the shim's."""
    members: list[tuple[ast.expr, str]] = field(default_factory=list)
    """Members whose replacement names a module, and that module."""


def decide(view: FileView, planned: list[tuple[Site, Outcome]]) -> dict[Hashable, Group]:
    """Group the sites by binding, then settle which bindings change. Refusals spread along aliases."""
    groups: dict[Hashable, Group] = {}
    for site, outcome in planned:
        groups.setdefault(site.anchor.key, Group(site.anchor)).members.append((site, outcome))
    _count_other_uses(view, groups)
    for group in groups.values():
        _settle_fallback(view, group)
    while _spread_refusals(view, groups, planned):
        pass
    for group in groups.values():
        group.target = _binding_target(view, group)
        _note_alias(view, group)
    return groups


def _settle_fallback(view: FileView, group: Group) -> None:
    """A name that may also be a fallback of the file's own: its import converts if all uses stay the same text."""
    if group.anchor.kind in ("alias", "attribute"):
        return  # a variable keeps its name in any case
    if all(site.other is None for site, _ in group.members) or view.settings.options.unsafe:
        return
    group.fallback = not group.other_uses and not group.hidden and all(o.keeps_name for _, o in group.members)
    for site, outcome in group.members if not group.fallback else ():
        if outcome.keeps_name and site.other is not None:
            outcome.target, outcome.keeps_name = None, False
            holes = (("name", view.text(site.anchor.node)), ("other", str(getattr(site.other, "lineno", 0))))
            outcome.findings = [Finding("API201", site.node, site.name, holes, outcome.row)]


def _note_alias(view: FileView, group: Group) -> None:
    """Remember what a module of the target will be called: ``F`` for ``paddle.nn.functional``."""
    bindings = group.anchor.bindings
    if group.target is None or group.anchor.kind != "import" or not bindings or "." not in group.target:
        return
    rows = [found[0] for name in group.anchor.names if (found := view.settings.lookup(name)) is not None]
    if bindings[0].scope is view.tree.scope and all(row.kind == "module" for row in rows):
        view.aliases.setdefault(group.target, bindings[0].name)


def _count_other_uses(view: FileView, groups: dict[Hashable, Group]) -> None:
    used = {id(site.anchor.node) for group in groups.values() for site, _ in group.members}
    anchors = {group.anchor.node.id for group in groups.values() if isinstance(group.anchor.node, ast.Name)}
    for load in [load for name in sorted(anchors) for load in view.tree.names.get(name, ())]:
        if id(load) in used:
            continue
        bindings = view.tree.scopes[load].lookup(load.id)
        group = groups.get(id(bindings) if bindings else load.id)
        if group is not None:
            group.other_uses.append(load)
    unread = view.source.unread_names
    for group in groups.values() if unread else ():
        group.hidden = isinstance(group.anchor.node, ast.Name) and group.anchor.node.id in unread
    for scope in view.tree.own.values():
        for bindings in scope.bindings.values():
            group = groups.get(id(bindings))
            if group is not None and any(b.kind == "delete" for b in bindings):
                group.deleted = True


def _spread_refusals(view: FileView, groups: dict[Hashable, Group], planned: list[tuple[Site, Outcome]]) -> bool:
    """An alias converts with all of its uses or not at all."""
    changed = _spread_to_parameters(groups, planned)
    for site, outcome in planned:
        if site.role != "alias":
            continue
        for key in alias_keys(view, site.node):
            group = groups.get(key)
            if group is None:
                continue
            blocker = next((s for s, o in group.members if o.target is None or _leaves(o, outcome)), None)
            if blocker is not None and outcome.target is not None:
                _refuse(site, outcome, blocker)
                changed = True
            elif outcome.target is None:
                for use, use_outcome in group.members:
                    if use_outcome.target is not None:
                        _refuse(use, use_outcome, site)
                        changed = True
    return changed


def _leaves(use: Outcome, alias: Outcome) -> bool:
    """Whether a use through an alias becomes something that the alias does not lead to: ``f = torch.max``, ``amax``."""
    if use.target is None or alias.target is None or use.whole is not None or use.full or use.keeps_name:
        return False
    return use.target != alias.target and not use.target.startswith(alias.target + ".")


def _spread_to_parameters(groups: dict[Hashable, Group], planned: list[tuple[Site, Outcome]]) -> bool:
    """A parameter that is given an API which stays, stays."""
    changed = False
    for site, outcome in planned:
        if site.role not in ("value", "probe") or outcome.target is not None:
            continue
        for group in groups.values():
            parameters = bool(group.anchor.bindings) and all(b.kind == "parameter" for b in group.anchor.bindings)
            if not parameters or site.name not in group.anchor.names:
                continue
            for use, use_outcome in group.members:
                if use_outcome.target is not None:
                    _refuse(use, use_outcome, site)
                    changed = True
    return changed


def _refuse(site: Site, outcome: Outcome, blocker: Site) -> None:
    outcome.target, outcome.whole, outcome.full, outcome.edits = None, None, False, []
    name = ast.unparse(site.node)
    line = str(blocker.node.lineno)
    holes = (("name", name), ("other", line))
    outcome.findings = [Finding("API211", site.node, site.name, holes, outcome.row)]


def _binding_target(view: FileView, group: Group) -> str | None:
    anchor = group.anchor
    if anchor.kind in ("alias", "attribute"):
        return _alias_target(view, group)
    if anchor.kind != "import" or group.other_uses or group.hidden:
        return None
    if not group.fallback and not stands_for_imports(view, anchor.bindings):
        return None
    return import_target(view, anchor.names, group)


def stands_for_imports(view: FileView, bindings: Iterable[Binding]) -> bool:
    """Whether a name is only ever imported, an alias of an API, None where the import fails, or deleted."""
    return all(b.qualified is not None or b.kind == "delete" or _is_alias(view, b) for b in bindings)


def _is_alias(view: FileView, binding: Binding) -> bool:
    values = view.evaluator.bound([binding]) if binding.kind == "assign" else frozenset({None})
    return all(isinstance(v, NoneValue) or (isinstance(v, Qualified) and view.settings.lookup(v.name)) for v in values)


def _alias_target(view: FileView, group: Group) -> str | None:
    targets = {target_of(view, name) for name in group.anchor.names if view.settings.lookup(name) is not None}
    return targets.pop() if len(targets) == 1 else None


def target_of(view: FileView, name: str) -> str | None:
    """What a qualified name becomes where it is imported, if that is a plain name."""
    found = view.settings.lookup(name)
    if found is None:
        return None
    form = view.settings.emitted(found[0])
    return form.names[0] if form is not None and form.names and form.template is None else None


def import_target(view: FileView, names: frozenset[str], group: Group | None) -> str | None:
    """What imports of ``names`` become, if every use converts below that one target."""
    targets = {target_of(view, name) for name in names if view.settings.lookup(name) is not None}
    if len(targets) != 1:
        return None
    target = targets.pop()
    if target is None:
        return None
    members = [outcome for _, outcome in group.members] if group is not None else []
    plain = [o for o in members if o.target is None or (o.whole is None and not o.full)]
    if members and not plain:
        return None  # nothing uses the name any more
    for outcome in plain:
        if outcome.target is None:
            return None
        if outcome.target != target and not outcome.target.startswith(target + "."):
            return None
    return target


def write_names(view: FileView, groups: dict[Hashable, Group]) -> Naming:
    """Edits for every converted use's name.

    Uses that must be written in full where the target's root name is taken are refused.
    """
    naming = Naming(groups)
    for group in groups.values():
        for site, outcome in group.members:
            if outcome.target is None:
                continue
            try:
                edit = _name_edit(view, group, site, outcome, naming)
            except Refusal as refusal:
                outcome.target, outcome.edits = None, []
                outcome.findings.append(
                    Finding(refusal.code, site.node, site.name, tuple(refusal.holes.items()), outcome.row)
                )
                continue
            if edit is not None:
                naming.edits.append(edit)
            naming.replaced += outcome.edits
    naming.replaced += naming.edits
    return naming


def _name_edit(view: FileView, group: Group, site: Site, outcome: Outcome, naming: Naming) -> Edit | None:
    assert outcome.target is not None
    code = outcome.row.code
    span = view.source.span(site.node)
    _root_in_text(view, site, outcome, naming)
    if outcome.keeps_name:
        return None
    if outcome.full or outcome.whole is not None:
        naming.full.append(site)
        return outcome.whole
    if group.target is not None:
        anchor = view.source.span(site.anchor.node)
        start, tail = anchor.end, outcome.target[len(group.target) :]
        if b")" in view.source.body[start : span.end]:  # (nn).Linear
            return Edit(span, view.source.slice(anchor) + tail, code)
        return _unless_same(view, Span(start, span.end), tail, code)
    if site.anchor.kind == "free" and isinstance(site.anchor.node, ast.Name) and site.node is site.anchor.node:
        return _unless_same(view, span, outcome.target.rpartition(".")[2], code)
    module: str = view.target
    written = outcome.target
    if outcome.target.partition(".")[0] == view.target:
        written = root_name(view, site) + outcome.target[len(view.target) :]
    else:
        module, _, name = outcome.target.rpartition(".")
        scope = view.tree.scopes.get(_first(site.node), view.tree.scope)
        known = (n for n in view.module_imports.get(module, ()) if scope.lookup(n) is view.tree.scope.bindings[n])
        written = f"{next(known, module)}.{name}"
    naming.full.append(site)
    naming.rooted.append((site, module))
    return Edit(span, written, code)


def _root_in_text(view: FileView, site: Site, outcome: Outcome, naming: Naming) -> None:
    """Arguments and templates may name the target's root: write it as it is known here."""
    scope = view.tree.scopes.get(_first(site.node), view.tree.scope)
    outcome.edits = [with_aliases(view, e, scope) for e in outcome.edits]
    if outcome.whole is not None:
        outcome.whole = with_aliases(view, outcome.whole, scope)
    edits = [*outcome.edits, *([outcome.whole] if outcome.whole is not None else [])]
    naming.rooted += [(site, m) for edit in edits for m in helper_modules(view, edit, scope, site.name)]
    if outcome.needs:
        naming.rooted.append((site, outcome.needs))
    if not any(names_root(view, edit) for edit in edits):
        return
    root = root_name(view, site)
    naming.rooted.append((site, view.target))
    if root != view.target:
        outcome.edits = [with_root(view, e, root) for e in outcome.edits]
        if outcome.whole is not None:
            outcome.whole = with_root(view, outcome.whole, root)


def names_root(view: FileView, edit: Edit) -> bool:
    """Whether an edit writes the target's root name."""
    return _root_pattern(view.target).search(edit.written) is not None


def helper_modules(view: FileView, edit: Edit, scope: Scope, api: str) -> list[str]:
    """Modules of the standard library that an edit's text names.

    Raises:
        Refusal: the name of one, or of a builtin that the text uses, is taken by something else.
    """
    for name in dict.fromkeys(_BUILTINS.findall(edit.written)):
        if scope.lookup(name) or name in view.evaluator.bare:
            raise Refusal("API213", name=name, api=api)
    found: list[str] = []
    for module in dict.fromkeys(_HELPERS.findall(edit.written)):
        if any(b.qualified != module for b in scope.lookup(module)):
            raise Refusal("API213", name=module, api=api)
        found.append(module)
    return found


_BUILTINS = re.compile(
    rf"(?<![\w.'\"])({'|'.join(name for name in dir(builtins) if name.islower() and name.isalpha())})(?=[(,)])"
)
_HELPERS = re.compile(r"(?<![\w.])(math|functools|collections|itertools|operator|contextlib|copy|importlib)(?=\.\w)")


def with_aliases(view: FileView, edit: Edit, scope: Scope) -> Edit:
    """The edit with the names that the file has for modules of the target: ``F.relu_`` for the dotted path."""
    for module in sorted(view.aliases, key=len, reverse=True):
        name = view.aliases[module]
        if module + "." in edit.written and scope.lookup(name) is view.tree.scope.bindings.get(name):
            pattern = re.compile(rf"(?<![\w.]){re.escape(module)}(?=\.)")
            parts = tuple(pattern.sub(name, p) if isinstance(p, str) else p for p in edit.parts)
            edit = replace(edit, text=pattern.sub(name, edit.text), parts=parts)
    return edit


def with_root(view: FileView, edit: Edit, root: str) -> Edit:
    """The edit with the target's root under the name that it has here."""
    pattern = _root_pattern(view.target)
    parts = tuple(pattern.sub(root, p) if isinstance(p, str) else p for p in edit.parts)
    return replace(edit, text=pattern.sub(root, edit.text), parts=parts)


@lru_cache(maxsize=2)
def _root_pattern(target: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?<!\.){target}\b(?=[.,])")


def _unless_same(view: FileView, span: Span, text: str, code: str) -> Edit | None:
    written = "".join(view.source.slice(span).split())
    return None if written == text else Edit(span, text, code)


def root_name(view: FileView, site: Site) -> str:
    """The name under which the target's root is, or will be, known at a site.

    Raises:
        Refusal: the name is taken by something else.
    """
    return root_in_scope(view, view.tree.scopes.get(_first(site.node), view.tree.scope), site.name)


def _first(node: ast.expr) -> ast.AST:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node


def root_in_scope(view: FileView, scope: Scope, api: str) -> str:
    """As ``root_name``, for any place in ``scope``.

    Raises:
        Refusal: the name is taken by something else.
    """
    target = view.target
    bindings = scope.lookup(target)
    if bindings:
        values = view.evaluator.bound(bindings)
        if all(v == Qualified(target) or isinstance(v, NoneValue) for v in values):
            return target
        raise Refusal("API213", name=target, api=api)
    for name in view.module_imports.get(target, ()):
        if scope.lookup(name) is view.tree.scope.bindings[name]:
            return name
    return target
