"""Fills program_cases/NAME.toml: looks for programs in a package's modules, on the framework it is written for.

    python benchmarks/program_find.py timm [--most 60]

What the file says under [find] helps: `modules` are patterns of module names, `values` constructor arguments.
Cases with `code` of their own are kept.
"""

from __future__ import annotations

import fnmatch
import json
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import click
from program_bench import CASES, Bench, Package, cases_of, packages, run_source, tomllib
from program_trees import cache_folder


@click.command()
@click.argument("names", nargs=-1)
@click.option("--most", default=0, help="Cases of a package.")
@click.option("--each", default=0, help="Cases of a module.")
@click.option("--cache", type=click.Path(path_type=Path))
@click.option("--jobs", default=2, show_default=True)
@click.option("--show-failed", is_flag=True)
def main(names: tuple[str, ...], most: int, each: int, cache: Path | None, jobs: int, show_failed: bool) -> None:
    """Look for programs in packages NAMES."""
    bench = Bench(cache_folder(cache), jobs)
    try:
        for package in packages():
            if package.name in names:
                fill(bench, package, most, each, show_failed)
    finally:
        bench.close()


def fill(bench: Bench, package: Package, most: int, each: int, show_failed: bool) -> None:
    """Write the cases that are found into the package's file."""
    path = CASES / f"{package.name}.toml"
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    settings: Mapping[str, Any] = data.get("find", {})
    most = most or settings.get("most", 60)
    each = each or settings.get("each", 3)
    modules = [one for one in _modules(bench, package) if _wanted(one, settings)]
    step = max(1, len(modules) * each // (most * 2))
    if not settings.get("all"):
        modules = modules[:: max(1, step)] if step > 1 else modules
    found: list[dict[str, Any]] = [one for one in data.get("case", ()) if "code" in one or one.get("keep")]
    with ThreadPoolExecutor(bench.jobs) as threads:
        for module, reply in threads.map(lambda one: _ask(bench, package, one, each, settings), modules):
            if "failed" in reply and "cases" not in reply:
                if show_failed:
                    click.echo(f"  {module}: {reply['failed'].get('error')} {reply['failed'].get('message')}"[:200])
                continue
            if show_failed:
                for name, why in reply["failed"].items():
                    click.echo(f"  {module}.{name}: {why}"[:300])
            for case in reply["cases"]:
                short = f"{module.partition('.')[2] or module}.{case['name']}"
                found.append({"name": short, "module": module, "make": case["make"], "inputs": case["inputs"]})
            click.echo(f"{module}: {len(reply['cases'])}, {len(found)} in all", err=True)
            if len(found) >= most * 1.3:
                break
    _write(path, data, found)
    kept = []
    cases = cases_of(package)
    with ThreadPoolExecutor(bench.jobs) as threads:
        for entry, (_, note) in zip(found, threads.map(lambda case: run_source(bench, case), cases), strict=True):
            if note is not None and not note["error"] and note.get("seconds", 0) < settings.get("seconds", 9):
                kept.append(entry)
    _write(path, data, kept[:most])
    click.echo(f"{package.name}: {len(kept[:most])} cases of {len(found)} found")


def _modules(bench: Bench, package: Package) -> Iterator[str]:
    requirement = package.requirement.replace("==", "-")
    for top, folder in sorted(bench.roots(package).items()):
        if folder.name != requirement:
            continue
        place = folder / top
        files = sorted(place.rglob("*.py")) if place.is_dir() else [folder / f"{top}.py"]
        for file in files:
            text = file.read_bytes()
            if package.origin.encode() not in text or file.name == "__main__.py":
                continue
            parts = file.relative_to(folder).with_suffix("").parts
            if parts[-1] != "__init__":
                yield ".".join(parts)


def _wanted(module: str, settings: Mapping[str, Any]) -> bool:
    if not all(part.isidentifier() for part in module.split(".")):
        return False
    if any(part in ("tests", "test", "testing") for part in module.split(".")):
        return False
    patterns = settings.get("modules", ["*"])
    return any(fnmatch.fnmatch(module, one) for one in patterns) and not any(
        fnmatch.fnmatch(module, one) for one in settings.get("without", ())
    )


def _ask(
    bench: Bench, package: Package, module: str, each: int, settings: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    out = bench.work / f"find-{package.name}-{module}.json"
    reply = bench.server(package.origin).ask(
        {
            "kind": "find", "out": str(out), "limit": settings.get("limit", 45), "folder": str(bench.work),
            "module": module, "most": each, "each": 10, "values": settings.get("values", {}),
            "roots": {top: str(folder) for top, folder in bench.roots(package).items()},
        }
    )  # fmt: skip
    if reply["ended"] != "done":
        return module, {"failed": {"error": reply["ended"], "message": reply["message"]}}
    return module, json.loads(out.read_text())


def _write(path: Path, data: Mapping[str, Any], cases: list[dict[str, Any]]) -> None:
    """The file: what was said about the package, then its cases."""
    head = path.read_text(encoding="utf-8").partition("\n[[case]]")[0].rstrip("\n")
    lines = [head, ""]
    for case in cases:
        lines.append("[[case]]")
        for key, value in case.items():
            if key == "code":
                lines.append(f"code = '''\n{value}'''")
            elif isinstance(value, dict):
                inner = ", ".join(f"{name} = {json.dumps(one)}" for name, one in value.items())
                lines.append(f"{key} = {{ {inner} }}")
            elif isinstance(value, bool):
                lines.append(f"{key} = {str(value).lower()}")
            else:
                lines.append(f"{key} = {json.dumps(value)}")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
