"""Read how fast libraries compute attention, and how fast a solution of exercise 11 once was.

One file per device. These numbers were measured outside this repository, in the session of their
date, and copied from its notes; `benchmarks/` has no script that makes them again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent


@dataclass(frozen=True)
class InFloat32:
    """One head in float32, forward, without a mask.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        tokens: queries, and as many keys.
        columns: of Q, K, V and O.
        ms: by what computed it: "PyTorch, three kernels" (two products and a softmax), "PyTorch,
            fused" (its memory-efficient kernel), "exercise 11" (a solution of that day).
    """

    label: str
    tokens: int
    columns: int
    ms: Mapping[str, float]

    @property
    def flop(self) -> int:
        """Of both products."""
        return 4 * self.tokens**2 * self.columns

    @property
    def bytes_of_scores(self) -> int:
        """One matrix of scores."""
        return 4 * self.tokens**2


@dataclass(frozen=True)
class InBfloat16:
    """Batches of heads in bfloat16, forward.

    Attributes:
        label: device and date, which have to stand beside the numbers.
        batch, heads, tokens, columns: the sizes of Q, K, V and O.
        causal: with a causal mask; hidden scores are not counted as work.
        tflops: by library, of both products.
    """

    label: str
    batch: int
    heads: int
    tokens: int
    columns: int
    causal: bool
    tflops: Mapping[str, float]


def in_float32(device: str = "H200") -> InFloat32:
    """What was timed in float32.

    Raises:
        KeyError: if nothing was measured on this device.
    """
    plain = _file(device)
    row = plain["float32"]
    return InFloat32(_label(plain), row["tokens"], row["columns"], row["ms"])


def in_bfloat16(device: str = "H200") -> tuple[InBfloat16, ...]:
    """What was timed in bfloat16.

    Raises:
        KeyError: if nothing was measured on this device.
    """
    plain = _file(device)
    return tuple(InBfloat16(label=_label(plain), **row) for row in plain["bfloat16"])


def _label(plain: Mapping[str, Any]) -> str:
    return f"{plain['device']}, {plain['timed']}, {plain['with']}"


@cache
def _file(device: str) -> dict[str, Any]:
    path = FOLDER / f"{device}.json"
    if not path.exists():
        there = ", ".join(sorted(each.stem for each in FOLDER.glob("*.json")))
        raise KeyError(f"nothing was measured of attention on {device!r}; there are: {there}")
    return json.loads(path.read_text(encoding="utf-8"))  # type: ignore[no-any-return]
