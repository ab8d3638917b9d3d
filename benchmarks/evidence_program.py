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
from program_trees import StubFinder

STOOD_IN: list[str] = []
"""Packages that are not installed here, for which empty ones stand."""


def imported(name: str) -> Any:
    """A module; what it needs of packages that are not installed is replaced."""
    for _ in range(40):
        held = set(sys.modules)
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            top = (error.name or "").partition(".")[0]
            if top in STOOD_IN or not top or top == name.partition(".")[0]:
                raise
            STOOD_IN.append(top)
            for one in set(sys.modules) - held:
                if _is_of_the_project(one):
                    del sys.modules[one]  # modules of the project begin again
    raise ImportError(f"{name} needs too much that is not installed")


def _is_of_the_project(module: str) -> bool:
    """Told by its name: a package without an ``__init__.py`` has no file."""
    top = Path.cwd() / module.partition(".")[0]
    return top.is_dir() or top.with_suffix(".py").exists()


def run(side: Side, one: dict[str, Any]) -> str:
    """What hinders a model, or an empty string if it runs forward; what fails in training is left out."""
    try:
        side.seed(1)
        model = imported(one["module"]).build()
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
    sys.meta_path.append(StubFinder(STOOD_IN))
    came_to = {one["module"]: run(framework, one) for one in json.loads(listed.read_text())}
    listed.with_suffix(".ran.json").write_text(json.dumps(came_to, indent=1))
    listed.with_suffix(".absent.json").write_text(json.dumps(STOOD_IN))
