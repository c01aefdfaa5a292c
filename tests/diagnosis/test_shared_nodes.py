"""What others hang onto syntax trees, as IPython does for a traceback, costs no verdict."""

import ast

import pytest

from course_lib.checking import examine_source


@pytest.fixture
def hung_onto() -> object:
    """`ctx` of all names is one node in a Python process; `executing` gives it a `parent`."""
    tree = ast.parse("a[i] = b")
    nodes = list(ast.walk(tree))
    for node in nodes:
        for child in ast.iter_child_nodes(node):
            child.parent = node  # type: ignore[attr-defined]
    yield tree
    for node in nodes:
        vars(node).pop("parent", None)


def test_a_slip_is_told_the_same_with_parents_hung_onto_nodes(hung_onto: object) -> None:
    text = """from numba import cuda
@cuda.jit
def add_ten_everywhere(a, out):
    i = cuda.threadIdx.x
    if i < a.shape[0]:
        out[i] = a[i] + 10
"""
    assert examine_source("add_ten_everywhere", text, debug=True).findings[0].code == "wrong-index"
