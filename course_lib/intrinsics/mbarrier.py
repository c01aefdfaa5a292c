"""mbarrier: a barrier in shared memory that counts threads and bytes (compute capability 9.0 here).

`cuda.syncthreads()` stops everyone until everyone is there. An mbarrier parts the two: some
**arrive** and go on, others **wait**. And it counts bytes, so that it can say when a copy is done
that no thread carries out (`course_lib.intrinsics.tma`).

It is 8 bytes of shared memory, for which these functions take an address (`shared_address`). It
works in **phases**. A phase is complete when as many arrivals have come as `mbarrier_init` said,
and all bytes that were announced; then the next phase begins by itself, with the same count. One
waits for a phase by its parity: 0 for the first, 1 for the second, 0 for the third … The phase
before the first counts as complete, so on a new barrier a wait for parity 1 passes at once.

A queue of tiles in shared memory takes two mbarriers a slot. `full`: who fills the slot announces
its bytes, and who reads it waits. `empty`: who has read it arrives, and who fills it waits.

    full    parity 0: first filling is there      parity 1: the second is there      …
    empty   parity 1: passes at once, slot is new parity 0: first filling was read   …

A wait for a phase that never completes lasts for ever: the launch hangs.

PTX ISA, "mbarrier" (init, arrive, expect-tx operation, try_wait), "fence.mbarrier_init", "barrier".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import device_function, instruction


@device_function
def mbarrier_init(context: Any, barrier: Any, arrivals: Any) -> Any:
    """`mbarrier_init(barrier, arrivals)`: make 8 bytes of shared memory a barrier, in phase 0.

    One thread does it; then `fence_mbarrier_init()` and a `cuda.syncthreads()`, in a cluster
    `cluster_sync()`, before anyone uses it. `barrier` is an address, a multiple of 8.
    """
    text = "mbarrier.init.shared::cta.b64 [$0], $1;"
    return instruction(text, "rr", (barrier, arrivals))


@device_function
def fence_mbarrier_init(context: Any) -> Any:
    """`fence_mbarrier_init()`: new barriers are visible to the cluster and to the copy engine."""
    return instruction(
        "fence.mbarrier_init.release.cluster;\nfence.proxy.async.shared::cta;", "", ()
    )


@device_function
def mbarrier_arrive(context: Any, barrier: Any) -> Any:
    """`mbarrier_arrive(barrier)`: one arrival at a barrier of this block; does not wait.

    What this thread wrote before is visible to those who wait for this phase.
    """
    return instruction("mbarrier.arrive.shared::cta.b64 _, [$0];", "r", (barrier,))


@device_function
def mbarrier_arrive_with_bytes(context: Any, barrier: Any, count: Any) -> Any:
    """`mbarrier_arrive_with_bytes(barrier, count)`: arrive, and announce `count` bytes to come.

    The phase is complete once they have come, too. Copies that end at this barrier are started
    afterwards.
    """
    text = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;"
    return instruction(text, "rr", (barrier, count))


@device_function
def mbarrier_wait(context: Any, barrier: Any, parity: Any) -> Any:
    """`mbarrier_wait(barrier, parity)`: wait until the phase of this parity is complete.

    `parity` is 0 or 1: the phase's number modulo 2. A waiter may lag behind by one phase and no
    more. Copied tiles and what arriving threads wrote are visible afterwards.
    """
    text = """{
.reg .pred done;
again${:uid}:
mbarrier.try_wait.parity.shared::cta.b64 done, [$0], $1;
@!done bra again${:uid};
}"""
    return instruction(text, "rr", (barrier, parity))


@device_function
def group_sync(context: Any, number: Any, threads: Any) -> Any:
    """`group_sync(number, threads)`: `cuda.syncthreads()` for a part of the block, whole warps.

    `number` is 1 to 15 (0 is `syncthreads`' own), one for each part; `threads` of them meet.
    """
    return instruction("bar.sync $0, $1;", "rr", (number, threads))
