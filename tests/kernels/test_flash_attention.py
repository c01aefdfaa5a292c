"""FlashAttention without a GPU: its compiled PTX, interpreted, against float64; its machine code.

What decides on a GPU and nowhere else (is it fast, does the hardware agree) is in
benchmarks/attention.py, whose check runs before its times.
"""

from __future__ import annotations

import importlib.util
import math
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hopper_memory import TensorMap, Wrong
from ptx_machine import Block, Hangs, Memory, bf16_bits, flattened

from course_lib.host import runtime
from course_lib.kernels import InputsRefused
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.attention_launch import PLANS, check_inputs
from course_lib.kernels.flash_attention import PANEL, ROWS, Plan, make_kernel
from course_lib.machine_code import compiler, sass
from course_lib.machine_code.front_ends import NUMBA
from course_lib.machine_code.report import resources

needs_compiler = [
    pytest.mark.slow,
    pytest.mark.skipif(
        importlib.util.find_spec("numba_cuda") is None,
        reason="sm_90a needs numba-cuda 0.30 and NVVM; Numba alone has neither",
    ),
]
SIGNATURE = "void(uint64[::1], uint64[::1], uint64[::1], uint64[::1], float32[:, ::1], int32, int32, float32)"  # noqa: E501
# Heads, queries, keys, and a factor for Q and K: one of each; a ragged last tile; a row more than
# two blocks; scores far beyond 88; fewer keys than queries.
SHAPES = ((1, 1, 1, 1), (2, 77, 300, 1), (1, 129, 257, 1), (1, 130, 520, 12), (1, 200, 40, 1))
PLAIN = Plan(128, False, consumers=2, keys=128, overlap=False, turns=False)
ALL_PLANS = (*PLANS.values(), PLAIN, Plan(64, True, consumers=2, keys=64, slots=3))


@cache
def compiled(plan: Plan) -> str:
    """The PTX of a plan for sm_90a; skips where numba-cuda is too old for it."""
    if compiler.missing():
        pytest.skip(compiler.missing())
    kernel = make_kernel(plan)
    with runtime.untouched_numba():
        cuda = NUMBA.load()
        arguments = NUMBA.argument_types(SIGNATURE)
        bounds = kernel.targetoptions["launch_bounds"]
        try:
            with NUMBA.device_of((9, 0)):
                ptx, _ = cuda.compile_ptx(
                    kernel.py_func, arguments, device=False, cc=(9, 0, "a"), launch_bounds=bounds
                )
        except (TypeError, ValueError) as reason:
            pytest.skip(f"needs numba-cuda 0.30 or newer: {reason}")
    return str(ptx)


