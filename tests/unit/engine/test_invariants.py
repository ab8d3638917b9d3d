"""What no conversion may do, on generated files of every layout: touch a byte outside its edits, lose a comment.

A file is drawn as literal text with marked places (``«…»``: an API call or an import). The output must hold
every literal byte, in order, with changes only inside the marked places.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from codecs import BOM_UTF8
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paddletorch.engine.engine import Engine
from paddletorch.model import FileResult, Framework, Options, Status

OTHER: dict[Framework, Framework] = {"torch": "paddle", "paddle": "torch"}

PLAIN = (
    "keep_{n} = {n}",
    "keep_{n} = {{'a' : [1,2 ,3], \"b\":'x'}}   ",
    "keep_{n} = lambda  x:x**2 # comment {n}",
    "# a comment alone {n}",
    "",
    "keep_{n} = '''text\n  over {n} lines'''",
    "keep_{n} = 'GradScaler( autocast torch.cuda.amp é'  # naïve {n}",
    "keep_{n} = 1 + \\\n  {n}",
    "keep_{n} = (\n  1,  # one {n}\n\n  2,\n)",
    "if True :\n    keep_{n} = 0 ;  other = 1 # {n}\nelse : keep_{n}=2",
    "try:\n    keep_{n} = 0\nexcept  ( ValueError,TypeError ) as e : pass",
    "def keep_{n}( a,b = 1, * , c ): # {n}\n    return a+b",
    "class keep_{n} : x:int=1",
    "keep_{n} = f'{{1+1!r:>{{4}}}} {{ 2 }}'",
    "keep_{n} = not(1)or(2)if(3)else(4)",
    "keep_{n} = 'a\x0b\x85\x1cb'  # odd separators \x85 {n}",
    "\f",
    "for keep_{n} in  range( 3 ):\n    continue",
)
"""Statements that are nobody's business; blank ones and comments too."""

WIDE = ("keep_{n} = '日本語 🦆'  # 注釈 {n}", "keep_{n} = 'a\u2028b\u2029c'  # {n}", "ключ_{n} = {n}")
"""The same, beyond latin-1."""

SITES = (
    "x = «G()»",
    "x = «G(enabled=flag)»  # why {n}",
    "'é{n}'; x = «G(enabled=flag)»; y = 'ü' # trailing é",
    "x = [ 'ß', «G()» ,«A(enabled = flag)»  ]  # list {n}",
    "x = «G(\n    enabled=flag,  # first {n}\n    # alone {n}\n)»  # end",
    "x = «G( # nothing {n}\n)»",
    "x = «G \\\n   (enabled=flag)»",
    "x = «G ( enabled = flag , )»",
    "x = («G»)",
    "with «A(enabled=flag)» :  # ctx {n}\n    pass",
    "with «A()», open('é') as f{n}: pass",
    "with (\n    «A()» as a,  # first {n}\n    open('x') as b,\n): pass",
    "@«A()»\ndef f{n}(a, b = 'é'): # def {n}\n    return a",
    "def f{n}(a : «'G'» = None, *, b: «G» = «G(enabled=False)»)  -> «'G | None'» : return a",
    "x = «G(enabled=flag)» if flag else None",
    "x = lambda:«G(enabled=flag)»",
    "x = {{'é': «G()»}}['é']",
    "assert isinstance(x, «G»), 'é {n}'",
    "print('日', «G()» if 0 else 'x')".replace("日", "ö"),
    "if (x := «G()») is None: pass # {n}",
    "x = [«G()» for _ in 'é']",
    "x = «f'é{{G(enabled=flag)}} {{1}}'»",
    "x = «'a' f'{{G(enabled=flag)}}' 'é'»",
    "x = «f'''é\n{{G(enabled=flag)}} {n}\n'''»",
    "return_{n} = («G\n  (enabled=flag)»)",
    "class C{n}(«G») : # class {n}\n    'é'",
    "for c in ( «G» , ): pass",
)
"""Uses of the APIs; ``G`` is the scaler's class, ``A`` the autocast context."""

TORCH_SITES = (
    "x = «torch.amp.GradScaler(  # before {n}\n    'cuda',  # device\n    init_scale=2.**10,  # scale\n)»  # é",
    "x = «torch.amp.GradScaler('cuda',  # device {n}\n    2.**10)»",
    "x = «torch.amp.GradScaler(\n    enabled=flag,\n    device='cuda'  # device {n}\n)»",
    "x = «torch.amp.GradScaler(\n    # alone {n}\n    device='cuda'\n)»",
    "x = «torch.amp.GradScaler(init_scale = (2.\n  **10) , enabled= not flag)»",
    "with «torch.amp.autocast('cuda', torch.float16, flag)», open('é') as f{n}: pass # {n}",
    "with «torch.autocast(device_type='cuda', dtype = torch.float16 , cache_enabled=False)» :  # {n}\n    pass",
    "with «torch.autocast('cuda',\n        # half {n}\n        dtype=torch.bfloat16,\n        enabled=flag)»: pass",
    "x = «torch.autocast( 'cuda' , enabled=(yes := flag) )»",
    "x = «f'{{torch.autocast(\"cuda\", dtype=torch.float16)}}'»",
    "x = «f\"{{torch.autocast('cuda', dtype=torch.float16)}}\"»",
    "x = «f'é{{torch.autocast(device, dtype=torch.bfloat16)!r:>20}}'»",
    "opt.step(); «opt.zero_grad(set_to_none=True)»; del opt  # {n}",
    "«torch.nn.utils.clip_grad_norm_(\n    model.parameters(),  # all {n}\n    1.0, foreach=True  # fast\n)»",
    "x, = «torch.autograd.grad(  # {n}\n    outputs=y, inputs=[x], create_graph=True\n)»",
)
"""Uses that only torch has; ``torch`` itself is imported."""

