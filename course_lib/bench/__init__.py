"""Measure the ladder on a GPU: everyone is checked first, then all take turns.

`python3 course.py bench` does it from a shell; a lesson calls `bench.speeds(["naive", "tiled"])`.
docs/bench.md says how it is measured and what the stored file holds.
"""

from course_lib.bench.for_lessons import published, speeds

__all__ = ["published", "speeds"]
