"""Where files lie for code hosts, which know them by their path from the top of the repository."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path, PurePath
from urllib.parse import quote


class Root:
    """The top of the repository around the current folder; outside of one, the current folder."""

    @cached_property
    def folder(self) -> Path:
        """Absolute."""
        here = Path.cwd()
        return next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), here)

    def relative(self, path: str) -> PurePath | None:
        """``path``, relative to the current folder or absolute, as seen from the root; None if it lies elsewhere."""
        # abspath only tidies the text: a link keeps its own name, which is the one the repository knows
        absolute = PurePath(os.path.abspath(path))  # noqa: PTH100
        return absolute.relative_to(self.folder) if absolute.is_relative_to(self.folder) else None

    def uri(self, path: str) -> tuple[str, bool]:
        """The percent-encoded URI of ``path``, and whether it is relative to the root."""
        relative = self.relative(path)
        if relative is None:
            return Path(os.path.abspath(path)).as_uri(), False  # noqa: PTH100
        return quote(os.fsencode(relative.as_posix())), True
