"""Star imports of the source: an import of the names that the file uses takes their place."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from paddletorch.model import Edit, Span
from paddletorch.plan.model.naming import Group
from paddletorch.plan.model.view import FileView
from paddletorch.plan.names.converted import Converted
from paddletorch.plan.names.import_statements import joined_lines
from paddletorch.plan.syntax.statements import own_line, remove_statement, start_of


def star_edits(file: Converted) -> list[Edit]:
    """``from torch.cuda.amp import *`` becomes an import of the names that the file uses."""
    view = file.view
    stars = sorted(view.tree.stars, key=start_of)
    groups = [g for g in file.naming.groups.values() if g.anchor.kind == "free"]
    modules: dict[str, set[str]] = {}
    reads: list[ast.expr] = []
    for use in [use for group in groups for use in file.uses(group)]:
        is_bare = use.site.node is use.site.anchor.node  # not paddle.zeros, which is written with its module
        is_bare = is_bare and not use.writes_name
        if is_bare and use.target is not None and use.whole is None and "." in use.target:
            home, _, name = use.target.rpartition(".")
            modules.setdefault(home, set()).add(name)
            reads.append(use.site.node)
    if not stars:
        return []
    first = min(((n.lineno, n.col_offset) for n in reads), default=start_of(stars[-1]))
    lines = [f"from {home} import {', '.join(sorted(names))}" for home, names in sorted(modules.items())]
    of_source = [star for star in stars if not star.level and view.settings.is_of_source(star.module or "")]
    parts = all(star.module != view.settings.source for star in of_source)  # of the whole framework much is unknown
    if of_source and parts and _all_converted(file, groups, {star.module or "" for star in of_source}):
        kept = _last_above(of_source, first)
        gone = [star for star in of_source if star is not kept or not lines]
        written = [Edit(view.source.span(kept), joined_lines(view, kept, lines))] if lines else []
        return [*(remove_statement(view, star) for star in gone), *written]
    place = stars.index(_last_above(stars, first))
    # a star further down may bind the names anew
    below = [star for star in stars[place:] if star is stars[place] or star in of_source]
    return [_behind(view, star, lines) for star in below] if lines else []


def _last_above(stars: Sequence[ast.ImportFrom], first: tuple[int, int]) -> ast.ImportFrom:
    """The last star import above the first read of a name; the first one if there is none."""
    return next((star for star in reversed(stars) if start_of(star) < first), stars[0])


def _behind(view: FileView, star: ast.ImportFrom, lines: list[str]) -> Edit:
    end = view.source.span(star).end
    separator = view.source.newline + view.source.indentation(star.lineno) if own_line(view, star) else "; "
    return Edit(Span(end, end), separator + joined_lines(view, star, lines))


def _all_converted(file: Converted, groups: Sequence[Group], modules: set[str]) -> bool:
    """Whether each of the modules gives names to the file, and all uses of these convert."""
    homes = [(group, {name.rpartition(".")[0] for name in group.anchor.names} & modules) for group in groups]
    used = [group for group, found in homes if found]
    return modules == set().union(*(found for _, found in homes)) and all(
        use.converts for group in used for use in file.uses(group)
    )
