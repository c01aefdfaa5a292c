"""Attention on the emulator, right at odd lengths: in float32 and fused; its machine code."""

import importlib.util
import math
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from by_path import module_at
from changed_kernels import changed, is_named
from on_gpu import OnGpu
from sampling import few

import course_lib
from course_lib import compile_report
from course_lib.emulator import Profile
from course_lib.host import runtime
from course_lib.kernels import InputsRefused, attention_float32, attention_unfused, flash_attention
from course_lib.kernels.accuracy import bits_of_bf16, from_bf16
from course_lib.kernels.attention_launch import PLANS, check_inputs, emulate, prepare
from course_lib.kernels.flash_attention import Plan, make_kernel
from course_lib.machine_code import compiler, sass
from course_lib.machine_code.front_ends import NUMBA
from course_lib.machine_code.report import resources

needs_compiler = [
    pytest.mark.slow,
    pytest.mark.skipif(importlib.util.find_spec("numba_cuda") is None,
        reason="sm_90a needs numba-cuda 0.30 and NVVM; Numba alone has neither"),
]  # fmt: skip
SIGNATURE = "void(uint64[::1], uint64[::1], uint64[::1], uint64[::1], float32[:, ::1], int32, int32, float32)"  # noqa: E501
# Heads, queries, keys, and a factor for Q and K: one of each; a ragged last tile; a row more than
# two blocks; scores far beyond 88; fewer keys than queries.
SHAPES = ((1, 1, 1, 1), (2, 77, 300, 1), (1, 129, 257, 1), (1, 130, 392, 12), (1, 200, 40, 1))
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
        options = {"device": False, "cc": (9, 0, "a"), "launch_bounds": bounds}
        try:
            with NUMBA.device_of((9, 0)):
                ptx, _ = cuda.compile_ptx(kernel.py_func, arguments, **options)
        except (TypeError, ValueError) as reason:
            pytest.skip(f"needs numba-cuda 0.30 or newer: {reason}")
    return str(ptx)


def attend(
    plan: Plan, Q: np.ndarray, K: np.ndarray, V: np.ndarray, kernel: Any = None, **schedule: Any
) -> tuple[np.ndarray, np.ndarray, Profile]:
    """O, the log-sum-exp and what the emulator saw; `kernel` in place of the plan's own."""
    arrays = [array[None] for array in (Q, K, V)]
    O = np.full(arrays[0].shape, 0x7FFF, np.uint16)  # NaN
    lse = np.full(O.shape[:3], np.nan, np.float32)
    profile = emulate(*arrays, O, lse, plan=plan, kernel=kernel, **schedule)
    return from_bf16(O[0]), lse[0], profile


def inputs(plan: Plan, heads: int, queries: int, keys: int, size: float) -> list[np.ndarray]:
    generator = np.random.default_rng(queries)

    def one(rows: int, factor: float) -> np.ndarray:
        numbers = generator.standard_normal((heads, rows, plan.head)) * factor
        return bits_of_bf16(numbers.astype(np.float32))

    return [one(queries, size), one(keys, size), one(keys, 1)]


