"""The counters agree with counting by brute force, address by address."""

from collections import defaultdict

import numpy as np
import pytest
from emulator_helpers import as_program, launch, line_of, run_clean
from hypothesis import given
from hypothesis import strategies as st

WARP = 32


def warps(threads: int) -> list[range]:
    """The threads of one block, warp by warp."""
    return [range(start, min(start + WARP, threads)) for start in range(0, threads, WARP)]


def sectors(byte_addresses: list[int], width: int) -> int:
    """How many 32-byte sectors these accesses touch."""
    return len({byte // 32 for start in byte_addresses for byte in range(start, start + width)})


def lanes_at_once(byte_addresses: list[int | None], width: int) -> int:
    """How many lanes are served together: fewer for wide elements, more if lanes share them."""
    lanes = WARP // max(1, width // 4)
    for distance in (1, 2):
        pairs = [(a, byte_addresses[i ^ distance]) for i, a in enumerate(byte_addresses)]
        if width > 4 and all(a == b or None in (a, b) for a, b in pairs):
            return 2 * lanes
    return lanes


def wavefronts(byte_addresses: list[int | None], width: int) -> tuple[int, int]:
    """How many passes these accesses take, and how many phases they have."""
    total = phases = 0
    together = lanes_at_once(byte_addresses, width)
    for start in range(0, len(byte_addresses), together):
        words = defaultdict(set)
        for address in byte_addresses[start : start + together]:
            if address is not None:
                for word in range(address // 4, (address + width - 1) // 4 + 1):
                    words[word % 32].add(word)
        total += max((len(each) for each in words.values()), default=0)
        phases += bool(words)
    return total, phases


@st.composite
def patterns(draw) -> tuple[int, int, np.ndarray, np.ndarray]:
    """Blocks, threads, an index for every thread, and whether the thread takes part."""
    blocks = draw(st.integers(1, 3))
    threads = draw(st.sampled_from([1, 7, 32, 33, 64, 100, 128]))
    size = draw(st.sampled_from([8, 64, 300]))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    count = blocks * threads
    index = {
        "random": random.integers(0, size, count),
        "stride": (np.arange(count) * draw(st.integers(0, 40)) + draw(st.integers(0, 9))) % size,
        "permuted": random.permutation(count) % size,
    }[draw(st.sampled_from(["random", "stride", "permuted"]))]
    share = draw(st.sampled_from([0.0, 0.1, 0.9, 1.0]))
    return blocks, threads, index.astype(np.int64), random.random(count) < share


@pytest.mark.parametrize("dtype", [np.int8, np.float32, np.float64])
@given(pattern=patterns())
def test_global_requests_and_sectors(dtype: type, pattern) -> None:
    blocks, threads, index, active = pattern
    width = np.dtype(dtype).itemsize
    data = np.arange(300).astype(dtype)
    out = np.zeros(len(index), dtype)
    program = as_program(
        """
        i = cuda.grid(1)
        where = index[i]
        if active[i]:
            value = data[where]  # the load
            out[i] = value  # the store
        """,
        "data, index, active, out",
    )
    profile = launch(program, blocks, threads, data, index, active, out)
    expected = dict.fromkeys(
        ("load_requests", "load_sectors", "store_requests", "store_sectors"), 0
    )
    for block in range(blocks):
        for warp in warps(threads):
            lanes = [block * threads + lane for lane in warp if active[block * threads + lane]]
            if lanes:
                expected["load_requests"] += 1
                expected["store_requests"] += 1
                expected["load_sectors"] += sectors([int(index[i]) * width for i in lanes], width)
                expected["store_sectors"] += sectors([i * width for i in lanes], width)
    load = profile.lines.get(line_of(program, "# the load"))
    store = profile.lines.get(line_of(program, "# the store"))
    found = {
        "load_requests": load.global_load_requests if load else 0,
        "load_sectors": load.global_load_sectors if load else 0,
        "store_requests": store.global_store_requests if store else 0,
        "store_sectors": store.global_store_sectors if store else 0,
    }
    assert found == {name: expected[name] for name in found}
    count = int(active.sum())
    assert (load.global_load_bytes if load else 0) == count * width
    assert profile.global_store_bytes == count * width
    np.testing.assert_array_equal(out, np.where(active, data[index], 0).astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@given(pattern=patterns())
def test_shared_wavefronts_and_conflicts(dtype: str, pattern) -> None:
    blocks, threads, index, active = pattern
    width = np.dtype(dtype).itemsize
    program = as_program(
        f"""
        tile = cuda.shared.array(300, {dtype})
        for k in range(cuda.threadIdx.x, 300, cuda.blockDim.x):
            tile[k] = k
        cuda.syncthreads()
        i = cuda.grid(1)
        where = index[i]
        if active[i]:
            value = tile[where]  # the load
            out[i] = value
        """,
        "index, active, out",
    )
    out = np.zeros(len(index), dtype)
    profile = launch(program, blocks, threads, index, active, out)
    requests = passes = needed = 0
    for block in range(blocks):
        for warp in warps(threads):
            lanes = [block * threads + lane for lane in warp]
            addresses = [int(index[i]) * width if active[i] else None for i in lanes]
            if not any(address is not None for address in addresses):
                continue
            requests += 1
            addresses += [None] * (WARP - len(addresses))
            taken, phases = wavefronts(addresses, width)
            passes += taken
            needed += phases
    load = profile.lines.get(line_of(program, "# the load"))
    assert (load.shared_load_requests if load else 0) == requests
    assert (load.shared_load_wavefronts if load else 0) == passes
    assert (load.shared_load_bank_conflicts if load else 0) == passes - needed
    np.testing.assert_array_equal(out, np.where(active, index, 0))


def test_views_count_at_their_offset() -> None:
    data, out = np.zeros(512, np.float32), np.zeros(32, np.float32)
    body = "i = cuda.threadIdx.x\nout[i] = data[i]"
    whole = run_clean(body, 1, 32, data, out, parameters="data, out")
    shifted = run_clean(body, 1, 32, data[1:], out, parameters="data, out")
    every_other = run_clean(body, 1, 32, data[::2], out, parameters="data, out")
    assert whole.global_load_sectors == 4
    assert shifted.global_load_sectors == 5
    assert every_other.global_load_sectors == 8


def test_matmul_kernels_by_hand() -> None:
    """FACTS: 64 requests in 160 sectors for 32 steps of the coalesced kernel, 1056 strided."""
    n = 64
    A = B = np.ones((n, n), np.float32)
    body = """
        x, y = cuda.grid(2)
        row, col = ORDER
        acc = float32(0)
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
    """
    blocks = (n // 32) ** 2
    for order, sectors_per_warp in (("y, x", 5 * n), ("x, y", 33 * n)):
        C = np.zeros((n, n), np.float32)
        profile = run_clean(
            body.replace("ORDER", order), (n // 32, n // 32), (32, 32), A, B, C,
            parameters="A, B, C",
        )  # fmt: skip
        assert profile.global_load_requests == 2 * n * 32 * blocks
        assert profile.global_load_sectors == sectors_per_warp * 32 * blocks
        assert profile.global_load_bytes == 2 * n**3 * 4
        assert profile.flops == 2 * n**3
        assert profile.float64_flops == 0
        assert np.all(n == C)
        for name in ("global_load_requests", "global_load_sectors", "global_load_bytes", "flops"):
            lines = (getattr(each, name) for each in profile.lines.values())
            assert sum(lines) == getattr(profile, name)
        a, b, c = (profile.arrays[name] for name in "ABC")
        assert a.shape == (n, n) and a.load_requests == b.load_requests == n * 32 * blocks
        assert (a.loaded_elements, a.distinct_elements_loaded) == (n**3, n**2)
        assert (c.distinct_elements_stored, c.distinct_elements_loaded) == (n**2, 0)


def test_flops_count_active_lanes_and_fma_as_two() -> None:
    out = np.zeros(64, np.float32)
    body = """
        i = cuda.grid(1)
        x = out[i]
        if i < 10:
            x = x * x + x
            x = cuda.fma(x, x, x)
        x += 1 - 1 // 1
        out[i] = x / x - x
    """
    profile = run_clean(body.replace("x += 1 - 1 // 1", "x = -x"), 1, 64, out)
    # 10 lanes: multiply, add, fma (2); 64 lanes: divide, subtract. A negation is not counted here.
    assert profile.flops in (10 * 4 + 64 * 2, 10 * 4 + 64 * 3)


def test_branch_efficiency() -> None:
    out = np.zeros(64, np.float32)
    uniform = run_clean("i = cuda.grid(1)\nif i < 32:\n    out[i] = 1", 1, 64, out)
    split = run_clean("i = cuda.grid(1)\nif i < 40:\n    out[i] = 1", 1, 64, out)
    assert uniform.branch_efficiency == 1.0
    assert uniform.divergent_branches == 0
    assert split.branches == 2
    assert split.divergent_branches == 1
    assert split.branch_efficiency == 0.5
