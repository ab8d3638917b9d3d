"""``--baseline`` and ``--write-baseline``: the results of a run compared with the baselines of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddletorch.cli.error import Refusal
from paddletorch.cli.settings import RunSettings
from paddletorch.model import FileResult, Framework

if TYPE_CHECKING:
    from paddletorch.batch.baseline import Baseline, Compared, FindingKey

_NAMED = 5


class Baselines:
    """The baselines of a run; more than one where settings differ by folder."""

    def __init__(self, settings: RunSettings, files: Sequence[str], *, writing: bool) -> None:
        """Read them; with ``writing`` one that is not there yet is empty.

        Raises:
            Refusal: a baseline cannot be used, or is for the other direction.
            UsageError: a baseline is to be written, and none is named.
        """
        self._settings = settings
        self._writing = writing
        named: dict[tuple[str, Framework], list[str]] = {}
        for path in files:
            file = settings.baseline(path)
            if file is not None:
                named.setdefault((file, settings.options(path).target), []).append(path)
            elif writing:
                name_it = f"--write-baseline: name the file for {path}: --baseline FILE"
                left_out = [one.why for one in settings.file_config(path).left_out if one.key == "baseline"]
                raise click.UsageError("; ".join([name_it, *left_out]))
        self._baselines = [(self._read(Path(file), target), paths) for (file, target), paths in named.items()]

    def apply(self, results: Sequence[FileResult]) -> tuple[list[FileResult], list[str]]:
        """The results with known findings apart, and remarks; writes the baselines if that is wanted."""
        if not self._baselines:
            return list(results), []
        from paddletorch.batch.baseline import Baseline

        found = {result.path: result for result in results}
        remarks: list[str] = []
        for baseline, paths in self._baselines:
            compared = baseline.compare([found[p] for p in paths if p in found], paths, self._settings.options)
            if self._writing:
                remarks.append(_write(baseline, compared))
                baseline = Baseline(baseline.file, baseline.target, compared.current)
                compared = baseline.compare([found[p] for p in paths if p in found], paths, self._settings.options)
            elif compared.stale:
                remarks.append(_stale(baseline, compared.stale))
            found |= {result.path: result for result in compared.results}
        return [found[result.path] for result in results], remarks

    def _read(self, file: Path, target: Framework) -> Baseline:
        from paddletorch.batch.baseline import Baseline, BaselineError, read_baseline  # few runs have one

        if self._writing and not file.exists():
            return Baseline(file, target, Counter())
        try:
            return read_baseline(file, target)
        except BaselineError as error:
            raise Refusal(str(error)) from error


def _write(baseline: Baseline, compared: Compared) -> str:
    from paddletorch.model.failure import reason
    from paddletorch.output.write import write_whole

    try:
        write_whole(baseline.file, baseline.text(compared.current))
    except OSError as error:
        raise Refusal(f"{baseline.file}: {reason(error)}") from error
    new = (compared.current - baseline.findings).total()
    return f"{baseline.file} holds {_findings(compared.current)}: {new} new, {compared.stale.total()} taken out"


def _stale(baseline: Baseline, stale: Counter[FindingKey]) -> str:
    named = [f"{key.path} {key.code}{f' ({count} times)' if count > 1 else ''}" for key, count in sorted(stale.items())]
    more = f" and {len(named) - _NAMED} more" if len(named) > _NAMED else ""
    gone = f"{_findings(stale)} of {baseline.file} {'is' if stale.total() == 1 else 'are'} gone"
    return f"{gone} ({', '.join(named[:_NAMED])}{more}); --write-baseline takes that out"


def _findings(counted: Counter[FindingKey]) -> str:
    total = counted.total()
    return f"{total} finding{'' if total == 1 else 's'}"
