"""What spoke for and against a label: the classifiers on its path, and the features that moved them most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Explanation", "Step"]


@dataclass(frozen=True)
class Step:
    """One classifier on the path from the root to the label.

    Attributes:
        depth: 0 for the first decision.
        n_labels: how many labels lie under this step.
        margin: w·x + b; above 0 speaks for.
        probability: the score of this step, as the model takes it.
        bias: the part of the margin that no feature has.
        contributions: (feature, part of the margin), largest first by size.
    """

    depth: int
    n_labels: int
    margin: float
    probability: float
    bias: float
    contributions: list[tuple[str, float]]


@dataclass(frozen=True)
class Explanation:
    """Why a label got its score; ``print`` it, or take ``paths`` (one list of steps per tree)."""

    label: str
    score: float
    paths: list[list[Step]]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, for JSON."""
        return {
            "label": self.label,
            "score": self.score,
            "trees": [
                [{**vars(step), "contributions": [list(c) for c in step.contributions]} for step in path]
                for path in self.paths
            ],
        }

    def __str__(self) -> str:
        lines = [f"{self.label}  score {self.score:.4f}"]
        for t, path in enumerate(self.paths):
            if len(self.paths) > 1:
                lines.append(f"tree {t + 1} of {len(self.paths)}")
            for step in path:
                what = "the label itself" if step.n_labels == 1 else f"a group of {step.n_labels} labels"
                lines.append(
                    f"  step {step.depth + 1}, {what}: margin {step.margin:+.3f}, score {step.probability:.4f}"
                )
                for_it = [f"{name} {value:+.3f}" for name, value in step.contributions if value > 0]
                against = [f"{name} {value:+.3f}" for name, value in step.contributions if value < 0]
                lines.append("    for:     " + (", ".join(for_it) or "nothing"))
                lines.append("    against: " + ", ".join([*against, f"(bias) {step.bias:+.3f}"]))
        return "\n".join(lines)
