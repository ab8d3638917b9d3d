"""Reports members that stay and that the target lacks, where the object's class is certain.

``tensor.no_such_method()`` is in no table; of ``torch.nn.ReLU().inplace`` a row says that it has no counterpart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from paddletorch_rules import Row
from paddletorch_rules.facts import facts

from paddletorch.plan.model.changes import Changes, Planned
from paddletorch.plan.model.findings import finding
from paddletorch.plan.model.view import FileView
from paddletorch.plan.uses.count import UNKNOWN_API
from paddletorch.plan.uses.members import given_members
from paddletorch.resolve import BASE_MODULES, Instance
from paddletorch.resolve.values import TENSOR


def plan_unknown_members(view: FileView, planned: Planned) -> Changes:
    """Report each member that stays as it is."""
    tensor = f"{view.settings.source}.Tensor"
    members = [(node, finding(UNKNOWN_API, node, f"{tensor}.{node.attr}")) for node in _unknown(view, planned)]
    members += [(node, finding(row.report or "", node, name, row)) for node, name, row in _absent(view, planned)]
    kept = view.kept(planned.edits) if members else None
    found = [one for node, one in members if kept is None or kept.touches(view.source.attribute_name(node))]
    return Changes(findings=tuple(found))


def _absent(view: FileView, planned: Planned) -> Iterator[tuple[ast.Attribute, str, Row]]:
    """Members of which a row says, by the name of their class, that the target has none."""
    table, source = view.settings.table, view.settings.source
    known = view.tree.stores_by_name.keys() | view.tree.class_members
    sites = {use.site.node for use in planned.uses}
    given = given_members(view, planned)
    for name in sorted(view.tree.members.keys() - known):
        rows = table.absent(source, name)
        nodes = [n for n in view.tree.members[name] if isinstance(n.ctx, ast.Load) and n not in sites] if rows else []
        for node in filter(lambda one: view.origins.may_be_sources(one.value), nodes):
            values = view.evaluator.objects(node.value)
            if any(isinstance(v, Instance) and v.node is not None and name in given.get(v.node, ()) for v in values):
                continue
            made = {(value.api, value.type) for value in values if isinstance(value, Instance)}
            classes = [table.documented(api) for api, kind in made if len(made) == 1 and _is_object(view, api, kind)]
            if not all(isinstance(value, Instance) and not value.external_class for value in values):
                continue
            types = {kind for value in values if isinstance(value, Instance) for kind in table.bases(value.type)}
            classes += [one for one in sorted(facts().base_classes[source]) if table.makes(one) in types]
            parts = {kind for api, kind in made if table.makes(api) is None}  # ``transformer.decoder``
            classes += [one for one in sorted(rows) if table.makes(one) in parts]
            owner = next((one for one in classes if one in rows), None)
            if owner is not None:
                yield node, f"{owner}.{name}", rows[owner]


def _is_object(view: FileView, api: str, kind: str) -> bool:
    """Whether what comes of the class is an object of it, and not the tensor that calling a layer gives."""
    return kind != "tensor" or view.settings.table.makes(api) == kind


def _unknown(view: FileView, planned: Planned) -> Iterator[ast.Attribute]:
    known = view.settings.member_names | facts().shared_members | view.tree.class_members
    known |= view.tree.stores_by_name.keys() | _asked(view)
    sites = {use.site.node for use in planned.uses}
    for name in sorted(view.tree.members.keys() - known):
        nodes = [n for n in view.tree.members[name] if isinstance(n.ctx, ast.Load) and n not in sites]
        stated = f"{view.settings.source}.Tensor" in view.settings.table.absent(view.settings.source, name)
        if not name.startswith("__") and not stated:
            yield from (node for node in nodes if _is_tensor(view, node.value))


def _asked(view: FileView) -> frozenset[str]:
    """Names of members that the file asks for before it reads them: ``hasattr(output, "latents")``."""
    calls = (call for call in view.tree.calls_of("hasattr") if isinstance(call.func, ast.Name))
    asked = (call.args[1] for call in calls if len(call.args) == 2)
    return frozenset(str(name.value) for name in asked if isinstance(name, ast.Constant))


def _is_tensor(view: FileView, node: ast.expr) -> bool:
    """Whether an expression can be nothing but a tensor of the source framework itself."""
    values = view.evaluator.objects(node)
    return bool(values) and all(
        isinstance(value, Instance)
        and value.type == TENSOR
        and value.node is None
        and not value.external_class
        and value.api not in BASE_MODULES.values()  # what the forward of a class gives that is not seen
        and value.api.startswith(f"{view.settings.source}.")
        for value in values
    )
