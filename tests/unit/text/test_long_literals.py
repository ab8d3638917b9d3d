"""Long runs of constants are parsed with something short in their place, and the file keeps its bytes."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options, Status
from paddletorch.text.long_literals import MARK, parse

NUMBERS = ", ".join(["1", "-2.5", "3e-5", ".5", "0"] * 8_000)
OTHERS = ", ".join(["'a b'", '"c"', "None", "[1, 'x',]", "()", "{'k': 1}"] * 8_000)
ENTRIES = ", ".join(["'a b': 1", '"c": [1, 2]', "3: None"] * 16_000)
HEAD = "import torch\n\nx = torch.zeros(3)\n"

PEAK = """
from paddletorch.engine.engine import Engine
from paddletorch.model import Options
data = b"import torch\\ny = torch.tensor([" + {constants} + b"])\\n"
result = Engine(Options("paddle")).convert(data, "<long>")
assert result.output == data.replace(b"torch.tensor", b"paddle.to_tensor").replace(b"torch", b"paddle")
status = open("/proc/self/status").read()  # the rusage of a child begins with what its parent had
print(int(status.partition("VmHWM:")[2].split()[0]) // 1024)
"""


def nodes(text: str) -> int:
    return sum(1 for _ in ast.walk(parse(text)))


@pytest.mark.parametrize(
    "text", ["y = [{}]", "y = f(({}), 2)", "f({})", "y = {{{}}}", "y = [{}\r\n ]", "y = [[{}], [{}]]"]
)
def test_the_numbers_are_no_nodes(text: str) -> None:
    assert nodes(text.replace("{}", NUMBERS).replace("{{", "{").replace("}}", "}")) < 40


@pytest.mark.parametrize(
    "text", [f"y = [{OTHERS}]", f"f(({OTHERS}), 2)", f"y = {{{ENTRIES}}}", f"y = [0, {{{ENTRIES}}}]"]
)
def test_strings_displays_and_entries_are_no_nodes(text: str) -> None:
    assert nodes(text) < 120


@pytest.mark.parametrize("name", ["'torch.zeros'", "'bn.running_mean'"])
def test_a_string_that_names_something_of_a_framework_is_a_node(name: str) -> None:
    found = [n for n in ast.walk(parse(f"y = [{OTHERS}, {name}, {OTHERS}]")) if isinstance(n, ast.Constant)]
    assert ast.literal_eval(name) in [n.value for n in found] and len(found) < 2_000


def test_what_follows_keeps_its_place() -> None:
    text = f"é = [{NUMBERS}]; z = 1\n"
    second = parse(text).body[1]
    assert text.encode()[second.col_offset : second.end_col_offset] == b"z = 1"


@pytest.mark.parametrize("text", [f"y = '[{NUMBERS}]'", f'y = """\n({NUMBERS})\n"""'])
def test_a_string_keeps_its_value(text: str) -> None:
    assert ast.dump(parse(text)) == ast.dump(ast.parse(text))


def test_a_pattern_is_read() -> None:
    text = f"match x:\n    case [{NUMBERS}]:\n        pass\n"
    assert ast.dump(parse(text)) == ast.dump(ast.parse(text))


@pytest.mark.parametrize("wrong", ["01", "1 2", "1.2.3", "1e", "--", "1,,"])
def test_what_is_no_number_is_no_python(wrong: str) -> None:
    with pytest.raises(SyntaxError):
        parse(f"y = [{NUMBERS}, {wrong}, {NUMBERS}]")


@pytest.mark.parametrize(
    "text", [f"f({ENTRIES})", f"y = [{ENTRIES}]", f"y = {{1, {ENTRIES}}}", f"y = f'{{[{OTHERS}]}}'"]
)
def test_what_is_wrong_elsewhere_stays_wrong(text: str) -> None:
    """Entries outside of a dict, and before Python 3.12 the quotes of an f-string in it."""
    assert _is_python(text, parse) == _is_python(text, ast.parse)


def _is_python(text: str, read: Callable[[str], ast.Module]) -> bool:
    try:
        read(text)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize(
    "use",
    [
        "y = torch.tensor([{}])",
        "y = torch.tensor(({}), dtype=torch.float64)",
        "y = torch.max(x, [{}])",
        "y = torch.cat([{}], dim=0)",
        "y = torch.full([{}], x.max(1)[0])",
    ],
)
def test_the_output_has_the_numbers(use: str) -> None:
    result = Engine(Options("paddle")).convert((HEAD + use.replace("{}", NUMBERS) + "\n").encode(), "<numbers>")
    assert result.status is Status.CONVERTED
    assert result.output.count(NUMBERS.encode()) == 1
    assert MARK.encode() not in result.output


def test_the_length_of_the_list_is_not_known() -> None:
    """Padding is written out for a list that can be seen, and computed for any other."""
    source = HEAD + f"y = torch.nn.functional.pad(x, [{NUMBERS}])\n"
    assert b"len(pad)" in Engine(Options("paddle")).convert(source.encode(), "<numbers>").output


@pytest.mark.parametrize("constants", ["b'1, ' * 3_300_000", "b\"'abcdefgh', \" * 800_000"])
def test_ten_megabytes_of_constants_take_less_than_five_hundred(constants: str) -> None:
    code = PEAK.replace("{constants}", constants)
    child = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(child.stdout) < 500
