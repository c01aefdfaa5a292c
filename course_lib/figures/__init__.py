"""Draw every picture of the course; each function returns a `Picture`: a figure and its words.

A cell that ends in such a call shows the picture. The functions are pure: the same arguments give
the same picture, nothing is measured and nothing is printed here.
"""

from course_lib.figures.accesses import (
    Request,
    addresses_of,
    matrix_reads,
    request_of,
    warp_access,
)
from course_lib.figures.activity import active_lanes, block_accesses
from course_lib.figures.counts import bars, bytes_ladder, line_counters
from course_lib.figures.grids import grid_of_threads, warps_of_block
from course_lib.figures.hierarchy import strips_fit, warehouse
from course_lib.figures.lanes import lane_to_bank, lane_to_sector
from course_lib.figures.levels import memory_levels
from course_lib.figures.picture import Picture, show
from course_lib.figures.reuse import before_after_reuse, block_tiles, edge_tiles, sharing
from course_lib.figures.rooflines import roofline_plot
from course_lib.figures.rungs import ladder
from course_lib.figures.steps import k_steps
from course_lib.figures.timelines import barrier_timeline

__all__ = [
    "Picture",
    "Request",
    "active_lanes",
    "addresses_of",
    "barrier_timeline",
    "bars",
    "before_after_reuse",
    "block_accesses",
    "block_tiles",
    "bytes_ladder",
    "edge_tiles",
    "grid_of_threads",
    "k_steps",
    "ladder",
    "lane_to_bank",
    "lane_to_sector",
    "line_counters",
    "matrix_reads",
    "memory_levels",
    "request_of",
    "roofline_plot",
    "sharing",
    "show",
    "strips_fit",
    "warehouse",
    "warp_access",
    "warps_of_block",
]
