"""Torch to Paddle to torch, and Paddle to torch to Paddle, over the fixtures: the same meaning comes back.

Programs are compared by *meaning*: every use of an API that the tables know becomes its row's name with all
of its effective parameters, defaults filled in from the recorded signatures of a release; imports of the two
frameworks are left out; everything else must be equal as it is. A fixture that cannot come back says why
under ``no-round-trip`` in its NAME.toml. Fixtures about more than mixed precision are in ``test_whole_api_round_trip``.
"""

from __future__ import annotations

import ast

from packaging.version import Version
from paddletorch.model import Framework, Options
from paddletorch_rules import Form, ParameterPair, Row, load, select

from ...fixture_files import MIXED_PRECISION, Fixture, converted, with_fixtures

_ALL = load()
TABLE = _ALL.with_rows(row for row in _ALL.rows if row.code.startswith(MIXED_PRECISION))
SIDES: tuple[Framework, ...] = ("torch", "paddle")
SAME_ROW = {"AmpScaler": "GradScaler", "autocast-alias": "autocast"}
"""Rows that are another spelling of a row, with defaults of their own."""
BARE = {"GradScaler": "torch.cuda.amp.GradScaler", "autocast": "torch.cuda.amp.autocast"} | {
    "auto_cast": "paddle.amp.auto_cast"
}
NEWEST = Version("9998")
"""After every release of either framework, before the develop branch."""
SCALER = TABLE.row("GradScaler")
WRITTEN_OUT = [
    (row, ast.parse(form.template, mode="eval").body)
    for row in TABLE.rows
    for form in row.paddle
    if form.template and row.receiver is None
]
"""Rows that Paddle has as an expression, not as a call."""
DTYPE_WRAPS = ("str(HOLE).rpartition('.')[-1]", "getattr(torch, str(HOLE).rpartition('.')[-1])")


@with_fixtures(lambda fixture: fixture.comes_back and fixture.converts_only(*MIXED_PRECISION, "DTY101"))
def test_there_and_back(fixture: Fixture) -> None:
    there = fixture.result.output
    given = fixture.options
    back = Options(
        target=given.source,
        source_version=given.target_version,
        target_version=given.source_version,
        unsafe=given.unsafe,
        select=given.select,
    )
    returned = converted(back, there, f"{fixture.name}.py").output
    releases = _releases(given)
    assert meaning(returned, releases) == meaning(fixture.source, releases)


@with_fixtures(lambda fixture: fixture.comes_back and fixture.converts_only(*MIXED_PRECISION))
def test_the_output_means_the_same_on_every_allowed_release(fixture: Fixture) -> None:
    given = fixture.options
    there = fixture.result.output
    for release in select(given.target, given.target_version).defaults:
        releases = {**_releases(given), given.target: release}
        assert meaning(there, releases) == meaning(fixture.source, releases), release


def _releases(options: Options) -> dict[Framework, Version]:
    return {
        options.source: select(options.source, options.source_version).newest,
        options.target: select(options.target, options.target_version).newest,
    }


def meaning(code: bytes, releases: dict[Framework, Version]) -> str:
    """The program in terms of table rows and effective parameters."""
    tree = ast.parse(code)
    return ast.unparse(ast.fix_missing_locations(_Meaning(tree, releases).visit(tree)))


