"""A line of NumPy becomes the array that NumPy would make, and nothing else is ever run."""

import numpy as np
import pytest
from every_case import every_case

from course_lib.tab.arrays import made
from course_lib.tab.fields import Refused

N, TILE = 8, 4


@every_case(
    "line",
    [
        "np.zeros(4)", "np.zeros((2, 3), np.float32)", "np.ones([2, 2], dtype=np.int32)",
        "np.full((2, N), -1.5, dtype='float32')", "np.arange(10)", "np.arange(2, 9, 2.5)",
        "np.arange(64, dtype=np.float32).reshape(N, 8)", "np.arange(6).reshape((2, -1)).T",
        "np.linspace(0, 1, 5, dtype=np.float32)", "np.eye(3)", "np.eye(2, 3, dtype=np.float32)",
        "np.array([[1, 2], [3, 4]], dtype=np.float64)", "np.random.default_rng(7).random((3, 3))",
        "np.random.default_rng(7).random(3, dtype=np.float32)",
        "np.random.default_rng(7).integers(0, 9, 5)", "np.random.default_rng(7).permutation(5)",
        "np.random.default_rng(7).standard_normal((2, 2)).astype(np.float32)",
        "np.random.default_rng(7).uniform(-1, 1, 4)", "np.arange(N * TILE) % 7 - 3",
        "(np.arange(4) / 3).astype('float32')", "np.zeros(2**10)", "np.float32(2.5)", "3", "-0.5",
        "np.uint8(200)", "np.ones(3, bool)", "np.zeros((1 << 3,))", "np.zeros(*[3])",
        "np.sin(np.arange(9) / N)[::2]", "np.arange(TILE) @ np.ones((TILE, 2))", "max(N, TILE)",
        "2 * np.pi * np.linspace(0, 1, 9)", "numpy.zeros(3, int)", "np.zeros((3,), np.float16)",
    ],
)  # fmt: skip
def test_known_forms_are_what_numpy_makes(line: str) -> None:
    names = {"np": np, "numpy": np, "N": N, "TILE": TILE}
    expected = np.asarray(eval(line, names))
    found = np.asarray(made(line, {"N": N, "TILE": TILE}))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert np.array_equal(found, expected)


@every_case(
    ("line", "said"),
    [
        ("", "is not a Python expression"), ("np.zeros(", "is not a Python expression"),
        ("x = np.zeros(3)", "is not a Python expression"),
        ("open('/etc/passwd')", "open is not supported"),
        ("__import__('os').system('ls')", "__import__ is not supported"),
        ("np.load('x.npy')", "np.load is not supported"),
        ("np.zeros(3).tofile('x')", "tofile is not supported"),
        ("np.zeros.__globals__", "__globals__ is not supported"),
        ("[each for each in (1, 2)]", "neither an array nor a number"),
        ("zeros(3)", "Nothing is called zeros"), ("np.zeros(N)", "Nothing is called N"),
        ("np.zeros(-1)", "A shape is"), ("np.zeros(2.5)", "A shape is"),
        ("np.zeros(10**9)", "too large"), ("np.ones((2**11, 2**11))", "too large"),
        ("np.arange(0, 1, 1e-300)", "too large"), ("np.eye(2**20)", "too large"),
        ("np.linspace(np.zeros(99), 1, 2**20)", "but a number is needed"),
        ("np.array([np.zeros(2**20)] * 9)", "too large"),
        ("np.array([np.zeros(2**20), np.zeros(2**20)])", "too large"),
        ("np.random.default_rng(0).integers(np.zeros((9999, 1)), np.ones(9999), ())", "too large"),
        ("np.ones((2**20, 1)) + np.ones((1, 2**20))", "too large"), ("9**9**9", "too big"),
        ("'abc'", "neither an array nor a number"), ("(1, 2)", "neither an array nor a number"),
        ("np.random.default_rng(0)", "neither an array nor a number"),
        ("np.zeros(3, dtype='U9')", "is not a known type"),
        ("np.zeros(3, dtype=object)", "object is not supported"),
        ("np.arange(6).reshape(4, 4)", "Python stops here: cannot reshape"),
        ("np.zeros(3, nonsense=1)", "Python stops here"), ("1 / 0", "division by zero"),
        ("sum(i for i in range(10**9))", "too many steps"), ("-" * 1999 + "1", "too deeply"),
        ("1" * 3000, "too many"),
    ],
)  # fmt: skip
def test_everything_else_is_refused_in_a_sentence(line: str, said: str) -> None:
    with pytest.raises(Refused, match=said) as refused:
        made(line)
    assert str(refused.value).endswith(".")