PADDLE_SITES = (
    "x = «paddle.amp.GradScaler(\n    True,  # on {n}\n    2.**10,  # scale\n)»  # é",
    "x = «paddle.amp.GradScaler(init_loss_scaling=8., use_dynamic_loss_scaling=True  # dynamic {n}\n)»",
    "with «paddle.amp.auto_cast(\n    custom_white_list={{'a'}},  # white {n}\n    level='O1',\n)»: pass",
    "with «paddle.amp.auto_cast(flag, level='O1')»: pass  # {n}",
    "x = «f'{{paddle.amp.auto_cast()}}'»",
    'x = «f"{{paddle.amp.auto_cast()}}"»',
    "opt.step(); «opt.clear_grad()»; del opt  # {n}",
    "«scaler.minimize( opt, scaled )»  # {n}",
    "x = «paddle.grad(  # {n}\n    [y], x, create_graph=True\n)»",
)
"""Uses that only Paddle has; ``paddle`` itself is imported."""


@dataclass(frozen=True)
class Spelling:
    """Import lines, the scaler's class and the context under it."""

    header: str
    scaler: str
    context: str


SPELLINGS: dict[Framework, tuple[Spelling, ...]] = {
    "torch": (
        Spelling("«import torch\n»", "torch.cuda.amp.GradScaler", "torch.cuda.amp.autocast"),
        Spelling("«import torch as th»  # alias\n", "th . amp.GradScaler", "th.cuda. amp.autocast"),
        Spelling("«from torch.cuda.amp import GradScaler, autocast\n»", "GradScaler", "autocast"),
        Spelling(
            "«from torch.cuda.amp import (\n    GradScaler as Scaler,  # noqa: F401\n    autocast,\n)\n»",
            "Scaler",
            "autocast",
        ),
        Spelling("import os; «import torch.cuda.amp as amp» # é\n", "amp.GradScaler", "amp.autocast"),
        Spelling(
            "try:\n    «from torch.cuda.amp import GradScaler, autocast»  # new\n"
            "except ImportError:\n    GradScaler = autocast = None\n",
            "GradScaler",
            "autocast",
        ),
    ),
    "paddle": (
        Spelling("«import paddle\n»", "paddle.amp.GradScaler", "paddle.amp.auto_cast"),
        Spelling("«from paddle.amp import GradScaler, auto_cast»  # type: ignore\n", "GradScaler", "auto_cast"),
        Spelling("«from paddle.amp import \\\n GradScaler as Scaler, auto_cast as half\n»", "Scaler", "half"),
        Spelling("«import paddle.amp as amp\n»", "amp.GradScaler", "amp . auto_cast"),
    ),
}

STORED = (
    ("utf-8", False, "\n"),
    ("utf-8", False, "\r\n"),
    ("utf-8", False, "\r"),
    ("utf-8", True, "\n"),
    ("utf-8", True, "\r\n"),
    ("latin-1", False, "\n"),
    ("latin-1", False, "\r\n"),
)
"""Encoding, byte order mark, line end."""


@dataclass(frozen=True)
class Drawn:
    """A file as text with marked places, and how it is stored."""

    source: Framework
    marked: str
    encoding: str
    bom: bool
    newline: str

    def _stored(self, text: str) -> bytes:
        return text.replace("\n", self.newline).encode(self.encoding)

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return (BOM_UTF8 if self.bom else b"") + self._stored(re.sub("[«»]", "", self.marked))

    def pattern(self) -> bytes:
        """Matches the file with anything in the marked places."""
        literals = [re.escape(self._stored(part)) for part in re.split("«.*?»", self.marked, flags=re.DOTALL)]
        return (re.escape(BOM_UTF8) if self.bom else b"") + b"(?:.*?)".join(literals)

    def text(self, data: bytes) -> str:
        """Decoded, with plain line ends."""
        return data.removeprefix(BOM_UTF8).decode(self.encoding).replace(self.newline, "\n")


def _indented(text: str, indent: str, number: int) -> str:
    if not indent:
        return text + "\n"
    lines = (indent + line if line.strip() else line for line in text.split("\n"))
    return f"def block_{number}(flag):\n{indent}pass\n" + "\n".join(lines) + "\n"


