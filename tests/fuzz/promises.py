"""What every conversion promises, whatever the input and the options; checked from the outside, on bytes and trees."""

from __future__ import annotations

import codecs
import itertools
import re
from codecs import BOM_UTF8
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Options, Severity, Status

from . import names, untouched
from .trees import compiles, encoding_of, parsed, round_trips, text_of

REFUSALS = {"SRC001", "SRC002", "SRC008"}
"""The codes of a file that cannot be converted: no Python, not decodable, too deep."""
_BROKEN = {"SRC006", "SRC009", "SRC900"}
_NOTE = re.compile(r"\s*# paddletorch: [A-Z]+\d+ ")
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Violation:
    """A promise that a conversion broke, and how."""

    promise: str
    detail: str


@dataclass(frozen=True)
class Verdict:
    """What became of one case."""

    result: FileResult | None
    """None if the engine raised."""
    violations: tuple[Violation, ...] = ()

    @property
    def outcome(self) -> str:
        """In a word: clean, converted, refused with a code, or raised."""
        if self.result is None:
            return "raised"
        if self.result.status is not Status.FAILED:
            return self.result.status.value
        return "refused " + ", ".join(sorted({d.code for d in self.result.diagnostics}))


@lru_cache(maxsize=128)
def engine(options: Options) -> Engine:
    """One engine for all files of these options."""
    return Engine(options)


def check(data: bytes, options: Options) -> FileResult:
    """Convert ``data`` and assert every promise about the result.

    Returns:
        The result, for whatever else a test asks of it.
    """
    verdict = judge(data, options)
    assert not verdict.violations, "\n".join(f"{v.promise}: {v.detail}" for v in verdict.violations)
    assert verdict.result is not None
    return verdict.result


def judge(data: bytes, options: Options) -> Verdict:
    """Convert ``data`` and hold the result against every promise."""
    try:
        result = engine(options).convert(data, "program.py")
    except Exception as error:  # that it never raises is the promise
        return Verdict(None, (Violation("never raises", f"{type(error).__name__}: {error}"),))
    found = []
    for promise, holds in PROMISES[result.status]:
        try:
            holds(result, options)
        except AssertionError as error:
            found.append(Violation(promise, str(error)))
        except RecursionError:  # the check itself cannot walk so deep a tree
            continue
    return Verdict(result, tuple(found))


def check_refusal(result: FileResult, options: Options) -> None:
    """A file that was refused is as it was, for a reason that is true."""
    assert result.output == result.source
    assert not result.conversions
    codes = {d.code for d in result.diagnostics if d.severity is Severity.ERROR}
    swapped = (
        {"SRC016"}
        if re.search(
            rb"\bimport\b.*\bas\s+(?:torch|paddle)\b|\bfrom\b.*\bimport\b.*\b(?:torch|paddle)\b", result.source
        )
        else set()
    )
    assert codes and codes <= REFUSALS | _BROKEN | swapped, result.diagnostics
    assert "SRC001" not in codes or parsed(result.source) is None, f"readable, yet refused: {result.diagnostics}"
    if "SRC002" in codes and _declares_codec(result.source):
        codec = encoding_of(result.source)
        for_files = codecs.lookup(codec).name not in ("idna", "punycode")  # codecs for names of hosts, which take n^2
        assert not (for_files and round_trips(result.source)), f"{codec} round-trips, yet refused: {result.diagnostics}"
        said = " ".join(d.message for d in result.diagnostics)
        assert _letters(codec) in _letters(said), f"does not name {codec}: {said}"


def check_status(result: FileResult, options: Options) -> None:
    """A file that is clean is as it was, and one that is converted is not."""
    assert (result.output == result.source) == (result.status is Status.CLEAN)


def check_nothing_broken(result: FileResult, options: Options) -> None:
    """No text was planned that had to be taken back."""
    broken = [d for d in result.diagnostics if d.code in _BROKEN]
    assert not broken, f"{broken[0].code}: {broken[0].message}"


def check_compiles(result: FileResult, options: Options) -> None:
    """What compiled before compiles now."""
    assert compiles(result.output) or not compiles(result.source), "the output does not compile"


def check_positions(result: FileResult, options: Options) -> None:
    """Every line and column that is reported lies in the file."""
    items = (*result.conversions, *result.diagnostics)
    lines = _LINE_END.split(text_of(result.source)) if items else []
    for item in items:
        assert 1 <= item.line <= len(lines), item
        assert 1 <= item.column <= len(lines[item.line - 1]) + 1, item


