"""Draw the sectors that the first warp of a run touches, request by request."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from course_lib.devices import SECTOR_BYTES, WARP_SIZE
from course_lib.figures import style
from course_lib.figures.pen import Pen, tinted
from course_lib.figures.requests import Footprint, request_of
from course_lib.figures.run_drawings import LEFT
from course_lib.figures.run_facts import FLOAT_BYTES, OwnRun
from course_lib.wording.words import counted


class WarpRequests:
    """For each line that accesses a global array, the first request of the first warp."""

    ROW = 0.46
    BOX, NEXT, APART = (pixels / style.DPI for pixels in (16, 2, 7))  # 32 boxes fit

    def __init__(self, run: OwnRun) -> None:
        self.asked = list(_requests(run))

    @property
    def height(self) -> float:
        return 0.3 + self.ROW * len(self.asked)

    @property
    def words(self) -> str:
        told = (f"{title}, {counted(len(each.sectors), 'sector')}" for title, each in self.asked)
        return f"The first requests of the first warp: {'; '.join(told)}."

    def draw(self, pen: Pen, top: float) -> None:
        words = "What warp 0 of the first block asks for, the first time: a box is a sector of "
        pen.write(LEFT, top + 0.06, f"{words}{SECTOR_BYTES} bytes", colour=style.GREY)
        for place, (title, each) in enumerate(self.asked):
            y = top + 0.28 + self.ROW * place
            pen.write(LEFT, y, f"{title}: {counted(len(each.sectors), 'sector')}")
            self._draw_sectors(pen, y + 0.1, each)

    def _draw_sectors(self, pen: Pen, y: float, touched: Footprint) -> None:
        x, before = LEFT, None
        part = self.BOX / (SECTOR_BYTES // FLOAT_BYTES)
        pale = tinted(style.BLUE, 0.15, 0.7)
        for sector in touched.sectors:
            x += 0.0 if before is None else self.NEXT if sector == before + 1 else self.APART
            pen.rectangle(x, y, self.BOX, 0.15, **{**pale, "edge": style.GREY, "z": 1})
            inside = {a % SECTOR_BYTES for a in touched.addresses if a // SECTOR_BYTES == sector}
            for place in {each // FLOAT_BYTES for each in inside}:
                pen.rectangle(x + place * part, y, part, 0.15, face=style.BLUE, line=0, z=2)
            x, before = x + self.BOX, sector


def _requests(run: OwnRun) -> Iterator[tuple[str, Footprint]]:
    """The title of each request, and the sectors in which its elements begin."""
    seen: set[tuple[str, str, int]] = set()
    for access in run.profile.trace:
        kind = "load" if access.kind == "load" else "store"
        key = (kind, access.array, access.line)
        if access.space != "global" or access.kind not in ("load", "store") or key in seen:
            continue
        seen.add(key)
        try:
            request = request_of(run.profile, access.array, kind=kind, line=access.line)
        except ValueError:  # another warp's
            continue
        lanes = np.size(request.addresses)
        waiting = "" if lanes == WARP_SIZE else f" by {counted(lanes, 'lane')}"
        name = run.ran.name_of(access.array)
        yield f"{kind} of {name}{waiting}", request.footprint(itemsize=1)