def exact(plan: Plan, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    q, k, v = (from_bf16(each).astype(np.float64) for each in (Q, K, V))
    S = q @ k.transpose(0, 2, 1) / math.sqrt(plan.head)
    if plan.causal:
        S = np.where(np.arange(S.shape[1])[:, None] >= np.arange(S.shape[2]), S, -np.inf)
    top = S.max(-1, keepdims=True)
    weights = np.exp(S - top)
    total = weights.sum(-1, keepdims=True)
    return weights / total @ v, (top + np.log(total))[..., 0]


def off_by(plan: Plan, shape: tuple[int, ...], **options: Any) -> tuple[float, float, Profile]:
    """How far O (of its norm) and the log-sum-exp are from float64's."""
    Q, K, V = inputs(plan, *shape)  # type: ignore[arg-type]
    O, lse, profile = attend(plan, Q, K, V, **options)
    truth, sums = exact(plan, Q, K, V)
    off = float(np.linalg.norm(O - truth) / np.linalg.norm(truth))
    return off, float(np.abs(lse - sums).max() / np.maximum(1, np.abs(sums)).max()), profile


def check(plan: Plan, shape: tuple[int, ...], **options: Any) -> Profile:
    """Weights and O are bfloat16, of 8 bits: 2 ** -8 is a last place."""
    off, off_lse, profile = off_by(plan, shape, **options)
    assert [str(found) for found in profile.findings] == []
    assert off < 4e-3
    assert off_lse < 2e-6
    return profile


def some_of(cases: Iterable[Any], one_in: int = 6) -> list[Any]:
    """One in so many is slow, and the others are for `long`."""
    marks = pytest.mark.slow, pytest.mark.long
    return [pytest.param(case, marks=marks[number % one_in > 0])
            for number, case in enumerate(cases)]  # fmt: skip


SCHEDULES = [("lockstep", 0), ("warps", 0), ("shuffled", 1)]  # late, early, by chance


@pytest.mark.parametrize("plan", few([*PLANS.values()][1:], 0), ids=str)
def test_right_and_clean(plan: Plan) -> None:
    check(plan, (1, 70, 129, 1))


@pytest.mark.parametrize("plan", some_of(ALL_PLANS), ids=str)
def test_right_whenever_products_and_copies_are_done(plan: Plan) -> None:
    for number, shape in enumerate(SHAPES):
        schedule, seed = SCHEDULES[number % 3]
        check(plan, shape, schedule=schedule, seed=seed)


@pytest.mark.parametrize("order", some_of([("shuffled", 2), *SCHEDULES]), ids=str)
def test_right_in_every_order_of_the_warps(order: tuple[str, int]) -> None:
    schedule, seed = order
    check(PLANS[128, True], (1, 256, 640, 2), schedule=schedule, seed=seed)


@pytest.mark.parametrize("plan", some_of((*PLANS.values(), PLAIN)), ids=str)
def test_right_where_a_thread_weighs_nothing(plan: Plan) -> None:
    """Scores so large that one key of a row gets all the weight, and most threads have none."""
    check(plan, (1, 130, 640, 60), schedule="warps")


def test_right_and_clean_and_counted() -> None:
    """Boxes are read whole, but for what lies outside; every consumer multiplies whole tiles."""
    plan = PLANS[64, False]
    Q, K, V = inputs(plan, 1, 70, 129, 1)
    profile = check(plan, (1, 70, 129, 1))
    assert profile.global_load_bytes == Q.nbytes + K.nbytes + V.nbytes
    assert profile.global_store_bytes == Q.nbytes + 70 * 4
    products = 2 * plan.rows * 2 * plan.keys * plan.head * 2  # two tiles
    assert products < profile.flops < 1.1 * products


@pytest.mark.slow
def test_not_a_number_ends_as_such() -> None:
    plan = PLANS[64, False]
    Q, K, V = inputs(plan, 1, 70, 129, 1)
    Q[:] = 0x7FC0
    O, lse, _ = attend(plan, Q, K, V)
    assert np.isnan(O).all()
    assert np.isnan(lse).all()


# Slips of each kind; test_emulator_hopper.py has all that a pipeline can lack.
# What is changed in the kernel, into what, the code that is named, and a part of the line; of the
# other one, if it names two.
FAULTS = {
    "nobody waits for the scores": ("            wait_scores(S, 1 if OVERLAP else 0)\n", "",
        "race-read-after-write", "top0 = larger(", "start_scores(S, q, k + slot"),
    "O is scaled before its product is done": ("        wait_output(O)\n        rescale(",
        "        rescale(", "race-read-after-write", "O[4 * j + c] *= factor0",
        "start_output(O, P, v + before"),
    "a slot of V is released before the output is there": (
        "            wait_output(O)\n            if thread == 0:\n"
        "                mbarrier_arrive(base + V_EMPTY + 8 * before)\n",
        "            if thread == 0:\n"
        "                mbarrier_arrive(base + V_EMPTY + 8 * before)\n"
        "            wait_output(O)\n", "race-write-after-read", "tma_load(to, map_v",
        "start_output(O, P, v + before"),
    "the producer keeps its registers": ("            fewer_registers(FEW)\n", "",
        "barrier-divergence", "more_registers(MANY)", ""),
    "all consumers wait for their turn": ("if TURNS and group == CONSUMERS - 1:",
        "if TURNS and group == CONSUMERS:", "barrier-divergence", "group_sync(FIRST_TURN", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", some_of(FAULTS, 5))
def test_a_broken_kernel_is_named(name: str, tmp_path: Path) -> None:
    old, new, code, *parts = FAULTS[name]
    plan = PLANS[128, False]
    kernel = changed(flash_attention, old, new, tmp_path).make_kernel(plan)
    seen: list[Any] = []
    for schedule, seed in SCHEDULES:
        options = {"kernel": kernel, "schedule": schedule, "seed": seed}
        profile = off_by(plan, (1, 100, 490, 1), **options)[2]
        seen += profile.errors
        if is_named(profile.errors, tmp_path, code, parts):
            return
    raise AssertionError(seen)


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "size"), [
    ("top0 = larger(top0, larger(S", "top0 = min(top0, larger(S", 12),
    ("        top0 = larger(top0, cuda.shfl_xor_sync(ALL_LANES, top0, 2))\n", "", 12),
    ("if tile >= masked:", "if tile > masked:", 1),
    ("(2 * (p % 4) + lane // 16) ^ (lane % 8)", "2 * (p % 4) + lane // 16", 1),
])  # fmt: skip
def test_a_wrong_formula_is_wrong_and_no_race(old, new, size, tmp_path) -> None:
    plan = PLANS[128, False]
    kernel = changed(flash_attention, old, new, tmp_path).make_kernel(plan)
    off, _, profile = off_by(plan, (1, 100, 300, size), kernel=kernel)
    assert not off < 4e-3
    assert profile.errors == []


class TestCompiled:
    pytestmark = needs_compiler

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
            softmax = ("WARPGROUP.DEPBAR", "MUFU.EX2")
            order = [each for each in code if each.opcode.startswith(softmax)]
            waits = [i for i, each in enumerate(order) if each.opcode.startswith("WARPGROUP")]
            last = [pair for pair in pairwise(waits) if order[pair[0]].operands.endswith("0x1")]
            ((start, end),) = last
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


def test_what_it_refuses() -> None:
    q, k, sums = OnGpu(1, 2, 5, 64), OnGpu(1, 2, 7, 64), OnGpu(1, 2, 5, dtype="float32")
    check_inputs(q, k, k, q, sums)
    strided = OnGpu(1, 2, 5, 64, strides=(9, 9, 9, 9))
    wrong: list[tuple[Callable[[], None], str]] = [
        (lambda: check_inputs(OnGpu(1, 2, 5, 32), k, k, q, sums), "Q has 32 columns"),
        (lambda: check_inputs(q, k, OnGpu(1, 2, 8, 64), q, sums), "K and V have shapes"),
        (lambda: check_inputs(q, k, k, k, sums), "O has shape"),
        (lambda: check_inputs(q, k, k, q, OnGpu(1, 2, 5)), "lse is uint16"),
        (lambda: check_inputs(OnGpu(1, 2, 5, 64, dtype="float32"), k, k, q, sums), "Q is float32"),
        (lambda: check_inputs(OnGpu(1, 2, 0, 64), k, k, q, sums), "Q is empty"),
        (lambda: check_inputs(strided, k, k, q, sums), "not C-contiguous"),
        (lambda: prepare(q, k, k, np.zeros(q.shape, "u2"), sums), "O is not on the GPU"),
    ]
    for call, message in wrong:
        with pytest.raises(InputsRefused, match=message):
            call()


ROOT = Path(__file__).parents[2]
FOUR = "void(float32[:, ::1], float32[:, ::1], float32[:, ::1], float32[:, ::1])"

# Queries, keys, and how large the scores are: one key, a ragged tile, scores far beyond 88.
SHAPES_FLOAT32 = ((1, 1, 1), (19, 70, 1), (65, 3, 30), (70, 200, 60))


def inputs_float32(queries: int, keys: int, size: float) -> tuple[np.ndarray, ...]:
    generator = np.random.default_rng(queries)
    Q, K, V = (generator.uniform(-2, 2, (n, 32)).astype("f4") for n in (queries, keys, keys))
    return Q * np.float32(size), K, V


def exact_float32(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    S = Q.astype("f8") @ K.T.astype("f8") / np.sqrt(32)
    weights = np.exp(S - S.max(1, keepdims=True))
    return np.asarray(weights / weights.sum(1, keepdims=True) @ V)


@pytest.mark.parametrize(("queries", "keys", "largest"), few(SHAPES_FLOAT32))
def test_fused(queries: int, keys: int, largest: float) -> None:
    Q, K, V = inputs_float32(queries, keys, largest)
    O = np.full_like(Q, np.nan)
    blocks = -(-len(Q) // attention_float32.QUERIES)
    emulated: Any = course_lib.emulate(attention_float32.attention_float32)
    profile = emulated[blocks, attention_float32.THREADS](Q, K, V, O)
    assert profile.errors == []
    assert profile.shared_load_bank_conflicts == 0  # every lane looks at the same key
    # Scores of up to 60 times 2 * 2 * 32 / sqrt(32) lose digits that the exponential shows.
    assert np.abs(O - exact_float32(Q, K, V)).max() < 1e-6 * max(1, largest)


@pytest.mark.parametrize("shape", SHAPES_FLOAT32)
def test_unfused(shape: tuple[int, int, float]) -> None:
    Q, K, V = inputs_float32(*shape)
    O, runs = unfused(Q, K, V)
    assert [run.findings for run in runs] == [[], [], []]
    assert np.abs(O - exact_float32(Q, K, V)).max() < 1e-6 * max(1, shape[2])


def unfused(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, list[Profile]]:
    """O, and what the emulator saw of the three launches."""
    O, S = np.full_like(Q, np.nan), np.full((len(Q), len(K)), np.nan, np.float32)
    down, across = -(-len(Q) // 32), -(-len(K) // 32)
    return O, [
        course_lib.emulate(attention_unfused.scores)[(across, down), (32, 8)](Q, K, S),
        course_lib.emulate(attention_unfused.softmax)[-(-len(Q) // 8), (32, 8)](S),
        course_lib.emulate(attention_unfused.mix)[down, (32, 8)](S, V, O),
    ]


def test_unfused_is_coalesced_and_free_of_conflicts() -> None:
    _, runs = unfused(*inputs_float32(64, 128, 1))
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
