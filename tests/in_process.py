"""The command line without a process of its own: a hundred times as fast, and the same code otherwise."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest
from paddletorch.__main__ import main
from paddletorch.batch import one_file

Result = subprocess.CompletedProcess[bytes]


def run_here(monkeypatch: pytest.MonkeyPatch, *arguments: str, stdin: bytes = b"", **environment: str) -> Result:
    """Run the command as a process of its own would: with its own streams, and nothing remembered but the cache."""
    assert not any(name.startswith("PYTHON") for name in environment), "Python reads these when it starts"
    given, out, err = (io.TextIOWrapper(io.BytesIO(data), "utf-8", newline="") for data in (stdin, b"", b""))
    one_file.converter_for.cache_clear()
    with monkeypatch.context() as patch:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["paddletorch", *arguments])
        for stream, name in ((given, "stdin"), (out, "stdout"), (err, "stderr")):
            patch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ended:
            main()
    code = ended.value.code or 0
    assert isinstance(code, int)
    return subprocess.CompletedProcess(arguments, code, *(_written(stream) for stream in (out, err)))


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()