def check_layout(result: FileResult, options: Options) -> None:
    """Byte order mark, encoding, the last line's end stay; a file with one kind of line end keeps that one."""
    assert result.output.startswith(BOM_UTF8) == result.source.startswith(BOM_UTF8), "the byte order mark changed"
    assert encoding_of(result.output) == encoding_of(result.source), "the encoding changed"
    before, after = (set(_LINE_END.findall(text_of(data))) for data in (result.source, result.output))
    if {"\r", "\n"} <= before:
        before.add("\r\n")  # where a line between the two is removed, they meet
    assert after <= before or not before, f"line ends {after} where {before} were"


def check_codec(result: FileResult, options: Options) -> None:
    """A file is converted only if its codec gives back the bytes that it was given."""
    assert round_trips(result.source), f"{encoding_of(result.source)} does not round-trip"


def check_second_run(result: FileResult, options: Options) -> None:
    """Converting the output changes nothing; where notes are written, each stands there once.

    Not promised: what ``--unsafe`` guesses about objects of unknown type it would guess again, so the second run is
    without it. With some of the codes only, objects of both frameworks are in one file, and a second run takes what was
    written for the ones for uses of the others. Where the file has the target's name for something of its own, no
    import of the target can show which of its code is converted.
    """
    if options.select or options.ignore or names.owns_name(result.source, options.target):
        return
    again = engine(replace(options, unsafe=False)).convert(result.output, "program.py")
    assert again.status is not Status.FAILED, f"refused: {again.diagnostics}"
    assert not again.conversions, f"converted again: {again.conversions}"
    if not options.annotate:
        assert again.output == result.output, "the second run changes the output"
        return
    lines, noted = (_LINE_END.split(text_of(data)) for data in (result.output, again.output))
    without = [[line for line in found if not _NOTE.match(line)] for found in (lines, noted)]
    assert without[0] == without[1], "the second run changes the output"
    repeated = [
        sum(a == b and _NOTE.match(a) is not None for a, b in itertools.pairwise(found)) for found in (lines, noted)
    ]
    assert repeated[1] <= repeated[0], "a note is repeated"  # of statements that went, the notes stand together


Promise = tuple[str, Callable[[FileResult, Options], None]]

_NEVER_BROKEN: Promise = ("nothing broken is planned", check_nothing_broken)
_POSITIONS: Promise = ("positions lie in the file", check_positions)
_STATUS: Promise = ("the status is true", check_status)
PROMISES: dict[Status, tuple[Promise, ...]] = {
    Status.FAILED: (("a refusal is true", check_refusal), _NEVER_BROKEN),
    Status.CLEAN: (_STATUS, _NEVER_BROKEN, _POSITIONS),
    Status.CONVERTED: (
        _STATUS,
        _NEVER_BROKEN,
        _POSITIONS,
        ("the output compiles", check_compiles),
        ("the layout stays", check_layout),
        ("codecs round-trip", check_codec),
        ("bytes outside edits stay", lambda result, _: untouched.check_bytes(result)),
        ("statements outside edits stay", lambda result, _: untouched.check_meaning(result)),
        ("pyflakes knows every name", lambda result, _: names.check_undefined(result)),
        ("names are bound on every path", lambda result, options: names.check_paths(result, options.source)),
        ("no guard imports both frameworks", lambda result, options: names.check_guards(result, options.source)),
        ("no import is for nothing", names.check_imports),
        ("no hole of a template is left", lambda result, _: names.check_holes(result)),
        (
            "decorators stay with their functions",
            lambda result, options: names.check_decorators(result, options.source),
        ),
        ("no pass for nothing", lambda result, _: names.check_idle_pass(result)),
        ("a second run changes nothing", check_second_run),
    ),
}
"""What is held against a result, by its status. That the engine never raises comes before them all."""
NAMES = ("never raises", *dict.fromkeys(name for promises in PROMISES.values() for name, _ in promises))


def _letters(text: str) -> str:
    """What is left of ``utf_7``, ``UTF-7`` and ``utf7``."""
    return re.sub(r"[\W_]", "", text.lower())


def _declares_codec(data: bytes) -> bool:
    try:
        encoding_of(data)
    except SyntaxError:
        return False
    return True
