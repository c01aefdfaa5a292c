"""Read what each ingredient of rung 12 gains: the way from `wgmma` to `tma_bf16`, step by step.

One file per device. A share is a part of cuBLAS's speed for the same product with a bfloat16
result, in the same run.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_lib.measurements.files import content_of

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("tma_ablation.py",)
SAMPLES, SUSTAINED = "samples of 10 ms", "after two seconds"

# Each has what those before it have, and one thing more.
STEPS = ("cp_async", "tma", "persistent", "tma_store", "bf16", "overlap", "clusters")


@dataclass(frozen=True)
class AblationStep:
    """One kernel on the way, or cuBLAS.

    Attributes:
        name: what it has more than the one before: "cp_async" (rung 11), "tma" (with mbarriers and
            a producer warp; a block for each tile), "persistent", "tma_store" (float32 through
            shared memory), "bf16" (a bfloat16 result, with stmatrix), "overlap" (the next launch
            begins while this one ends), "clusters" (of two, with multicast); "cublas_f32" is cuBLAS
            with a float32 result.
        result: the type of C.
        cluster: blocks of a cluster.
        share: of the speed of cuBLAS with a bfloat16 result: the quartiles of the rounds.
    """

    name: str
    result: Literal["float32", "bfloat16"]
    cluster: int
    share: tuple[float, float]

    @property
    def middle(self) -> float:
        """The middle of the share's range."""
        return sum(self.share) / 2


@dataclass(frozen=True)
class Ablation:
    """All steps at one size.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        size: edge of the matrices.
        when: SAMPLES or SUSTAINED.
        steps: in the order of STEPS; "cublas_f32", if it was measured, comes last.
    """

    label: str
    size: int
    when: str
    steps: tuple[AblationStep, ...]

    def step(self, name: str) -> AblationStep:
        """The step of a name.

        Raises:
            KeyError: if there is none.
        """
        return {step.name: step for step in self.steps}[name]

    def gain(self, name: str) -> float:
        """By how much of cuBLAS's speed a step is above the one before it."""
        return self.step(name).middle - self.step(STEPS[STEPS.index(name) - 1]).middle

    def __str__(self) -> str:
        lines = [f"{self.size} x {self.size} x {self.size}, {self.when}, {self.label}"]
        for step in self.steps:
            low, high = step.share
            blocks = f", clusters of {step.cluster}" if step.cluster > 1 else ""
            shares = f"{low:.1%}" if low == high else f"{low:.1%} to {high:.1%}"
            lines.append(f"  {step.name:11} {shares:>16} of cuBLAS  ({step.result}{blocks})")
        return "\n".join(lines)


def ablation(size: int = 4096, when: str = SAMPLES, device: str = "H200") -> Ablation:
    """What was measured at a size.

    Raises:
        KeyError: if this was not measured on this device.
    """
    plain = content_of(FOLDER, device, "no ablation was measured on")
    rows = [row for row in plain["rows"] if (row["size"], row["when"]) == (size, when)]
    if not rows:
        there = sorted({(row["size"], row["when"]) for row in plain["rows"]})
        raise KeyError(f"no ablation for {size}, {when}; there are: {there}")
    order = (*STEPS, "cublas_f32")
    steps = [
        AblationStep(row["step"], row["result"], row["cluster"], (row["share"][0], row["share"][1]))
        for row in sorted(rows, key=lambda row: order.index(row["step"]))
    ]
    return Ablation(f"{plain['device']}, {plain['timed']}", size, when, tuple(steps))
