"""What a hook was asked to do."""

from __future__ import annotations

from dataclasses import dataclass

from paddletorch.model import Options


@dataclass(frozen=True, slots=True)
class Settings:
    """Picklable, so that worker processes get the same."""

    options: Options
    """How modules are converted."""
    packages: tuple[str, ...] = ()
    """Dotted names of the modules that are converted, with what is below them, wherever they are installed."""
    folders: tuple[str, ...] = ()
    """Real paths: modules below are converted, installed packages among them left out."""
    script: str = ""
    """Real path of the script that runs as ``__main__``, if one does."""
    allow: tuple[str, ...] = ()
    """Codes, areas or prefixes of findings that neither stop a module nor warn."""

    def allows(self, code: str) -> bool:
        """Whether a finding of ``code`` is of no matter."""
        return code.startswith(self.allow)
