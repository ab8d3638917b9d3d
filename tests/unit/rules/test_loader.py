"""Every mistake in a table is a TableError that names file, row and key; overlays; release specifiers."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version
from paddletorch_rules import TableError, load, releases, select
from paddletorch_rules.forms import parse_signature
from paddletorch_rules.loader import read
from paddletorch_rules.schema import Parameter
from paddletorch_rules.table import Table, built_in_files
from paddletorch_rules.where import RENAMED

VALID = """
[[type]]
name = "box"

[[values]]
name = "half"
pairs = [["torch.float16", "'float16'"]]

[[diagnostic]]
code = "XYZ201"
name = "odd"
title = "Odd"
message = "odd"

[[row]]
id = "mine"
code = "XYZ101"
title = "Mine"
parameters = [
  { torch = "a", paddle = "x", values = "half" },
  { torch = "b", same_if = "1", else_report = "XYZ201" },
]

[[row.torch]]
names = ["torch.mine"]
signature = "(a, b=1)"

[[row.paddle]]
names = ["paddle.mine"]
since = "2.0"
signature = [{ since = "2.0", is = "(x)" }, { since = "2.5", is = "(x=None)" }]
"""

MISTAKES: dict[str, tuple[str, str, str, str]] = {
    # rows
    "unknown row key": ("[[row]]\n", "[[row]]\nkinds = 'x'\n", "mine", "kinds"),
    "no id": ('id = "mine"\n', "", "#1", "id"),
    "id is a number": ('id = "mine"', "id = 3", "3", "id"),
    "id twice": (
        "[[row]]\n",
        '[[row]]\nid = "mine"\ncode = "XYZ101"\ntitle = "t"\nreport = "XYZ201"\n'
        '[[row.torch]]\nnames = ["torch.y"]\n[[row]]\n',
        "mine",
        "id",
    ),
    "no code": ('code = "XYZ101"\n', "", "mine", "code"),
    "code in small letters": ('code = "XYZ101"', 'code = "xyz101"', "mine", "code"),
    "code without a number": ('code = "XYZ101"', 'code = "XYZ"', "mine", "code"),
    "code with two digits": ('code = "XYZ101"', 'code = "XYZ10"', "mine", "code"),
    "code is a number": ('code = "XYZ101"', "code = 101", "mine", "code"),
    "no title": ('title = "Mine"\n', "", "mine", "title"),
    "unknown kind": ('title = "Mine"', 'title = "Mine"\nkind = "klass"', "mine", "kind"),
    "unknown direction": ('title = "Mine"', 'title = "Mine"\ndirection = "jax"', "mine", "direction"),
    "unknown hook": ('title = "Mine"', 'title = "Mine"\nhook = "magic"', "mine", "hook"),
    "hook is a number": ('title = "Mine"', 'title = "Mine"\nhook = 1', "mine", "hook"),
    "bare is no boolean": (
        'title = "Mine"',
        'title = "Mine"\nknown_without_import = "no"',
        "mine",
        "known_without_import",
    ),
    "hook without a name": ('title = "Mine"', 'title = "Mine"\nhook = { sign = "*" }', "mine", "hook.name"),
    "hook argument is a list": (
        'title = "Mine"',
        'title = "Mine"\nhook = { name = "operator", sign = ["*"] }',
        "mine",
        "hook.sign",
    ),
    "unknown hook argument": (
        'title = "Mine"',
        'title = "Mine"\nhook = { name = "operator", sign = "*", signs = "*" }',
        "mine",
        "hook",
    ),
    "missing hook argument": ('title = "Mine"', 'title = "Mine"\nhook = "operator"', "mine", "hook"),
    "hook argument of another type": (
        'title = "Mine"',
        'title = "Mine"\nhook = { name = "operator", sign = 1 }',
        "mine",
        "hook",
    ),
    "hook of the engine with an argument": (
        'title = "Mine"',
        'title = "Mine"\nhook = { name = "drop_statement", sign = "*" }',
        "mine",
        "hook",
    ),
    "hook of the other direction": (
        'title = "Mine"',
        'title = "Mine"\ndirection = "torch"\nhook = "write_back"',
        "mine",
        "hook",
    ),
    "tokens are no list": ('title = "Mine"', 'title = "Mine"\ntokens = "x"', "mine", "tokens"),
    "docs are no table": ('title = "Mine"', 'title = "Mine"\ndocs = "https://x"', "mine", "docs"),
    "unknown receiver": ('title = "Mine"', 'title = "Mine"\nreceiver = "crate"', "mine", "receiver"),
    "unknown instance": ('title = "Mine"', 'title = "Mine"\ngives = "crate"', "mine", "gives"),
    "method without receiver": ('title = "Mine"', 'title = "Mine"\nkind = "method"', "mine", "receiver"),
    "attribute without receiver": ('title = "Mine"', 'title = "Mine"\nkind = "attribute"', "mine", "receiver"),
    "unknown report": ('title = "Mine"', 'title = "Mine"\nreport = "XYZ999"', "mine", "report"),
    "unknown warning": ('title = "Mine"', 'title = "Mine"\nwarn = { torch = "XYZ999" }', "mine", "warn"),
    "warning for no framework": ('title = "Mine"', 'title = "Mine"\nwarn = { jax = "XYZ201" }', "mine", "warn"),
    "warn is no table": ('title = "Mine"', 'title = "Mine"\nwarn = "XYZ201"', "mine", "warn"),
    "one side and nothing to report": (VALID[VALID.index("[[row.paddle]]") :], "", "mine", "report"),
    "no side": (VALID[VALID.index("[[row.torch]]") :], "", "mine", "torch"),
    # forms
    "a side that is no list": (
        '[[row.torch]]\nnames = ["torch.mine"]\n',
        '[row.torch]\nnames = ["torch.mine"]\n',
        "mine",
        "torch",
    ),
    "unknown form key": ('names = ["torch.mine"]', 'names = ["torch.mine"]\nsinse = "1.6"', "mine", "torch[0].sinse"),
    "form without names": ('names = ["torch.mine"]\n', "", "mine", "torch[0].names"),
    "names are no list": ('names = ["torch.mine"]', 'names = "torch.mine"', "mine", "torch[0].names"),
    "names hold a number": ('names = ["torch.mine"]', "names = [1]", "mine", "torch[0].names"),
    "since is no release": ('since = "2.0"\nsignature', 'since = "two"\nsignature', "mine", "paddle[0].since"),
    "since is a number": ('since = "2.0"\nsignature', "since = 2.0\nsignature", "mine", "paddle[0].since"),
    "until is no release": ('names = ["torch.mine"]', 'names = ["torch.mine"]\nuntil = "x"', "mine", "torch[0].until"),
    "until before since": (
        'since = "2.0"\nsignature',
        'since = "2.0"\nuntil = "2.0"\nsignature',
        "mine",
        "paddle[0].until",
    ),
    "fixed is no table": ('names = ["torch.mine"]', 'names = ["torch.mine"]\nfixed = "a"', "mine", "torch[0].fixed"),
    "fixed is no expression": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\nfixed = { c = "1 +" }',
        "mine",
        "torch[0].fixed",
    ),
    "template is no expression": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\ntemplate = "{self}.("',
        "mine",
        "torch[0].template",
    ),
    "let names what is not in the template": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\ntemplate = "{a} * {a}"\nlet = { _b = "b" }',
        "mine",
        "torch[0].let",
    ),
    "let with a name that may be the program's": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\ntemplate = "{a} * {a}"\nlet = { a = "a" }',
        "mine",
        "torch[0].let",
    ),
    "template with a stray brace": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\ntemplate = "{self"',
        "mine",
        "torch[0].template",
    ),
    "also is no expression": (
        'names = ["torch.mine"]',
        'names = ["torch.mine"]\nalso = ["1 +"]',
        "mine",
        "torch[0].also",
    ),
    # signatures
    "signature does not parse": ('"(a, b=1)"', '"(a, b=1"', "mine", "torch[0].signature"),
    "signature with a body": ('"(a, b=1)"', '"(a, b=1): pass\\ndef g()"', "mine", "torch[0].signature"),
    "signature is a number": ('signature = "(a, b=1)"', "signature = 1", "mine", "torch[0].signature"),
    "signature entry without release": (
        '{ since = "2.0", is = "(x)" }',
        '{ is = "(x)" }',
        "mine",
        "paddle[0].signature",
    ),
    "signature entry with more": (
        '{ since = "2.0", is',
        '{ when = "x", since = "2.0", is',
        "mine",
        "paddle[0].signature",
    ),
    "signature entry is text": ('{ since = "2.0", is = "(x)" }', '"(x)"', "mine", "paddle[0].signature"),
    "signature of a number": ('is = "(x)"', "is = 1", "mine", "paddle[0].signature"),
    "signature releases fall": ('since = "2.5", is', 'since = "1.9", is', "mine", "paddle[0].signature"),
    "signature release is wrong": ('since = "2.5", is', 'since = "x", is', "mine", "paddle[0].signature"),
    # parameters
    "unknown parameter key": ('{ torch = "b", same_if', '{ torch = "b", natural', "mine", "parameters.natural"),
    "parameter of no side": ('{ torch = "b", same_if', "{ same_if", "mine", "parameters"),
    "parameter is no table": ('{ torch = "b", same_if = "1", else_report = "XYZ201" }', '"b"', "mine", "parameters"),
    "parameter name is a number": ('{ torch = "b", same_if', "{ torch = 1, same_if", "mine", "parameters.torch"),
    "one side and no rule": (', same_if = "1", else_report = "XYZ201"', "", "mine", "parameters"),
    "neutral is no expression": ('same_if = "1"', 'same_if = "1 +"', "mine", "parameters.same_if"),
    "neutral is a number": ('same_if = "1"', "same_if = 1", "mine", "parameters.same_if"),
    "otherwise is unknown": ('else_report = "XYZ201"', 'else_report = "XYZ999"', "mine", "parameters.else_report"),
    "apply is unknown": ('else_report = "XYZ201"', 'else_report = "XYZ201", apply = "maybe"', "mine", "apply"),
    "ignore is no boolean": (
        'else_report = "XYZ201"',
        'else_report = "XYZ201", ignore = "no"',
        "mine",
        "parameters.ignore",
    ),
    "values are unknown": ('values = "half"', 'values = "whole"', "mine", "parameters.values"),
    "parameter in no signature": ('{ torch = "a", paddle = "x"', '{ torch = "a", paddle = "y"', "mine", "parameters"),
    "parameter twice": ('{ torch = "b", same_if', '{ torch = "a", same_if', "mine", "parameters"),
    "parameter not paired": ('  { torch = "b", same_if = "1", else_report = "XYZ201" },\n', "", "mine", "parameters"),
    # value maps
    "unknown value key": ('name = "half"', 'name = "half"\npair = []', "half", "pair"),
    "value map without name": ('name = "half"\n', "", "#1", "name"),
    "pairs are no list": ("pairs = [[", 'pairs = "x" # [[', "half", "pairs"),
    "pair of three": ("\"'float16'\"]]", "\"'float16'\", 'x']]", "half", "pairs"),
    "pair of numbers": ('pairs = [["torch.float16", "\'float16\'"]]', "pairs = [[1, 2]]", "half", "pairs"),
    "pair is no expression": ("\"'float16'\"]]", '"\'float16"]]', "half", "pairs"),
    "torch_also is no table": ('name = "half"', 'name = "half"\ntorch_also = []', "half", "torch_also"),
    "torch_also is no expression": (
        'name = "half"',
        'name = "half"\ntorch_also = { "1 +" = "1" }',
        "half",
        "torch_also",
    ),
    "paddle_also holds a number": ('name = "half"', 'name = "half"\npaddle_also = { x = 1 }', "half", "paddle_also"),
    "to_torch is no expression": ('name = "half"', 'name = "half"\nto_torch = "float("', "half", "to_torch"),
    "to_paddle without a hole": ('name = "half"', 'name = "half"\nto_paddle = "float(y)"', "half", "to_paddle"),
    "to_paddle is a number": ('name = "half"', 'name = "half"\nto_paddle = 1', "half", "to_paddle"),
    "refusal is unknown": ('name = "half"', 'name = "half"\nrefuse = { x = "XYZ999" }', "half", "refuse"),
    "refuse is no table": ('name = "half"', 'name = "half"\nrefuse = "XYZ201"', "half", "refuse"),
    # types
    "unknown type key": ('name = "box"', 'name = "box"\nmake = []', "box", "make"),
    "type without name": ('name = "box"\n', "", "#1", "name"),
    "makes are no list": ('name = "box"', 'name = "box"\nmakes = "x"', "box", "makes"),
    "protocol is no list of lists": ('name = "box"', 'name = "box"\nprotocol = ["step"]', "box", "protocol"),
    "protocol is a number": ('name = "box"', 'name = "box"\nprotocol = 1', "box", "protocol"),
    "names are no regular expression": ('name = "box"', 'name = "box"\nnames = "("', "box", "names"),
    # diagnostics
    "unknown diagnostic key": ('name = "odd"', 'name = "odd"\nlevel = "x"', "XYZ201", "level"),
    "diagnostic without code": ('code = "XYZ201"\n', "", "#1", "code"),
    "diagnostic with a wrong code": ('code = "XYZ201"', 'code = "X-201"', "X-201", "code"),
    "diagnostic without name": ('name = "odd"\n', "", "XYZ201", "name"),
    "diagnostic without title": ('title = "Odd"\n', "", "XYZ201", "title"),
    "diagnostic without message": ('message = "odd"\n', "", "XYZ201", "message"),
    "unknown severity": ('name = "odd"', 'name = "odd"\nseverity = "bad"', "XYZ201", "severity"),
    "unknown applicability": ('name = "odd"', 'name = "odd"\napplicability = "often"', "XYZ201", "applicability"),
    "message with a stray brace": ('message = "odd"', 'message = "odd {"', "XYZ201", "message"),
}
"""By kind of mistake: what to replace in the valid table, by what, and the row and key to be named."""


def _write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_valid_table_is_valid(tmp_path: Path) -> None:
    (row,) = read([_write(tmp_path, VALID)]).rows
    assert (row.id, row.code, row.area, row.kind, row.file) == ("mine", "XYZ101", "XYZ", "function", "mine.toml")
    assert row.paddle[0].since == Version("2.0")
    assert [since for since, _ in row.paddle[0].signatures] == [Version("2.0"), Version("2.5")]


@pytest.mark.parametrize("kind", MISTAKES)
def test_a_mistake_names_file_row_and_key(tmp_path: Path, kind: str) -> None:
    old, new, row, key = MISTAKES[kind]
    assert VALID.count(old) >= 1
    path = _write(tmp_path, VALID.replace(old, new, 1))
    with pytest.raises(TableError) as caught:
        read([path])
    message = str(caught.value)
    assert message.startswith("mine.toml: "), message
    assert f"row '{row}'" in message, message
    assert f"key '{key}" in message, message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[row]", "is not valid TOML"),
        ("[[rows]]\n", "key 'rows': unknown"),
        ("row = 1\n", "key 'row'"),
        ("row = [1]\n", "key 'row'"),
        ("[row]\nid = 'x'\n", "key 'row'"),
        ("[diagnostic]\ncode = 'x'\n", "key 'diagnostic'"),
        ("[values]\nname = 'x'\n", "key 'values'"),
        ("type = ['x']\n", "key 'type'"),
    ],
)
def test_a_file_that_is_no_table_is_named(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(TableError, match=r"mine\.toml") as caught:
        read([_write(tmp_path, text)])
    assert says in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"gone\.toml"):
        read([tmp_path / "gone.toml"])


def test_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="cannot be read"):
        read([tmp_path])


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"# \xff\n")
    with pytest.raises(TableError, match=r"mine\.toml"):
        read([path])


@pytest.mark.parametrize(
    ("text", "parameters"),
    [
        ("()", ()),
        ("(a)", (Parameter("a"),)),
        ("(a, b=2.0 ** 16)", (Parameter("a"), Parameter("b", "2.0 ** 16"))),
        ("(a, /, b='x')", (Parameter("a"), Parameter("b", "'x'"))),
        ("(*, a, b=None)", (Parameter("a", None, True), Parameter("b", "None", True))),
        (
            "(a, *b, c=1, **d)",
            (
                Parameter("a"),
                Parameter("b", None, False, "*"),
                Parameter("c", "1", True),
                Parameter("d", None, False, "**"),
            ),
        ),
    ],
)
def test_signatures_are_read(text: str, parameters: tuple[Parameter, ...]) -> None:
    assert parse_signature(text).parameters == parameters


# the loaded table --------------------------------------------------------------------------------

OVERLAY = """
[[row]]
override = true
id = "{id}"
code = "XYZ101"
title = "Overlaid"
kind = "class"

