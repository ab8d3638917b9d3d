"""Part of the build of a wheel: puts the tables into it in the form that loads fast."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledTables(BuildHookInterface):  # type: ignore[type-arg]
    """Adds ``paddletorch_rules/compiled_tables``; an editable installation keeps its copy in the user's cache."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "rules")))
        from paddletorch_rules import compiled
        from paddletorch_rules.compile_built_in import compile_built_in

        self._folder = tempfile.TemporaryDirectory()
        compile_built_in(Path(self._folder.name))
        build_data["force_include"][self._folder.name] = f"paddletorch_rules/{compiled.FOLDER.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if version != "editable":
            self._folder.cleanup()
