"""Hopper's tensor cores (compute capability 9.0): four warps, operands straight from shared memory.

`wgmma` is asynchronous: the four warps of a **warpgroup** start a product and wait for it later.
Neither A nor B passes through registers; an instruction gets a 64-bit **descriptor** of how a tile
lies in shared memory instead. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate".

The layout that we describe is the one with the 128-byte swizzle, which TMA writes, too. A tile is
made of rows of 128 bytes (64 bfloat16). Eight rows are an atom of 1,024 bytes, at whose multiples
tiles must start. In row r the 16-byte piece p lies at place p ^ (r % 8), so that the pieces of a
column are spread over all banks.

    A, 64 x 64:   row r of A is row r of the tile.
    B, 64 x n:    panels side by side, each of 64 rows (k) of 64 columns, 8,192 bytes each.

n = 256 asks least of shared memory; `warpgroup_product(n)` makes the functions for narrower tiles,
too.

A descriptor's upper half is the same for all of these. The lower half holds the address, and for B
how far it is from one panel to the next. So a tile is named by one 32-bit word, `wgmma_a(address)`
or `wgmma_b(address)`. It counts in units of 16 bytes: the tile that lies n bytes further on is the
word plus n // 16.

They need numba-cuda 0.30 or newer, which compiles for sm_90a.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    instruction,
    ir,
    need_array,
    need_integer,
    ptx,
    shared_address,
    types,
)

WIDEST = 256  # columns of B that one instruction multiplies at most
UNIT = 16  # bytes: what descriptors count in
ATOM, PANEL = 1024, 8192
# Bits 32 to 45: from eight rows to the next eight. Bit 62: "128-byte swizzle".
UPPER = 1 << 30 | ATOM // UNIT
# Bits 16 to 29: from one panel of B to the next; A is one panel wide, and nobody looks there.
LOWER_A, LOWER_B = 1 << 16, PANEL // UNIT << 16
ADDRESS = 0x3FFF  # bits 0 to 13; what lies above is no part of it, such as a block's rank
STEPS = 4  # of 16 in k, for tiles of 64
A_STEP, B_STEP = 32 // UNIT, 16 * 128 // UNIT  # 16 numbers along a row of A; 16 rows of B


@device_function
def wgmma_a(context: Any, address: Any) -> Any:
    """`word = wgmma_a(address)`: the word for a tile of A that begins there; a uint32."""
    return word_at(address, LOWER_A)


@device_function
def wgmma_b(context: Any, address: Any) -> Any:
    """`word = wgmma_b(address)`: the word for a tile of B that begins there; a uint32."""
    return word_at(address, LOWER_B)


@dataclass(frozen=True)
class WarpgroupProduct:
    """Functions for kernels, for tiles of B of so many columns.

    Attributes:
        start: `start(sums, a, b, add)`: a warpgroup starts A (64 x 64) B (64 x columns), bfloat16.

            `sums` is a local array of columns / 2 float32: with w the warp within its group,
            g = lane // 4 and t = lane % 4, element 4 j + 2 h + c belongs to row 16 w + 8 h + g and
            column 8 j + 2 t + c. `a` and `b` are words from `wgmma_a` and `wgmma_b`. The product is
            added to the sums; where `add` is 0 it takes their place.

            On return this product is under way, and the one before is done: its tiles may be
            overwritten. Nobody may touch `sums` before `wait(sums)`. Loops should read it with
            constant indices.
        wait: `wait(sums)`: wait for this warpgroup's products; then `sums` holds the result.
    """

    start: Any
    wait: Any


def warpgroup_product(columns: int, turned: bool = False, panels: int = 1) -> WarpgroupProduct:
    """The product for tiles of B of `columns` columns, a multiple of 8 up to 256.

    `turned` is the transpose: of a panel of B, 64 columns, and so many rows of A. Then `sums` holds
    64 x `columns` results whose rows are columns of C; for each of several `panels`, if those lie
    one behind the other, and one panel's results after the other's.
    """
    if columns % 8 or not 0 < columns <= WIDEST:
        raise ValueError(f"no product with tiles of B of {columns} columns")

    name = f"{columns}{'_turned' if turned else ''}_{panels}"

    def start(context: Any, sums: Any, a: Any, b: Any, add: Any) -> Any:
        _need_sums("warpgroup_product(…).start", sums)
        for argument in (a, b, add):
            need_integer("warpgroup_product(…).start", argument)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            text = product_text(columns, "add", turned, panels)
            places = _places(context, builder, signature.args[0], arguments[0], panels * columns)
            _update(builder, places, text, arguments[1:])
            return context.get_dummy_value()

        return types.void(sums, types.uint32, types.uint32, types.uint32), generate

    def wait(context: Any, sums: Any) -> Any:
        _need_sums("warpgroup_product(…).wait", sums)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            places = _places(context, builder, signature.args[0], arguments[0], panels * columns)
            _update(builder, places, "wgmma.wait_group.sync.aligned 0;", [])
            return context.get_dummy_value()

        return types.void(sums), generate

    # By these names the emulator knows them.
    start.__name__ = start.__qualname__ = f"start_product_{name}"
    wait.__name__ = wait.__qualname__ = f"wait_for_product_{name}"
    return WarpgroupProduct(device_function(start), device_function(wait))


wgmma_wait = warpgroup_product(WIDEST).wait


@device_function
def wgmma_m64n256k64_bf16(context: Any, sums: Any, shared: Any, a_index: Any, b_index: Any) -> Any:
    """`wgmma_m64n256k64_bf16(sums, shared, a, b)`: the same, always added, by flat indices.

    `a` and `b` say where in `shared`, an array of 16-bit numbers, the tiles start.
    """
    _need_sums("wgmma_m64n256k64_bf16", sums)
    need_array("wgmma_m64n256k64_bf16", shared, (16,))
    need_integer("wgmma_m64n256k64_bf16", a_index)
    need_integer("wgmma_m64n256k64_bf16", b_index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        words = []
        for index, lower in ((arguments[2], LOWER_A), (arguments[3], LOWER_B)):
            tile = element_pointer(context, builder, kinds[1], arguments[1], index)
            address = shared_address(builder, tile)
            units = builder.and_(builder.lshr(address, _word_of(4)), _word_of(ADDRESS))
            words.append(builder.or_(units, _word_of(lower)))
        places = _places(context, builder, kinds[0], arguments[0], WIDEST)
        _update(builder, places, product_text(WIDEST, "1"), words)
        return context.get_dummy_value()

    return types.void(sums, shared, types.intp, types.intp), generate


def _need_sums(name: str, sums: Any) -> None:
    need_array(name, sums, (32,))
    if sums.dtype != types.float32:
        raise Refused(f"{name} adds to float32, not {sums.dtype}")


def word_at(address: Any, lower: int) -> Any:
    """Signature and code of a word: an address, and what a descriptor's bits 16 to 31 hold."""
    text = f"shr.u32 $0, $1, 4;\nand.b32 $0, $0, {ADDRESS};\nor.b32 $0, $0, {lower};"
    return instruction(text, "r", (address,), "r")


