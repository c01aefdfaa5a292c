"""`@vectorize`, `@guvectorize` and `cuda.reduce` without a GPU, against Numba's CPU and NumPy."""

import math
import warnings

import numpy as np
import pytest
from every_case import every_case

pytest.importorskip("numba")
from numba import cuda, float32, float64, guvectorize, int64, vectorize

import course_lib
from course_lib.host import runtime
from course_lib.host.device_array import EmulatedDeviceArray
from course_lib.wording.errors import ArgumentsRefused, LaunchRefused

RATE = 3


@pytest.fixture(autouse=True)
def _session():
    runtime.stop()
    runtime.start()
    yield
    runtime.stop()


@cuda.jit(device=True)
def clipped(x):
    return max(0.0, min(x, 1.0))


def added(x, y):
    return x + y


def polar(rho, theta):
    return rho * math.cos(theta)


def scaled(x, y):
    return x * RATE - y


def larger(x, y):
    if x > y:
        return x
    return y


def escapes(real, imaginary):
    z = 0j
    for turn in range(20):
        z = z * z + complex(real, imaginary)
        if abs(z) > 2:
            return turn
    return 20


def negated(x):
    return not x


SIGNATURES = {
    added: ["int64(int64, int64)", "float32(float32, float32)", "float64(float64, float64)"],
    polar: ["float32(float32, float32)"],
    scaled: [int64(int64, int64), float64(float64, float64)],
    larger: [(float32, float32), (int64, int64)],
    escapes: ["int32(float64, float64)"],
}
SHAPES = (((5,), (5,)), ((300,), (1,)), ((4, 3), (3,)), ((4, 1), (1, 3)), ((2, 3, 4), (2, 3, 4)))


def _numbers(shape: tuple[int, ...], dtype: np.dtype, seed: int) -> np.ndarray:
    return (np.random.default_rng(seed).random(shape) * 9 - 4).astype(dtype)


@every_case("function", SIGNATURES)
@pytest.mark.slow
def test_vectorize_gives_what_numba_gives_on_the_processor(function) -> None:
    ours = vectorize(SIGNATURES[function], target="cuda")(function)
    theirs = vectorize(SIGNATURES[function])(function)
    for types in ours._versions:
        for first, second in SHAPES:
            pair = _numbers(first, types[0], 1), _numbers(second, types[1], 2)
            expected, result = theirs(*pair), ours(*pair)
            assert isinstance(result, np.ndarray)
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(result, expected, rtol=1e-6)
            assert course_lib.last_profile().kernel_name == function.__name__


def test_scalars_are_converted_and_arrays_are_not() -> None:
    add = vectorize(SIGNATURES[added], target="cuda")(added)
    assert add(np.arange(3), 10).tolist() == [10, 11, 12]
    assert add(10, np.arange(3)).dtype == np.int64
    assert add(np.ones(2, np.float32), 0.5).dtype == np.float32
    assert add(1, 2).tolist() == [3]
    assert add([1, 2], [3, 4]).tolist() == [4, 6]
    two, whole = np.ones(2), np.ones(2, np.int32)
    for refused in ((whole, whole), (np.ones(2, np.int64), two), (two,), (two, np.ones(3))):
        with pytest.raises(TypeError) as said:
            add(*refused)
        assert isinstance(said.value, ArgumentsRefused) and "add" in str(said.value)
    both = vectorize(["int64(int64)", "int32(int32)"], target="cuda")(lambda x: x + 1)
    with pytest.raises(TypeError, match="says which is meant"):
        both(1.5)
    with pytest.raises(TypeError, match="no signature"):
        vectorize(target="cuda")(added)(1, 2)


def test_device_arrays_stay_on_the_device() -> None:
    add = vectorize(["float64(float64, float64)"], target="cuda")(added)
    a, out = cuda.to_device(np.arange(6.0).reshape(2, 3)), cuda.device_array((2, 3))
    result = add(a, np.ones(3))
    assert isinstance(result, EmulatedDeviceArray)
    assert result.copy_to_host().tolist() == [[1, 2, 3], [4, 5, 6]]
    assert add(a, a, out=out, stream=cuda.stream()) is out
    assert out.copy_to_host().tolist() == [[0, 2, 4], [6, 8, 10]]
    assert add(a, a, out=a) is a
    assert a.copy_to_host().tolist() == [[0, 2, 4], [6, 8, 10]]
    host = np.zeros(4)
    assert add(np.ones(4), 1, out=host) is host
    assert host.tolist() == [2] * 4
    with pytest.raises(ValueError, match="`out` is float32"):
        add(np.ones(4), 1, out=np.zeros(4, np.float32))
    assert add(np.zeros(0), np.zeros(0)).shape == (0,)


