"""The tensor-core rungs on the emulator: right at odd shapes, without a finding."""

import numpy as np
import pytest
from exact_products import product
from sampling import few

from course_lib.kernels import RUNG_KERNELS, InputsRefused, accuracy

# Rows beyond a tile, columns that end within one, an odd and an even number of tiles along K.
SHAPES = {
    "tensor_core_f16": (130, 136, 96),
    "tensor_core_bf16": (130, 264, 128),
    "tensor_core_tf32": (130, 260, 48),
}


@pytest.mark.parametrize("name", SHAPES)
def test_products(name: str) -> None:
    assert product(RUNG_KERNELS[name], *SHAPES[name]).findings == []


def test_conversions() -> None:
    tie, above = 1 + 2**-8, np.nextafter(np.float32(1 + 2**-8), np.float32(2))
    numbers = np.array([1, tie, above, 1 + 3 * 2**-8, -2.5], np.float32)
    values = accuracy.from_bf16(accuracy.bits_of_bf16(numbers))
    assert values.tolist() == [1, 1, 1 + 2**-7, 1 + 2**-6, -2.5]  # to even in the middle
    assert accuracy.cut_to_tf32(np.array([1 + 2**-10 + 2**-11], "f4")).tolist() == [1 + 2**-10]


def test_what_they_refuse() -> None:
    A, B, C = (np.zeros(shape, np.uint16) for shape in ((8, 40), (40, 8), (8, 8)))
    with pytest.raises(InputsRefused, match=r"K = 40 is no multiple of 32: .* zeros to 64"):
        RUNG_KERNELS["tensor_core_bf16"].check_inputs(A, B, C.astype(np.float32))
    with pytest.raises(InputsRefused, match="A is uint16: convert it"):
        RUNG_KERNELS["tensor_core_f16"].check_inputs(A, B, C)


def test_what_tma_refuses() -> None:
    """M may be anything; rows must begin at multiples of 16 bytes; C has the rung's own format."""
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
    with pytest.raises(
        InputsRefused, match=r"N = 5 is no multiple of 8: .*np.empty\(\(3, 8\), np.uint16"
    ):
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
