"""Answers made right only up to a size, by exchanging one bound of a right one: none passes.

What still computes the same is told apart by SAME and EQUIVALENT, with the reason, and has to pass.
"""

import json
from functools import cache
from pathlib import Path

import pytest
from passing import passes
from size_limited import Mutant, mutants

from course_lib.curriculum import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = "import math\nimport numpy as np\nfrom numba import cuda, float32\n"
FAST, SLOW = 4, 5  # mutants in the fast set, and under `slow`; all are under `long`
# Not in the fast set.
COSTLY = (
    "matmul_1d", "matmul_2d", "matmul_wide", "matmul_warp_tiled", "matmul_two_buffers",
    "matmul_async", "matmul_mma", "matmul_tma", "attention", "attention_mma",
)  # fmt: skip
SEEDS = (0, 1, 2, 3, 4)
AT_ONCE = 40  # mutants in one test under `long`

PRODUCT = (
    {"M", "A.shape[0]", "C.shape[0]"},
    {"N", "B.shape[1]", "C.shape[1]"},
    {"K", "A.shape[1]", "B.shape[0]"},
)
# What has one value in every launch of the solution: with its constants, or by the arrays' shapes.
SAME: dict[str, tuple[set[str], ...]] = {
    "mat_add": tuple({f"{name}.shape[{axis}]" for name in "ABC"} for axis in (0, 1)),
    "matmul_naive": PRODUCT,
    "matmul_column_major": PRODUCT,
    "matmul_tiled": (*PRODUCT, {"TILE", "16", "cuda.blockDim.x", "cuda.blockDim.y"}),
    "transpose_tiled": ({"M", "A.shape[0]", "B.shape[1]"}, {"N", "A.shape[1]", "B.shape[0]"}),
    "block_scan": ({"x.size", "x.shape[0]", "y.shape[0]"}, {"RUN", "64", "cuda.blockDim.x"}),
    "matmul_1d": (*PRODUCT, {"BM", "BN", "64"}, {"BK", "TM"}),
    "matmul_2d": (*PRODUCT, {"BM", "BN", "64"}, {"TM", "TN", "4"}, {"BM * BK", "BK * BN", "512"}),
    "matmul_wide": (*PRODUCT, {"BM", "BN", "64"}, {"TM", "TN", "4"}),
    "matmul_warp_tiled": (*PRODUCT, {"BM", "BN", "64", "cuda.blockDim.x"}, {"BK", "TM", "TN", "8"}),
    "matmul_two_buffers": (*PRODUCT, {"BM", "BN", "64", "cuda.blockDim.x"},
        {"BK", "TM", "TN", "8"}),
    "matmul_async": (*PRODUCT, {"BM", "BN", "64", "cuda.blockDim.x"}, {"BK", "TM", "TN", "8"}),
    "matmul_mma": (*PRODUCT, {"BM", "BN", "64"}, {"BK", "16"}, {"THREADS", "128"}),
    "matmul_tma": ({"BM", "BN", "BK", "64"}, {"CONSUMERS", "128"}),
    "attention": ({"queries", "Q.shape[0]", "O.shape[0]"}, {"keys", "K.shape[0]", "V.shape[0]"},
        {"32", "TILE", "cuda.blockDim.x", *(f"{name}.shape[1]" for name in "QKVO")}),
    "attention_mma": (
        {"queries", "Q.shape[0]", "O.shape[0]"},
        {"keys", "K.shape[0]", "V.shape[0]"},
        {"64", "QUERIES", *(f"{name}.shape[1]" for name in "QKVO")},
        {"32", "KEYS"},
        {"THREADS", "128", "cuda.blockDim.x"},
    ),
}  # fmt: skip
# Others that compute the same: the reason, and by exercise, place and what stood there, what may.
EQUIVALENT: dict[str, dict[tuple[str, str, str], set[str]]] = {
    "from a stride of RUN on, or of the number of elements, no thread has anything to add": {
        ("block_scan", "while stride < RUN:", "RUN"): {
            *("100", "256", "512", "777", "1000", "2048"),
            *("x.shape[0]", "y.shape[0]"),
        },
    },
    "tx is at most 31": {
        ("attention", "O[row, tx] = out / total", "O[row, tx] = out / total"): {
            f"if tx < {limit}:\n            O[row, tx] = out / total"
            for limit in (64, 100, 256, 512, 777, 1000, 2048)
        },
    },
}


def is_equivalent(mutant: Mutant) -> bool:
    """Does it compute the same as before, whatever the sizes are?"""
    place = (mutant.exercise, mutant.place, mutant.old)
    return any({mutant.old, mutant.new} <= values for values in SAME[mutant.exercise]) or any(
        mutant.new in places.get(place, ()) for places in EQUIVALENT.values()
    )


@cache
def solutions() -> dict[str, str]:
    """The text of each solution that is a kernel."""
    found = {}
    for path in sorted((ROOT / "solutions").glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            text = "".join(cell["source"])
            if cell["cell_type"] == "code" and text.startswith("# EXERCISE "):
                found[text.split()[2]] = IMPORTS + text
    return {name: text for name, text in found.items() if EXERCISES[name].kind.name == "kernel"}


@cache
def all_mutants() -> tuple[Mutant, ...]:
    return tuple(
        mutant
        for exercise, text in solutions().items()
        for mutant in mutants(exercise, "solution", text)
    )


def sample(of: list[Mutant], count: int) -> list[Mutant]:
    """So many, evenly spread."""
    return [of[(2 * number + 1) * len(of) // (2 * count)] for number in range(count)]


def judged_otherwise(mutant: Mutant, seed: int) -> str | None:
    """What is wrong with the verdict on a mutant."""
    is_right = passes(mutant.exercise, mutant.text, seed)
    if is_right == is_equivalent(mutant):
        return None
    return f"{'passes' if is_right else 'refused'} with seed {seed}: {mutant.id}"


def test_every_kernel_has_many() -> None:
    counts = {
        exercise: sum(mutant.exercise == exercise for mutant in all_mutants())
        for exercise in solutions()
    }
    assert min(counts.values()) >= 100, counts
    assert len({mutant.id for mutant in all_mutants()}) == len(all_mutants())


def test_what_is_listed_exists() -> None:
    listed = {
        (*place, new) for each in EQUIVALENT.values() for place in each for new in each[place]
    }
    assert listed <= {(each.exercise, each.place, each.old, each.new) for each in all_mutants()}


FEW = sample([each for each in all_mutants() if each.exercise not in COSTLY], FAST)
MORE = sample(list(all_mutants()), SLOW)


@pytest.mark.parametrize(
    "mutant",
    [
        # A loop far beyond its tile: whatever it reads there is a fault to be noted.
        pytest.param(each, id=each.id, marks=[pytest.mark.slow] * ("range" in each.id))
        for each in FEW
    ],
)
def test_a_few(mutant: Mutant) -> None:
    assert not judged_otherwise(mutant, 0)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(SLOW))
def test_more(number: int) -> None:
    assert not judged_otherwise(MORE[number], SEEDS[number % len(SEEDS)])


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, len(all_mutants()), AT_ONCE))
@pytest.mark.parametrize("seed", SEEDS)
def test_all(first: int, seed: int) -> None:
    verdicts = (judged_otherwise(each, seed) for each in all_mutants()[first : first + AT_ONCE])
    wrong = [verdict for verdict in verdicts if verdict]
    assert not wrong, "\n".join(wrong)