[[row.torch]]
names = ["torch.amp.GradScaler"]

[[row.paddle]]
names = ["mylib.Scaler"]
"""


def _overlaid(tmp_path: Path, *texts: str) -> Table:
    paths = [_write(tmp_path, text, f"{number}.toml") for number, text in enumerate(texts)]
    return load(tuple(map(str, paths)))


def test_an_overlay_wins_for_its_names_only(tmp_path: Path) -> None:
    table = _overlaid(tmp_path, OVERLAY.format(id="mine"))
    found = table.lookup("torch", "torch.amp.GradScaler")
    assert found is not None and found[0].title == "Overlaid"
    other = table.lookup("torch", "torch.cuda.amp.GradScaler")
    assert other is not None and other[0].id == "GradScaler"
    back = table.lookup("paddle", "mylib.Scaler")
    assert back is not None and back[0].title == "Overlaid"


def test_an_overlay_replaces_the_row_of_its_id(tmp_path: Path) -> None:
    table = _overlaid(tmp_path, OVERLAY.format(id="GradScaler"))
    assert table.row("GradScaler").title == "Overlaid"


def test_the_first_overlay_wins(tmp_path: Path) -> None:
    first, second = OVERLAY.format(id="a"), OVERLAY.format(id="b").replace("Overlaid", "Second")
    found = _overlaid(tmp_path, first, second).lookup("torch", "torch.amp.GradScaler")
    assert found is not None and found[0].title == "Overlaid"


DIAGNOSTIC = '[[diagnostic]]\ncode = "AMP211"\nname = "n"\ntitle = "t"\nmessage = "Mine"\n'


def test_an_overlay_may_redeclare_a_diagnostic(tmp_path: Path) -> None:
    table = _overlaid(tmp_path, DIAGNOSTIC + "override = true\n")
    assert table.diagnostics["AMP211"].message == "Mine"


MEMBER = """
[[row]]
id = "mine"
code = "XYZ101"
title = "Mine"
kind = "method"
receiver = "tensor"