class _Meaning(ast.NodeTransformer):
    """Rewrites API uses to rows; ``names`` are the file's imports and plain aliases, all scopes together."""

    def __init__(self, tree: ast.Module, releases: dict[Framework, Version]) -> None:
        self.releases = releases
        self.names: dict[str, str] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    self.names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    self.names[alias.asname or root] = alias.name if alias.asname else root
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = self.qualified(node.value)
                if name and _row(name):
                    self.names[node.targets[0].id] = name

    # names ---------------------------------------------------------------------------------------

    def qualified(self, node: ast.expr) -> str | None:
        if isinstance(node, ast.Attribute):
            base = self.qualified(node.value)
            return f"{base}.{node.attr}" if base else None
        if isinstance(node, ast.Name):
            return self.names.get(node.id) or BARE.get(node.id) or (node.id if node.id in SIDES else None)
        return None

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._reference(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        return self._reference(node)

    def _reference(self, node: ast.Name | ast.Attribute) -> ast.expr:
        name = self.qualified(node)
        found = _row(name) if name else None
        if found is None or not isinstance(node.ctx, ast.Load):
            return self.generic_visit(node)  # type: ignore[return-value]
        return ast.Name(SAME_ROW.get(found[0].id, found[0].id), ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, str) and "GradScaler" in node.value and " " not in node.value.strip("| "):
            return ast.Constant(ast.unparse(self.visit(ast.parse(node.value, mode="eval").body)))
        if isinstance(node.value, str) and node.value.endswith("GradScaler | None"):
            return ast.Constant("GradScaler | None")
        return node

    def visit(self, node: ast.AST) -> ast.AST:  # type: ignore[override]
        if isinstance(node, ast.Call | ast.Subscript):
            scaler = _current_scale(node)
            if scaler is not None:
                return ast.Call(ast.Attribute(self.visit(scaler), "scaler.get_scale"), [], [])
            row = next((r for r, template in WRITTEN_OUT if _same(template, node, [])), None)
            if row is not None:
                neutral = [(p.torch or p.paddle, p.neutral) for p in row.parameters if p.neutral is not None]
                keywords = [ast.keyword(name, ast.parse(text, mode="eval").body) for name, text in neutral]
                return ast.Call(ast.Name(row.id, ast.Load()), [], keywords)
        return super().visit(node)

    # imports -------------------------------------------------------------------------------------

    def visit_Import(self, node: ast.Import) -> ast.stmt:
        return self._without_frameworks(node, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.stmt:
        return node if node.level else self._without_frameworks(node, f"{node.module}.")

    def _without_frameworks(self, node: ast.Import | ast.ImportFrom, module: str) -> ast.stmt:
        node.names = [
            a
            for a in node.names
            if module + a.name not in SIDES
            and not _row(module + a.name)
            and not (a.name == "*" and module.startswith(SIDES))
        ]
        return node if node.names else ast.Pass()

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        body = getattr(node, "body", None)
        if isinstance(body, list):
            kept = [s for s in body if not isinstance(s, ast.Pass)]
            node.body = kept or [ast.Pass()]  # type: ignore[attr-defined]
        return node

    # calls ---------------------------------------------------------------------------------------

    def visit_Expr(self, node: ast.Expr) -> ast.stmt | list[ast.stmt]:
        call = node.value
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "minimize"
            and len(call.args) == 2
            and not call.keywords
        ):
            scaler = ast.unparse(call.func.value)
            text = f"{scaler}.step({ast.unparse(call.args[0])})\n{scaler}.update()"
            return [self.visit(s) for s in ast.parse(text).body]
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.expr:
        name = self.qualified(node.func)
        found = _row(name) if name else None
        if found is not None and isinstance(node.func, ast.Name) and node.func.id not in self.names:
            side = _scaler_keywords(node) or found[2]  # bound nowhere: the keywords tell whose it is
            found = (found[0], found[0].forms(side)[0], side) if found[0] is SCALER else found
        if found is not None and found[0].torch and found[0].paddle:
            return self._api_call(node, *found, node.args)
        inner = self.qualified(node.args[0]) if node.args and _is_partial(node) else None
        found = _row(inner) if inner else None
        if found is not None:
            return ast.Call(node.func, [self._api_call(node, *found, node.args[1:])], [])
        side = _scaler_keywords(node)
        if side is not None:  # a subclass, super().__init__() or a dict of keywords
            form = SCALER.forms(side)[0]
            call = self._api_call(node, SCALER, form, side, node.args)
            return ast.Call(self.visit(node.func), [], call.keywords)
        if isinstance(node.func, ast.Attribute):
            return self._method_call(node, node.func)
        return self.generic_visit(node)  # type: ignore[return-value]

    def _api_call(self, node: ast.Call, row: Row, form: Form, side: Framework, positional: list[ast.expr]) -> ast.Call:
        newest, signature = form.signature(max(self.releases[side], NEWEST)), form.signature(self.releases[side])
        assert newest is not None and signature is not None, row.id
        given = dict(zip((p.name for p in signature.positional), positional, strict=False))
        given |= {k.arg: k.value for k in node.keywords if k.arg is not None}
        fixed = {n: ast.parse(text, mode="eval").body for n, text in form.fixed.items()}
        # a parameter that a release does not have yet behaves as its later default
        known = [*newest.parameters, *signature.parameters]
        defaults = {p.name: ast.parse(p.default, mode="eval").body for p in known if p.default}
        unpacked = [ast.keyword(None, self.visit(k.value)) for k in node.keywords if k.arg is None]
        effective: dict[str, ast.expr] = {}
        for pair in row.parameters:
            key = pair.torch or pair.paddle
            names = [n for n in (pair.name(side), pair.torch, pair.paddle) if n is not None]
            # a dict of keywords may hold what the call itself leaves out
            places = (given,) if unpacked else (given, fixed, defaults)
            supplied = next((v[n] for v in places for n in names if n in v), None)
            if pair.ignore or key is None:
                continue
            if supplied is None and pair.neutral is not None and not unpacked:
                supplied = ast.parse(pair.neutral, mode="eval").body
            if supplied is not None:
                effective[key] = self._value(pair, supplied)
        known_names = {name for pair in row.parameters for name in (pair.torch, pair.paddle)}
        effective |= {name: self.visit(value) for name, value in given.items() if name not in known_names}
        _switched_off(effective)
        keywords = [ast.keyword(k, v) for k, v in sorted(effective.items())]
        return ast.Call(ast.Name(SAME_ROW.get(row.id, row.id), ast.Load()), [], [*keywords, *unpacked])

    def _value(self, pair: ParameterPair, node: ast.expr) -> ast.expr:
        node = self.visit(node)
        if (pair.torch or "").startswith("device"):
            return node if isinstance(node, ast.Constant) and node.value == "cpu" else ast.Constant("cuda")
        if pair.paddle in ("custom_white_list", "custom_black_list") and ast.unparse(node) == "[]":
            return ast.Constant(None)
        if pair.values is None:
            return _number(node)
        for wrap in DTYPE_WRAPS:
            inner = _match(ast.parse(wrap, mode="eval").body, node)
            node = node if inner is None else inner
        values = TABLE.values[pair.values]
        text = ast.unparse(node)
        for side in SIDES:
            text = values.also(side).get(text, text)
        for torch_value, paddle_value in values.pairs:
            if text == paddle_value and pair.values != "not":
                text = torch_value
        return ast.parse(text, mode="eval").body

    def _method_call(self, node: ast.Call, function: ast.Attribute) -> ast.expr:
        if function.attr in ("update", "set_init_loss_scaling") and node.args:
            return ast.Call(ast.Attribute(self.visit(function.value), "update"), [_number(node.args[0])], [])
        for side in SIDES:
            for row, form in TABLE.members(side, function.attr):
                hooked = row.hook not in (None, "scale_factor")  # which only refuses
                if hooked or row.report or not row.torch or not row.paddle:
                    continue
                call = self._api_call(node, row, form, side, node.args)
                if row.id == "optimizer.zero_grad" and side == "paddle":
                    call.keywords[0].value = ast.Constant(ast.unparse(call.keywords[0].value) == "False")
                return ast.Call(ast.Attribute(self.visit(function.value), row.id), [], call.keywords)
        if function.attr == "backward":
            node.keywords = [k for k in node.keywords if (k.arg, ast.unparse(k.value)) != ("create_graph", "False")]
            for keyword in node.keywords:
                keyword.arg = "gradient" if keyword.arg == "grad_tensor" else keyword.arg
        return self.generic_visit(node)  # type: ignore[return-value]

    # dicts of keywords ---------------------------------------------------------------------------

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        keys = [k.value if isinstance(k, ast.Constant) else None for k in node.keys]
        keywords = [ast.keyword(k, v) for k, v in zip(keys, node.values, strict=True) if isinstance(k, str)]
        call = ast.Call(ast.Name("dict", ast.Load()), [], keywords)
        if len(keywords) == len(keys) and _scaler_keywords(call) is not None:
            return self.visit(call)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.slice, ast.Constant) and node.slice.value == "enable":
            node.slice = ast.Constant("enabled")
        return self.generic_visit(node)  # type: ignore[return-value]


