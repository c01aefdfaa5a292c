"""Launches that overlap: a kernel begins while the one before it ends (compute capability 9.0).

A launch in a stream begins when the one before it is over: its last block gone, its results in
memory. Until then SMs stand idle, one after the other, and afterwards every block first does what
needs no data: it makes barriers, reads its list of work. **Programmatic dependent launch** lets the
next grid's blocks come as soon as there is room for them. What they may not touch before they have
called `grid_dependency_sync()` is whatever an earlier launch reads or writes.

The host asks for it with the launch (`course_lib.kernels.hopper_launch.ReadyLaunch`). Where it did
not, both functions do nothing.

PTX ISA, "griddepcontrol"; CUDA Programming Guide, "Programmatic Dependent Launch and
Synchronization".
"""

from __future__ import annotations

from typing import Any

from course_lib.intrinsics.lowering import device_function, instruction


@device_function
def trigger_next_launch(context: Any) -> Any:
    """`trigger_next_launch()`: blocks of the next grid may come, once all of ours have said so.

    They find room when ours leave. It promises nothing about what ours have written.
    """
    return instruction("griddepcontrol.launch_dependents;", "", ())


@device_function
def grid_dependency_sync(context: Any) -> Any:
    """`grid_dependency_sync()`: wait until the grids before are over and their writes visible."""
    return instruction("griddepcontrol.wait;", "", ())
