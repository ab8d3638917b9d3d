"""The way out that a row gives for many members at once names the member that the finding is about, or none."""

from __future__ import annotations

import re

import pytest
from paddletorch import convert
from paddletorch_rules import Row, load

SHARED = [row for row in load().rows if row.instead and sum(len(f.names) for f in (*row.torch, *row.paddle)) > 1]
ABOUT_ALL = {"device", "dtype", "name", "saved_tensors", "to_dense", "value", "stride", "index", "geometric"}
"""Words of ways out that hold for each member of their row, though one of them is called so."""


@pytest.mark.parametrize("row", SHARED, ids=lambda row: row.id)
def test_a_shared_way_out_names_no_other_member(row: Row) -> None:
    members = {name.rpartition(".")[2] for form in (*row.torch, *row.paddle) for name in form.names} - {"*"}
    for member in members:
        words = set(re.findall(r"[A-Za-z_]\w{3,}", row.instead.replace("{function}", "")))
        assert not (words & members) - ABOUT_ALL - {member}


def test_a_finding_names_its_own_member() -> None:
    result = convert(
        "import torch\n\ny = torch.sparse_coo_tensor(i, x)\nz = torch.sparse_csr_tensor(a, b, x)\n", to="paddle"
    )
    hints = [found.hint for found in result.findings if found.code == "TRN201"]
    assert len(hints) == 2
    assert "paddle.sparse.sparse_coo_tensor" in hints[0] and "paddle.sparse.sparse_csr_tensor" in hints[1]