def _named(block: str, source: Framework, spelling: Spelling) -> str:
    def fill(match: re.Match[str]) -> str:
        text = re.sub(r"\bG\b", spelling.scaler, match.group())
        text = re.sub(r"\bA\b", spelling.context, text)
        return text if source == "torch" else text.replace("enabled", "enable")

    return re.sub("«.*?»", fill, block, flags=re.DOTALL)


@st.composite
def files(draw: st.DrawFn) -> Drawn:
    """A whole file."""
    source: Framework = draw(st.sampled_from(("torch", "paddle")))
    encoding, bom, newline = draw(st.sampled_from(STORED))
    spelling = draw(st.sampled_from(SPELLINGS[source]))
    plain = st.sampled_from((*PLAIN, *WIDE) if encoding == "utf-8" else PLAIN)
    marked = "#!/usr/bin/python\n# -*- coding: latin-1 -*-\n" if encoding == "latin-1" else ""
    first = st.sampled_from(("# note é", "", "import sys", "\f"))
    marked += draw(st.sampled_from(("", "'''Doc é.'''\n")))
    marked += "".join(line + "\n" for line in draw(st.lists(first, max_size=2)))
    marked += spelling.header + "flag = True\n"
    rooted = spelling is SPELLINGS[source][0]
    own = (TORCH_SITES if source == "torch" else PADDLE_SITES) if rooted else ()
    for number, block in enumerate(draw(st.lists(st.sampled_from((*SITES, *own)) | plain, min_size=1, max_size=8))):
        text = _named(block.format(n=number), source, spelling)
        marked += _indented(text, draw(st.sampled_from(("", "", "    ", "\t", "  ", " \t"))), number)
    if draw(st.booleans()):
        marked = marked.rstrip("\n \f")
    return Drawn(source, marked, encoding, bom, newline)


@pytest.fixture(scope="module")
def engines() -> dict[Framework, Engine]:
    return {source: Engine(Options(target=target)) for source, target in OTHER.items()}


def comments(text: str) -> list[str]:
    """Every comment, in order."""
    tokens = tokenize.generate_tokens(io.StringIO(text, newline="\n").readline)
    return [token.string for token in tokens if token.type == tokenize.COMMENT]


def kept(text: str) -> list[str]:
    """The statements that bind a ``keep_…`` name."""
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.stmt)]
    return [ast.unparse(s) for s in statements if re.match(r"(async )?(def |class |for )?keep_", ast.unparse(s))]


@given(drawn=files())
def test_only_marked_places_change(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    result = engines[drawn.source].convert(drawn.data, "drawn.py")
    assert result.status is not Status.FAILED, result.diagnostics
    assert re.fullmatch(drawn.pattern(), result.output, re.DOTALL), result.output


@given(drawn=files())
def test_output_is_the_same_program_elsewhere(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    result = engines[drawn.source].convert(drawn.data, "drawn.py")
    before, after = drawn.text(drawn.data), drawn.text(result.output)
    assert kept(after) == kept(before)
    assert comments(after) == comments(before)


@given(drawn=files())
def test_line_ends_and_mark_stay(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    output = engines[drawn.source].convert(drawn.data, "drawn.py").output
    assert set(re.findall(rb"\r\n|\r|\n", output)) <= {drawn.newline.encode()}
    assert output.startswith(BOM_UTF8) == drawn.bom
    assert output.endswith(drawn.newline.encode()) == drawn.data.endswith(drawn.newline.encode())


@given(drawn=files())
def test_second_run_changes_nothing(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    once = engines[drawn.source].convert(drawn.data, "drawn.py")
    again = engines[drawn.source].convert(once.output, "drawn.py")
    assert again.output == once.output
    assert not again.conversions


@given(drawn=files())
def test_every_site_is_converted_or_reported(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    result = engines[drawn.source].convert(drawn.data, "drawn.py")
    places = drawn.marked.count("«") - 1
    assert len({(c.line, c.column) for c in result.conversions}) >= places or result.diagnostics or not places
    tree = ast.parse(drawn.text(result.output))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    left = {name for name in names if name.partition(".")[0] == drawn.source}
    methods = "opt." in drawn.marked  # a file may use a method and keep its framework
    assert not left or result.diagnostics or not places or methods, drawn.text(result.output)


@given(drawn=files())
def test_the_other_direction_leaves_the_file_alone(engines: dict[Framework, Engine], drawn: Drawn) -> None:
    result = engines[OTHER[drawn.source]].convert(drawn.data, "drawn.py")
    assert result.output == drawn.data
    assert result.status is Status.CLEAN
    assert not result.diagnostics


@given(drawn=files(), cut=st.integers(0, 4000))
def test_a_torn_file_is_refused_or_parses(engines: dict[Framework, Engine], drawn: Drawn, cut: int) -> None:
    data = drawn.data[:cut]
    result: FileResult = engines[drawn.source].convert(data, "torn.py")
    if result.status is Status.FAILED:
        assert result.output == data
        assert result.diagnostics
