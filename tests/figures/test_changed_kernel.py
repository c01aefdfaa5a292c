"""A rung's listing: every line of its kernel, and the marks where the last rung says otherwise."""

from __future__ import annotations

from types import SimpleNamespace

from course_lib import figures
from course_lib.kernels import RUNG_KERNELS


def kernel() -> None:
    """Stands for a kernel of this name."""


class Rung:
    kernel = SimpleNamespace(py_func=kernel)

    def __init__(self, name: str, source: str) -> None:
        self.name, self.source = name, source


OLD = """\
import numpy as np

BM = 64
USED = np.uint32(3)


def helper(a):
    return a


@cuda.jit
def kernel(A):
    for i in range(4):
        A[i] = 0
    other = 1
"""
NEW = """\
import numpy as np

BM = 128


def helper(a):
    return a + 1


def nobody(a):
    return a


@cuda.jit
def kernel(A):
    while True:
        for i in range(4):
            A[i] = 0  # the same, deeper
    helper(A)
"""


def listing():
    return figures.changed_kernel(Rung("new", NEW), since=Rung("old", OLD))


def test_what_is_new_is_marked_however_deep_it_stands():
    found = listing()
    marked = [line.strip() for line, new in zip(found.lines, found.is_new, strict=True) if new]
    assert marked == ["BM = 128", "def helper(a):", "return a + 1", "while True:", "helper(A)"]
    assert found.title == "new: 5 of 11 lines are not in old"


def test_it_shows_constants_the_kernel_and_what_it_calls():
    words = repr(listing())
    assert "+ BM = 128" in words and "+     return a + 1" in words
    assert "nobody" not in words and "import" not in words
    page = listing().as_html()
    assert page.count("<tr") == len(listing().lines) and "while True:" in page


def test_every_line_of_a_rung_stands_there():
    rung, before = RUNG_KERNELS["vectorised"], RUNG_KERNELS["register_2d"]
    found = figures.changed_kernel(rung, since=before)
    text = rung.source
    body = text[text.index("@cuda.jit") : text.index("\n\n\nRUNG")]
    assert "\n".join(found.lines).endswith(body)
    assert 5 < sum(found.is_new) < len(found.lines) / 2
