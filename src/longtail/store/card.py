"""The README.md of a model folder: what the model is, how it was trained, how good it was."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["model_card", "with_evaluation"]

_BEGIN = "<!-- evaluation -->"
_END = "<!-- end of evaluation -->"


def model_card(
    kind: str,
    params: Mapping[str, Any],
    facts: Mapping[str, Any],
    evaluation: Mapping[str, Any] | None = None,
    *,
    title: str | None = None,
    description: str = "",
    sizes: Mapping[str, int] | None = None,
) -> str:
    """Markdown for a model folder.

    Args:
        kind: The class of the model.
        params: Its parameters.
        facts: What is known of its data and training; nested mappings become dotted names.
        evaluation: Its last evaluation, as ``Report.to_dict()`` gives it.
        title: The heading; by default the kind.
        description: A paragraph on what the model is for.
        sizes: Bytes of each array.
    """
    parts = [f"# {_text(title or kind)}"]
    if description:
        parts.append(description.strip())
    parts.append(
        "A model of [longtail](https://pypi.org/project/longtail/), kind `"
        + _text(kind)
        + "`. It loads with:\n\n"
        '```python\nimport longtail as lt\n\nmodel = lt.load("path/to/this/folder")\n'
        "print(model.predict(X, k=5))\n```"
    )
    parts.append(_evaluation(evaluation))
    if params:
        parts.append("## Parameters\n\n" + _table(("parameter", "value"), _flat(params)))
    if facts:
        parts.append("## Data and training\n\n" + _table(("fact", "value"), _flat(facts)))
    if sizes:
        rows = [(name, _bytes(size)) for name, size in sizes.items()]
        rows.append(("all", _bytes(sum(sizes.values()))))
        parts.append("## Files\n\n" + _table(("array", "size"), rows))
    parts.append(
        "`model.json` describes the arrays and holds their checksums. This page is for readers: it may be "
        "edited, and only its evaluation section is rewritten when the model is evaluated."
    )
    return "\n\n".join(parts) + "\n"


def with_evaluation(card: str, evaluation: Mapping[str, Any] | None) -> str:
    """The card with its evaluation section replaced, or added where there is none; all else is kept."""
    section = _evaluation(evaluation)
    begin, end = card.find(_BEGIN), card.find(_END)
    if 0 <= begin < end:
        return card[:begin] + section + card[end + len(_END) :]
    return card.rstrip("\n") + ("\n\n" if card.strip() else "") + section + "\n"


def _evaluation(evaluation: Mapping[str, Any] | None) -> str:
    if not evaluation:
        body = "Not evaluated yet."
    else:
        metrics = evaluation.get("metrics")
        rest = {key: value for key, value in evaluation.items() if key != "metrics"}
        body = _measures(metrics) if isinstance(metrics, Mapping) and metrics else ""
        if rest:
            body += ("\n\n" if body else "") + _table(("", "value"), _flat(rest))
    return f"{_BEGIN}\n## Evaluation\n\n{body}\n{_END}"


def _measures(metrics: Mapping[str, Any]) -> str:
    """Names such as P@1 as a table of measures by k, in percent; other names as a list."""
    cells: dict[str, dict[str, str]] = {}
    columns: list[str] = []
    for name, value in metrics.items():
        measure, _, k = str(name).partition("@")
        column = f"@{k}" if k else "all"
        if column not in columns:
            columns.append(column)
        cells.setdefault(measure, {})[column] = (
            f"{100 * value:.2f}" if isinstance(value, float) else str(value)
        )
    rows = [(measure, *(row.get(c, "") for c in columns)) for measure, row in cells.items()]
    return "In percent:\n\n" + _table(("measure", *columns), rows)


def _flat(values: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            rows.extend(_flat(value, f"{prefix}{key}."))
        else:
            rows.append((f"{prefix}{key}", value))
    return rows


def _table(head: tuple[str, ...], rows: list[Any]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(_text(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _text(value: Any) -> str:
    """A cell: one line, no markup of its own, not endless."""
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    text = " ".join(text.split())
    text = text if len(text) <= 200 else text[:197] + "..."
    text = text.encode("utf-8", "replace").decode("utf-8")
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;") if text else ""


def _bytes(size: int) -> str:
    value = float(size)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            return f"{size} bytes" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    raise AssertionError("unreachable")
