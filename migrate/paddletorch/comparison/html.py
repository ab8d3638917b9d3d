"""A page for people, in one file that loads nothing: the error of each layer as a bar, and the first difference."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from paddletorch.comparison.comparison import STAGES, Compared, Fault, Look
from paddletorch.comparison.report import KINDS, layer_errors
from paddletorch.report.printable import without_controls

_LOW, _HIGH = -17, 0
"""Powers of ten at the ends of the bars."""
_STYLE = """
body { font: 15px system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1d2733; }
h1 { font-size: 1.3rem } h2 { font-size: 1.1rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .2rem .6rem; border-bottom: 1px solid #e3e8ee; vertical-align: top }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap }
pre { background: #f5f7fa; padding: .6rem; overflow-x: auto }
.bar { fill: #4a6fa5 } .first { fill: #c0392b } .first-layer { background: #fdf0ee }
.equal { color: #1e7d46 } .differs, .fails { color: #c0392b }
@media (prefers-color-scheme: dark) {
  body { background: #14181d; color: #dfe6ee } pre { background: #1e242c } th, td { border-color: #2c343e }
  .first-layer { background: #3a2220 } .bar { fill: #7fa3d6 }
}
"""


def page(found: Sequence[Compared]) -> str:
    """The whole page."""
    body = "\n".join(line for one in found for line in _pair(one))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>paddletorch: models compared</title>
<style>{_STYLE}</style>
</head>
<body>
{body}
</body>
</html>"""


def _pair(one: Compared) -> Iterator[str]:
    pair = one.pair
    yield f"<h1>{_text(pair.framework)} <code>{_text(pair.source)}</code>, "
    yield f"{_text(pair.target)} <code>{_text(pair.converted)}</code>: "
    yield f'<span class="{one.outcome}">{one.outcome}</span></h1>'
    yield from (f"<p>{_text(note)}</p>" for note in one.notes)
    fault = one.decisive.fault if one.outcome != "equal" else None
    if fault:
        yield from _fault(fault)
    for look in one.looks:
        yield from _look(look)


def _fault(fault: Fault) -> Iterator[str]:
    yield f"<h2>The first difference: {_text(STAGES.get(fault.stage, fault.stage))}</h2>"
    yield f"<p>{_text(fault.message)}</p>"
    for side, code in (("source", fault.source), ("converted", fault.converted)):
        if code:
            text = "\n".join(without_controls(line) for line in code.text.splitlines())
            yield f"<p>{side}: {_text(code.path)}:{code.line}</p><pre>{escape(text)}</pre>"
    if fault.findings:
        found = [one.diagnostic for one in fault.findings]
        items = [f"<li>{_text(f'line {one.line}: {one.code} {one.message}')}</li>" for one in found]
        yield f"<ul>{''.join(items)}</ul>"


def _look(look: Look) -> Iterator[str]:
    errors = layer_errors(look)
    if not errors:
        return
    kinds = [kind for kind in KINDS if any(kind in one for one in errors.values())]
    first = look.fault.row.layer if look.fault and look.fault.row else None
    yield f"<h2>{_text(look.mode)}: {look.outcome}</h2>"
    yield "<p>The largest difference in each layer, in units of the tensor's largest value; "
    yield f"the bars go from 1e{_LOW} to 1e{_HIGH}.</p>"
    yield f"<table><thead><tr><th>layer</th>{''.join(f'<th>{kind}</th>' for kind in kinds)}</tr></thead><tbody>"
    for layer, found in errors.items():
        marked = ' class="first-layer"' if layer == first else ""
        cells = "".join(_cell(found.get(kind), layer == first) for kind in kinds)
        yield f"<tr{marked}><td>{_text(layer or '(the model)')}</td>{cells}</tr>"
    yield "</tbody></table>"


def _cell(error: float | None, is_first: bool) -> str:
    if error is None:
        return "<td></td>"
    power = math.log10(error) if error > 0 else _LOW
    width = round(100 * min(max((power - _LOW) / (_HIGH - _LOW), 0), 1))
    kind = "first" if is_first else "bar"
    bar = f'<svg width="100" height="8" aria-hidden="true"><rect class="{kind}" width="{width}" height="8"/></svg>'
    return f'<td class="number">{error:.1e} {bar}</td>'


def _text(text: str) -> str:
    return escape(without_controls(text))
