"""Emulation of `course_lib.intrinsics` for attention on Hopper: two products, powers of 2, log2.

Layouts are those of `course_lib.intrinsics.wgmma_attention`. Powers and logarithms are NumPy's, in
float32; a multiprocessor's are off by two last digits at most.
"""

import ast
from typing import Any

import numpy as np

from course_lib.emulator.functions.address_functions import ROW
from course_lib.emulator.functions.math_functions import elementwise
from course_lib.emulator.functions.warpgroup_products import (
    ROWS,
    UNIT,
    ProductForm,
    Tile,
    begin,
    waiting,
    waits_for_all_but,
    word_of,
)
from course_lib.emulator.functions.wide_functions import HOME, Parameter, an_array, taking
from course_lib.emulator.language import types as T
from course_lib.emulator.language.intrinsics import (
    INTRINSICS,
    Action,
    Beside,
    Typed,
    need,
)
from course_lib.emulator.machine.engine import Waiting
from course_lib.emulator.machine.machine import Machine
from course_lib.emulator.state.lanes import Value

SMALLEST = np.float32(2.0**-126)  # a normal float32; what is smaller counts as 0


# --- The two products, on tensor cores ------------------------------------------------------------


def scores(head: int, keys: int) -> ProductForm:
    """S = Q Kᵀ: overwrites S."""
    q, k = Tile(0, ROWS, head), Tile(1, keys, head, keys * ROW, transposed=True)
    return ProductForm(((q, k),), replaces=True)


def output(head: int, keys: int) -> ProductForm:
    """O = O + P V, with P in registers."""
    return ProductForm(((None, Tile(0, keys, head, keys * ROW)),))


def _need_constant(argument: Typed) -> None:
    need(isinstance(argument.literal, int), "needs a constant")


def _start(form: ProductForm, arrays: int) -> Action:
    def run(machine: Machine, node: ast.Call, values: list[Any]) -> None:
        begin(machine, form, values[:arrays], values[arrays:], np.int64(1))

    return run


def _wait(machine: Machine, node: ast.Call, values: list[Any]) -> list[Waiting]:
    """Wait for all products, or for all but the newest few."""
    left = values[1] if len(values) > 1 else 0
    return waits_for_all_but(machine, int(np.max(left)))


_S, _O = (an_array(4, name=name, of=T.FLOAT32) for name in ("S", "O"))
_P = an_array(4, name="P", of=T.UINT32)
_CONSTANT: Parameter = ("a constant", _need_constant)
_Q_WORD, _K_WORD, _V_WORD = ((f"the word of {name}", None) for name in "QKV")
for _head in range(64, 257, 64):
    for _keys in range(16, 257, 16):
        _names = {
            "v_word": word_of(_keys * ROW // UNIT << 16),
            "start_scores": Beside(
                taking(T.NOTHING, _S, _Q_WORD, _K_WORD), _start(scores(_head, _keys), 1)
            ),
            "start_output": Beside(
                taking(T.NOTHING, _O, _P, _V_WORD), _start(output(_head, _keys), 2)
            ),
            "wait_scores": waiting(taking(T.NOTHING, _S, _CONSTANT), _wait),
            "wait_output": waiting(taking(T.NOTHING, _O), _wait),
        }
        for _name, _function in _names.items():
            INTRINSICS[f"{HOME}.{_name}_{_head}_{_keys}"] = _function


# --- Powers of 2 and logarithms -------------------------------------------------------------------


def _flushed(numbers: Value) -> Value:
    """Numbers too small for a normal float32 become 0."""
    return np.where(np.abs(numbers) < SMALLEST, np.float32(0), numbers)


def _power_of_2(exponent: Value) -> Value:
    return _flushed(np.exp2(_flushed(exponent)))


def _log_2(number: Value) -> Value:
    return np.log2(_flushed(number))


def _float32(kinds: list[np.dtype]) -> np.dtype:
    need(all(kind == T.FLOAT32 for kind in kinds), "takes float32")
    return T.FLOAT32


INTRINSICS[f"{HOME}.power_of_2"] = elementwise(_power_of_2, _float32)
INTRINSICS[f"{HOME}.log_2"] = elementwise(_log_2, _float32)
INTRINSICS[f"{HOME}.larger"] = elementwise(np.fmax, _float32, low=2, chooses=True)
