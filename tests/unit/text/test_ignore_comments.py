"""``ignore`` comments that are written: where they go, and that they are read again."""

from __future__ import annotations

import pytest
from paddletorch.text.ignore_comments import ignoring
from paddletorch.text.source import Source, splice


def commented(text: str, line: int, *codes: str, last: int = 0) -> str | None:
    source = Source(text.encode(), encoding="utf-8")
    edit = ignoring(source, range(line, (last or line) + 1), codes)
    return None if edit is None else splice(source.body, [edit]).decode()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a = 1\n", "a = 1  # paddletorch: ignore[AMP101]\n"),
        ("a = 1", "a = 1  # paddletorch: ignore[AMP101]"),
        ("a = 1  \r\nb = 2\r\n", "a = 1  # paddletorch: ignore[AMP101]  \r\nb = 2\r\n"),
        ("a = 'ü𝛼'  # noqa\n", "a = 'ü𝛼'  # noqa  # paddletorch: ignore[AMP101]\n"),
        ("𝛼 = 1  # paddletorch: ignore[OPT1] why\n", "𝛼 = 1  # paddletorch: ignore[OPT1, AMP101] why\n"),
    ],
)
def test_a_comment_goes_to_the_end_of_the_line(text: str, expected: str) -> None:
    assert commented(text, 1, "AMP101") == expected


def test_several_codes_stand_in_one_comment() -> None:
    assert commented("a = 1\n", 1, "AMP101", "OPT") == "a = 1  # paddletorch: ignore[AMP101, OPT]\n"


@pytest.mark.parametrize("text", ["a = 1 + \\\n  2\n", "a = '''\n'''\n"])
def test_the_next_line_takes_it_where_this_one_cannot(text: str) -> None:
    first, second = text.splitlines()
    assert commented(text, 1, "AMP101", last=2) == f"{first}\n{second}  # paddletorch: ignore[AMP101]\n"
    assert commented(text, 1, "AMP101") is None


def test_a_comment_that_says_it_already_is_not_written_twice() -> None:
    assert commented("a = 1  # paddletorch: ignore[AMP101]\n", 1, "AMP101") is None
    assert commented("a = 1  # paddletorch: ignore\n", 1, "AMP101") is None
