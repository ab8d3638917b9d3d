"""Arguments of distributed start-up and of collectives that fill lists."""

from __future__ import annotations

import ast

from paddletorch_rules.hooks.protocol import BoundCall, hook


@hook("process_group", to="paddle")
def process_group(call: BoundCall) -> None:
    """Paddle learns rank and world size from its launcher only."""
    given = [n for n in ("rank", "world_size", "store") if call.value(n) is not None and call.literal(n) != -1]
    method = call.literal("init_method")
    if isinstance(method, str) and method != "env://":
        given.append("init_method")
    if given:
        call.report("DST201", what=f"init_parallel_env() takes no {' and '.join(given)}: the launcher sets them")


@hook("gathered", to="torch")
def gathered(call: BoundCall) -> None:
    """Paddle fills an empty list; torch writes into tensors that are in the list already."""
    _filled(call)


@hook("gathered_objects")
def gathered_objects(call: BoundCall) -> None:
    """Paddle appends to the list; torch writes into the places of a list of the world's size."""
    given = call.value("object_list")
    if given is None or not _is_path(given) or not call.is_statement:
        call.report(
            "DST201", what="Paddle appends to the object_list, torch overwrites its places, one for each process"
        )
        return
    path = ast.unparse(given)
    if call.target == "paddle":
        call.surround(f"{path}.clear(); ", "")
    else:
        call.surround(f"{path}[:] = [None] * torch.distributed.get_world_size(); ", "")


def _is_path(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name)


def _filled(call: BoundCall) -> None:
    """Where the list may be empty, it gets its elements first."""
    origin, given = call.origin("tensor_list"), call.value("tensor_list")
    if isinstance(origin, ast.ListComp | ast.BinOp) or (isinstance(origin, ast.List) and origin.elts):
        return
    if given is None or not _is_path(given) or not call.is_statement:
        call.report("DST201", what="torch needs a tensor_list of the world's size, with a tensor for each process")
        return
    path = ast.unparse(given)
    known = "" if isinstance(origin, ast.List) else f"{path} or "
    element = "torch.empty_like({tensor})"
    call.surround(f"{known}{path}.extend({element} for _ in range(torch.distributed.get_world_size())); ", "")
