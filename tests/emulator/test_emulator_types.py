"""The emulator gives every expression the type that Numba's compiler gives it."""

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from emulator_helpers import HEADER, run

from course_lib.emulator import KernelRejected, load_program
from course_lib.emulator.inference.infer import infer

GOLDEN = (Path(__file__).parent / "numba_types.txt").read_text(encoding="utf-8")


def operator_cases() -> Iterator[tuple[str, str, str, str]]:
    """Operator, left type, right type, result type."""
    columns: list[str] = []
    types: set[str] = set()
    operators: list[str] = []
    for line in GOLDEN.splitlines():
        words = line.split()
        if line.startswith("operator"):
            operators = words[1:]
        elif line.startswith(" "):
            columns = words
            types.update(columns)
        elif words and types.issuperset(lefts := words[0].split("|")):
            for operator, left in itertools.product(operators, lefts):
                for right, result in zip(columns, words[1:], strict=True):
                    yield operator, left, right, result


def expression_cases() -> Iterator[tuple[str, str, str]]:
    """Expression, types of a and b, result type."""
    for line in GOLDEN.splitlines():
        if line.startswith("expression"):
            _, written, results = re.split(" {2,}", line)
            alike = re.search(r"\{(.+)\}", written)
            names = alike[1].split(",") if alike else [""]
            expressions = [re.sub(r"\{.+\}", name, written) for name in names]
            for each in results.split("; "):
                result, types = each.split(": ")
                yield from itertools.product(expressions, types.split(" | "), [result])


def inferred(statements: str, argument_types: list[str]) -> str:
    """The type of the variable `x` after `statements`, or "refused"."""
    names = ", ".join("ab"[: len(argument_types)])
    imports = f"import cmath\nfrom numba.cuda import libdevice as ld\n{HEADER}"
    program = load_program(f"{imports}@cuda.jit\ndef kernel({names}):\n{statements}\n")
    types = [np.dtype(name) for name in argument_types]
    try:
        typing = infer(program.kernel("kernel"), types)
    except KernelRejected as refused:
        # A course's emulator may know less than Numba, but must then say so.
        return "unsupported" if refused.findings[0].code == "unsupported" else "refused"
    return next(
        str(kind).replace("literal ", "")
        for node, kind in typing.types.items()
        if isinstance(node, ast.Name) and node.id == "x" and isinstance(node.ctx, ast.Load)
    )


def test_every_operator_has_numbas_types() -> None:
    different = []
    for operator, left, right, expected in operator_cases():
        if expected == "-":
            continue  # a table that adds complex numbers to those before it
        if operator == "if-else":
            body = "    x = a\n    if b != 0:\n        x = b\n    x = x"
        else:
            body = f"    x = a {operator} b\n    y = x"
        found = inferred(body, [left, right])
        if found != expected:
            different.append(f"{left} {operator} {right}: {found}, Numba has {expected}")
    assert not different, "\n".join(different)


def test_expressions_have_numbas_types() -> None:
    """What the emulator does not know stays the exception."""
    cases = list(expression_cases())
    unsupported, different = [], []
    for expression, types, expected in cases:
        found = inferred(
            f"    x = {expression}\n    y = x", [] if types == "-" else types.split(", ")
        )
        if found == "unsupported":
            unsupported.append(expression)
        elif found != expected:
            different.append(f"{expression} of {types}: {found}, Numba has {expected}")
    assert not different, "\n".join(different)
    assert len(unsupported) <= len(cases) // 20, unsupported


def test_a_sum_that_starts_with_a_whole_number_is_one_of_float64() -> None:
    values, sums = np.full(10, np.float32(0.1), np.float32), {}
    for start in ("0", "0.0", "np.float32(0)", "float32(0.0)"):
        out = np.zeros(1, np.float64)
        body = f"acc = {start}\nfor i in range(values.size):\n    acc += values[i]\nout[0] = acc"
        profile = run(body, 1, 1, out, values, parameters="out, values")
        sums[start] = (out[0], profile.float64_flops > 0)
    single, double = sum(values, np.float32(0)), sum(map(float, values))
    assert sums["np.float32(0)"] == sums["float32(0.0)"] == (single, False)
    assert sums["0"] == sums["0.0"] == (double, True) and double != single
