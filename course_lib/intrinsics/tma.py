"""TMA: one thread asks for a tile, and a copy engine fetches it (compute capability 9.0).

`cp.async` takes an instruction and two addresses for every 16 bytes. The Tensor Memory Accelerator
takes one for a whole tile, a **box** of up to 256 elements along each axis. What it has to know of
the array stands in a **tensor map** of 128 bytes that the host makes before the launch
(`course_lib.kernels.hopper_launch.tensor_map`): where the array begins, its type and axes, the
box, the swizzle. The kernel names the map and the box's first element.

* No edge to mind: outside the array a load fills in zeros, and a store leaves out what lies there.
  Zeros count as bytes that came: the whole box, always.
* A load ends at an mbarrier: `mbarrier_arrive_with_bytes` announces the bytes, the engine counts
  them down. Nobody has to hold registers for them, or to wait, before somebody needs them.
* A store is waited for as cp.async is, by groups: by the thread that started it.
* The engine does not look at what threads write to shared memory as other threads do. Before a
  store of it: `fence_async()` by each thread that wrote, then a barrier, then one thread stores.
* With the 128-byte swizzle (the maps that we make) a box's rows are 128 bytes long, and in row r
  the 16-byte piece p lies at place p ^ (r % 8). The box starts at a multiple of 1,024 bytes.

Coordinates are tuples with the innermost axis first, as PTX has them: (column, row).

PTX ISA, "cp.async.bulk.tensor", "Tensors", "cp.async.bulk.commit_group" and ".wait_group".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import (
    Refused,
    device_function,
    element_pointer,
    instruction,
    ir,
    literal_integer,
    need_array,
    ptx,
    types,
)

LOAD = "cp.async.bulk.tensor.{axes}d.shared::cluster.global.mbarrier::complete_tx::bytes"
STORE = "cp.async.bulk.tensor.{axes}d.global.shared::cta.bulk_group"
MOST_AXES = 5


@device_function
def tma_load(context: Any, to: Any, tensor_map: Any, start: Any, barrier: Any) -> Any:
    """`tma_load(to, tensor_map, (column, row), barrier)`: start to fetch a box of an array.

    `to` and `barrier` are addresses in shared memory. The barrier counts down as many bytes as the
    box has.
    """
    text = LOAD + " [{to}], [{tensor_map}, {{{start}}}], [{barrier}];"
    return _copy(text, to=to, tensor_map=tensor_map, start=start, barrier=barrier)


@device_function
def tma_load_multicast(
    context: Any, to: Any, tensor_map: Any, start: Any, barrier: Any, blocks: Any
) -> Any:
    """`tma_load_multicast(to, tensor_map, (column, row), barrier, blocks)`: to several blocks.

    Bit i of `blocks` says whether block i of the cluster gets the box. In each it lands at the same
    place `to`, and its own barrier, at the same place `barrier`, counts the bytes. The array is
    read once.
    """
    text = LOAD + ".multicast::cluster [{to}], [{tensor_map}, {{{start}}}], [{barrier}], {blocks};"
    return _copy(text, to=to, tensor_map=tensor_map, start=start, barrier=barrier, blocks=blocks)


@device_function
def tma_prefetch(context: Any, tensor_map: Any) -> Any:
    """`tma_prefetch(tensor_map)`: start to read the map itself, which the first copy will need."""
    return _copy("prefetch.tensormap [{tensor_map}];", tensor_map=tensor_map)


@device_function
def tma_store(context: Any, tensor_map: Any, start: Any, source: Any) -> Any:
    """`tma_store(tensor_map, (column, row), source)`: start to write a box; a group of its own.

    `source` is an address in shared memory. It may be overwritten after `tma_store_wait`.
    """
    text = STORE + " [{tensor_map}, {{{start}}}], [{source}];\ncp.async.bulk.commit_group;"
    return _copy(text, tensor_map=tensor_map, start=start, source=source)


@device_function
def tma_store_wait(context: Any, groups: Any) -> Any:
    """`tma_store_wait(n)`: until at most the n newest stores of this thread still read.

    `n` is a constant. What the others copy has been read out of shared memory. That it is in global
    memory is certain when the kernel has ended.
    """
    count = literal_integer("tma_store_wait", groups)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        ptx(builder, ir.VoidType(), f"cp.async.bulk.wait_group.read {count};", "", [])
        return context.get_dummy_value()

    return types.void(groups), generate


@device_function
def fence_async(context: Any) -> Any:
    """`fence_async()`: what this thread wrote to shared memory is visible to wgmma and to TMA.

    To be called by the threads that wrote, before the barrier.
    """
    return instruction("fence.proxy.async.shared::cta;", "", ())


def _copy(text: str, **given: Any) -> Any:
    """Signature and code of a copy; `text` names its operands, `given` are the arguments' types.

    An array is the tensor map, a tuple the coordinates, everything else a plain number.
    """
    need_array("a copy of TMA", given["tensor_map"], (64,))
    start = given.get("start", types.UniTuple(types.int32, 1))
    if not isinstance(start, types.BaseTuple) or not 0 < len(start) <= MOST_AXES:
        raise Refused(f"a copy of TMA needs its coordinates as a tuple of 1 to 5, not {start}")
    letters, places = "", {}
    for name in given:
        letter = {"tensor_map": "l", "start": "r" * len(start), "blocks": "h"}.get(name, "r")
        places[name] = ", ".join(f"${len(letters) + i}" for i in range(len(letter)))
        letters += letter
    text = text.format(axes=len(start), **places)
    plain = {"tensor_map": given["tensor_map"], "start": start, "blocks": types.uint16}

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        operands = []
        for name, value in zip(given, arguments, strict=True):
            if name == "tensor_map":
                first = ir.Constant(ir.IntType(64), 0)
                at = element_pointer(context, builder, given[name], value, first)
                operands.append(builder.ptrtoint(at, ir.IntType(64)))
            elif name == "start":
                for i, kind in enumerate(start):
                    one = builder.extract_value(value, i)
                    operands.append(context.cast(builder, one, kind, types.int32))
            else:
                operands.append(value)
        ptx(builder, ir.VoidType(), text, ",".join(letters), operands)
        return context.get_dummy_value()

    return types.void(*[plain.get(name, types.uint32) for name in given]), generate
