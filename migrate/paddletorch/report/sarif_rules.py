"""The descriptors of a SARIF log: what each code that occurs in it means."""

from __future__ import annotations

from typing import Any

from paddletorch_rules import Table

from paddletorch.report.rule_page import page, page_uri, titles

_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}


class Rules:
    """Descriptors in the order in which their codes are asked for."""

    def __init__(self, table: Table) -> None:
        self.descriptors: list[dict[str, Any]] = []
        self.notifications: list[dict[str, Any]] = []
        self._table = table
        self._titles = titles(table)
        self._known: dict[str, int] = {}

    def result(self, code: str, level: str) -> dict[str, Any]:
        """What a result carries of its rule; ``level`` is the rule's if this is its first result."""
        if code not in self._known:
            self._known[code] = len(self.descriptors)
            # GitHub reads these two properties
            properties = {"tags": [code.rstrip("0123456789")], "problem.severity": _PROBLEM[level]}
            self.descriptors.append(
                {**self._describe(code), "defaultConfiguration": {"level": level}, "properties": properties}
            )
        return {"ruleId": code, "ruleIndex": self._known[code]}

    def notification(self, code: str, level: str) -> dict[str, Any]:
        """A reference to the descriptor of a failure or a note."""
        codes = [descriptor["id"] for descriptor in self.notifications]
        if code not in codes:
            self.notifications.append({**self._describe(code), "defaultConfiguration": {"level": level}})
            codes.append(code)
        return {"id": code, "index": codes.index(code)}

    def _describe(self, code: str) -> dict[str, Any]:
        title = self._titles.get(code, code)
        spec = self._table.diagnostics.get(code)
        area = self._table.areas.get(code)
        name = spec.name if spec else area.name if area else ""
        text, uri = page(code), page_uri(code)
        return {
            "id": code,
            **({"name": name} if name else {}),
            "shortDescription": {"text": title},
            "fullDescription": {"text": f"{title}. {spec.hint}" if spec and spec.hint else title},
            "help": {"text": text or title, **({"markdown": text} if text else {})},
            **({"helpUri": uri} if uri else {}),
        }
