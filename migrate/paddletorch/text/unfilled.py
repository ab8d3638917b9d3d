"""Placeholders of templates in text that is to be written, where an argument should stand: ``[1] * ({x}.ndim - 2)``."""

from __future__ import annotations

import re

_STRINGS = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"|#[^\r\n]*")
_PLACEHOLDER = re.compile(r"(?<!\{)\{([^\W\d]\w*)\}(?!\})")


def unfilled_placeholders(text: str) -> list[str]:
    """The names of the placeholders in code; a set of one name, ``{x}``, looks the same."""
    return _PLACEHOLDER.findall(_STRINGS.sub("''", text)) if "{" in text else []
