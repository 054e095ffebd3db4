"""One measured figure, beside the peer or limit measured in the same run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Metric:
    """A figure and what it is held against.

    `ratio` is value / peer where there is a peer, else the value itself; `target` is the ratio's
    (or value's) bound, `better` the direction. A figure without target is there to be watched.
    """

    name: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    target: float | None = None
    better: Literal["higher", "lower"] = "lower"
    note: str = ""

    @property
    def ratio(self) -> float:
        """What the target is about."""
        return self.value / self.peer_value if self.peer_value else self.value

    @property
    def met(self) -> bool | None:
        """Whether the target is reached; None without one."""
        if self.target is None:
            return None
        return self.ratio >= self.target if self.better == "higher" else self.ratio <= self.target

    def as_json(self) -> dict[str, Any]:
        """The metric as it is written to results."""
        return asdict(self) | {"ratio": round(self.ratio, 4), "met": self.met}


def write(metrics: Sequence[Metric], machine: dict[str, Any]) -> Path:
    """Write `latest.json`, one object per metric; metrics not measured now are kept."""
    path = RESULTS / "latest.json"
    before: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    kept = {row["name"]: row for row in before.get("metrics", [])}
    kept |= {metric.name: metric.as_json() | machine for metric in metrics}
    path.write_text(json.dumps({"metrics": list(kept.values())}, indent=1) + "\n")
    return path


def table(metrics: Sequence[Metric]) -> str:
    """The metrics as aligned text."""
    head = ("metric", "value", "unit", "peer", "peer value", "ratio", "target", "met")
    rows = [head] + [_row(metric) for metric in metrics]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return "\n".join(
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows
    )


def _row(metric: Metric) -> tuple[str, ...]:
    sign = ">=" if metric.better == "higher" else "<="
    return (
        metric.name,
        _number(metric.value),
        metric.unit,
        metric.peer,
        "" if metric.peer_value is None else _number(metric.peer_value),
        f"{metric.ratio:.2f}",
        "" if metric.target is None else f"{sign} {metric.target:g}",
        {True: "yes", False: "NO", None: ""}[metric.met],
    )


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
