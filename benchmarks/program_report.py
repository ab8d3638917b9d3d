"""The table of verdicts by package, and the failing cases by their cause."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from measure import environment
from program_bench import Verdict

HEADER = (
    "| package | to | cases | equal | differ | fail, named | fail, silent | equal once left imports are stubbed |\n"
    "|---|---|--:|--:|--:|--:|--:|--:|"
)


def table(verdicts: Sequence[Verdict]) -> str:
    """Lines of the table: each package, then each direction."""
    rows = [HEADER]
    by_package: dict[str, list[Verdict]] = defaultdict(list)
    for one in verdicts:
        if one.outcome != "original":
            package = one.case.package
            alone = package.requirement.partition("==")[0].lower().replace("-", "_") == package.name.lower()
            by_package[
                package.requirement
                if alone
                else package.name
                if not package.requirement
                else f"{package.name} ({package.requirement})"
            ].append(one)
    for to in ("paddle", "torch"):
        mine = {name: group for name, group in by_package.items() if group[0].case.package.to == to}
        for name, group in sorted(mine.items()):
            rows.append(_row(name, to, group))
        if mine:
            rows.append(_row("**all**", to, [one for group in mine.values() for one in group]))
    return "\n".join(rows)


def _row(name: str, to: str, group: Sequence[Verdict]) -> str:
    counts = Counter(one.outcome for one in group)
    differs = [one for one in group if one.outcome == "differs"]
    fails = [one for one in group if one.outcome == "fails"]
    silent = sum(not one.named for one in differs)
    stubbed = counts["equal"] + sum(one.stubbed == "equal" for one in fails)
    shown = f"{len(differs)} ({silent} silent)" if differs else "0"
    share = f"{counts['equal']} ({counts['equal'] / len(group):.0%})"
    return (
        f"| {name} | {to} | {len(group)} | {share} | {shown} | {sum(one.named for one in fails)} | "
        f"{sum(not one.named for one in fails)} | {stubbed} |"
    )


def classes(verdicts: Sequence[Verdict], most: int = 3) -> str:
    """The failing cases grouped by cause, the largest classes first."""
    parts = []
    for to in ("paddle", "torch"):
        groups: dict[str, list[Verdict]] = defaultdict(list)
        for one in verdicts:
            if one.outcome in ("differs", "fails") and one.case.package.to == to:
                groups[one.cause].append(one)
        if not groups:
            continue
        parts.append(f"## Towards {to}: {sum(map(len, groups.values()))} cases in {len(groups)} classes\n")
        parts += _left_names([one for group in groups.values() for one in group if one.left])
        for cause, group in sorted(groups.items(), key=lambda one: (-len(one[1]), one[0])):
            silent = sum(not one.named for one in group)
            codes = ", ".join(dict.fromkeys(code for one in group for code in one.codes))
            parts.append(
                f"### {len(group)} ({silent} silent): {_cell(cause)}\n" + (f"\ncodes: {codes}\n" if codes else "")
            )
            for one in group[:most]:
                parts.append(f"- `{one.case.id}` at {one.stage}: {_cell(one.message[:300])}")
                if one.place:
                    parts.append(f"  - {one.place}")
                if one.source:
                    parts.append(f"  - source: `{_cell(one.source)}`")
                if one.text and one.text != one.source:
                    parts.append(f"  - converted: `{_cell(one.text)}`")
                if one.stubbed:
                    parts.append(f"  - with its left imports stubbed: {_cell(one.stubbed[:200])}")
            if len(group) > most:
                parts.append(f"- and {', '.join(f'`{one.case.id}`' for one in group[most : most + 12])}")
            parts.append("")
    return "\n".join(parts)


def _left_names(verdicts: Sequence[Verdict]) -> list[str]:
    """A table of the names that keep an import of the source framework, by how many cases stop there."""
    if not verdicts:
        return []
    counted = Counter(name for one in verdicts for name in one.left)
    alone = Counter(one.left[0] for one in verdicts if len(one.left) == 1)
    example = {name: one for one in reversed(verdicts) for name in one.left}
    lines = [
        f"{len(verdicts)} cases stop at an import of the source framework that is left. The names that keep it:\n",
        "| name | cases | the only one | such as |\n|---|--:|--:|---|",
    ]
    for name, count in counted.most_common(30):
        lines.append(
            f"| `{_cell(name)}` | {count} | {alone[name]} | `{example[name].case.id}` at {example[name].place} |"
        )
    return [*lines, ""]


def _cell(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def report(verdicts: Sequence[Verdict], seconds: float) -> str:
    """The section for RESULTS.md."""
    return "\n".join(
        [
            "## Whole programs\n\n`python benchmarks/programs.py --write-results`\n",
            f"{environment('torch', 'paddlepaddle')}\n",
            "Modules of packages from the package index, converted with default options and run where the source "
            "framework cannot be imported, with weights as `paddletorch state convert` makes them. Equal: outputs and "
            "gradients of inputs and parameters in eval and in train mode, buffers, three steps of SGD, as far as the "
            "original can do them; of a training program, what it returns and the model after it. In float32 outputs "
            "may differ by 1e-3 of the largest value, gradients by 5e-3; what differs by more is run again in float64 "
            "(1e-6, 1e-5). Running variances differ by the frameworks' definition (NNL208) and count only where one is "
            "more than twice the other. What the original does not repeat, or makes much of rounding in, is left out. "
            "Named: a finding of the conversion is on the line that failed, or on a line on the way to it; for a left "
            "import, in its file; for a difference, on a line that was run.\n",
            table(verdicts),
            f"\nThe failing cases by cause: `benchmarks/programs-failing.md`. The run took {seconds:.0f} s.",
        ]
    )