def test_other_functions_and_names_are_found() -> None:
    @vectorize(["float64(float64)"], target="cuda")
    def through(x):
        return clipped(x * RATE)

    assert through(np.array([-1.0, 0.1, 2.0])).tolist() == pytest.approx([0, 0.3, 1])
    both = np.array([True, False])
    assert vectorize(["bool(bool)"], target="cuda")(negated)(both).tolist() == [False, True]
    assert vectorize(["float64(float64)"], target="cuda")(lambda x: x / 2)(3.0)[0] == 1.5


def test_the_reduction_of_a_ufunc_is_numbas() -> None:
    add = vectorize(SIGNATURES[added], target="cuda")(added)
    most = vectorize(["int64(int64, int64)"], target="cuda")(larger)
    for count in (1, 2, 7, 64):
        assert add.reduce(np.arange(count)) == count * (count - 1) // 2
        values = np.random.default_rng(count).integers(-99, 99, count)
        kept = values.copy()
        assert most.reduce(values) == values.max()
        assert (values == kept).all()
        assert add.reduce(cuda.to_device(np.arange(float(count)))) == count * (count - 1) / 2
    for bad in (np.zeros(0), np.zeros((2, 2))):
        with pytest.raises(TypeError, match="not empty"):
            add.reduce(bad)
    with pytest.raises(TypeError, match="two values"):
        vectorize(["float64(float64)"], target="cuda")(lambda x: x).reduce(np.ones(3))


def test_what_goes_wrong_in_a_ufunc_is_told_with_its_line(capsys) -> None:
    table = np.arange(4.0)

    @vectorize(["float64(int64)"], target="cuda")
    def looked_up(i):
        return table[i]  # this

    looked_up(np.arange(5))
    (found,) = course_lib.last_profile().findings
    line = looked_up._versions[(np.dtype(np.int64),)].kernel.tree.lineno + 1
    assert (found.code, found.line) == ("out-of-bounds-read", line)
    assert "looked_up, line" in capsys.readouterr().out

    @vectorize(["float64(float64)"], target="cuda")
    def unknown(x):
        return x.nothing

    with pytest.raises(LaunchRefused, match="unknown did not run"):
        unknown(np.ones(2))
    for function, found in ((lambda x: (x, x), "float64, float64"), (lambda x: None, "None")):
        pair = vectorize(["float64(float64)"], target="cuda")(function)
        said = f"declared to return float64, but it returns.*{found}"
        with pytest.raises(LaunchRefused, match=said):
            pair(np.ones(2))


@every_case(("decorate", "says"), [
    (lambda: vectorize(["f8(f8)"], target="cuda", cache=True)(abs), "cache"),
    (lambda: vectorize(["f8(f8)"], target="cuda", fastmath=True)(abs), "fastmath"),
    (lambda: guvectorize(["f8(f8[:], f8[:])"], "(i)->()", target="cuda")(abs), "nothing"),
    (lambda: guvectorize(["(f8[:], f8[:])"], "(i),()->()", target="cuda")(abs), "2 types"),
    (lambda: guvectorize(["(f8[:], f8[:])"], "(i,j)->()", target="cuda")(abs), "2 axes"),
    (lambda: guvectorize(["(f8[:], f8[:])"], "(i)->()", target="cuda", writable_args=(0,))(abs),
     "written"),
    (lambda: cuda.reduce(max), "written in Python"),
])  # fmt: skip
def test_what_numba_refuses_is_refused_in_a_sentence(decorate, says: str) -> None:
    with pytest.raises(ArgumentsRefused, match=says):
        decorate()


def summed(values, result):
    total = 0.0
    for value in values:
        total += value
    result[0] = total


def with_scalar(values, factor, result):
    for i in range(values.shape[0]):
        result[i] = values[i] * factor


def with_array_of_one(values, factor, result):
    for i in range(values.shape[0]):
        result[i] = values[i] * factor[0]