def attend(
    plan: Plan, ptx: str, Q: np.ndarray, K: np.ndarray, V: np.ndarray, late: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """O and the log-sum-exp, block by block, as the launch would compute them."""
    (heads, queries, head), keys = Q.shape, K.shape[1]
    O = np.full(Q.shape, 0x7FFF, np.uint16)  # NaN
    lse = np.full((heads, queries), np.nan, np.float32)
    memory = Memory()
    boxes = ((Q, ROWS), (K, plan.keys), (V, plan.keys), (O, ROWS))
    maps = [memory.place_map(TensorMap(array, (1, rows, PANEL))) for array, rows in boxes]
    arguments: list[Any] = [number for each in maps for number in flattened((16,), 8, each)]
    arguments += flattened(lse.shape, 4, memory.place(lse))
    arguments += [queries, keys, np.float32(math.log2(math.e) / math.sqrt(head))]
    grid = -(-queries // plan.rows), heads
    for x in range(grid[0]):
        for y in range(grid[1]):
            Block(
                ptx, arguments, plan.threads, (x, y), grid, plan.shared_bytes, memory, late, seed
            ).run()
    return from_bf16(O), lse


def inputs(
    plan: Plan, heads: int, queries: int, keys: int, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(queries)

    def one(rows: int, factor: float) -> np.ndarray:
        numbers = generator.standard_normal((heads, rows, plan.head)) * factor
        return bits_of_bf16(numbers.astype(np.float32))

    return one(queries, size), one(keys, size), one(keys, 1)


def exact(plan: Plan, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, k, v = (from_bf16(each).astype(np.float64) for each in (Q, K, V))
    S = q @ k.transpose(0, 2, 1) / math.sqrt(plan.head)
    if plan.causal:
        S = np.where(np.arange(S.shape[1])[:, None] >= np.arange(S.shape[2]), S, -np.inf)
    top = S.max(-1, keepdims=True)
    weights = np.exp(S - top)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, (top + np.log(total))[..., 0]


def fault(plan: Plan, ptx: str, shape: tuple[int, ...], late: bool, seed: int = 0) -> str:
    """What is wrong with a run; "" if nothing is."""
    Q, K, V = inputs(plan, *shape)  # type: ignore[arg-type]
    try:
        O, lse = attend(plan, ptx, Q, K, V, late, seed)
    except (Hangs, Wrong) as problem:
        return repr(problem)
    truth, sums = exact(plan, Q, K, V)
    off = float(np.linalg.norm(O - truth) / np.linalg.norm(truth))
    off_lse = float(np.abs(lse - sums).max() / np.maximum(1, np.abs(sums)).max())
    return "" if off < 4e-3 and off_lse < 2e-6 else f"off by {off:.2g}, {off_lse:.2g}"


class TestInterpreted:
    pytestmark = needs_compiler

    @pytest.mark.parametrize("plan", ALL_PLANS, ids=str)
    def test_right_whenever_products_and_copies_are_done(self, plan: Plan) -> None:
        ptx = compiled(plan)
        for number, shape in enumerate(SHAPES):
            assert fault(plan, ptx, shape, late=number % 2 == 0, seed=number) == "", shape

    @pytest.mark.parametrize("late", (False, True))
    @pytest.mark.parametrize("seed", range(3))
    def test_right_in_every_order_of_the_warps(self, late: bool, seed: int) -> None:
        plan = PLANS[128, True]
        assert fault(plan, compiled(plan), (1, 256, 640, 2), late, seed) == ""

    @pytest.mark.parametrize("plan", (*PLANS.values(), PLAIN), ids=str)
    def test_right_where_a_thread_weighs_nothing(self, plan: Plan) -> None:
        """Scores so large that one key of a row gets all the weight, and most threads have none."""
        assert fault(plan, compiled(plan), (1, 130, 640, 60), late=False) == ""

    def test_not_a_number_ends_as_such(self) -> None:
        plan = PLANS[64, False]
        Q, K, V = inputs(plan, 1, 70, 640, 1)
        Q[:] = 0x7FC0
        O, lse = attend(plan, compiled(plan), Q, K, V, late=False, seed=0)
        assert np.isnan(O).all() and np.isnan(lse).all()

    @pytest.mark.parametrize(
        ("name", "old", "new", "late"),
        [
            ("nobody waits for the scores", "wgmma.wait_group.sync.aligned 1;", "", True),
            ("nobody waits for the output", "wgmma.wait_group.sync.aligned 0;", "", True),
            ("K taken for a transposed tile", "1, 1, 0, 0;", "1, 1, 0, 1;", False),
            ("V taken for one that is not", "1, 1, 1, 1;", "1, 1, 1, 0;", False),
            ("a maximum that is a minimum", "max.f32", "min.f32", False),
            ("nobody is told that a slot is empty", "mbarrier.arrive.shared::cta.b64", "", True),
        ],
    )
    def test_a_broken_kernel_is_found(self, name: str, old: str, new: str, late: bool) -> None:
        plan = PLANS[64, False]
        ptx = compiled(plan)
        assert old in ptx, name
        lines = ptx.splitlines()
        if new:
            broken = "\n".join(line.replace(old, new) for line in lines)
        else:
            broken = "\n".join(line for line in lines if old not in line)
        assert fault(plan, broken, (1, 130, 640, 12), late) != "", name

    @pytest.mark.parametrize("plan", (*PLANS.values(), PLAIN), ids=str)
    def test_machine_code(self, plan: Plan) -> None:
        """No spills, and products that ptxas lets overlap; all of them where they belong."""
        log, code = assembled(compiled(plan))
        assert resources(log, "flash")["spill_load_bytes"] == 0
        assert "serialized" not in log
        products = [each for each in code if each.operation == "HGMMA"]
        # The first S; S and P V in the loop; the last P V.
        assert len(products) == 2 * (plan.head // 16 + plan.keys // 16)
        assert not [each for each in code if each.operation in ("LDL", "STL")]
        if plan.overlap:  # the softmax stands between the wait for S and the wait for P V
            order = [
                each for each in code if each.opcode.startswith(("WARPGROUP.DEPBAR", "MUFU.EX2"))
            ]
            waits = [i for i, each in enumerate(order) if each.opcode.startswith("WARPGROUP")]
            ((start, end),) = [
                (i, j) for i, j in pairwise(waits) if order[i].operands.endswith("0x1")
            ]
            assert end - start - 1 >= plan.keys // 2


def assembled(ptx: str) -> tuple[str, tuple[sass.Instruction, ...]]:
    """ptxas's log and the machine code for sm_90a."""
    with tempfile.TemporaryDirectory() as folder:
        source, cubin = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        log = compiler._to_machine_code(source, cubin, (9, 0), None)
        entry = compiler._entry(ptx)
        tool = compiler.find_tool("nvdisasm")
        if tool is None:
            pytest.skip("nvdisasm is not here")
        done = subprocess.run([tool, "--print-code", str(cubin)], capture_output=True, text=True)
    return log.replace(entry, "flash"), sass.parse(done.stdout, entry).instructions


# --- what needs no compiler -----------------------------------------------------------------------


def test_shared_memory_of_every_plan_fits_a_block() -> None:
    for plan in ALL_PLANS:
        assert plan.shared_bytes <= 227 * 1024  # FACTS: compute capability 9.0
        assert plan.q_bytes % 1024 == plan.tile_bytes % 1024 == 0  # where a swizzled box may begin


class OnGpu:
    """Stands in for an array on the GPU: what `check_inputs` looks at."""

    def __init__(self, *shape: int, dtype: str = "uint16", strides: Any = None) -> None:
        self.shape, self.dtype = shape, np.dtype(dtype)
        interface = {"shape": shape, "typestr": self.dtype.str, "data": (0, False)}
        self.__cuda_array_interface__ = {**interface, "strides": strides}


def test_what_it_refuses() -> None:
    q, k, sums = OnGpu(1, 2, 5, 64), OnGpu(1, 2, 7, 64), OnGpu(1, 2, 5, dtype="float32")
    check_inputs(q, k, k, q, sums)
    wrong: list[tuple[Callable[[], None], str]] = [
        (lambda: check_inputs(OnGpu(1, 2, 5, 32), k, k, q, sums), "Q has 32 columns"),
        (lambda: check_inputs(q, k, OnGpu(1, 2, 8, 64), q, sums), "K and V have shapes"),
        (lambda: check_inputs(q, k, k, k, sums), "O has shape"),
        (lambda: check_inputs(q, k, k, q, OnGpu(1, 2, 5)), "lse is uint16"),
        (lambda: check_inputs(OnGpu(1, 2, 5, 64, dtype="float32"), k, k, q, sums), "Q is float32"),
        (lambda: check_inputs(OnGpu(1, 2, 0, 64), k, k, q, sums), "Q is empty"),
        (
            lambda: check_inputs(OnGpu(1, 2, 5, 64, strides=(9, 9, 9, 9)), k, k, q, sums),
            "not C-contiguous",
        ),
        (lambda: check_inputs(np.zeros(q.shape, "u2"), k, k, q, sums), "Q is not on the GPU"),
    ]
    for call, message in wrong:
        with pytest.raises(InputsRefused, match=message):
            call()


def test_the_machine_rounds_as_the_course_does() -> None:
    numbers = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    assert (bf16_bits(numbers) == bits_of_bf16(numbers)).all()
