"""Attention in float32 on the emulator: fused and unfused, right at odd lengths, no finding."""

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_path import module_at
from sampling import few

import course_lib
from course_lib import compile_report
from course_lib.kernels import attention_float32, attention_unfused
from course_lib.machine_code import compiler

ROOT = Path(__file__).parents[2]
FOUR = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1])"

# Queries, keys, and how large the scores are: one key, a ragged tile, scores far beyond 88.
SHAPES = ((1, 1, 1), (19, 70, 1), (65, 3, 30), (70, 200, 60))


def inputs(queries: int, keys: int, size: float) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(queries)
    Q, K, V = (generator.uniform(-2, 2, (n, 32)).astype("f4") for n in (queries, keys, keys))
    return Q * np.float32(size), K, V


def exact(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    S = Q.astype("f8") @ K.T.astype("f8") / np.sqrt(32)
    weights = np.exp(S - S.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True) @ V)


@pytest.mark.parametrize(("queries", "keys", "largest"), few(SHAPES))
def test_fused(queries: int, keys: int, largest: float) -> None:
    Q, K, V = inputs(queries, keys, largest)
    O = np.full_like(Q, np.nan)
    blocks = -(-len(Q) // attention_float32.QUERIES)
    emulated: Any = course_lib.emulate(attention_float32.attention_float32)
    profile = emulated[blocks, attention_float32.THREADS](Q, K, V, O)
    assert profile.errors == []
    assert profile.shared_load_bank_conflicts == 0  # every lane looks at the same key
    # Scores of up to 60 times 2 * 2 * 32 / sqrt(32) lose digits that the exponential shows.
    assert np.abs(O - exact(Q, K, V)).max() < 1e-6 * max(1, largest)


@pytest.mark.parametrize("shape", SHAPES)
def test_unfused(shape: tuple[int, int, float]) -> None:
    Q, K, V = inputs(*shape)
    O, S = np.full_like(Q, np.nan), np.full((len(Q), len(K)), np.nan, np.float32)
    down, across = -(-len(Q) // 32), -(-len(K) // 32)
    runs = (
        course_lib.emulate(attention_unfused.scores)[(across, down), (32, 8)](Q, K, S),
        course_lib.emulate(attention_unfused.softmax)[-(-len(Q) // 8), (32, 8)](S),
        course_lib.emulate(attention_unfused.mix)[down, (32, 8)](S, V, O),
    )
    assert [run.findings for run in runs] == [[], [], []]
    assert np.abs(O - exact(Q, K, V)).max() < 1e-6 * max(1, shape[2])


def test_unfused_is_coalesced_and_free_of_conflicts() -> None:
    Q, K, V = inputs(64, 128, 1)
    O, S = np.zeros_like(Q), np.zeros((64, 128), np.float32)
    runs = (
        course_lib.emulate(attention_unfused.scores)[(4, 2), (32, 8)](Q, K, S),
        course_lib.emulate(attention_unfused.softmax)[8, (32, 8)](S),
        course_lib.emulate(attention_unfused.mix)[2, (32, 8)](S, V, O),
    )
    for run in runs:  # a sector has 32 bytes: no byte is fetched that nobody asked for
        assert run.global_load_bytes == 32 * run.global_load_sectors
        assert run.global_store_bytes == 32 * run.global_store_sectors
        assert run.shared_load_bank_conflicts == run.shared_store_bank_conflicts == 0


# --- machine code ---------------------------------------------------------------------------------


@pytest.fixture
def compiles() -> None:
    if importlib.util.find_spec("numba_cuda") is None or compiler.missing():
        pytest.skip("shared arrays aligned to 16 bytes need numba-cuda and its compiler")


@pytest.mark.slow
@pytest.mark.parametrize("cc", ("7.5", "9.0"))
def test_fused_is_mostly_multiply_adds(compiles: None, cc: str) -> None:
    """Eight keys, two queries, twice 32 columns: 1,024 FFMA; a load of 16 bytes serves eight."""
    made = compile_report(attention_float32.attention_float32, FOUR, cc)
    opcodes = made.mix.opcodes
    assert made.spill_load_bytes == 0 and made.registers <= 255
    assert sum(n for name, n in opcodes.items() if name.startswith("FFMA")) >= 1024
    wide = [n for name, n in opcodes.items() if name.startswith("LDS") and name.endswith("128")]
    assert sum(wide) == 128
    assert sum(opcodes.values()) < 1500


@pytest.mark.slow
def test_the_benchmark_finds_the_solution(compiles: None) -> None:
    """What it is compared with is the exercise's own answer, and has a loop of another kind."""
    benchmark = module_at(ROOT / "benchmarks/attention.py")
    kernel = benchmark.solution("11_flash_attention", "attention")
    if kernel is None:
        pytest.skip("a copy without solutions")
    opcodes = compile_report(kernel, FOUR, "9.0").mix.opcodes
    multiply_adds = sum(n for name, n in opcodes.items() if name.startswith("FFMA"))
    assert 0 < multiply_adds < 0.5 * sum(opcodes.values())
