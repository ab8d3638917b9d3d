"""What the converter has to say about a module that is imported: an error, or a warning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from paddletorch.model import Framework


class Finding(NamedTuple):
    """A diagnostic of the converter; ``line`` and ``column`` count from 1, line 0 is the file as a whole."""

    code: str
    message: str
    line: int
    column: int
    hint: str
    blocks: bool
    """Whether the module may not run: an error, or a use of the source framework that was left."""


class ConversionError(ImportError):
    """A module cannot be converted safely; ``name`` and ``path`` say which, ``findings`` why."""

    def __init__(self, name: str, path: str, to: Framework, findings: Sequence[Finding]) -> None:
        super().__init__(_text(path, to, findings), name=name, path=path)
        self.to = to
        self.findings = tuple(findings)

    def __reduce__(self) -> tuple[type[ConversionError], tuple[object, ...]]:
        return type(self), (self.name, self.path, self.to, self.findings)


class ConversionWarning(UserWarning):
    """A module was converted and runs; the message says what to look at."""


def _text(path: str, to: str, findings: Sequence[Finding]) -> str:
    lines = [f"{path} cannot be converted to {to} safely:"]
    for finding in findings:
        place = f"{path}:{finding.line}:{finding.column}" if finding.line else path
        lines.append(f"  {place}: {finding.code} {finding.message}")
        if finding.hint:
            lines.append(f"    {finding.hint}")
    codes = sorted({finding.code for finding in findings if not finding.code.startswith("SRC")})
    if codes:
        allowed = ", ".join(f'"{code}"' for code in codes)
        lines.append(f"'paddletorch explain {codes[0]}' says more. To run it as it is all the same:")
        lines.append(f"  paddletorch run {' '.join(f'--allow {code}' for code in codes)} ..., or allow=[{allowed}]")
    return "\n".join(lines)