def product(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total


def extremes(values, low, high):
    low[0] = high[0] = values[0]
    for value in values:
        low[0] = min(low[0], value)
        high[0] = max(high[0], value)


def doubled(x, result):
    result[0] = 2 * x


# The function, its types and layout, and shapes of what it is given.
GENERAL = {
    "a sum": (summed, ["(float64[:], float64[:])"], "(i)->()", [((3, 4),), ((4,),), ((2, 3, 4),)]),
    "void": (summed, ["void(float32[:], float32[:])"], "(i)->()", [((3, 4),)]),
    "a scalar": (with_scalar, ["(float64[:], float64, float64[:])"], "(i),()->(i)",
        [((3, 4), ()), ((3, 4), (3,)), ((4,), ())]),
    "an array of one": (with_array_of_one, ["(float64[:], float64[:], float64[:])"], "(i),()->(i)",
        [((3, 4), (3,)), ((3, 4), ())]),
    "matrices": (product, ["(float64[:,:], float64[:,:], float64[:,:])"], "(m,n),(n,p)->(m,p)",
        [((5, 2, 3), (5, 3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((1, 2, 3), (5, 3, 4))]),
    "two results": (extremes, ["(int64[:], int64[:], int64[:])"], "(i)->(),()", [((6, 5),)]),
    "numbers": (doubled, ["(float64, float64[:])"], "()->()", [((7,),), ((2, 3),)]),
}  # fmt: skip


@every_case("name", GENERAL)
@pytest.mark.slow
def test_guvectorize_gives_what_numba_gives_on_the_processor(name: str) -> None:
    function, types, layout, cases = GENERAL[name]
    ours = guvectorize(types, layout, target="cuda")(function)
    theirs = guvectorize(types, layout)(function)
    kinds = next(iter(ours._versions))
    for shapes in cases:
        pairs = enumerate(zip(shapes, kinds, strict=True))
        given = [_numbers(shape, kind, i) for i, (shape, kind) in pairs]
        launches = theirs(*given), ours(*given), ours(*map(cuda.to_device, given))
        launches = [each if type(each) is tuple else (each,) for each in launches]
        for expected, result, on_device in zip(*launches, strict=True):
            kind, shape = np.asarray(expected).dtype, np.shape(expected)
            assert (result.dtype, result.shape) == (kind, shape)
            np.testing.assert_allclose(result, expected, rtol=1e-6)
            assert isinstance(on_device, EmulatedDeviceArray)


def test_the_results_of_a_guvectorize_go_where_they_are_wanted_and_parts_fit() -> None:
    ours = guvectorize(["(float64[:], float64[:])"], "(i)->()", target="cuda")(summed)
    ours.max_blocksize = 32
    values, host, device = np.ones((3, 4)), np.zeros(3), cuda.device_array(3)
    assert ours(values, out=host) is host
    assert ours(values, host) is host
    assert host.tolist() == [4] * 3
    assert ours(cuda.to_device(values), out=device) is device
    assert device.copy_to_host().tolist() == [4] * 3
    every_other = cuda.to_device(np.zeros(6))[::2]
    assert ours(values, out=every_other).copy_to_host().tolist() == [4] * 3
    single = guvectorize(["(float32[:], float32[:])"], "(i)->()", target="cuda")(summed)
    assert single(values).dtype == np.float32, "Numba casts down"
    for refused, says in (
        ((np.ones((3, 4), np.float32),), r"takes \(float64\)"),
        ((values, np.zeros(4)), "the shape"),
        ((values, host, host), "takes 1 arguments"),
        ((np.float64(3),), "needs 1 axes"),
        ((np.zeros((0, 4)),), "empty"),
    ):
        with pytest.raises(ValueError, match=says):
            ours(*refused)
    with pytest.raises(TypeError, match="no such array is converted"):
        single(cuda.to_device(values))
    ours = guvectorize(*GENERAL["matrices"][1:3], target="cuda")(product)
    for first, second, says in (
        ((5, 2, 3), (4, 3, 4), "repeats only a single part"),
        ((2, 3), (4, 5), "length n"),
    ):
        with pytest.raises(ValueError, match=says):
            ours(np.ones(first), np.ones(second))


COUNTS = (1, 2, 32, 33, 129, 8193)


def test_a_reduction_combines_all_elements_and_its_ends() -> None:
    add, most = cuda.reduce(lambda a, b: a + b), cuda.Reduce(larger)
    for count in COUNTS:
        values = np.random.default_rng(count).integers(-99, 99, count)
        assert add(values) == values.sum()
        assert add(values, init=5) == values.sum() + 5
        assert add(values, size=count // 2) == values[: count // 2].sum()
        assert most(values, init=-100) == values.max()
        assert most(cuda.to_device(values)) == max(values.max(), 0)
        assert not course_lib.last_profile().findings
    assert add(np.zeros(0, np.float32), init=7) == 7
    assert add(np.zeros(0, np.float32)).dtype == np.float32
    assert add(np.ones(300, np.float32)).dtype == np.float32
    result = cuda.device_array(4, np.int64)
    assert add(np.arange(10), res=result, stream=cuda.stream()) is None
    assert result[0] == 45
    assert cuda.reduce(lambda a, b: a * b)(np.arange(1, 5), init=1) == 24
    with pytest.raises(TypeError, match="one axis"):
        add(np.ones((2, 2)))
    with pytest.raises(LaunchRefused, match="did not run"):
        cuda.reduce(lambda a, b: a.nothing)(np.ones(3))


def test_everything_is_numbas_again_afterwards() -> None:
    from numba.np.ufunc.decorators import GUVectorize, Vectorize

    ours = Vectorize.target_registry, GUVectorize.target_registry, cuda.reduce
    runtime.stop()
    after = Vectorize.target_registry, GUVectorize.target_registry, cuda.reduce
    assert not any(one is other for one, other in zip(ours, after, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert vectorize(["float64(float64, float64)"])(added)(1.0, 2.0) == 3
