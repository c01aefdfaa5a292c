"""Draw every picture of the course; each function returns a `Picture`: a figure and its words.

Owns: all pictures, still and to play with, of given numbers or of a run.
May import: `curriculum`, `devices`, `emulator`, `measurements`, `own_ladder`, `registry`,
`roofline`, `task_context`, `web`, `wording`.
Start with: `picture`, `style` and `pen`, then a small one such as `banks`.

A cell that ends in such a call shows the picture. Some functions return an `Interactive` instead:
it shows a picture first, and then the same to play with. The functions are pure: the same
arguments give the same picture, nothing is measured and nothing is printed here. `my_ladder` alone
looks up what the student has passed.

A name is fetched when it is first used: a browser, which has no matplotlib, takes the figures to
play with from here and asks for nothing else.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.figures.accesses import warp_access
    from course_lib.figures.attention import attention_tiles, block_tiles, sharing
    from course_lib.figures.banks import swizzled_rows
    from course_lib.figures.buffers import tiles_in_time
    from course_lib.figures.counts import instruction_mix, line_counters
    from course_lib.figures.explore.banks import explore_banks
    from course_lib.figures.explore.fragments import explore_fragments
    from course_lib.figures.explore.launches import explore_occupancy
    from course_lib.figures.explore.ring import explore_ring
    from course_lib.figures.explore.roofs import explore_roofline
    from course_lib.figures.explore.sectors import explore_sectors
    from course_lib.figures.explore.thread_tile import explore_register_tile
    from course_lib.figures.explore.two_buffers import explore_double_buffer
    from course_lib.figures.formats import errors_of_formats, roofs_of_formats
    from course_lib.figures.grids import grid_of_threads
    from course_lib.figures.hierarchy import memory_places, sm_budget, strips_fit
    from course_lib.figures.lanes import lane_to_bank, lane_to_sector, warp_pieces
    from course_lib.figures.own_climb import my_ladder
    from course_lib.figures.picture import Picture, show
    from course_lib.figures.plots import funnel, threads_in_flight
    from course_lib.figures.requests import Request, addresses_of, matrix_reads, request_of
    from course_lib.figures.rooflines import measured_roofline, roofline_plot
    from course_lib.figures.rungs import changed_kernel, ladder
    from course_lib.figures.specification import wanted
    from course_lib.figures.steps import k_steps
    from course_lib.figures.student_run import own_run
    from course_lib.figures.timelines import barrier_timeline
    from course_lib.figures.watch.online_softmax import watch_online_softmax
    from course_lib.figures.watch.ownership import who_owns_what
    from course_lib.figures.watch.race import watch_race
    from course_lib.figures.watch.stepping import step_through_k
    from course_lib.figures.whiteboard import climb

__all__ = [
    "Picture",
    "Request",
    "addresses_of",
    "attention_tiles",
    "barrier_timeline",
    "block_tiles",
    "changed_kernel",
    "climb",
    "errors_of_formats",
    "explore_banks",
    "explore_double_buffer",
    "explore_fragments",
    "explore_occupancy",
    "explore_register_tile",
    "explore_ring",
    "explore_roofline",
    "explore_sectors",
    "funnel",
    "grid_of_threads",
    "instruction_mix",
    "k_steps",
    "ladder",
    "lane_to_bank",
    "lane_to_sector",
    "line_counters",
    "matrix_reads",
    "measured_roofline",
    "memory_places",
    "my_ladder",
    "own_run",
    "request_of",
    "roofline_plot",
    "roofs_of_formats",
    "sharing",
    "show",
    "sm_budget",
    "step_through_k",
    "strips_fit",
    "swizzled_rows",
    "threads_in_flight",
    "tiles_in_time",
    "wanted",
    "warp_access",
    "warp_pieces",
    "watch_online_softmax",
    "watch_race",
    "who_owns_what",
]

_HOME = {
    "Picture": "picture",
    "Request": "requests",
    "addresses_of": "requests",
    "attention_tiles": "attention",
    "barrier_timeline": "timelines",
    "block_tiles": "attention",
    "changed_kernel": "rungs",
    "climb": "whiteboard",
    "errors_of_formats": "formats",
    "explore_banks": "explore.banks",
    "explore_double_buffer": "explore.two_buffers",
    "explore_fragments": "explore.fragments",
    "explore_occupancy": "explore.launches",
    "explore_register_tile": "explore.thread_tile",
    "explore_ring": "explore.ring",
    "explore_roofline": "explore.roofs",
    "explore_sectors": "explore.sectors",
    "funnel": "plots",
    "grid_of_threads": "grids",
    "instruction_mix": "counts",
    "k_steps": "steps",
    "ladder": "rungs",
    "lane_to_bank": "lanes",
    "lane_to_sector": "lanes",
    "line_counters": "counts",
    "matrix_reads": "requests",
    "measured_roofline": "rooflines",
    "memory_places": "hierarchy",
    "my_ladder": "own_climb",
    "own_run": "student_run",
    "request_of": "requests",
    "roofline_plot": "rooflines",
    "roofs_of_formats": "formats",
    "sharing": "attention",
    "show": "picture",
    "sm_budget": "hierarchy",
    "step_through_k": "watch.stepping",
    "strips_fit": "hierarchy",
    "swizzled_rows": "banks",
    "threads_in_flight": "plots",
    "tiles_in_time": "buffers",
    "wanted": "specification",
    "warp_access": "accesses",
    "warp_pieces": "lanes",
    "watch_online_softmax": "watch.online_softmax",
    "watch_race": "watch.race",
    "who_owns_what": "watch.ownership",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'course_lib.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"course_lib.figures.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
