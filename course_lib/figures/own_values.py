"""Draw the values of a student's own plain function over its inputs, as its task chooses them."""

import math
from collections.abc import Sequence

from course_lib.curriculum import Task
from course_lib.devices.number_formats import in_hexadecimal, is_bit_pattern
from course_lib.emulator import Budget, Kernel, KernelRejected, load_program
from course_lib.emulator.plain.interpreter import Interpreter
from course_lib.emulator.plain.interpreter import call as call_plain
from course_lib.figures import style
from course_lib.figures.interactive import Grid, Scene
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.picture import Picture
from course_lib.figures.small_launch import NoPicture
from course_lib.registry.exercise import Values

STEPS_PER_CALL = 20_000
_ROW = 29.0  # of a table
_LETTER = 9.2  # the width of one, roughly
_BARS_HIGH = 140.0
_LIGHTEST, _DARKEST = 0.06, 0.75
_LINES = ((style.BLUE, "-", "o"), (style.ORANGE, "--", "s"), (style.GREEN, ":", "^"))
_MOST_TOLD = 10  # numbers of a row that are read out
_MOST_ROWS_TOLD = 4


def draw_values(task: Task, values: Values, function: Kernel) -> Picture:
    """A table, bars or curves of what the function returns; it is interpreted, never executed.

    Raises NoPicture if one of these calls returns no number, or none at all.
    """
    rows = {
        name: [_number(task, function, arguments(position)) for position in values.at]
        for name, arguments in values.rows.items()
    }
    title, above = f"Your {task.signature}", f"{values.gives}; from left to right: {values.along}"
    words = f"{title}: {values.gives}. {_told(values, rows)} {values.shows}"
    if values.look == "curves":
        return _curves(title, above, values, rows, words)
    scene = (_cells if values.look == "cells" else _bars)(values, rows)
    return draw_scene(scene, title, words, above, values.shows)


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


def _cells(values: Values, rows: Rows) -> Scene:
    """A cell for each call, the darker the larger its number is."""
    left = 22 + _LETTER * max(map(len, rows))
    longest = max(len(_written(number, values)) for row in rows.values() for number in row)
    wide = min(max(86, _LETTER * longest), (712 - left) / len(values.at))
    grid = Grid(left, 26, (len(rows), len(values.at)), wide, _ROW)
    scene = Scene(720, grid.bottom + 8)
    for column, position in enumerate(values.at):
        scene.text(grid.corner(0, column + 0.5)[0], 16, f"{position:g}", "small muted", "middle")
    every = [value for row in rows.values() for value in row]
    for place, (name, row) in enumerate(rows.items()):
        scene.text(left - 8, grid.corner(place + 0.5, 0)[1] + 4, name, "small", "end")
        for column, number in enumerate(row):
            strength = _strength(number, every)
            scene.path(grid.box(place, column), "a bare", opacity=strength)
            x, y = grid.corner(place + 0.5, column + 0.5)
            ink = ("small" if wide > 24 else "tiny") + " on-a" * (strength > 0.6)
            scene.text(x, y + 4.5, _written(number, values), ink, "middle")
    scene.path(grid.lattice(), "lattice")
    return scene


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


def _bars(values: Values, rows: Rows) -> Scene:
    """A bar for each call, with its number above it."""
    (row,) = rows.values()
    wide = min(86, 690 / len(row))
    floor, tallest = _BARS_HIGH - 20, max(max(row), 1e-300)
    scene = Scene(720, _BARS_HIGH + 4)
    for place, (position, number) in enumerate(zip(values.at, row, strict=True)):
        x, high = 14 + wide * place, (_BARS_HIGH - 46) * max(number, 0.0) / tallest
        scene.rect(x + 0.1 * wide, floor - high, 0.8 * wide, high, "a")
        words = _written(number, values)
        scene.text(x + wide / 2, floor - high - 5, words, "small", "middle")
        scene.text(x + wide / 2, floor + 16, f"{position:g}", "small muted", "middle")
    scene.line(14, floor, 14 + wide * len(row), floor)
    return scene


@style.drawn
def _curves(title: str, above: str, values: Values, rows: Rows, words: str) -> Picture:
    """A curve for each row; equal factors are equal steps on both axes."""
    figure = style.card(3.38, title, above)
    style.footnote(figure, values.shows)
    axes = style.area(figure, 0.85, 0.7, 0.3, 0.68)
    for (name, row), (colour, line, marker) in zip(rows.items(), _LINES, strict=False):
        axes.plot(
            values.at, row, color=colour, linestyle=line, marker=marker, markersize=4, label=name
        )
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(values.at, [f"{position:g}" for position in values.at])
    every = [value for row in rows.values() for value in row if value > 0]
    first, last = (math.log10(extreme(every, default=1.0)) for extreme in (min, max))
    ticks = [10.0**power for power in range(math.ceil(first), math.floor(last) + 1)]
    axes.set_yticks(ticks, list(map(style.short_number, ticks)))
    axes.minorticks_off()
    axes.legend(loc="lower right")
    return Picture(figure, words)


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
        numbers = ", ".join(
            f"{_written(number, values)} at {position:g}" for position, number in pairs
        )
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
    scene.lines(14, 20, lines, "mono", 26)
    told = ", ".join(f"{call} should be {value}" for call, value in calls)
    return draw_scene(scene, title, f"{title}. {told}.")


def _short(value: object) -> str:
    if is_bit_pattern(value):
        return in_hexadecimal(value)  # type: ignore[arg-type]
    return f"{value:.4g}" if isinstance(value, float) else str(value)