def _row(name: str) -> tuple[Row, Form, Framework] | None:
    """The row that a qualified name of either framework belongs to."""
    for side in SIDES:
        found = TABLE.lookup(side, name)
        if found is not None:
            return *found, side
    return None


def _is_partial(node: ast.Call) -> bool:
    return ast.unparse(node.func) in ("partial", "functools.partial")


def _scaler_keywords(node: ast.Call) -> Framework | None:
    """The side whose scaler parameters the keywords are, for calls of unknown functions."""
    given = {k.arg for k in node.keywords}
    for side in SIDES:
        own = {p.name(side) for p in SCALER.parameters if p.torch != p.paddle} - {None, "device"}
        if given & own:
            return side
    return None


def _current_scale(node: ast.expr) -> ast.expr | None:
    """The scaler in any of Paddle's expressions for the current loss scale."""
    form = TABLE.row("scaler.get_scale").paddle[0]
    for template in (form.template or "", *form.also):
        found = _match(ast.parse(template.replace("{self}", "HOLE"), mode="eval").body, node)
        if found is not None:
            return found
    return None


def _match(pattern: ast.expr, node: ast.expr) -> ast.expr | None:
    """What stands for ``HOLE`` if ``node`` has the pattern's form."""
    holes: list[ast.expr] = []
    return holes[0] if _same(pattern, node, holes) else None


def _same(left: object, right: object, holes: list[ast.expr]) -> bool:
    if isinstance(left, ast.Name) and left.id == "HOLE" and isinstance(right, ast.expr):
        holes.append(right)
        return True
    if isinstance(left, ast.AST):
        return type(left) is type(right) and all(
            _same(value, getattr(right, name), holes) for name, value in ast.iter_fields(left) if name != "kind"
        )
    if isinstance(left, list):
        pairs = zip(left, right, strict=True) if isinstance(right, list) and len(left) == len(right) else None
        return pairs is not None and all(_same(a, b, holes) for a, b in pairs)
    return left == right


def _number(node: ast.expr) -> ast.expr:
    """Numbers compare by value: ``1024`` is ``1024.0``."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ast.Constant(float(node.value))
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "float" and len(node.args) == 1:
        return node.args[0]
    return node


def _switched_off(effective: dict[str, ast.expr]) -> None:
    """A region that is off has no other parameters; float32 and O0 mean off."""
    text = {name: ast.unparse(value) for name, value in effective.items()}
    if (
        text.get("dtype") in ("torch.float32", "'float32'")
        or text.get("level") == "'O0'"
        or text.get("enabled") == "False"
    ):
        effective.clear()
        effective["enabled"] = ast.Constant(False)
