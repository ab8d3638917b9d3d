"""Counts the work of a conversion, in function calls, and of a cold start, in modules: the same on every machine.

    python benchmarks/counted_work.py            # what this version does, as JSON
    python benchmarks/counted_work.py --record   # writes it into counted_work.json, beside this file

A test fails if the code needs over 10 % more than what is recorded. Calls are counted over some of the fixtures, those
that the record lists, and differ between releases of Python: each has its own record.
"""

from __future__ import annotations

import cProfile
import gc
import json
import os
import pstats
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from zlib import crc32

FILE = Path(__file__).with_suffix(".json")
FIXTURES = Path(__file__).parents[1] / "fixtures"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
RUNS = {
    "to Paddle, all tables": ("to_paddle", "paddle", ()),
    "to Paddle, AMP only": ("to_paddle", "paddle", ("AMP",)),
    "to torch, all tables": ("to_torch", "torch", ()),
    "to torch, AMP only": ("to_torch", "torch", ("AMP",)),
}
MODULES = "modules of a cold conversion"
_SHARE = 16
"""One fixture of so many is counted."""

_COLD = """
import sys
from paddletorch.__main__ import main
try:
    main()
except SystemExit:
    print(len(sys.modules), file=sys.stderr)
"""


def recorded() -> dict[str, Any]:
    """``files``: the fixtures that count, by folder; ``work``: the numbers by Python's release and by name."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def chosen() -> dict[str, list[str]]:
    """Some of the fixtures, by folder."""
    names = {
        folder: sorted(path.name for path in (FIXTURES / folder).glob("*.in.py")) for folder, _, _ in RUNS.values()
    }
    return {folder: [name for name in all_ if crc32(name.encode()) % _SHARE == 0] for folder, all_ in names.items()}


def count(files: dict[str, list[str]]) -> dict[str, int]:
    """The work of this version; a fixture that is gone does not count."""
    return {name: _calls(files[folder], folder, to, select) for name, (folder, to, select) in RUNS.items()} | {
        MODULES: _modules()
    }


def _calls(names: list[str], folder: str, to: str, select: tuple[str, ...]) -> int:
    from paddletorch import Converter

    converter = Converter(to=to, select=select)  # type: ignore[arg-type]
    files = [FIXTURES / folder / name for name in names]
    files = [file for file in files if file.exists()]
    profile = cProfile.Profile()
    for file in files:  # tables that are read for the first time may have to be compiled
        converter.convert(file.read_bytes(), path=str(file))
    gc.disable()  # test tools count collections, in Python
    try:
        for file in files:
            source = file.read_bytes()
            profile.enable()
            converter.convert(source, path=str(file))
            profile.disable()
    finally:
        gc.enable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def _modules() -> int:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "small.py")
        file.write_text("import torch\n\nscaler = torch.cuda.amp.GradScaler()\n")
        command = [sys.executable, "-c", _COLD, "convert", "--to", "paddle", "--no-cache", "--select", "AMP", str(file)]
        subprocess.run(command, capture_output=True, check=False)  # keeps the tables
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stderr.split()[-1])


def main() -> None:
    """Count, and print or record what was counted."""
    if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets has influence on the number of calls
        again = [sys.executable, *sys.argv]
        sys.exit(subprocess.run(again, env={**os.environ, "PYTHONHASHSEED": "0"}, check=False).returncode)
    if "--record" not in sys.argv[1:]:
        print(json.dumps(count(recorded()["files"])))
        return
    files = chosen()
    former = recorded()["work"] if FILE.exists() and recorded()["files"] == files else {}
    work = {**former, PYTHON: count(files)}
    FILE.write_text(json.dumps({"files": files, "work": work}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
