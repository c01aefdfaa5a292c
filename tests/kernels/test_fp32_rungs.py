"""The fp32 rungs multiply rightly on every shape, in the emulator, and refuse with the mend."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cuda
from sampling import few

import course_lib
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.kernels import RUNG_KERNELS, InputsRefused
from course_lib.wording.errors import PlainError

RUNGS = [
    name for name, rung in RUNG_KERNELS.items() if rung.dtype == "float32" and rung.tile[2] < 33
]
FP32 = [name for name in RUNGS if "tensor_core" not in name]
# M, N, K: K with a rest; edges on every side and K shorter than a tile; whole tiles.
SHAPES = ((129, 268, 28), (133, 260, 4), (128, 256, 16))


def emulated(rung, *arrays: np.ndarray):
    shape = (*arrays[2].shape, arrays[0].shape[1])
    grid, block = rung.grid_and_block(*shape)
    return course_lib.emulate(rung.kernel)[grid, block](*arrays)


def matrices(M: int, N: int, K: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((M, K), dtype=np.float32)
    B = rng.standard_normal((K, N), dtype=np.float32)
    return A, B, np.full((M, N), np.nan, np.float32)


@pytest.mark.parametrize("shape", few(map(pytest.param, SHAPES)), ids=str)
@pytest.mark.parametrize("name", FP32)
def test_right_and_without_findings(name, shape):
    rung = RUNG_KERNELS[name]
    A, B, C = matrices(*shape)
    profile = emulated(rung, A, B, C)
    exact = A.astype(np.float64) @ B.astype(np.float64)
    assert np.linalg.norm(C - exact) <= 1e-6 * np.linalg.norm(exact)
    assert not [each for each in profile.findings if each.severity == "error"]


@pytest.mark.parametrize("name", ("naive", "coalesced_while", "tiled", "tiled_while"))
def test_tiny_odd_shapes(name):
    A, B, C = matrices(5, 3, 7)
    emulated(RUNG_KERNELS[name], A, B, C)
    assert np.allclose(C, A @ B, atol=1e-5)


def test_infinities_at_the_edges_stay_where_they_belong():
    """A tile that slid back, and the rest of K, must not let 0 * inf into other sums."""
    for name in ("register_2d", "vectorised", "double_buffered", "cp_async"):
        A, B, C = matrices(130, 260, 12)
        B[11, 259] = np.inf
        emulated(RUNG_KERNELS[name], A, B, C)
        assert np.isfinite(C[:, :259]).all() and np.isinf(C[:, 259]).all(), name


def test_what_is_no_such_matrix_is_refused():
    A, B, C = matrices(64, 64, 64)
    refused = {
        "A is float64: convert it": (A.astype(np.float64), B, C),
        "B is not contiguous: copy it": (A, B.T, C),
        "a matrix has two": (A, B[0], C),
        "are not (M, K), (K, N) and (M, N)": (A, B, C[:32]),
        "A is empty, of shape (0, 64): leave the launch out": (A[:0], B, C[:0]),
        "A is no array, but of type list: convert it, np.array(A, 'float32')": (A.tolist(), B, C),
    }
    for said, arrays in refused.items():
        assert said in refusal("tiled", *arrays)
    RUNG_KERNELS["tiled"].check_inputs(A, B, C)


def refusal(name: str, *arrays: object) -> str:
    with pytest.raises(InputsRefused) as refused:
        RUNG_KERNELS[name].check_inputs(*arrays)
    return str(refused.value)


def test_sizes_are_refused_all_at_once_and_c_grows_with_them():
    said = refusal("vectorised", *matrices(7, 13, 5))
    assert "M = 7 is less than a tile's 128: pad A's rows with zeros to 128;" in said
    assert "N = 13 is no multiple of 4 and less than a tile's 128: pad B's columns" in said
    assert "K = 5 is no multiple of 4: pad A's columns and B's rows with zeros to 8;" in said
    assert "C = np.empty((128, 128), np.float32), and the product is C[:7, :13]" in said
    RUNG_KERNELS["vectorised"].check_inputs(*matrices(128, 128, 8))
    assert "C grows" not in refusal("vectorised", *matrices(128, 128, 5))


def moved(array: np.ndarray, elements: int) -> np.ndarray:
    """The same matrix, some elements further into the memory that holds it."""
    memory = np.empty(array.size + elements, array.dtype)
    memory[elements:] = array.reshape(-1)
    return memory[elements:].reshape(array.shape)


@pytest.mark.parametrize("name", ("vectorised", "cp_async", "tensor_core_tf32"))
def test_wide_loads_refuse_what_begins_in_between(name):
    A, B, C = matrices(128, 256, 32)
    assert "copy it, A.copy()" in refusal(name, moved(A, 1), B, C)
    assert "copy it, B.copy()" in refusal(name, A, moved(B, 2), C)
    assert "C = np.empty((128, 256), np.float32)" in refusal(name, A, B, moved(C, 3))
    on_device = EmulatedDeviceArray(moved(A, 1))
    assert "copy it, cuda.to_device(A.copy_to_host())" in refusal(name, on_device, B, C)
    RUNG_KERNELS[name].check_inputs(moved(A, 4), B, C)
    RUNG_KERNELS[name].check_inputs(moved(A, 1).copy(), B, C)
    RUNG_KERNELS["register_2d"].check_inputs(moved(A, 1), B, C)


def test_the_address_on_a_gpu_counts():
    A, B, C = matrices(128, 128, 32)
    flags = SimpleNamespace(c_contiguous=True)

    def on_gpu(address: int) -> SimpleNamespace:
        about = {"__cuda_array_interface__": {"data": (address, False)}}
        return SimpleNamespace(shape=A.shape, dtype=A.dtype, flags=flags, **about)

    assert "multiple of 16 bytes" in refusal("vectorised", on_gpu(0x7F0000000204), B, C)
    RUNG_KERNELS["vectorised"].check_inputs(on_gpu(0x7F0000000200), B, C)


def test_mends_of_c_make_a_new_one():
    A, B, C = matrices(64, 96, 32)
    wide, column_major = C.astype(np.float64), np.asfortranarray(C)
    for wrong in (wide, column_major, C[:0], C[0], C[:32], C.tolist()):
        said = refusal("tiled", A, B, wrong)
        assert "C = np.empty((64, 96), np.float32)" in said
        assert "astype" not in said and "ascontiguousarray" not in said


MOST = 65_535 * 32


@pytest.mark.parametrize(("name", "fits", "at_fault"), [
    ("naive", (MOST + 1, 1, 1), (1, MOST + 1, 1)),
    ("naive_while", (MOST + 1, 1, 1), (1, MOST + 1, 1)),
    ("coalesced", (1, MOST + 1, 1), (MOST + 1, 1, 1)),
])  # fmt: skip
def test_the_axis_that_has_too_many_blocks_is_named(name, fits, at_fault):
    def zeros(M: int, N: int, K: int) -> list[np.ndarray]:
        return [np.zeros(shape, np.float32) for shape in ((M, K), (K, N), (M, N))]

    RUNG_KERNELS[name].check_inputs(*zeros(*fits))
    axis = "MN"[at_fault.index(MOST + 1)]
    said = refusal(name, *zeros(*at_fault))
    assert f"{axis} = {MOST + 1} needs 65,536 blocks along y" in said
    assert f"each of {MOST} at most" in said


@cuda.jit
def racing(A, B, C):
    C[0, 0] = A[0, cuda.threadIdx.x % 4]


def test_a_launch_raises_what_the_emulator_found():
    broken = dataclasses.replace(RUNG_KERNELS["tiled"], name="broken", kernel=racing)
    A, B, C = matrices(1, 4, 4)
    said = r"broken ran, but don't trust C: line \d+: .* both write C"
    with pytest.raises(PlainError, match=said):
        broken.launch(A, B, C)
    RUNG_KERNELS["tiled"].launch(A, B, C)
    assert np.allclose(C, A @ B, atol=1e-5)