[[row.torch]]
names = ["abs_"]

[[row.paddle]]
names = ["mine_"]
"""

SECOND = {
    "row": (
        OVERLAY.format(id="GradScaler"),
        "row 'GradScaler'",
        "'GradScaler' is defined in amp.toml, row 'GradScaler'",
    ),
    "name": (
        OVERLAY.format(id="mine"),
        "row 'mine'",
        "'torch.amp.GradScaler' is defined in amp.toml, row 'GradScaler'",
    ),
    "member": (MEMBER, "row 'mine'", "'abs_' is defined in math.toml, row 'Tensor.abs_'"),
    "values": ('[[values]]\nname = "dtype"\n', "row 'dtype'", "'dtype' is defined in dtypes.toml, row 'dtype'"),
    "diagnostic": (DIAGNOSTIC, "row 'AMP211'", "'AMP211' is defined in diagnostics.toml, row 'AMP211'"),
    "type": ('[[type]]\nname = "scaler"\n', "row 'scaler'", "'scaler' is defined in amp.toml, row 'scaler'"),
    "area": (
        '[[area]]\ncode = "TEN102"\nname = "n"\ntitle = "t"\n',
        "row 'TEN102'",
        "'TEN102' is defined in areas.toml",
    ),
}


@pytest.mark.parametrize("kind", SECOND)
def test_what_is_built_in_is_replaced_only_where_the_table_says_so(tmp_path: Path, kind: str) -> None:
    text, row, also = SECOND[kind]
    with pytest.raises(TableError) as caught:
        _overlaid(tmp_path, text.replace("override = true\n", ""))
    assert str(caught.value).startswith(f"0.toml: {row}: key 'override': {also}"), caught.value
    says = text if "override" in text else text.replace("]]\n", "]]\noverride = true\n", 1)
    _overlaid(tmp_path, says)


def test_a_second_definition_in_one_file_is_an_error_whatever_it_says(tmp_path: Path) -> None:
    values = '[[values]]\noverride = true\nname = "dtype"\n'
    with pytest.raises(TableError, match=r"0\.toml: row 'dtype'.* defined in 0\.toml"):
        _overlaid(tmp_path, values + values)


def test_a_table_of_a_built_in_name_is_a_file_of_its_own(tmp_path: Path) -> None:
    path = _write(tmp_path, OVERLAY.format(id="GradScaler"), "amp.toml")
    table = load((str(path),))
    assert [row.title for row, _ in table.overloads("torch", "torch.amp.GradScaler")] == ["Overlaid"]
    _write(tmp_path, OVERLAY.format(id="GradScaler").replace("override = true\n", ""), "amp.toml")
    load.cache_clear()
    with pytest.raises(TableError) as caught:
        load((str(path),))
    assert str(path) in str(caught.value)
    assert "paddletorch_rules/amp.toml" in str(caught.value)


def test_an_overlay_changes_the_digest(tmp_path: Path) -> None:
    assert _overlaid(tmp_path, OVERLAY.format(id="mine")).digest != load().digest


def test_an_overlay_may_use_what_is_built_in(tmp_path: Path) -> None:
    text = OVERLAY.format(id="mine").replace('kind = "class"', 'kind = "class"\ngives = "scaler"\nreport = "AMP211"')
    table = _overlaid(tmp_path, text)
    assert table.makes("mylib.Scaler") == "scaler"


def test_a_row_of_one_direction_is_found_in_that_direction_only(tmp_path: Path) -> None:
    table = _overlaid(tmp_path, OVERLAY.format(id="mine").replace('kind = "class"', 'direction = "paddle"'))
    assert table.lookup("paddle", "mylib.Scaler") is None
    assert table.lookup("torch", "torch.amp.GradScaler") is not None


def test_prefix_names_match_below_them() -> None:
    table = load()
    found = table.lookup("paddle", "paddle.static.amp.decorate")
    assert found is not None and found[0].id == "static-graph-amp"
    other = table.lookup("paddle", "paddle.static.ampere")
    assert other is None or other[0].id != "static-graph-amp"


def test_a_row_is_emitted_only_where_every_release_has_it() -> None:
    row = load().row("GradScaler")
    old, new = Version("1.13.1"), Version("2.13.0")
    for versions, name in (([new], "torch.amp.GradScaler"), ([old], "torch.cuda.amp.GradScaler")):
        form = row.emitted("torch", versions)
        assert form is not None and form.names[0] == name
    form = row.emitted("torch", [old, new])
    assert form is not None and form.names[0] == "torch.cuda.amp.GradScaler"
    assert load().row("is_bf16_supported").emitted("paddle", [Version("2.4.2")]) is None


# release specifiers ------------------------------------------------------------------------------


def _texts(versions: tuple[Version, ...]) -> list[str]:
    return [str(v) for v in versions]


def test_no_specifier_means_installable_names_and_every_known_default() -> None:
    for framework in ("torch", "paddle"):
        chosen = select(framework, None)  # type: ignore[arg-type]
        assert chosen.versions == releases.installable(framework)  # type: ignore[arg-type]
        assert chosen.defaults == releases.KNOWN[framework]  # type: ignore[index]
    assert _texts(select("paddle", None).versions)[0] == "2.6.0"
    assert _texts(select("torch", None).versions)[0] == "2.4.1"
    assert releases.DEVELOP not in select("paddle", None).versions


@pytest.mark.parametrize(
    ("framework", "specifier", "expected"),
    [
        ("paddle", "2.5", ["2.5.0", "2.5.1", "2.5.2"]),
        ("paddle", "2.5.0", ["2.5.0"]),
        ("paddle", " 2.5.1 ", ["2.5.1"]),
        ("paddle", "3", ["3.0.0", "3.1.0", "3.1.1", "3.2.0", "3.2.2", "3.3.0", "3.3.1"]),
        ("paddle", "2.5.9", ["2.5.9"]),
        ("paddle", "4.0", ["4.0"]),
        ("paddle", "==2.5.0", ["2.5.0"]),
        ("paddle", "==2.4.*", ["2.4.0", "2.4.2"]),
        ("paddle", "~=2.5.1", ["2.5.1", "2.5.2"]),
        ("paddle", ">=2.5.1,<2.6.2", ["2.5.1", "2.5.2", "2.6.0", "2.6.1"]),
        ("paddle", "<2.1", ["2.0.0"]),
        ("paddle", ">3.2.2", ["3.3.0", "3.3.1"]),
        ("paddle", "!=3.3.0,>3.2.2", ["3.3.1"]),
        ("paddle", "develop", ["9999"]),
        ("torch", "1.13", ["1.13.1"]),
        ("torch", "1.1", None),
        ("torch", "2.1", ["2.1.2"]),
        ("torch", "2.10", ["2.10.0"]),
        ("torch", ">=2.14", ["2.14.0", "2.15.0"]),
        ("torch", "2.13.0+cpu", ["2.13.0"]),
        ("torch", "installed", ["2.13.0"]),
        ("paddle", "installed", ["3.3.1"]),
    ],
)
def test_a_specifier_selects(framework: releases.Framework, specifier: str, expected: list[str] | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match="before"):
            select(framework, specifier)
        return
    chosen = select(framework, specifier)
    assert _texts(chosen.versions) == expected
    assert chosen.defaults == chosen.versions
    assert str(chosen.newest) == expected[-1]


@pytest.mark.parametrize(
    "specifier", ["", "  ", "new", ">=", ">=x", "2.x", "2..5", "3.3-", ">=99", "<1.0", "1.5", "=2.5", "develops"]
)
def test_a_wrong_specifier_is_refused_and_quoted(specifier: str) -> None:
    with pytest.raises(ValueError, match="version") as caught:
        select("torch", specifier)
    assert specifier.strip() in str(caught.value)


def test_installed_without_the_framework_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(releases._DISTRIBUTIONS, "torch", ("no-such-distribution",))
    with pytest.raises(ValueError, match="torch is not installed"):
        select("torch", "installed")


# what one short row stands for -------------------------------------------------------------------

_BUILT_IN = built_in_files()

IN_PLACE = """
[defaults]
code = "XYZ101"
gives = "tensor"

