"""Read what attention was seen to cost: this course's kernels beside PyTorch's, in one run.

One file per device. It holds samples; medians and speeds are worked out here.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from course_lib.measurements import files

FOLDER = Path(__file__).resolve().parent
WRITTEN_BY = ("attention.py",)
SCHEMA = 1
CUDNN, FLASH_2, OURS = "PyTorch, cuDNN", "PyTorch, FlashAttention-2", "flash_attention"
UNFUSED, SOLUTION = "PyTorch, unfused", "exercise 11's solution"
MMA_SOLUTION = "exercise 11b's solution"
OURS_IN_FLOAT32 = "attention_float32"


@dataclass(frozen=True)
class AttentionProblem:
    """What was computed.

    Attributes:
        batch, heads, length, head: queries and keys are `length` each, `head` columns wide.
        precision: of Q, K, V and O: "bfloat16" or "float32".
        causal: query i sees keys 0 to i only.
    """

    batch: int
    heads: int
    length: int
    head: int
    precision: str = "bfloat16"
    causal: bool = False

    @property
    def flops(self) -> float:
        """Of both products; with `causal` half of them, as is the custom."""
        pairs = self.batch * self.heads * self.length**2
        return 4.0 * pairs * self.head / (2 if self.causal else 1)

    @property
    def short(self) -> str:
        """For a table: heads in all, tokens and columns, and which keys a query sees."""
        seen = "causal" if self.causal else "all keys"
        return f"{self.batch * self.heads} heads, {self.length} x {self.head}, {seen}"

    def __str__(self) -> str:
        causal = ", causal" if self.causal else ""
        shape = f"batch {self.batch}, {self.heads} heads, {self.length} tokens, d = {self.head}"
        return f"{shape}, {self.precision}{causal}"


@dataclass(frozen=True)
class Row:
    """One contestant on one problem: samples, or the reason why there are none.

    Attributes:
        name: "flash_attention", with a variant's switches behind it; "PyTorch, cuDNN" …
        problem: what was computed.
        samples_ms: milliseconds for one launch, one value for each round; the least, the median
            and the most of them where no more was kept.
        error: norm of the difference from float64 as a share of the result's norm.
        why_not: why there are no samples; "" where there are.
        later: the date, if it was not measured with the rest; "" if it was.
    """

    name: str
    problem: AttentionProblem
    samples_ms: tuple[float, ...] = ()
    error: float | None = None
    why_not: str = ""
    later: str = ""

    @property
    def remark(self) -> str:
        """What has to stand behind the number."""
        return f" ({self.later})" if self.later else ""

    @property
    def median_ms(self) -> float:
        return statistics.median(self.samples_ms)

    @property
    def spread_ms(self) -> tuple[float, float]:
        """The fastest and the slowest sample."""
        return min(self.samples_ms), max(self.samples_ms)

    @property
    def tflops(self) -> float:
        """Of the products, at the median."""
        return self.problem.flops / self.median_ms / 1e9


@dataclass(frozen=True)
class AttentionRun:
    """What was measured in one run on one device."""

    device: str
    date: str
    versions: Mapping[str, str]
    rows: tuple[Row, ...]

    @property
    def label(self) -> str:
        """What has to stand beside the numbers."""
        return f"{self.device}, {self.date}"

    def find(self, name: str, problem: AttentionProblem) -> Row:
        """The row of a contestant.

        Raises:
            KeyError: if it was not measured; with the names that were.
        """
        there = {row.name: row for row in self.rows if row.problem == problem}
        if name not in there or not there[name].samples_ms:
            raise KeyError(f"{name!r} was not measured on {problem}; there are: {list(there)}")
        return there[name]

    def share(self, name: str, of: str, problem: AttentionProblem) -> float:
        """How fast a contestant is, as a share of another one's speed."""
        return self.find(of, problem).median_ms / self.find(name, problem).median_ms

    def problems(self, precision: str) -> tuple[AttentionProblem, ...]:
        """What was computed in a precision, in the order of the file."""
        every = dict.fromkeys(row.problem for row in self.rows)
        return tuple(fromkey for fromkey in every if fromkey.precision == precision)

    def table(self, precision: str, names: Sequence[str]) -> str:
        """Speeds in TFLOP/s: a line for each problem, a column for each of these contestants."""
        problems = self.problems(precision)
        wide = max(len(problem.short) for problem in problems)
        lines = [" " * wide + "".join(f"  {name}" for name in names)]
        for problem in problems:
            speeds = (f"{self.find(n, problem).tflops:{len(n)}.0f}" for n in names)
            lines.append(f"{problem.short:{wide}}" + "".join(f"  {speed}" for speed in speeds))
        return "\n".join(lines)

    def content(self) -> dict[str, Any]:
        """What a file holds of it."""
        return {"schema": SCHEMA, **asdict(self)}

    def __str__(self) -> str:
        """A table: a heading for each problem, the fastest first."""
        lines = [f"Measured by benchmarks/attention.py on {self.label}."]
        for problem in dict.fromkeys(row.problem for row in self.rows):
            mine = [row for row in self.rows if row.problem == problem]
            lines.append(f"{problem}:")
            for row in sorted((r for r in mine if r.samples_ms), key=lambda r: r.median_ms):
                low, high = row.spread_ms
                lines.append(
                    f"  {row.name:44} {row.median_ms:9.4f} ms ({low:.4f} to {high:.4f})"
                    f"  {row.tflops:6.1f} TFLOP/s  error {row.error:.1e}"
                )
            lines += [f"  {row.name:44} {row.why_not}" for row in mine if not row.samples_ms]
        return "\n".join(lines)


def devices() -> tuple[str, ...]:
    """The devices on which attention was measured."""
    return files.devices(FOLDER)


@cache
def load(device: str = "H200") -> AttentionRun:
    """What was measured on a device.

    Raises:
        KeyError: if nothing was; with the devices that there are.
    """
    return parse(files.text_of(FOLDER, device, "attention was not measured on"))


def parse(text: str) -> AttentionRun:
    """Measurements from the text of a file.

    Raises:
        ValueError: if it is of another schema.
    """
    plain = json.loads(text)
    if plain.pop("schema") != SCHEMA:
        raise ValueError(f"this course reads schema {SCHEMA} of attention's measurements")
    rows = tuple(_row(row) for row in plain.pop("rows"))
    return AttentionRun(**plain, rows=rows)


def _row(plain: dict[str, Any]) -> Row:
    problem, samples = AttentionProblem(**plain.pop("problem")), tuple(plain.pop("samples_ms"))
    return Row(problem=problem, samples_ms=samples, **plain)
