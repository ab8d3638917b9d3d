"""The pages of rules as HTML for the page's own explanations."""

from __future__ import annotations

import re
from collections.abc import Collection, MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token

from paddletorch.report.html.highlight import highlighted
from paddletorch.report.rule_page import page

_TITLE = re.compile(r"\A# .*\n")
_API_LIST = re.compile(r"^## APIs$.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?:[^()\s]*/)?([A-Z]+[0-9]+)\.md")
_OTHER_PAGE = re.compile(r"(?:.*/)?([A-Z]+[0-9]+)\.md(?:#.*)?")


def linked(code: str) -> set[str]:
    """The codes whose pages the page of ``code`` links to."""
    shown = _API_LIST.sub("", page(code) or "")
    return {other for other in _LINK.findall(shown) if page(other) is not None}


def help_html(code: str, known: Collection[str]) -> str:
    """The page of ``code``, without its title and its list of APIs; "" without a page.

    Links to pages of ``known`` codes stay inside the report, links to the web stay, others become plain text.
    """
    text = page(code)
    if text is None:
        return ""
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlight}).enable("table")
    parser.add_render_rule("link_open", _link_open)
    parser.add_render_rule("link_close", _link_close)
    env: dict[str, Any] = {"codes": known}
    tokens = parser.parse(_API_LIST.sub("", _TITLE.sub("", text)), env)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = "h3"  # below the section's own heading
    rendered: str = parser.renderer.render(tokens, parser.options, env)
    return rendered


def _highlight(text: str, language: str, attributes: str) -> str:
    if language != "python":
        return escape(text)
    lines = highlighted(text.split("\n"))
    return "\n".join(
        "".join(f'<span class="{name}">{escape(part)}</span>' if name else escape(part) for name, part in line)
        for line in lines
    )


def _target(href: str, known: Collection[str]) -> str | None:
    if href.startswith("https://"):
        return href
    other = _OTHER_PAGE.fullmatch(href)
    return f"#code-{other[1]}" if other and other[1] in known else None


def _link_open(self: Any, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
    target = _target(str(tokens[index].attrGet("href")), env["codes"])
    env.setdefault("open", []).append(target)
    return f'<a href="{escape(target)}">' if target else ""


def _link_close(self: Any, tokens: Sequence[Token], index: int, options: Any, env: MutableMapping[str, Any]) -> str:
    return "</a>" if env["open"].pop() else ""
