"""The definitions of all measures in plain Python, row by row: what the kernel is compared with."""

from __future__ import annotations

from math import log2

Lists = list[list[int]]


def cut(ranking: Lists, truth: Lists, exclude: Lists | None) -> tuple[Lists, list[set[int]]]:
    out = [set(row) for row in exclude] if exclude is not None else [set() for _ in truth]
    lists = [
        [label for label in row if label >= 0 and label not in o] for row, o in zip(ranking, out, strict=True)
    ]
    return lists, [set(row) - o for row, o in zip(truth, out, strict=True)]


def dcg(gains: list[float]) -> float:
    return sum(gain / log2(rank + 1) for rank, gain in enumerate(gains, 1))


def row_values(ranking: list[int], true: set[int], k: int) -> dict[str, float]:
    hits = [1.0 if label in true else 0.0 for label in ranking[:k]]
    best = min(k, len(true))
    first = next((rank for rank, h in enumerate(hits, 1) if h), None)
    return {
        "P": sum(hits) / k,
        "R": sum(hits) / len(true) if true else 0.0,
        "nDCG": dcg(hits) / dcg([1.0] * best) if best else 0.0,
        "hit": float(any(hits)),
        "MRR": 1.0 / first if first else 0.0,
        "MAP": sum(sum(hits[:rank]) / rank for rank, h in enumerate(hits, 1) if h) / best if best else 0.0,
    }


def weighted_values(
    ranking: list[int], true: set[int], k: int, weight: list[float]
) -> dict[str, tuple[float, float]]:
    got = [weight[label] if label in true else 0.0 for label in ranking[:k]]
    best = sorted((weight[label] for label in true), reverse=True)[:k]
    reachable = min(k, len(true))
    ideal = dcg([1.0] * reachable)
    return {
        "PSP": (sum(got) / k, sum(best) / k),
        "PSnDCG": (dcg(got) / ideal, dcg(best) / ideal) if reachable else (0.0, 0.0),
        "PSR": (sum(got) / len(true), sum(best) / len(true)) if reachable else (0.0, 0.0),
    }


def label_values(ranking: Lists, truth: list[set[int]], k: int) -> dict[str, float]:
    labels = sorted(set().union(*truth))
    covered, ps, rs, fs = [], [], [], []
    for label in labels:
        predicted = [label in row[:k] for row in ranking]
        true = [label in row for row in truth]
        hits = sum(p and t for p, t in zip(predicted, true, strict=True))
        covered.append(float(hits > 0))
        ps.append(hits / sum(predicted) if any(predicted) else 0.0)
        rs.append(hits / sum(true))
        fs.append(2 * hits / (sum(predicted) + sum(true)))
    n = max(len(labels), 1)
    recall = sum(rs) / n
    return {
        "coverage": sum(covered) / n,
        "macroP": sum(ps) / n,
        "macroR": recall,
        "macroF1": sum(fs) / n,
        "balanced_error": 1 - recall,
    }


def everything(
    ranking: Lists,
    truth: Lists,
    ks: tuple[int, ...],
    weight: list[float] | None = None,
    exclude: Lists | None = None,
    empty: str = "zero",
) -> dict[str, float]:
    lists, true = cut(ranking, truth, exclude)
    if empty == "skip":
        kept = [i for i, row in enumerate(true) if row]
        lists, true = [lists[i] for i in kept], [true[i] for i in kept]
    out: dict[str, float] = {}
    for k in ks:
        rows = [row_values(r, t, k) for r, t in zip(lists, true, strict=True)]
        for name in ("P", "R", "nDCG", "hit", "MRR", "MAP"):
            out[f"{name}@{k}"] = sum(row[name] for row in rows) / len(rows)
        if weight is not None:
            pairs = [weighted_values(r, t, k, weight) for r, t in zip(lists, true, strict=True)]
            for name in ("PSP", "PSnDCG", "PSR"):
                best = sum(row[name][1] for row in pairs)
                out[f"{name}@{k}"] = sum(row[name][0] for row in pairs) / best if best else 0.0
        for name, value in label_values(lists, true, k).items():
            out[f"{name}@{k}"] = value
    return out
