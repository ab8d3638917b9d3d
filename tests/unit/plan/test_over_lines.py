"""``plan/calls/over_lines.py``: a written call gets a line for each argument where it would make a line too long."""

from __future__ import annotations

from paddletorch.model import Options

from ...fixture_files import engine_for

_HEAD = "import torch\nimport torch.nn.functional as F\n\n\ndef warp(x, grid, mode, padding, corners):\n"
_LONG = "x.unsqueeze(0).expand(2, -1, -1, -1)"


def written(call: str) -> str:
    """What the call becomes, as the last lines of the file."""
    output = (
        engine_for(Options(target="paddle")).convert(f"{_HEAD}    return {call}\n".encode(), "f.py").output.decode()
    )
    return output.rpartition("    return ")[2]


def test_a_long_call_has_a_line_for_each_argument() -> None:
    call = f"F.grid_sample({_LONG}, grid, mode=mode, padding_mode='border', align_corners=corners).squeeze(0)"
    assert written(call) == (
        "torch_grid_sample(\n        x.unsqueeze(0).expand([2, -1, -1, -1]),\n        grid,\n        mode=mode,\n"
        "        padding_mode='border',\n        align_corners=corners,\n    ).squeeze(0)\n"
    )


def test_a_call_that_fits_stands_on_one_line() -> None:
    call = "F.grid_sample(\n        x,\n        grid,\n        align_corners=corners,\n    )"
    assert written(call) == "torch_grid_sample(x, grid, align_corners=corners)\n"


def test_commas_of_inner_brackets_and_strings_break_nothing() -> None:
    padding = "{'a, b': 'border'}[padding]"
    call = f"F.grid_sample({_LONG}, warped(grid, (0, 1)), mode=mode, padding_mode={padding}, align_corners=corners)"
    assert f"        warped(grid, (0, 1)),\n        mode=mode,\n        padding_mode={padding},\n" in written(call)


def test_a_generator_stands_in_no_lines_of_its_own() -> None:
    call = f"torch._foreach_mm([{_LONG}, {_LONG}, {_LONG}], [x, grid, grid])"
    assert written(call).startswith("tuple(paddle.mm(_x, _y) for _x, _y in zip([x.unsqueeze(0)")
