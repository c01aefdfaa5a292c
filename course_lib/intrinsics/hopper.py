"""Hopper's tensor cores (compute capability 9.0): four warps, operands straight from shared memory.

`wgmma` is asynchronous: the four warps of a **warpgroup** start a product and wait for it later.
Neither A nor B passes through registers; an instruction gets a 64-bit **descriptor** of how a tile
lies in shared memory instead. PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate".

The layout that we describe is the one with the 128-byte swizzle. A tile is made of rows of 128
bytes (64 bfloat16). Eight rows are an atom of 1,024 bytes, at whose multiples tiles must start. In
row r the 16-byte piece p lies at place p ^ (r % 8), so that the pieces of a column are spread over
all banks.

    A, 64 x 64:   row r of A is row r of the tile.
    B, 64 x 256:  four tiles side by side, each of 64 rows (k) of 64 columns, 8,192 bytes each.

These have no twin in the emulator. They need numba-cuda 0.30 or newer, which compiles for sm_90a.
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    ir,
    need_array,
    need_integer,
    ptx,
    shared_address,
    types,
)

SUMS = 128  # of 64 x 256 results a thread of 128 holds so many
ATOM = 1024
# In units of 16 bytes, as descriptors count: from eight rows to the next eight, and for B from one
# tile of 64 columns to the next. 1 << 62 says "128-byte swizzle".
ROWS_ON = (ATOM >> 4) << 32
COLUMNS_ON = (8192 >> 4) << 16
SWIZZLE = 1 << 62
DESCRIBE_A = SWIZZLE | ROWS_ON | 1 << 16
DESCRIBE_B = SWIZZLE | ROWS_ON | COLUMNS_ON
STEPS = 4  # of 16 in k, for tiles of 64
A_STEP, B_STEP = 32 >> 4, 2 * ATOM >> 4


@device_function
def fence_async(context: Any) -> Any:
    """`fence_async()`: what this thread wrote to shared memory is visible to wgmma.

    To be called by the threads that wrote, before the barrier.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ptx(builder, ir.VoidType(), "fence.proxy.async.shared::cta;", "", [])
        return context.get_dummy_value()

    return types.void(), generate


@device_function
def wgmma_m64n256k64_bf16(context: Any, sums: Any, shared: Any, a_index: Any, b_index: Any) -> Any:
    """`wgmma_m64n256k64_bf16(sums, shared, a, b)`: a warpgroup adds A (64 x 64) B (64 x 256).

    `sums` is a local array of 128 float32: with w the warp within its group, g = lane // 4 and
    t = lane % 4, element 4 j + 2 h + c belongs to row 16 w + 8 h + g and column 8 j + 2 t + c.
    `a` and `b` are flat indices into `shared`, where tiles start, laid out as described above.

    On return this product is under way, and the one before is done: its tiles may be overwritten.
    Nobody may touch `sums` before `wgmma_wait(sums)`.
    """
    _need_sums("wgmma_m64n256k64_bf16", sums)
    need_array("wgmma_m64n256k64_bf16", shared, (16,))
    need_integer("wgmma_m64n256k64_bf16", a_index)
    need_integer("wgmma_m64n256k64_bf16", b_index)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds = signature.args
        tiles = [
            _descriptor(builder, element_pointer(context, builder, kinds[1], arguments[1], at), how)
            for at, how in ((arguments[2], DESCRIBE_A), (arguments[3], DESCRIBE_B))
        ]
        _update(context, builder, kinds[0], arguments[0], _product(), tiles)
        return context.get_dummy_value()

    return types.void(sums, shared, types.intp, types.intp), generate


@device_function
def wgmma_wait(context: Any, sums: Any) -> Any:
    """`wgmma_wait(sums)`: wait for this warpgroup's products; then `sums` holds the result."""
    _need_sums("wgmma_wait", sums)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        wait = "wgmma.wait_group.sync.aligned 0;"
        _update(context, builder, signature.args[0], arguments[0], wait, [])
        return context.get_dummy_value()

    return types.void(sums), generate


def _need_sums(name: str, sums: Any) -> None:
    need_array(name, sums, (32,))
    if sums.dtype != types.float32:
        raise Refused(f"{name} adds to float32, not {sums.dtype}")


def _update(context: Any, builder: Any, kind: Any, sums: Any, text: str, tiles: list[Any]) -> None:
    """PTX that reads and writes all 128 sums; they stay in the same registers.

    ptxas lets products overlap as long as it sees nothing else touch these registers.
    """
    held = [
        element_pointer(context, builder, kind, sums, ir.Constant(_LONG, i)) for i in range(SUMS)
    ]
    before = [builder.load(each) for each in held]
    results = ir.LiteralStructType([ir.FloatType()] * SUMS)
    constraints = ",".join(["=f"] * SUMS + ["l"] * len(tiles) + [str(i) for i in range(SUMS)])
    after = ptx(builder, results, text, constraints, [*tiles, *before])
    for i, place in enumerate(held):
        builder.store(builder.extract_value(after, i), place)


_LONG = ir.IntType(64) if ir else None


def _descriptor(builder: Any, pointer: Any, how: int) -> Any:
    """What wgmma is told of a tile: bits 0 to 13 are its address in units of 16 bytes."""
    address = shared_address(builder, pointer)
    units = builder.and_(
        builder.lshr(address, ir.Constant(address.type, 4)), ir.Constant(address.type, 0x3FFF)
    )
    return builder.or_(builder.zext(units, _LONG), ir.Constant(_LONG, how))


def _product() -> str:
    """The PTX of a product, k = 64, and of a wait for the one before."""
    sums = ", ".join(f"${i}" for i in range(SUMS))
    a, b = f"${SUMS}", f"${SUMS + 1}"
    lines = ["{", ".reg .b64 a, b;", "wgmma.fence.sync.aligned;"]
    for step in range(STEPS):
        lines += [
            f"add.s64 a, {a}, {step * A_STEP};",
            f"add.s64 b, {b}, {step * B_STEP};",
            # D = A B + D; nothing negated; A as it lies (k along the row), B transposed.
            "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
            f"{{{sums}}}, a, b, 1, 1, 1, 0, 1;",
        ]
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 1;", "}"]
    return "\n".join(lines)
