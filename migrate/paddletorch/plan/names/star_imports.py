"""Star imports of the source: an import of the names that the file uses takes their place."""

from __future__ import annotations

from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.naming import Group
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.import_statements import joined_lines
from paddletorch.plan.syntax.statements import own_line, remove_statement, start_of


def star_edits(file: Converted) -> list[Edit]:
    """``from torch.cuda.amp import *`` becomes an import of the names that the file uses."""
    view = file.view
    stars = sorted(view.tree.stars, key=start_of)
    groups = [g for g in file.naming.groups.values() if g.anchor.kind == "free"]
    modules: dict[str, set[str]] = {}
    for use in [use for group in groups for use in file.uses(group)]:
        is_bare = use.site.node is use.site.anchor.node  # not paddle.zeros, which is written with its module
        is_bare = is_bare and not use.writes_name
        if is_bare and use.target is not None and use.whole is None and "." in use.target:
            home, _, name = use.target.rpartition(".")
            modules.setdefault(home, set()).add(name)
    if not stars:
        return []
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(modules.items())]
    of_source = [star for star in stars if not star.level and view.settings.is_of_source(star.module or "")]
    parts = all(star.module != view.settings.source for star in of_source)  # of the whole framework much is unknown
    if of_source and parts and _all_converted(file, groups, {star.module or "" for star in of_source}):
        last = of_source[-1]
        gone = of_source[:-1] if lines else of_source
        written = [Edit(view.source.span(last), joined_lines(view, last, lines))] if lines else []
        return [*(remove_statement(view, star) for star in gone), *written]
    last = stars[-1]
    if not lines:
        return []
    end = view.source.span(last).end
    separator = view.source.newline + view.source.indentation(last.lineno) if own_line(view, last) else "; "
    return [Edit(Span(end, end), separator + joined_lines(view, last, lines))]


def _all_converted(file: Converted, groups: Sequence[Group], modules: set[str]) -> bool:
    """Whether each of the modules gives names to the file, and all uses of these convert."""
    homes = [(group, {name.rpartition(".")[0] for name in group.anchor.names} & modules) for group in groups]
    used = [group for group, found in homes if found]
    return modules == set().union(*(found for _, found in homes)) and all(
        use.converts for group in used for use in file.uses(group)
    )