[[row]]
torch = ["torch.mine(input, other, *, alpha=1, out=None)", "torch.mine2(input, other, *, alpha=1)"]
paddle = [{ names = ["paddle.mine"], since = "2.5", signature = [
  { since = "2.5", is = "(x, y, out=None, alpha=1, name=None)" },
  { since = "3.0", is = "(x, y, alpha=1, name=None)" },
] }]
pairs = ["input/x", "other/y"]
hook = { name = "scaled_sum", sign = "+" }
method = true
in_place = ["method", "function"]
example = ["torch.mine(torch.stack([x]), y)", "torch.mine(x, y, alpha=2)"]
"""


def test_a_row_makes_the_rows_of_what_does_the_same_in_place(tmp_path: Path) -> None:
    rows = {row.id: row for row in read([_write(tmp_path, IN_PLACE), *_BUILT_IN]).rows if row.file == "mine.toml"}
    assert rows.keys() == {"mine", "Tensor.mine", "mine_", "Tensor.mine_"}
    function, method = rows["mine_"], rows["Tensor.mine_"]
    assert [f.names for f in function.torch] == [("torch.mine_",), ("torch.mine2_",)]
    assert [f.names for f in method.paddle] == [("mine_",)]
    assert [s.text for _, s in function.torch[0].signatures] == ["(input, other, *, alpha=1)"]
    assert [s.text for _, s in method.paddle[0].signatures] == ["(y, alpha=1, name=None)"]
    assert method.paddle[0].since == Version("2.5")
    assert (method.receiver, method.kind, method.distinctive) == ("tensor", "method", {"torch", "paddle"})
    assert (function.receiver, function.kind, function.distinctive) == (None, "function", frozenset())
    assert function.hook is method.hook is None and rows["mine"].hook == "scaled_sum"
    assert function.examples == ("z = (torch.stack([x])) * 1\nr = torch.mine_(z, y)\n(z, r)",)
    assert method.examples == ("z = (torch.stack([x])) * 1\nr = z.mine_(y)\n(z, r)",)
    assert not any(p.torch == "out" or p.paddle == "out" for row in (function, method) for p in row.parameters)


@pytest.mark.parametrize("value", ["true", "'method'", "['twin']"])
def test_in_place_is_a_list_of_what_is_made(tmp_path: Path, value: str) -> None:
    text = IN_PLACE.replace('["method", "function"]', value)
    with pytest.raises(TableError, match=r"mine\.toml: row '#1': key 'in_place'"):
        read([_write(tmp_path, text), *_BUILT_IN])


SHARED = """
[defaults]
code = "XYZ101"
pairs = ["input/x", "dim/axis", "size/shape:half"]

