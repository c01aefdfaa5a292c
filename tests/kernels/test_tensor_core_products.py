"""Rungs on tensor cores: right, and refused in words; the launch of those for Hopper."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from changed_kernels import changed, is_named
from exact_products import rung_product
from on_gpu import OnGpu
from sampling import few, marks

from course_lib.emulator import Profile
from course_lib.emulator.errors import KernelRejected
from course_lib.kernels import (
    RUNG_KERNELS,
    InputsRefused,
    accuracy,
    hopper_launch,
    rung_12_tma,
    tma_launch,
)
from course_lib.kernels.accuracy import bits_of_bf16
from course_lib.kernels.hopper_launch import Described, described
from course_lib.kernels.tile_plan import PAIR, TilePlan
from course_lib.wording.errors import LaunchRefused

# Rows beyond a tile, columns that end within one, an odd and an even number of tiles along K.
SHAPES = {
    "tensor_core_f16": (130, 136, 96),
    "tensor_core_bf16": (130, 264, 128),
    "tensor_core_tf32": (130, 260, 48),
}


@pytest.mark.parametrize("name", SHAPES)
def test_products(name: str) -> None:
    assert rung_product(RUNG_KERNELS[name], *SHAPES[name]).findings == []


def test_conversions() -> None:
    tie, above = 1 + 2**-8, np.nextafter(np.float32(1 + 2**-8), np.float32(2))
    numbers = np.array([1, tie, above, 1 + 3 * 2**-8, -2.5], np.float32)
    values = accuracy.from_bf16(accuracy.bits_of_bf16(numbers))
    assert values.tolist() == [1, 1, 1 + 2**-7, 1 + 2**-6, -2.5]  # to even in the middle
    assert accuracy.cut_to_tf32(np.array([1 + 2**-10 + 2**-11], "f4")).tolist() == [1 + 2**-10]


def test_what_they_and_tma_refuse() -> None:
    A, B, C = (np.zeros(shape, np.uint16) for shape in ((8, 40), (40, 8), (8, 8)))
    with pytest.raises(InputsRefused, match=r"K = 40 is no multiple of 32: .* zeros to 64"):
        RUNG_KERNELS["tensor_core_bf16"].check_inputs(A, B, C.astype(np.float32))
    with pytest.raises(InputsRefused, match="A is uint16: convert it"):
        RUNG_KERNELS["tensor_core_f16"].check_inputs(A, B, C)
    # M may be anything; rows must begin at multiples of 16 bytes; C has the rung's own format.
    A, B, C = (np.zeros(shape, np.uint16) for shape in ((3, 40), (40, 8), (3, 8)))
    rung, rounded = RUNG_KERNELS["tma"], RUNG_KERNELS["tma_bf16"]
    rounded.check_inputs(A, B, C)
    rung.check_inputs(A, B, C.astype(np.float32))
    with pytest.raises(InputsRefused, match=r"C is uint16: make .* np.empty\(\(3, 8\), np.float32"):
        rung.check_inputs(A, B, C)
    with pytest.raises(InputsRefused, match=r"C is float32: make .*np.uint16\)"):
        rounded.check_inputs(A, B, C.astype(np.float32))
    with pytest.raises(InputsRefused, match=r"K = 36 is no multiple of 8: .* zeros to 40"):
        rounded.check_inputs(A[:, :36].copy(), B[:36].copy(), C)
    said = r"N = 5 is no multiple of 8: .*np.empty\(\(3, 8\), np.uint16"
    with pytest.raises(InputsRefused, match=said):
        rounded.check_inputs(A, B[:, :5].copy(), C[:, :5].copy())
    with pytest.raises(InputsRefused, match="C does not begin at a multiple of 16 bytes"):
        rounded.check_inputs(A, B, np.zeros(32, np.uint16)[1:25].reshape(3, 8))


@pytest.mark.parametrize("name", ("tensor_core_bf16", "wgmma", "tma"))
def test_numbers_are_converted_to_bits_of_bf16_and_not_to_integers(name: str) -> None:
    rung = RUNG_KERNELS[name]
    A, B, C = (np.ones(shape, np.float32) for shape in ((64, 64), (64, 64), (64, 64)))
    with pytest.raises(InputsRefused, match=r"course_lib\.kernels\.accuracy\.bits_of_bf16\(A\)"):
        rung.check_inputs(A, B, C)
    with pytest.raises(InputsRefused, match=r"bits_of_bf16\(A\)"):
        rung.check_inputs(A.tolist(), B, C)
    rung.check_inputs(accuracy.bits_of_bf16(A), accuracy.bits_of_bf16(B), C)


HOPPER = ("wgmma", "tma", "tma_bf16")
FOR_HOPPER = [(64, 64, 64), (200, 136, 192), (8, 264, 128)]


@pytest.mark.parametrize(("name", "shape"), few(
    [(name, shape) for shape in FOR_HOPPER for name in HOPPER],
))  # fmt: skip
def test_rungs_for_hopper_run_on_the_emulator(name: str, shape: tuple[int, int, int]) -> None:
    """Sums of small whole numbers are exact, in whatever order they are added up."""
    (M, N, K), rung = shape, RUNG_KERNELS[name]
    random = np.random.default_rng(M + N)
    A, B = (random.integers(-4, 5, size).astype(np.float32) for size in ((M, K), (K, N)))
    C = np.zeros((M, N), np.dtype(rung.result))
    bits_of_a, bits_of_b = accuracy.bits_of_bf16(A), accuracy.bits_of_bf16(B)
    rung.check_inputs(bits_of_a, bits_of_b, C)
    profile = rung.emulate(bits_of_a, bits_of_b, C)
    assert profile.errors == []
    wanted = A @ B
    np.testing.assert_array_equal(C, accuracy.bits_of_bf16(wanted) if C.itemsize == 2 else wanted)
    assert profile.flops >= 2 * M * N * K


RUNG = RUNG_KERNELS["tma_bf16"]


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """The launches that were prepared; each is then called by its number."""
    found: list[tuple[Any, ...]] = []

    def ready(*given: Any, **named: Any) -> Callable[[], None]:
        found.append((*given, named))
        return lambda: None

    monkeypatch.setattr(tma_launch, "ReadyLaunch", ready)
    work = type("Work", (), {"workers": 132, "table": "table", "shared": None, "most": 1})
    monkeypatch.setattr(tma_launch, "work_on_gpu", lambda *given: work)
    monkeypatch.setattr(hopper_launch, "tensor_map", lambda array, box: (array, box))
    monkeypatch.setattr(hopper_launch, "multiprocessors", lambda: 132)
    monkeypatch.setattr(hopper_launch, "current_gpu", lambda: 0)
    tma_launch._prepared.cache_clear()
    return found


def test_arrays_are_looked_at_once(prepared: list[tuple[Any, ...]]) -> None:
    A, B, C = OnGpu(256, 64), OnGpu(64, 512, address=4096), OnGpu(256, 512, address=8192)
    for _ in range(3):
        RUNG.launch(A, B, C)
    assert len(prepared) == 1
    RUNG.launch(A, B, OnGpu(256, 512, address=16_384))  # another place, another map
    RUNG.launch(A, B, C, stream=7)
    RUNG.prepare(A, B, C)()  # as the first
    assert len(prepared) == 3
    _, _, arguments, stream, shared_bytes, *_ = prepared[0]
    assert (stream, prepared[2][3], shared_bytes) == (0, 7, tma_launch.SHARED)
    assert arguments[2][0] == Described(8192, "<u2", (256, 512))


def test_what_does_not_fit_is_refused_in_the_callers_words(prepared) -> None:
    A, C = OnGpu(256, 64), OnGpu(256, 512)
    for launch in (RUNG.launch, RUNG.prepare):
        with pytest.raises(InputsRefused, match=r"B has shape \(64,\), and a matrix has two"):
            launch(A, OnGpu(64), C)
        with pytest.raises(InputsRefused, match=r"ascontiguousarray\(B.copy_to_host\(\)\)"):
            launch(A, OnGpu(64, 512, strides=(2, 128)), C)
        with pytest.raises(InputsRefused, match="N = 508 is no multiple of 8"):
            launch(A, OnGpu(64, 508), OnGpu(256, 508))
    assert not prepared


def test_an_array_is_described_by_what_a_launch_needs() -> None:
    array = described(OnGpu(3, 5, strides=(2, 6)))
    assert array == Described(1024, "<u2", (3, 5), (2, 6)) and hash(array)
    assert array.dtype == np.uint16 and not array.is_c_contiguous()
    assert described(array) == array
    assert described(np.zeros(3)) is None


def test_a_launch_may_begin_while_the_one_before_ends() -> None:
    driver = pytest.importorskip("cuda.bindings.driver")
    config = hopper_launch._config((132, 2), 288, 1024, 7, overlap=True)
    assert (config.gridDimX, config.gridDimY, config.gridDimZ) == (132, 2, 1)
    assert (config.blockDimX, config.sharedMemBytes, int(config.hStream)) == (288, 1024, 7)
    (attribute,) = config.attrs
    kinds = driver.CUlaunchAttributeID
    assert attribute.id == kinds.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
    assert attribute.value.programmaticStreamSerializationAllowed == 1
    alone = hopper_launch._config((132, 2), 288, 1024, 0, overlap=False)
    assert alone.numAttrs == 0


# Every size ends inside a tile, a box or 64 steps of k; blocks compute several tiles. With LONG
# a block runs through the ring of stages more than twice within a tile.
RAGGED, LONG = (130, 264, 136), (100, 256, 600)
NAMES = {"float32": "tma", "bfloat16": "tma_bf16"}
SCHEDULES = [("lockstep", 0), ("warps", 0), ("shuffled", 1)]  # late, early, by chance


def multiply(
    shape: tuple[int, int, int], result: str, blocks: int, plan: TilePlan, **options: Any
) -> tuple[Profile, bool]:
    """What the emulator saw, and whether the product of small whole numbers is exact."""
    (M, N, K), random = shape, np.random.default_rng(1)
    A, B = (random.integers(-4, 5, size).astype(np.float32) for size in ((M, K), (K, N)))
    nan, kind = (np.nan, np.float32) if result == "float32" else (0x7FC0, np.uint16)
    C = np.full((M, N), nan, kind)
    emulate = RUNG_KERNELS[NAMES[result]].emulate
    profile = emulate(bits_of_bf16(A), bits_of_bf16(B), C, plan, blocks, **options)
    wanted = A @ B
    return profile, np.array_equal(C, wanted if result == "float32" else bits_of_bf16(wanted))


CASES = [
    ((1, 8, 8), "float32", 1, TilePlan()),
    ((33, 72, 24), "bfloat16", 1, TilePlan(columns=192)),
    ((33, 72, 136), "bfloat16", 2, TilePlan(split=1)),
    (RAGGED, "float32", 2, TilePlan(2)),
    (RAGGED, "bfloat16", 2, TilePlan()),
    # 2 x 2 tiles for 4 blocks; two for 2 pairs.
    (RAGGED, "float32", 4, TilePlan(split=2)),
    (RAGGED, "bfloat16", 4, TilePlan(2, 256, split=1)),
    # Two steps of k in a stage; turned tiles that end within a box of results, and that do not.
    (RAGGED, "bfloat16", 3, TilePlan(1, 64)),
    (RAGGED, "bfloat16", 2, TilePlan(2, 192, 176)),
    (RAGGED, "float32", 2, TilePlan(1, 192, 72)),
    (RAGGED, "bfloat16", 2, PAIR),
    # Two panels for a consumer; blocks side by side, whose halves of A begin within eight rows.
    (RAGGED, "float32", 1, TilePlan(1, 256, 184)),
    (RAGGED, "bfloat16", 2, TilePlan(2, 256, 152, beside=True)),
    (LONG, "float32", 2, TilePlan(2)),
    (LONG, "float32", 1, TilePlan()),
]


def _cases() -> list[Any]:
    """One schedule for each slow case; the others are for `long`."""
    cases = []
    for number, case in enumerate(CASES):
        for turn, schedule in enumerate(SCHEDULES):
            is_first = number % len(SCHEDULES) == turn and number % 6 == 2
            slow = pytest.mark.slow if is_first or number < 2 else pytest.mark.long
            kept = [] if number < 2 and number == turn else [slow]
            cases.append(pytest.param(*case, schedule, marks=kept))
    return cases


@pytest.mark.parametrize(("shape", "result", "blocks", "plan", "schedule"), _cases())
def test_right_and_clean(shape, result, blocks, plan, schedule) -> None:
    order = {"schedule": schedule[0], "seed": schedule[1]}
    profile, is_exact = multiply(shape, result, blocks, plan, **order)
    assert [str(found) for found in profile.errors] == []
    assert is_exact


# Slips of each kind; test_emulator_hopper.py has all that a pipeline can lack.
# What is changed, into what, the code that is named ("": the result is wrong), and parts of lines.
SLIPS = {
    "released too early": (
        "            if done > 0:  # the product before is done\n"
        "                release(base, before, thread, cluster)\n",
        "            release(base, stage, thread, cluster)\n",
        "race-write-after-read", "tma_load(", "start_product(",
    ),
    "boxes overlap": ("group * (RESULTS * room.box)", "group * room.box", "race-", ""),
    "a panel too many": ("for p in range(room.panels)", "for p in range(room.panels + 1)",
        "race-|barrier-", ""),
    "arrivals miscounted": ("room.consumers * cluster)  #", "cluster)  #",
        "race-|barrier-divergence", ""),
    "no swizzle": ("(2 * q + lane // 16) ^ (lane % 8)", "2 * q + lane // 16", "", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=marks(number, slow=3)) for number, name in enumerate(SLIPS)
])  # fmt: skip
def test_slips_are_caught(name: str, tmp_path: Path) -> None:
    old, new, code, *parts = SLIPS[name]
    module = changed(rung_12_tma, old, new, tmp_path)
    kernel = module.ROUNDED.kernel_of(TilePlan())
    seen: list[Any] = []
    for schedule, seed in SCHEDULES:
        options = {"kernel": kernel, "schedule": schedule, "seed": seed}
        try:
            profile, is_exact = multiply(LONG, "bfloat16", 1, TilePlan(), **options)
        except (KernelRejected, LaunchRefused) as refused:
            seen.append(refused)
            continue
        seen += profile.errors
        if is_named(profile.errors, tmp_path, code, parts) or (not code and not is_exact):
            return
    raise AssertionError(seen)
