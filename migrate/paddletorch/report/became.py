"""What a use became, as people read it."""

from __future__ import annotations

import re

from paddletorch.model import Conversion

_OPTIONAL = re.compile(r"\{\w+:[^{}]*%[^{}]*\}")
_HOLE = re.compile(r"\{(\w+)(?:[:!][^{}]*)?\}")


def became(conversion: Conversion) -> str:
    """The text that was written; where it was written elsewhere, as with an import, the name in the tables."""
    return conversion.written or plain(conversion.replacement)


def plain(replacement: str) -> str:
    """A replacement of the tables without what only the tables need: ``tensor.to(device)`` for ``tensor.to({device})``.

    Arguments that are written only where the source has them are left out.
    """
    text = _OPTIONAL.sub("", replacement)
    text = _HOLE.sub(lambda hole: hole[1].lstrip("_"), text)
    return text.replace("{{", "{").replace("}}", "}")
