"""Guesses from names: each pattern is safe, says its evidence, and finds what it is for."""

from __future__ import annotations

import pytest
from paddletorch_rules import guesses
from paddletorch_rules.name_patterns import check_pattern
from paddletorch_rules.table import built_in_files

ALL = guesses.guesses()


def test_the_file_is_no_table_of_rows() -> None:
    assert guesses.FILE not in built_in_files()


def test_guesses_are_sorted() -> None:
    assert list(ALL) == sorted(ALL)


@pytest.mark.parametrize("name", ALL)
def test_each_guess_has_a_safe_pattern_and_its_evidence(name: str) -> None:
    guess = ALL[name]
    check_pattern(guess.names)
    assert guess.kind
    assert 0 <= guess.right <= guess.of


@pytest.mark.parametrize(
    ("guess", "name", "expected"),
    [
        ("mask", "attn_mask", True),
        ("mask", "mask_ratio", False),
        ("verb", "build_encoder", True),
        ("verb", "encoder", False),
        ("made_layer", "norm_layer", True),
        ("made_layer", "build_norm_layer", False),
        ("no_model", "self.criterion", True),
        ("tensor", "hidden_states", True),
        ("tensor", "x" * 200, False),
    ],
)
def test_what_a_name_suggests(guess: str, name: str, expected: bool) -> None:
    assert guesses.suggests(guess, name) is expected