[[values]]
name = "half"

[[row]]
torch = "torch.a(input, dim, size=1)"
paddle = "paddle.a(x, axis, shape=1)"

[[row]]
torch = "torch.b(input, dim=0)"
paddle = "paddle.b(x, dim=0, *, axis=1)"

[[row]]
torch = "torch.c(input, dim)"
paddle = "paddle.c(y, axis)"
pairs = ["input/y"]

[[row]]
torch = "torch.d(input, other)"
paddle = "paddle.d(y, x)"
pairs = ["input/y", "other/x"]
"""


def test_pairs_of_a_file_hold_where_both_names_are_and_nothing_else_is_said(tmp_path: Path) -> None:
    rows = {row.id: row for row in read([_write(tmp_path, SHARED), *_BUILT_IN]).rows if row.file == "mine.toml"}
    paired = {key: {(p.torch, p.paddle, p.values) for p in row.parameters} for key, row in rows.items()}
    assert paired["a"] == {("input", "x", None), ("dim", "axis", None), ("size", "shape", "half")}
    assert paired["b"] == {("input", "x", None), ("dim", "dim", None), (None, "axis", None)}
    assert paired["c"] == {("input", "y", None), ("dim", "axis", None)}
    assert paired["d"] == {("input", "y", None), ("other", "x", None)}


def test_a_mistake_in_the_pairs_of_a_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"mine.toml: row '\[defaults\]': key 'pairs': 'input' is not 'torch/paddle'"):
        read([_write(tmp_path, SHARED.replace("input/x", "input", 1)), *_BUILT_IN])


@pytest.mark.parametrize("old", RENAMED)
def test_an_old_key_is_an_error_that_names_the_new_one(tmp_path: Path, old: str) -> None:
    places = {
        "row": VALID.replace("[[row]]\n", f"[[row]]\n{old} = 'x'\n"),
        "form": VALID.replace("[[row.torch]]\n", f"[[row.torch]]\n{old} = 'x'\n"),
        "parameter": VALID.replace('{ torch = "b", ', f'{{ torch = "b", {old} = "x", '),
    }
    said = []
    for text in places.values():
        with pytest.raises(TableError, match=rf"mine\.toml: row 'mine': key '.*{old}': ") as caught:
            read([_write(tmp_path, text)])
        said.append(f"is called '{RENAMED[old]}'" in str(caught.value))
    assert said.count(True) == 1


def test_shared_pairs_stand_in_the_order_of_torch(tmp_path: Path) -> None:
    """Keywords are written in that order."""
    text = SHARED.replace("torch.c(input, dim)", "torch.c(input, dim, z)").replace(
        "paddle.c(y, axis)", "paddle.c(x, axis, w)"
    )
    row = next(r for r in read([_write(tmp_path, text.replace("input/y", "z/w", 1)), *_BUILT_IN]).rows if r.id == "c")
    assert [p.torch for p in row.parameters] == ["input", "dim", "z"]
