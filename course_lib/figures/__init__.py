"""Draw every picture of the course; each function returns a `Picture`: a figure and its words.

Owns: all pictures, still and to play with, of given numbers or of a run.
May import: `curriculum`, `devices`, `emulator`, `measurements`, `own_ladder`, `registry`,
`roofline`, `answer_text`, `tiles`, `web`, `wording`.
Start with: `picture`, then a small one such as `attention`, and interactive/scene.py.

A cell that ends in such a call shows the picture. Some functions return an `Interactive` instead:
it shows a picture first, and then the same to play with. The functions are pure: the same
arguments give the same picture, nothing is measured and nothing is printed here. `my_ladder` alone
looks up what the student has passed.

A name is fetched when it is first used: a browser, which has no matplotlib, takes the figures to
play with from here and asks for nothing else.
"""

import importlib
from typing import Any

_NAMES = {
    "accesses": "matrix_reads swizzled_rows warp_pieces",
    "attention": "attention_tiles block_tiles sharing",
    "buffers": "tiles_in_time",
    "counts": "instruction_mix line_counters",
    "explore.banks": "explore_banks lane_to_bank",
    "explore.fragments": "explore_fragments",
    "explore.occupancy": "explore_occupancy",
    "explore.roofs": "explore_roofline",
    "explore.schedules": "explore_double_buffer explore_ring",
    "explore.sectors": "explore_sectors warp_access",
    "explore.thread_tile": "explore_register_tile",
    "grids": "grid_of_threads",
    "hierarchy": "funnel memory_places sm_budget strips_fit",
    "ladders": "climb ladder my_ladder",
    "picture": "Picture show",
    "plots": "errors_of_formats roofs_of_formats threads_in_flight",
    "requests": "Request addresses_of request_of",
    "rooflines": "measured_roofline roofline_plot",
    "specification": "wanted",
    "student_run": "own_run",
    "timelines": "barrier_timeline",
    "watch.online_softmax": "watch_online_softmax",
    "watch.ownership": "who_owns_what",
    "watch.race": "watch_race",
    "watch.stepping": "step_through_k",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = tuple(sorted(_HOME))


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'course_lib.figures' has no attribute {name!r}")
    return getattr(importlib.import_module(f"course_lib.figures.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
