"""Two remarks about one call are two entries of the report; the same remark at two places is one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def test_two_remarks_about_one_call_are_both_said(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import paddle\n\nfirst = paddle.nn.CrossEntropyLoss()\nsecond = paddle.nn.CrossEntropyLoss()\n"
        "print(first(a, b), second(a, b))\n"
    )
    command = [sys.executable, "-m", "paddletorch", "convert", "--to", "torch", "--no-cache", "a.py"]
    shown = " ".join(subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False).stdout.split())
    assert "the classes on axis 1" in shown
    assert "labels of -100 count" in shown
    assert shown.count("(2 places, first a.py:3:9)") == 2
