"""The two products of attention by wgmma: S = Q Kᵀ, and O = O + P V with P from registers (9.0).

As in `course_lib.intrinsics.wgmma`, a tile in shared memory is made of panels of 64 columns, 128
bytes a row, with the 128-byte swizzle. Three things are new.

* **K is not transposed.** wgmma wants B as k × n. K's tile is n × k: a row for each key. A flag
  says so; then k runs along a row, as it does in A.
* **V is**, as B in a matrix product: a row for each k.
* **P stays in registers.** A may come from there. What a lane holds of A (16 × 16 numbers for each
  warp) is, pair by pair, what it holds of the sums of S. So rounding S to bfloat16 in place makes
  the left operand of the next product, and nothing has to be moved.

`attention_products(head, keys)` makes the functions for a head's width and a tile's keys. In them,
with w the warp within its group, g = lane // 4 and t = lane % 4:

    S   local array of keys / 2 float32: element 4 j + 2 h + c is row 16 w + 8 h + g of Q and key
        8 j + 2 t + c
    P   local array of keys / 4 uint32: word i holds elements 2 i and 2 i + 1 of S as bfloat16
    O   local array of head / 2 float32: as S, with columns in place of keys

PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate": register fragments of
wgmma.mma_async.m64nNk16, matrix descriptor, major-ness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    ir,
    need_array,
    ptx,
    types,
)
from course_lib.intrinsics.wgmma import UNIT, UPPER, WIDEST, wgmma_a, word_at

ROW = 128  # bytes in a row of a panel: 64 bfloat16
GROUP_ROWS = 64  # rows of Q that a warpgroup works on
STEP_ALONG = 32 // UNIT  # 16 numbers further along a row
STEP_DOWN = 16 * ROW // UNIT  # 16 rows further down
MULTIPLY = "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.bf16.bf16"
COMMIT = "wgmma.commit_group.sync.aligned;"


@dataclass(frozen=True)
class AttentionProducts:
    """Functions for kernels; `q`, `k` and `v` are words that name a tile in shared memory.

    Attributes:
        q_word: `q_word(address)`: the word for 64 rows of Q.
        k_word: `k_word(address)`: for a tile of K.
        v_word: `v_word(address)`: for a tile of V. A tile n bytes further on: the word + n // 16.
        start_scores: `start_scores(S, q, k)`: start S = Q Kᵀ; what S held is forgotten.
        start_output: `start_output(O, P, v)`: start O = O + P V.
        wait_scores: `wait_scores(S, n)`: wait until only the n newest products are under way, n a
            constant; the others are done, S among them.
        wait_output: `wait_output(O)`: wait until all products are done.
    """

    q_word: Any
    k_word: Any
    v_word: Any
    start_scores: Any
    start_output: Any
    wait_scores: Any
    wait_output: Any


def attention_products(head: int, keys: int) -> AttentionProducts:
    """The products for heads of `head` columns and tiles of `keys` keys.

    `head` is a multiple of 64, `keys` one of 16, both up to 256.
    """
    if head % 64 or keys % 16 or not 0 < head <= WIDEST or not 0 < keys <= WIDEST:
        raise ValueError(f"no products for heads of {head} columns and tiles of {keys} keys")
    scores, outputs, words = keys // 2, head // 2, keys // 4

    def v_word(context: Any, address: Any) -> Any:
        return word_at(address, lower_v(keys))

    def start_scores(context: Any, S: Any, q: Any, k: Any) -> Any:
        _need("start_scores", S, types.float32)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            places = _places(context, builder, signature.args[0], arguments[0], scores)
            _replace(builder, places, scores_text(head, keys), list(arguments[1:]), keep=False)
            return context.get_dummy_value()

        return types.void(S, types.uint32, types.uint32), generate

    def start_output(context: Any, O: Any, P: Any, v: Any) -> Any:
        _need("start_output", O, types.float32)
        _need("start_output", P, types.uint32)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            places = _places(context, builder, signature.args[0], arguments[0], outputs)
            weights = _places(context, builder, signature.args[1], arguments[1], words)
            operands = [arguments[2], *[builder.load(place) for place in weights]]
            _replace(builder, places, output_text(head, keys), operands)
            return context.get_dummy_value()

        return types.void(O, P, types.uint32), generate

    def wait_scores(context: Any, S: Any, others: Any) -> Any:
        _need("wait_scores", S, types.float32)
        if not isinstance(others, types.IntegerLiteral):
            raise Refused("wait_scores needs a constant")
        return _wait(S, scores, others.literal_value, others)

    def wait_output(context: Any, O: Any) -> Any:
        _need("wait_output", O, types.float32)
        return _wait(O, outputs, 0)

    def named(define: Any) -> Any:
        """By this name the emulator knows it."""
        define.__name__ = define.__qualname__ = f"{define.__name__}_{head}_{keys}"
        return device_function(define)

    return AttentionProducts(
        wgmma_a,
        wgmma_a,
        *map(named, (v_word, start_scores, start_output, wait_scores, wait_output)),
    )


def lower_v(keys: int) -> int:
    """Bits 16 to 31 of V's word: how far it is from one panel of 64 columns to the next."""
    return keys * ROW // UNIT << 16


