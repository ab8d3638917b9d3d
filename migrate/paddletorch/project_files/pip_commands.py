"""``pip install torch`` in a script, a Dockerfile or a notebook."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

from paddletorch.project_files.found import Found
from paddletorch.project_files.requirements import Target, in_list, left_with_index
from paddletorch.project_files.shell import Word

_PIP = re.compile(r"(?:.*/)?pip[\d.]*")
_WITH_VALUE = frozenset(
    "-r --requirement -c --constraint -i --index-url --extra-index-url -f --find-links -t --target --prefix --root -e "
    "--editable --proxy --timeout --retries --trusted-host --cert --cache-dir --python --platform --abi "
    "--implementation --python-version --progress-bar --log --config-settings -C --global-option --no-binary "
    "--only-binary --src --upgrade-strategy --report --index --default-index".split()
)
"""Options of ``pip install`` and ``uv pip install`` whose value is the next word."""


def installed(words: Sequence[Word], text: str, target: Target) -> list[Found]:
    """What a command installs that is the source framework, or built on it."""
    first = _arguments(words)
    if first is None or words[0].text in ("echo", "printf"):
        return []
    named: list[Word] = []
    index = first
    while index < len(words):
        word = words[index]
        if word.text.startswith("-"):
            index += 2 if word.text in _WITH_VALUE else 1
        else:
            named.append(word)
            index += 1
    found = in_list(((word.inner, word.text) for word in named), target)
    starts = [word.inner for word in named]
    words_of = [(one, named[bisect_right(starts, one.start) - 1]) for one in found]
    found = [
        one if word.simple and word.fixed else one.left("the shell puts the word together") for one, word in words_of
    ]
    return left_with_index(found, target.source, text[words[0].start : words[-1].end])


def _arguments(words: Sequence[Word]) -> int | None:
    """The place of the first word behind ``pip install``."""
    for index, word in enumerate(words[:-1]):
        if _PIP.fullmatch(word.text) and words[index + 1].text == "install":
            return index + 2
    return None
