"""The peer for speed.py: the torch -> Paddle renames of mixed precision as a usual whole-file libcst codemod.

    python benchmarks/libcst_peer.py [--prefilter] TREE...

Names are resolved by QualifiedNameProvider, imports go through AddImportsVisitor and RemoveImportsVisitor, all as
LibCST's documentation has it; one process, nothing is written. It renames callables and keywords and drops the device,
and does none of the rest that paddletorch does (defaults by release, positional order, receivers, diagnostics).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import libcst as cst
from libcst.codemod import CodemodContext, VisitorBasedCodemodCommand
from libcst.codemod.visitors import AddImportsVisitor, RemoveImportsVisitor
from libcst.metadata import QualifiedNameProvider

SCALER = {
    "enabled": "enable",
    "init_scale": "init_loss_scaling",
    "growth_factor": "incr_ratio",
    "backoff_factor": "decr_ratio",
    "growth_interval": "incr_every_n_steps",
}
AUTOCAST = {"enabled": "enable"}
DROPPED = frozenset({"device", "device_type", "cache_enabled"})
RENAMES = {
    **dict.fromkeys(
        (
            "torch.GradScaler",
            "torch.amp.GradScaler",
            "torch.amp.grad_scaler.GradScaler",
            "torch.cuda.amp.GradScaler",
            "torch.cuda.amp.grad_scaler.GradScaler",
        ),
        ("paddle.amp.GradScaler", SCALER),
    ),
    **dict.fromkeys(
        ("torch.autocast", "torch.amp.autocast", "torch.cuda.amp.autocast", "torch.amp.autocast_mode.autocast"),
        ("paddle.amp.auto_cast", AUTOCAST),
    ),
}
TOKENS = (b"GradScaler", b"autocast")


class ConvertMixedPrecision(VisitorBasedCodemodCommand):
    """Renames scalers and autocast, and their keyword arguments."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def __init__(self, context: CodemodContext) -> None:
        super().__init__(context)
        self.renamed = 0

    def _qualified(self, node: cst.CSTNode) -> str | None:
        names = {name.name for name in self.get_metadata(QualifiedNameProvider, node, set())}
        found = names & RENAMES.keys()
        return found.pop() if len(found) == 1 and len(names) == 1 else None

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        """Rename the callable and its keywords."""
        name = self._qualified(original_node.func)
        if name is None:
            return updated_node
        target, keywords = RENAMES[name]
        arguments = []
        for argument in updated_node.args:
            if argument.keyword is None:
                arguments.append(argument)
            elif argument.keyword.value not in DROPPED:
                new = keywords.get(argument.keyword.value, argument.keyword.value)
                arguments.append(argument.with_changes(keyword=cst.Name(new)))
        if arguments:
            arguments[-1] = arguments[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        self.renamed += 1
        AddImportsVisitor.add_needed_import(self.context, "paddle")
        RemoveImportsVisitor.remove_unused_import_by_node(self.context, original_node)
        return updated_node.with_changes(func=cst.parse_expression(target), args=arguments)


def main() -> None:
    """Run the codemod over trees in memory and say how many calls it renamed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--prefilter", action="store_true", help="parse only files that hold a token")
    parser.add_argument("trees", nargs="+", type=Path)
    arguments = parser.parse_args()
    files = renamed = failed = 0
    for tree in arguments.trees:
        for file in sorted(tree.rglob("*.py")):
            data = file.read_bytes()
            if arguments.prefilter and not any(token in data for token in TOKENS):
                continue
            files += 1
            try:
                command = ConvertMixedPrecision(CodemodContext(filename=str(file)))
                _ = command.transform_module(cst.parse_module(data)).bytes
                renamed += command.renamed
            except (cst.ParserSyntaxError, RecursionError):
                failed += 1
    print(f"{files} files parsed, {renamed} calls renamed, {failed} files failed")


if __name__ == "__main__":
    main()