def _need(name: str, array: Any, kind: Any) -> None:
    need_array(name, array, (32,))
    if array.dtype != kind:
        raise Refused(f"{name} takes a local array of {kind}, not of {array.dtype}")


def scores_text(head: int, keys: int) -> str:
    """S: operands 0 to keys / 2 - 1, then the words for Q and K. The first step forgets S."""
    count = keys // 2
    lines = ["{", ".reg .b32 word;", ".reg .b64 a, b;", "wgmma.fence.sync.aligned;"]
    for step in range(head // 16):
        along, panel = step % 4 * STEP_ALONG, step // 4
        lines += [
            f"add.u32 word, ${count}, {along + panel * GROUP_ROWS * ROW // UNIT};",
            f"mov.b64 a, {{word, {UPPER}}};",
            f"add.u32 word, ${count + 1}, {along + panel * keys * ROW // UNIT};",
            f"mov.b64 b, {{word, {UPPER}}};",
            # Add to S from the second step on; nothing negated; neither A nor B transposed.
            f"{MULTIPLY.format(n=keys)} {_list(0, count)}, a, b, {int(step > 0)}, 1, 1, 0, 0;",
        ]
    return "\n".join([*lines, COMMIT, "}"])


def output_text(head: int, keys: int) -> str:
    """O: operands 0 to head / 2 - 1, then the word for V, then P's words, four for each step."""
    count = head // 2
    lines = ["{", ".reg .b32 word;", ".reg .b64 b;", "wgmma.fence.sync.aligned;"]
    for step in range(keys // 16):
        a = _list(count + 1 + 4 * step, 4)
        lines += [
            f"add.u32 word, ${count}, {step * STEP_DOWN};",
            f"mov.b64 b, {{word, {UPPER}}};",
            # Always added; nothing negated; B transposed.
            f"{MULTIPLY.format(n=head)} {_list(0, count)}, {a}, b, 1, 1, 1, 1;",
        ]
    return "\n".join([*lines, COMMIT, "}"])


def _list(first: int, count: int) -> str:
    return "{" + ", ".join(f"${i}" for i in range(first, first + count)) + "}"


def _wait(array: Any, count: int, others: int, *more: Any) -> Any:
    """Signature and code of a wait after which the array's registers hold the result."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        places = _places(context, builder, signature.args[0], arguments[0], count)
        _replace(builder, places, f"wgmma.wait_group.sync.aligned {others};", [])
        return context.get_dummy_value()

    return types.void(array, *more), generate


def _places(context: Any, builder: Any, kind: Any, array: Any, count: int) -> list[Any]:
    number = ir.IntType(64)
    return [
        element_pointer(context, builder, kind, array, ir.Constant(number, i)) for i in range(count)
    ]


def _replace(
    builder: Any, places: list[Any], text: str, operands: list[Any], keep: bool = True
) -> None:
    """PTX that writes float32 registers, and with `keep` reads them too: each stays where it is."""
    count = len(places)
    before = [builder.load(pointer) for pointer in places] if keep else []
    constraints = ",".join(
        ["=f"] * count + ["r"] * len(operands) + [str(i) for i in range(len(before))]
    )
    results = ir.LiteralStructType([ir.FloatType()] * count)
    after = ptx(builder, results, text, constraints, [*operands, *before])
    for i, place in enumerate(places):
        builder.store(builder.extract_value(after, i), place)
