"""Measure the ladder on a GPU: every contestant is checked first, then all take turns.

Owns: how the rungs are timed on a GPU beside cuBLAS, and what is stored of the results.
May import: `curriculum`, `devices`, `host`, `kernels`, `machine_code`, `measurements`, `roofline`,
`timing`, `wording`.
Start with: `session` (who is measured), then `contest` (how they take turns).

`python3 course.py bench` does it from a shell; a lesson calls `bench.speeds(["naive", "tiled"])`.
docs/bench.md says how it is measured and what the stored file holds.
"""

from course_lib.bench.table import published, speeds

__all__ = ["published", "speeds"]
