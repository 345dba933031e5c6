"""For the documentation: doctests anywhere in a docstring are code, not only those under "Examples:"."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLES = re.compile(r"^\s*Examples(:|\n\s*-+)\s*$", re.M)


class Doctests(griffe.Extension):
    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and not EXAMPLES.search(obj.docstring.value):
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """Each paragraph that begins with ``>>>`` between fences of its own indent."""
    lines: list[str] = []
    inside = False
    for line in [*text.splitlines(), ""]:
        indent = line[: len(line) - len(line.lstrip())]
        if not inside and line.lstrip().startswith(">>>"):
            inside, margin = True, indent
            lines.append(f"{margin}```pycon")
        elif inside and not line.strip():
            inside = False
            lines.append(f"{margin}```")
        lines.append(line)
    return "\n".join(lines[:-1])
