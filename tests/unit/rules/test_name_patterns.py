"""Patterns of tables for names: those that can take long are refused, the others found as ``re`` finds them."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from paddletorch_rules import TableError, load
from paddletorch_rules.loader import read
from paddletorch_rules.name_patterns import LONGEST_NAME, UnsafePattern, check_pattern, matches_name

SLOW = (
    r"^(a+)+$ (a|a)*$ (a|ab)*c (.*)* (a?){50} .*a.*a.*a (?=(a+)+$)a (a*){2,}b ^(a|b?)+\1$ ((a{1,60}){1,60}){1,60} "
    "(?:x(a+)?)*$ (?P<n>a)?(?(n)(b+)+|c)"
).split()


@pytest.mark.parametrize("pattern", [*SLOW, "a?" * 20 + "a" * 20])
def test_what_can_take_long_is_refused(pattern: str) -> None:
    with pytest.raises(UnsafePattern, match="could take too long"):
        check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "why"), [("(", "no regular"), ("[$]", "no regular"), ("a" * 501, "longer than 500")]
)
def test_what_is_no_pattern_is_refused(pattern: str, why: str) -> None:
    with pytest.raises(UnsafePattern, match=why):
        check_pattern(pattern)


@pytest.mark.parametrize("depth", [100, 240])
def test_deep_groups_end_as_an_answer(depth: int) -> None:
    with suppress(UnsafePattern):
        check_pattern("(" * depth + "a" + ")" * depth)


@pytest.mark.parametrize(
    "pattern",
    ["", "^ctx$", r"\d+_\d+", "(ab)+", "a{3,}", "^.*_.*$", "[a-z]+s?$", "^(opt|sgd)_?(?!wrap|cfg)[a-z0-9]{1,6}$"],
)
def test_usual_patterns_are_taken(pattern: str) -> None:
    check_pattern(pattern)


def test_the_patterns_of_the_tables_are_taken_by_the_same_rule() -> None:
    patterns = [spec.names for spec in load().types.values() if spec.names]
    assert len(patterns) > 3
    for pattern in patterns:
        check_pattern(pattern)


def test_a_long_name_matches_nothing() -> None:
    assert matches_name("a$", "a" * LONGEST_NAME)
    assert not matches_name("a$", "a" * (LONGEST_NAME + 1))


def test_the_slowest_pattern_that_is_taken_comes_to_an_end() -> None:
    pattern, name = ".*a.*[ab]?b", "a" * LONGEST_NAME
    check_pattern(pattern)
    code = f"from paddletorch_rules.name_patterns import matches_name; print(matches_name({pattern!r}, {name!r}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout == "False\n"


def test_a_table_with_such_a_pattern_is_an_error_that_names_it(tmp_path: Path) -> None:
    table = tmp_path / "mine.toml"
    table.write_text('[[type]]\nname = "thing"\nnames = "^(a+)+$"\n')
    with pytest.raises(TableError, match=r"mine\.toml: row 'thing': key 'names': .* could take too long"):
        read([table])


@pytest.mark.parametrize("text", ["-" * 100_000 + "1", "(" * 5_000 + ")" * 5_000, "a" + ".a" * 100_000])
def test_an_expression_that_is_nested_too_deeply_is_an_error(tmp_path: Path, text: str) -> None:
    table = tmp_path / "mine.toml"
    table.write_text(f'[[values]]\nname = "thing"\npairs = [["{text}", "1"]]\n')
    with pytest.raises(TableError, match=r"mine\.toml: row 'thing': key 'pairs'"):
        read([table])