def _word_of(number: int) -> Any:
    return ir.Constant(ir.IntType(32), number)


def _places(context: Any, builder: Any, kind: Any, sums: Any, columns: int) -> list[Any]:
    """Where the sums of 64 x `columns` results lie: columns / 2 in each thread of 128."""
    first = ir.IntType(64)
    return [
        element_pointer(context, builder, kind, sums, ir.Constant(first, i))
        for i in range(columns // 2)
    ]


def _update(builder: Any, places: list[Any], text: str, words: Any) -> None:
    """PTX that reads and writes all sums; they stay in the same registers.

    ptxas lets products overlap as long as it sees nothing else touch these registers.
    """
    before = [builder.load(pointer) for pointer in places]
    results = ir.LiteralStructType([ir.FloatType()] * len(places))
    again = [str(i) for i in range(len(places))]
    constraints = ",".join(["=f"] * len(places) + ["r"] * len(words) + again)
    after = ptx(builder, results, text, constraints, [*words, *before])
    for i, place in enumerate(places):
        builder.store(builder.extract_value(after, i), place)


def product_text(columns: int, add: str, turned: bool = False, panels: int = 1) -> str:
    """The PTX of a product, k = 64, and of a wait for the one before.

    Behind the sums come the words for A and B. With `add` "add", the predicate of this name is made
    of the operand after them and holds for the first 16 steps of k; the others add in any case.
    Only words are added up here, and not whole descriptors: few instructions between one wgmma and
    the next.
    """
    count = columns // 2  # sums of a panel
    a, b, add_word = (f"${panels * count + i}" for i in range(3))
    # A as it lies (k along the row), B transposed; turned it is the other way round.
    operands, transposed = ("b, a", "1, 0") if turned else ("a, b", "0, 1")
    lines = ["{", ".reg .b32 word;", ".reg .b64 a, b;"]
    if add == "add":
        lines += [".reg .pred add;", f"setp.ne.u32 add, {add_word}, 0;"]
    lines += ["wgmma.fence.sync.aligned;"]
    for step, panel in product(range(STEPS), range(panels)):
        sums = ", ".join(f"${panel * count + i}" for i in range(count))
        lines += [
            f"add.u32 word, {a}, {step * A_STEP};",
            f"mov.b64 a, {{word, {UPPER}}};",
            f"add.u32 word, {b}, {step * B_STEP + panel * PANEL // UNIT};",
            f"mov.b64 b, {{word, {UPPER}}};",
            # D = A B + D, nothing negated.
            f"wgmma.mma_async.sync.aligned.m64n{columns}k16.f32.bf16.bf16 "
            f"{{{sums}}}, {operands}, {add if step == 0 else 1}, 1, 1, {transposed};",
        ]
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 1;", "}"]
    return "\n".join(lines)
