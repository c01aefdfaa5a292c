"""Draw the values of a student's own plain function over its inputs, as its task chooses them."""

import math
from collections.abc import Sequence

from course_lib.curriculum import Task
from course_lib.devices.number_formats import in_hexadecimal, is_bit_pattern
from course_lib.emulator import Budget, Kernel, KernelRejected, load_program
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.interpreter import call as call_plain
from course_lib.figures import style
from course_lib.figures.interactive import Scene
from course_lib.figures.pen import Looks, Pen, tinted
from course_lib.figures.picture import Picture
from course_lib.figures.small_launch import NoPicture
from course_lib.registry.exercise import Values

STEPS_PER_CALL = 20_000
_TOP, _LEFT, _FOOT = 0.78, 0.2, 0.4
_ROW = 0.3  # of a table
_LETTER = 0.087  # the width of one, roughly, in inches
_BARS_HIGH, _CURVES_HIGH = 1.5, 2.2
_LIGHTEST, _DARKEST = 0.06, 0.75
_LINES = ((style.BLUE, "-", "o"), (style.ORANGE, "--", "s"), (style.GREEN, ":", "^"))
_MOST_TOLD = 10  # numbers of a row that are read out
_MOST_ROWS_TOLD = 4


def draw_values(task: Task, values: Values, function: Kernel) -> Picture:
    """A table, bars or curves of what the function returns; it is interpreted, never executed.

    Raises NoPicture if one of these calls returns no number, or none at all.
    """
    rows = {
        name: [_number(task, function, arguments(each)) for each in values.at]
        for name, arguments in values.rows.items()
    }
    draw = {"cells": _draw_cells, "bars": _draw_bars, "curves": _draw_curves}[values.look]
    room = {"cells": _ROW * (len(rows) + 1), "bars": _BARS_HIGH, "curves": _CURVES_HIGH}
    height = _TOP + room[values.look] + _FOOT
    title = f"Your {task.signature}"
    pen = Pen.card(height, title, f"{values.gives}; from left to right: {values.along}")
    draw(pen, values, rows)
    pen.write(_LEFT, height - 0.2, values.shows)
    return pen.picture(f"{title}: {values.gives}. {_told(values, rows)} {values.shows}")


def _number(task: Task, function: Kernel, arguments: tuple[object, ...]) -> float:
    try:
        value = Interpreter(Budget(steps=STEPS_PER_CALL)).run(function, list(arguments))
    except KernelRejected as rejected:
        raise NoPicture(f"{task.id}{arguments} does not run: {rejected}") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise NoPicture(f"{task.id}{arguments} returns no number.")
    return value


Rows = dict[str, list[float]]


# --- A table ------------------------------------------------------------------------------------


def _draw_cells(pen: Pen, values: Values, rows: Rows) -> None:
    """A cell for each call, the darker the larger its number is."""
    left = _LEFT + _LETTER * max(map(len, rows)) + 0.1
    longest = max(len(_written(number, values)) for row in rows.values() for number in row)
    width = min(max(0.9, _LETTER * longest), (style.WIDTH - 0.2 - left) / len(values.at))
    for column, each in enumerate(values.at):
        pen.write(left + width * (column + 0.5), _TOP, f"{each:g}", ha="center", colour=style.GREY)
    every = [each for row in rows.values() for each in row]
    for place, (name, row) in enumerate(rows.items(), start=1):
        y = _TOP + _ROW * place
        cells = pen.at(left, y - _ROW / 2, width, _ROW)
        pen.write(left - 0.1, y, name, ha="right")
        for column, number in enumerate(row):
            face = style.tint(style.BLUE, _strength(number, every))
            looks: Looks = {"face": face, "edge": style.PAPER, "line": 1.2}
            text, ink = _written(number, values), style.readable_on(face)
            cells.cell(0, column, text, colour=ink, **looks)


def _strength(number: float, every: Sequence[float]) -> float:
    """By equal factors if all are above 0, as most of these numbers double."""
    low, high = min(every), max(every)
    if low == high:
        return _LIGHTEST
    share = (number - low) / (high - low)
    if low > 0:
        share = math.log(number / low) / math.log(high / low)
    return _LIGHTEST + share * (_DARKEST - _LIGHTEST)


