"""Reads the evidence about a project, for a conversion of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from paddletorch_rules.bounded import read_regular

from paddletorch.evidence.document import LARGEST, EvidenceError, parse
from paddletorch.model import Evidence, Framework


def load(path: Path, framework: Framework) -> Mapping[str, Evidence]:
    """What runs on ``framework`` showed of each file, by its path from the project's top folder, with ``/``.

    Empty if the runs were on the other framework.

    Raises:
        EvidenceError: the file cannot be read, or holds no evidence; the message names it.
    """
    try:
        document = parse(read_regular(path, LARGEST))
    except OSError as error:
        raise EvidenceError(f"{path}: {error.strerror}") from error
    except EvidenceError as error:
        raise EvidenceError(f"{path}: {error}") from error
    return document.files if document.framework == framework else {}
