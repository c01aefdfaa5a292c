"""From global to shared memory with no register in between (LDGSTS, compute capability 8.0 on).

A load and a store take a register for every value on its way, and the thread waits for the load
before it can store. `cp_async16` starts a copy and goes on at once. Copies are put into groups:
`cp_async_commit()` closes the group of all copies that this thread has started since the last
one, and `cp_async_wait(n)` waits until at most the n newest groups are still on their way.

A thread waits for its own copies only. So that it may read what others copied, everyone waits and
then meets at a barrier: `cp_async_wait(0); cuda.syncthreads()`.

`cp_async16` moves 16 bytes, past the L1 cache: the tile lies in shared memory, so L1 need not keep
it, too. `cp_async4` moves one element; it can transpose a tile on its way, at four times the
number of copies.

PTX ISA, "cp.async" (.cg and .ca), "cp.async.commit_group", "cp.async.wait_group".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    global_address,
    ir,
    literal_integer,
    need_array,
    need_integer,
    ptx,
    shared_address,
    types,
)


@device_function
def cp_async16(context: Any, shared: Any, shared_index: Any, source: Any, source_index: Any) -> Any:
    """`cp_async16(shared, i, source, j)`: start to copy 16 bytes, source[j…] to shared[i…].

    Indices count elements from the array's first and must point at a multiple of 16 bytes: every
    4th float32, every 8th 16-bit element. `shared` needs `alignment=16`.
    """
    return _copy("cp_async16", 16, shared, shared_index, source, source_index)


@device_function
def cp_async16_zfill(
    context: Any, shared: Any, shared_index: Any, source: Any, source_index: Any, valid: Any
) -> Any:
    """`cp_async16_zfill(shared, i, source, j, valid)`: the same; zeros where `valid` is False.

    For the edge of a matrix: nothing is read where `valid` is False, so j may lie outside then.
    """
    return _copy("cp_async16_zfill", 16, shared, shared_index, source, source_index, valid)


@device_function
def cp_async4(context: Any, shared: Any, shared_index: Any, source: Any, source_index: Any) -> Any:
    """`cp_async4(shared, i, source, j)`: start to copy one element of 32 bits."""
    return _copy("cp_async4", 4, shared, shared_index, source, source_index)


@device_function
def cp_async4_zfill(
    context: Any, shared: Any, shared_index: Any, source: Any, source_index: Any, valid: Any
) -> Any:
    """`cp_async4_zfill(shared, i, source, j, valid)`: the same; a zero where `valid` is False."""
    return _copy("cp_async4_zfill", 4, shared, shared_index, source, source_index, valid)


@device_function
def cp_async_commit(context: Any) -> Any:
    """`cp_async_commit()`: this thread's copies since the last commit are a group."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ptx(builder, ir.VoidType(), "cp.async.commit_group;", "", [])
        return context.get_dummy_value()

    return types.void(), generate


@device_function
def cp_async_wait(context: Any, groups: Any) -> Any:
    """`cp_async_wait(n)`: wait until at most the n newest groups of this thread are under way.

    `n` is a constant; 0 waits for all of them.
    """
    count = literal_integer("cp_async_wait", groups)
    if count < 0:
        raise Refused("cp_async_wait needs a count of groups: 0 or more")

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ptx(builder, ir.VoidType(), f"cp.async.wait_group {count};", "", [])
        return context.get_dummy_value()

    return types.void(groups), generate


def _copy(
    name: str,
    count: int,
    shared: Any,
    shared_index: Any,
    source: Any,
    source_index: Any,
    valid: Any = None,
) -> Any:
    """Signature and code of a copy of `count` bytes; with `valid`, of that many or of zeros."""
    for array in (shared, source):
        need_array(name, array, (8, 16, 32, 64) if count == 16 else (32,))
    if shared.dtype != source.dtype:
        raise Refused(f"{name} copies bytes: both arrays need one type, not {shared}, {source}")
    need_integer(name, shared_index)
    need_integer(name, source_index)
    if valid is not None and not isinstance(valid, types.Boolean):
        raise Refused(f"{name} needs True or False as its last argument, not {valid}")
    cached = "cg" if count == 16 else "ca"  # the hardware copies 4 bytes through L1 only
    text = f"cp.async.{cached}.shared.global [$0], [$1], {count}"

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ends = _ends(context, builder, signature, arguments)
        if valid is None:
            ptx(builder, ir.VoidType(), f"{text};", "r,l", ends)
        else:
            word = ir.IntType(32)
            yes = builder.icmp_unsigned("!=", arguments[4], ir.Constant(arguments[4].type, 0))
            size = builder.select(yes, ir.Constant(word, count), ir.Constant(word, 0))
            ptx(builder, ir.VoidType(), f"{text}, $2;", "r,l,r", [*ends, size])
        return context.get_dummy_value()

    flag = () if valid is None else (types.boolean,)
    return types.void(shared, types.intp, source, types.intp, *flag), generate


def _ends(context: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """The two addresses of a copy."""
    kinds = signature.args
    target = element_pointer(context, builder, kinds[0], arguments[0], arguments[1])
    origin = element_pointer(context, builder, kinds[2], arguments[2], arguments[3])
    return [shared_address(builder, target), global_address(builder, origin)]