# --- Bars and curves ----------------------------------------------------------------------------


def _draw_bars(pen: Pen, values: Values, rows: Rows) -> None:
    """A bar for each call, with its number above it."""
    (row,) = rows.values()
    width = min(0.9, (style.WIDTH - 2 * _LEFT) / len(row))
    floor, tallest = _TOP + _BARS_HIGH - 0.22, max(max(row), 1e-300)
    for place, (each, number) in enumerate(zip(values.at, row, strict=True)):
        x = _LEFT + width * place
        height = (_BARS_HIGH - 0.5) * max(number, 0.0) / tallest
        box = x + 0.1 * width, floor - height, 0.8 * width, height
        pen.rectangle(*box, **{**tinted(style.BLUE, 0.75, 1), "z": 1})
        middle = x + width / 2
        pen.write(middle, floor - height - 0.1, _written(number, values), ha="center")
        pen.write(middle, floor + 0.12, f"{each:g}", ha="center", colour=style.GREY)
    pen.line((_LEFT, floor), (_LEFT + width * len(row), floor), colour=style.GREY, line=0.8)


def _draw_curves(card: Pen, values: Values, rows: Rows) -> None:
    """A curve for each row; equal factors are equal steps on both axes."""
    axes = style.area(card.axes.figure, 0.85, 0.7, 0.3, _TOP - 0.1)  # type: ignore[arg-type]
    for (name, row), (colour, line, marker) in zip(rows.items(), _LINES, strict=False):
        axes.plot(
            values.at, row, color=colour, linestyle=line, marker=marker, markersize=4, label=name
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(values.at, [f"{each:g}" for each in values.at])
    every = [each for row in rows.values() for each in row if each > 0]
    first, last = (math.log10(each(every, default=1.0)) for each in (min, max))
    ticks = [10.0**power for power in range(math.ceil(first), math.floor(last) + 1)]
    axes.set_yticks(ticks, list(map(style.short_number, ticks)))
    axes.minorticks_off()
    axes.legend(loc="lower right")


# --- Texts --------------------------------------------------------------------------------------


def _written(number: float, values: Values) -> str:
    if values.unit == "bytes":
        return style.short_bytes(number)
    if values.unit == "KiB":
        return style.kib(number / 1024)
    if values.unit == "share":
        return f"{100 * number:.3g} %"
    if is_bit_pattern(number):
        return in_hexadecimal(int(number))
    return f"{number:.3g}" if number % 1 else f"{int(number):,}"  # a float rounds 64 bits


def _told(values: Values, rows: Rows) -> str:
    """The first rows, and of each the numbers in even steps."""
    step = math.ceil(len(values.at) / _MOST_TOLD)
    told = []
    for name, row in list(rows.items())[:_MOST_ROWS_TOLD]:
        pairs = list(zip(values.at, row, strict=True))[::step]
        numbers = ", ".join(f"{_written(number, values)} at {each:g}" for each, number in pairs)
        told.append(f"{name}: {numbers}")
    return f"By {values.along}: {'; '.join(told)}."


# --- The calls that a task wants drawn ----------------------------------------------------------


def drawn_calls(task: Task) -> Picture:
    """Some calls of a plain function, and what they should return."""
    answer = load_program(task.answer).kernel(task.id)
    calls = [
        (f"{task.id}({', '.join(map(repr, argument))})", _short(call_plain(answer, argument)))
        for argument in task.shown_arguments
    ]
    longest = max(len(call) for call, _ in calls)
    title = f"Wanted: {task.signature}"
    lines = [f"{call:<{longest}}  →  {value}" for call, value in calls]
    scene = Scene(8.2 * max(map(len, lines)) + 24, 26 * len(lines) + 6)
    scene.lines(12, 20, lines, "mono", 26)
    told = ", ".join(f"{call} should be {value}" for call, value in calls)
    return scene.still(title, f"{title}. {told}.")


def _short(value: object) -> str:
    if is_bit_pattern(value):
        return in_hexadecimal(value)  # type: ignore[arg-type]
    return f"{value:.4g}" if isinstance(value, float) else str(value)
