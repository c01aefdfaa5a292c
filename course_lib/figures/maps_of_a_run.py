"""Draw a task's kernel by its banks, its lanes or its buffers, where elements tell too little."""

from __future__ import annotations

from course_lib.entries import axes
from course_lib.figures.buffers import tiles_in_time
from course_lib.figures.lanes import lane_to_bank
from course_lib.figures.picture import Picture
from course_lib.figures.pieces import warp_pieces
from course_lib.figures.requests import request_of
from course_lib.figures.small_launch import NoPicture, SmallLaunch


def draw_map(ran: SmallLaunch, title: str) -> Picture:
    """The picture that the task asks for, of one launch.

    Raises:
        NoPicture: if the kernel does nothing that could be drawn so.
    """
    task = ran.task
    name = ran.profile.kernel_name
    try:
        if task.picture == "banks":
            return _banks(ran)
        if task.picture == "lanes":
            return warp_pieces({name: ran.profile}, _own_name(ran, task.output), title)
        across = set(axes(task.shapes[-1]))
        along = {
            _own_name(ran, operand): next(n for n, k in enumerate(axes(shape)) if k not in across)
            for operand, shape in zip(task.parameters[:-1], task.shapes, strict=False)
        }
        return tiles_in_time({name: ran.profile}, task.tile_steps, along, title)
    except ValueError as error:
        raise NoPicture(str(error)) from None


def _banks(ran: SmallLaunch) -> Picture:
    """How the banks serve warp 0 where it first stores to shared memory."""
    tile = next((each.name for each in ran.profile.shared_arrays), "")
    title = f"your first store to {tile}"
    return lane_to_bank(request_of(ran.profile, tile, kind="store", title=title))


def _own_name(ran: SmallLaunch, parameter: str) -> str:
    """What the kernel itself calls a parameter of the task."""
    own = (each for each in ran.profile.arrays if ran.name_of(each) == parameter)
    return next(own, parameter)
