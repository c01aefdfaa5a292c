"""The functions of Python's module operator compute what its operators compute."""

import operator

import numpy as np
from emulator_helpers import run_clean
from every_case import every_case

HEAD = "import operator\n"
BINARY = """add and_ eq floordiv ge gt iadd iand ifloordiv ilshift imod imul ior ipow irshift isub
    ixor le lshift lt mod mul ne or_ pow rshift sub truediv itruediv xor""".split()


@every_case("name", BINARY)
def test_two_operands(name: str) -> None:
    x = np.array([7, 2, 5], np.int64)
    out = np.zeros(3)
    body = f"i = cuda.threadIdx.x\nout[i] = operator.{name}(x[i], x[1])"
    run_clean(body, 1, 3, x, out, parameters="x, out", before=HEAD)
    assert out.tolist() == [getattr(operator, name)(int(each), 2) for each in x]


@every_case("call", ["neg(x[1])", "not_(x[1])", "invert(x[1])", "pos(x[1])", "getitem(x, 2)",
                     "contains((1, 2), x[1])", "mul(operator.add(x[0], 1), x[2])"])  # fmt: skip
def test_one_operand_and_containers(call: str) -> None:
    x, out = np.array([7, 2, 5], np.int64), np.zeros(1)
    run_clean(f"out[0] = operator.{call}", 1, 1, x, out, parameters="x, out", before=HEAD)
    assert out[0] == eval(f"operator.{call}", {"operator": operator, "x": x})
