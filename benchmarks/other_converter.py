"""Another converter in place of this project's, as it comes: its command is run on whole trees, once each."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

NOTHING_FOUND = {"findings": [], "left": [], "lines": {}}


@dataclass(frozen=True)
class OtherConverter:
    """A command with ``{source}`` and ``{output}`` where the folders go."""

    command: str

    @property
    def name(self) -> str:
        """What its conversions are kept under."""
        return re.sub(r"\W+", "-", self.command).strip("-")[-60:]

    def convert(self, source: Path, output: Path) -> None:
        """Convert a tree, unless that was done; what the command does not write stays as it was."""
        done = output / ".converted"
        if done.exists():
            return
        arguments = [part.format(source=source, output=output) for part in shlex.split(self.command)]
        ended = subprocess.run(arguments, capture_output=True, text=True, check=False)
        if ended.returncode:
            print(f"{self.name} ended with {ended.returncode} on {source}: {ended.stderr[-500:]}", file=sys.stderr)
        for file in source.rglob("*.py"):
            target = output / file.relative_to(source)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            target.with_name(target.name + ".json").write_text(json.dumps(NOTHING_FOUND))
        done.write_text(ended.stdout[-2000:])
