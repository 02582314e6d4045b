"""The generated reference of parameters, read back."""

from __future__ import annotations

import re


def reference_tables(page: str, level: str) -> dict[str, dict[str, str]]:
    """Rows by name, by group."""
    tables: dict[str, dict[str, str]] = {}
    for section in page.split(f"\n{level} ")[1:]:
        title, _, body = section.partition("\n")
        rows = {row.split("`")[1]: row for row in body.splitlines() if row.startswith("| `")}
        if like := re.search(r"^As `(.*?)`(?: without (.*?))?(?:, with .*?)?(?:, and:|\.)$", body, re.MULTILINE):
            lacking = re.findall(r"`(\w+)`", like[2] or "")
            rows = {name: row for name, row in tables[like[1]].items() if name not in lacking} | rows
        also = re.search(r"^Also (.*)\.$", body, re.MULTILINE)
        for group in (title, *(also[1].split(", ") if also else ())):
            tables["" if group == "Node" else group.strip("`")] = rows
    return tables
