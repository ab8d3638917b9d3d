"""The program that ``evidence.py`` records: makes models of a package, and runs them forward, backward and for a step.

    paddletorch record -- python run_models.py MODELS.json

A list of objects: ``module``, whose ``build()`` makes the model, ``inputs`` and ``keywords`` as in program_cases. What
each came to is written beside the list, as MODELS.ran.json.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from paddletorch.comparison.sides import Side, sides
from paddletorch.comparison.stages import ALL_STAGES, stages
from paddletorch.comparison.values import inputs_of


def run(side: Side, one: dict[str, Any]) -> str:
    """What hinders a model, or an empty string if it runs forward; what fails in training is left out."""
    try:
        side.seed(1)
        model = importlib.import_module(one["module"]).build()
        texts = one["keywords"]
        keywords = dict(zip(texts, inputs_of([*texts.values()], 5, "float32"), strict=True))
        for name, stage in stages(side, model, inputs_of(one["inputs"], 3, "float32"), keywords, ALL_STAGES):
            try:
                stage()
            except Exception:
                if name == "eval":
                    raise
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"[:300]
    return ""


if __name__ == "__main__":
    listed = Path(sys.argv[1])
    framework = sides(sys.argv[2])
    came_to = {one["module"]: run(framework, one) for one in json.loads(listed.read_text())}
    listed.with_suffix(".ran.json").write_text(json.dumps(came_to, indent=1))
