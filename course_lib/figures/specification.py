"""Draw what a task asks for, before anything is typed: arrays, the wanted output, one rule.

Nothing is declared: the task's own answer runs on the emulator with small arrays, and its trace
says which elements of the inputs one element of the output comes from.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from course_lib.curriculum import TASKS, Task
from course_lib.figures.attention import draw_square
from course_lib.figures.interactive import Scene, arrow_path
from course_lib.figures.interactive.still import draw_scene
from course_lib.figures.own_values import drawn_calls
from course_lib.figures.picture import Picture
from course_lib.figures.sheets import Marks, Sheet, Slots, extent, slots, texts_of
from course_lib.figures.small_launch import (
    Element,
    Index,
    NoPicture,
    SmallLaunch,
    Touch,
    launch_answer,
    origins,
    touches_of,
    written_elements,
)
from course_lib.figures.student_run import draw_map
from course_lib.wording.words import element, joined

_LARGEST_CELL = 34.0
_SMALLEST_CELL = 29.0  # of a tall picture: three digits still fit
_MOST_ROWS, _MOST_COLUMNS = 8, 16
_MOST_OF_LONG_SUMS = 10  # columns, whose numbers have two or three digits
_MOST_OF_THREE = 7  # columns, of matrices that stand side by side
_MOST_ARROWS = 4  # from one array that do not run straight ahead
_TOP = 4.0  # where the arrays begin
_MARGIN = 12.0
_TURN = 13.0  # right of an array, where an arrow around its cells changes rows
Places = Collection[tuple[int, int]]


def wanted(task_id: str) -> Picture:
    """What a task asks for: the arrays with small numbers, and what should come out of them.

    One element of the output is picked out, with the elements of the inputs that it comes from.
    Of large tiles: the outputs of one thread. For a plain function: some calls, and what they
    should return.

    Args:
        task_id: such as "put_seven".

    Raises:
        NoPicture: if there is no such task, or nothing of it can be drawn.
    """
    task = TASKS.get(task_id)
    if task is None:
        raise NoPicture(f"There is no task {task_id!r}; there are {', '.join(TASKS)}.")
    if not task.has_picture:
        raise NoPicture(f"There is no picture for {task_id}.")
    if not task.kind.is_launched:
        return drawn_calls(task)
    if task.picture in ("lanes", "buffers"):
        return draw_map(
            launch_answer(task, "running"), f"Wanted: {task.title[0].lower()}{task.title[1:]}"
        )
    return draw_square(task) if task.is_large else _drawn_launch(task)


# --- Kernels ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Rule:
    """One element of the output, and those that it comes from."""

    element: Index
    value: float
    sources: Mapping[str, list[Index]]  # by array; only those that have some
    written: list[Index]


def _drawn_launch(task: Task) -> Picture:
    ran = launch_answer(task, "reading")
    rule = _rule(ran)
    plan = _Plan(ran, rule)
    sentence = _sentence(ran, rule)
    title = f"Wanted: {_formula(task)}"
    scene = Scene(plan.width + 2 * _MARGIN, _TOP + plan.height + 8)
    plan.draw(scene)
    return draw_scene(
        scene, title, f"{title}. {_held(ran)} {sentence}", _launch_words(ran), sentence
    )


def _rule(ran: SmallLaunch) -> _Rule:
    """An element of the output, neither the first nor the last, and its sources."""
    touches = touches_of(ran)
    written = written_elements(touches, ran.task.output)
    if not written:
        raise NoPicture(f"There is no picture for {ran.task.id}: nothing is written.")
    element = written[len(written) // 3]
    if ran.task.dtypes or "shfl" in ran.task.answer:  # lanes exchange numbers: no trace shows it
        found = _by_the_reference(ran, element)
    else:
        found = origins(touches, ran.task.output, element)
        if any(touch.is_wide for touch in touches):
            found = {source for source in found if _depends(ran, element, source)}
        found |= _kept(ran, touches, element, found)
    sources = {
        name: sorted(index for array, index in found if array == name) for name in ran.inputs
    }
    value = float(ran.output[element])
    return _Rule(
        element, value, {name: source for name, source in sources.items() if source}, written
    )


def _by_the_reference(ran: SmallLaunch, element: Index) -> set[Element]:
    """The elements of the inputs that change this one of the output, if they change."""
    assert ran.task.reference is not None
    found: set[Element] = set()
    inputs = {name: array.astype(np.float64) for name, array in ran.inputs.items()}
    value = ran.task.reference(*inputs.values())[element]
    for name, array in inputs.items():
        for index in np.ndindex(array.shape):
            array[index] += 1
            if ran.task.reference(*inputs.values())[element] != value:
                found.add((name, index))
            array[index] -= 1
    return found


def _kept(
    ran: SmallLaunch, touches: list[Touch], element: Index, found: set[Element]
) -> set[Element]:
    """What the storing thread had loaded for earlier elements and still kept, as a running total
    does: if it is changed, so is this element."""
    store = next(t for t in reversed(touches) if t.index == element and t.array == ran.task.output)
    earlier = {
        (touch.array, touch.index)
        for touch in touches
        if touch.is_load and touch.thread == store.thread and touch.array in ran.inputs
    }
    return {source for source in earlier - found if _depends(ran, element, source)}


def _depends(ran: SmallLaunch, element: Index, source: Element) -> bool:
    """Whether an element of the output changes when one of an input does."""
    changed = launch_answer(ran.task, "reading", source)
    return bool(changed.output[element] != ran.output[element])


class _Plan:
    """The layout: what shares the output's rows left of it, what shares its columns above it."""

    def __init__(self, ran: SmallLaunch, rule: _Rule) -> None:
        self.ran, self.rule, self.output = ran, rule, ran.task.output
        output = ran.letters[ran.task.output]
        self.is_column = len(output) == 1 and any(
            len(letter) == 2 and letter[0] == output[0] != letter[1]
            for letter in ran.letters.values()
        )
        self.left: list[str] = []
        self.above: list[str] = []
        for name, array in ran.inputs.items():
            if array.ndim:
                (self.left if self._stands_left(name) else self.above).append(name)
        self.drawn = {name: self._slots(name) for name in (*self.left, *self.above, self.output)}
        self.cell = self._cell()
        self.sheets = self._sheets()
        # Does the output's row of indices stand below it, since something stands above?
        self._is_numbered_below = bool(self.above) and len(output) == 1
        room = _name_width(self.output) - 19 if self.left else 0.0
        right = max(sheet.corner[0] + sheet.width for sheet in self.sheets.values())
        low = max(sheet.corner[1] + sheet.height for sheet in self.sheets.values())
        self.width = right + room - _MARGIN
        self.height = low + (18 if self._is_numbered_below else 0) - _TOP

    def _stands_left(self, name: str) -> bool:
        output, mine = self.ran.letters[self.output], self.ran.letters[name]
        if len(output) == 1:
            return self.is_column
        rows, columns = output
        if len(mine) == 2:
            is_factor = bool(self.left) and bool(self.ran.task.dtypes)  # of a product
            return not (mine[1] == columns and (mine[0] != rows or is_factor))
        return mine[0] == rows and (mine[0] != columns or not self.left)

    def _is_column(self, name: str) -> bool:
        """Is an array with one axis drawn from top to bottom?"""
        if len(self.ran.letters[name]) > 1:
            return False
        return self.is_column if name == self.output else name in self.left

    def on_sheet(self, name: str, index: Index) -> tuple[int, int]:
        """Row and column of an element as it is drawn."""
        if len(index) == 2:
            return index[0], index[1]
        return (index[0], 0) if self._is_column(name) else (0, index[0])

    def _slots(self, name: str) -> tuple[Slots, Slots]:
        axes = self.ran.letters[name]
        if len(axes) == 2:
            most = _MOST_OF_LONG_SUMS if self.ran.task.dtypes else _MOST_COLUMNS
            most = _MOST_OF_THREE if len(self.left) > 1 else most
            return self._along(axes[0], _MOST_ROWS), self._along(axes[1], most)
        if self._is_column(name):
            return self._along(axes[0], _MOST_ROWS), (0,)
        return (0,), self._along(axes[0], _MOST_COLUMNS)

    def _along(self, letter: str, most: int) -> Slots:
        """What is drawn of an axis: whatever is picked out, in any array that has it."""
        picked = {self.output: [self.rule.element], **self.rule.sources}
        places = [
            (name, index[axis])
            for name, indices in picked.items()
            for axis, own_letter in enumerate(self.ran.letters[name])
            for index in indices
            if own_letter == letter
        ]
        size = next(
            self.ran.arrays[name].shape[axis]
            for name, axes in self.ran.letters.items()
            for axis, own_letter in enumerate(axes)
            if own_letter == letter
        )
        of_output = zip(self.ran.letters[self.output], self.rule.element, strict=True)
        own = next((index for own_letter, index in of_output if own_letter == letter), None)
        return slots(size, most, {index for _, index in places}, own)

    def _cell(self) -> float:
        """The largest side with which everything fits."""
        columns = [extent(self.drawn[name][1]) for name in (*self.left, self.output)]
        widest = max((extent(self.drawn[name][1]) for name in self.above), default=0.0)
        across = sum(columns[:-1]) + max(columns[-1], widest)
        rows = sum(extent(self.drawn[name][0]) for name in self.above) + max(
            extent(self.drawn[name][0]) for name in (*self.left, self.output)
        )
        names = sum(map(_name_width, (*self.left, self.output)))
        return min(_LARGEST_CELL, (682 - names) / across, max(374 / rows, _SMALLEST_CELL))

    def _sheets(self) -> dict[str, Sheet]:
        x = _MARGIN + _name_width(self.output if not self.left else self.left[0])
        corners = {}
        for name in self.left:
            corners[name] = x
            x += self.cell * extent(self.drawn[name][1])
            x += 48 if name == self.left[-1] else _name_width(name)
        widest = max(map(_name_width, self.above), default=0.0)
        x = max(x, _MARGIN + widest)
        y, sheets = _TOP + 19, {}
        for name in self.above:
            sheets[name] = Sheet((x, y), self.cell, *self.drawn[name])
            y += sheets[name].height + 30
        for name, left in ((self.output, x), *corners.items()):
            sheets[name] = Sheet((left, y), self.cell, *self.drawn[name])
        return {name: sheets[name] for name in self.ran.arrays if name in sheets}

    def draw(self, scene: Scene) -> None:
        """Every array with its name and its indices, and arrows to the one element."""
        paths = self._paths()
        for place, (name, sheet) in enumerate(self.sheets.items()):
            values = self.ran.arrays[name]
            grid = values[:, None] if self._is_column(name) else np.atleast_2d(values)
            css = "c" if name == self.output else "abd"[place % 3]
            looks = Marks(css, self._lit(name), self._quiet(name), paths.get(name, ()))
            sheet.draw(scene, texts_of(grid), looks)
            rows_numbered = self._draw_numbers(scene, name)
            x, side = sheet.corner[0] - (26 if rows_numbered else 11), "end"
            if name == self.output and self.left:
                x, side = sheet.corner[0] + sheet.width + 11, "start"
            scene.text(x, sheet.corner[1] + sheet.height / 2 + 6, name, "large bold", side)
        for name in self.rule.sources:
            if name in self.sheets:
                self._draw_arrows(scene, name)

    def _draw_numbers(self, scene: Scene, name: str) -> bool:
        """The indices of an array, where its neighbour does not show the same; are there rows?"""
        sheet, letters = self.sheets[name], self.ran.letters[name]
        is_output = name == self.output
        is_column = self._is_column(name)
        of_left = {self.ran.letters[array_name][0] for array_name in self.left}
        of_above = {self.ran.letters[array_name][-1] for array_name in self.above}
        if not is_column and not (is_output and len(letters) == 2 and letters[-1] in of_above):
            sheet.number_columns(scene, below=is_output and self._is_numbered_below)
        rows = (len(letters) == 2 or is_column) and not (is_output and letters[0] in of_left)
        if rows:
            sheet.number_rows(scene)
        return rows

    def _lit(self, name: str) -> Places:
        picked = [self.rule.element] if name == self.output else self.rule.sources.get(name, [])
        return {self.on_sheet(name, index) for index in picked}

    def _quiet(self, name: str) -> Places:
        """What nobody writes."""
        if name != self.output:
            return ()
        every = set(np.ndindex(self.ran.output.shape)) - set(self.rule.written)
        return {self.on_sheet(name, index) for index in every}

    @property
    def _aim(self) -> tuple[int, int]:
        """The element of the output that is picked out, as it is drawn."""
        return self.on_sheet(self.output, self.rule.element)

    def _ahead(self, name: str) -> tuple[int, int] | None:
        """The lit element of an array left of the output in the same row, or above in the same
        column, from which one looks straight at the output's; None if there is no such."""
        if name in (self.output, *self.left[:-1]) or name not in self.rule.sources:
            return None
        lit, aim = self._lit(name), self._aim
        if name in self.left:
            last = aim[0], 0 if self._is_column(name) else self.ran.arrays[name].shape[-1] - 1
            return last if last in lit and {row for row, _ in lit} == {aim[0]} else None
        nearest = max(lit)
        straight = {place[1] for place in lit} == {aim[1]} and self._is_aligned(name)
        return nearest if straight else None

    def _is_part_of_a_column(self, name: str) -> bool:
        """Do several elements of one column count, so that their arrows would cross numbers?"""
        lit = self._lit(name)
        in_one_column = len({column for _, column in lit}) == 1 < len(lit)
        return in_one_column and not self._is_column(name)

    def _is_aligned(self, name: str) -> bool:
        """Are the columns of an array above the output in line with the output's own?"""
        return self.drawn[name][1] == self.drawn[self.output][1]

    def _paths(self) -> dict[str, set[tuple[int, int]]]:
        """The elements of the output that one looks over to the one that is picked out."""
        seen: set[tuple[int, int]] = set()
        row, column = self._aim
        for name in self.rule.sources:
            if name in self.sheets and self._ahead(name) is not None and name in self.left:
                seen.update((row, other_column) for other_column in range(column))
            elif name in self.sheets and self._ahead(name) is not None:
                seen.update((other_row, column) for other_row in range(row))
        return {self.output: seen}

    def _draw_arrows(self, scene: Scene, name: str) -> None:
        """One arrow from edge to edge where one looks straight ahead, or from part of a column;
        one around the cells from a single element on the left; else one from every element, or none
        where they would cover numbers.
        """
        if name in self.left[:-1]:
            return
        sheet, target = self.sheets[name], self.sheets[self.output]
        end_x, end_y = target.middle(*self._aim)
        half = self.cell / 2
        ahead = self._ahead(name)
        if ahead is not None and name in self.left:
            start, end = (sheet.corner[0] + sheet.width, end_y), (target.corner[0], end_y)
            ways = [(start, end)]
        elif ahead is not None:
            start, end = (end_x, sheet.corner[1] + sheet.height), (end_x, target.corner[1])
            ways = [(start, end)]
        elif name in self.left and len(self._lit(name)) == 1:
            self._draw_way_around(scene, name)
            return
        elif name in self.left and self._is_part_of_a_column(name):
            above, *_, below = sorted(self._lit(name))
            middle = (sheet.middle(*above)[1] + sheet.middle(*below)[1]) / 2
            ways = [((sheet.corner[0] + sheet.width, middle), (target.corner[0] - half, end_y))]
        else:
            starts = [
                sheet.middle(*place) for place in sorted(self._lit(name)) if sheet.has(*place)
            ]
            if name in self.left or len(starts) > _MOST_ARROWS:
                return
            ways = [((x, y + half), (end_x, end_y - half)) for x, y in starts]
        for number, (start, end) in enumerate(ways):
            scene.path(arrow_path(*start, *end), "arrow ink", f"arrow {number} from {name}")

    def _draw_way_around(self, scene: Scene, name: str) -> None:
        """An arrow along the edges of cells, from a single element to the output's."""
        sheet, target = self.sheets[name], self.sheets[self.output]
        (source,) = self._lit(name)
        x, y = sheet.place(*source)
        turn = sheet.corner[0] + sheet.width + _TURN
        end_x, end_y = target.place(*self._aim)
        scene.path(f"M{x + self.cell} {y} H{turn} V{end_y}", "arrow ink", f"arrow line from {name}")
        end = arrow_path(turn, end_y, end_x, end_y)
        scene.path(end, "arrow ink", f"arrow from {name}")


def _name_width(name: str) -> float:
    return 9.6 * len(name) + 40


# --- Words --------------------------------------------------------------------------------------


def _formula(task: Task) -> str:
    of_family = {"product": "C = A @ B", "register product": "C = A @ B", "sum": "C = A + B",
                 "transpose": "B = A.T"}  # fmt: skip
    return task.formula or of_family.get(task.family, task.title)


def _launch_words(ran: SmallLaunch) -> str:
    blocks, threads = ran.launch.grid, ran.launch.block
    count = int(np.prod(blocks))
    sizes = " × ".join(map(str, threads))
    one = "1 thread" if sizes == "1" else f"{sizes} threads"
    many = "1 block" if count == 1 else f"{' × '.join(map(str, blocks))} blocks"
    output, before = ran.task.output, ran.task.before
    held = "may hold anything" if ran.task.starts_blank else f"holds {before:g}"
    return f"{many} of {one}; before the launch, {output} {held}"


def _sentence(ran: SmallLaunch, rule: _Rule) -> str:
    """ "out[3] = 19 comes from a[3] = 9"."""
    here = f"{element(ran.task.output, rule.element)} = {rule.value:g}"
    if not rule.sources:
        others = ran.output.size > len(rule.written)
        return f"{here}{'; the other elements stay as they are' if others else ''}."
    told = [_told(ran.arrays[name], name, indices) for name, indices in rule.sources.items()]
    return f"{here} comes from {joined(told)}."


def _told(array: np.ndarray, name: str, indices: list[Index]) -> str:
    if len(indices) == 1:
        (only,) = indices
        if not only or not array.ndim:
            return f"{name} = {float(array):g}"
        return f"{element(name, only)} = {float(array[only]):g}"
    if array.ndim == 2:
        rows, columns = ({index[axis] for index in indices} for axis in (0, 1))
        if len(rows) == 1 and len(columns) == array.shape[1]:
            return f"row {rows.pop()} of {name}"
        if len(columns) == 1 and len(rows) == array.shape[0]:
            return f"column {columns.pop()} of {name}"
    if len(indices) == array.size:
        return f"all of {name}"
    if len(indices) <= 4:
        return ", ".join(element(name, index) for index in indices)
    if array.ndim == 1 and indices[-1][0] - indices[0][0] == len(indices) - 1:
        return f"{element(name, indices[0])} to {element(name, indices[-1])}"
    return f"{len(indices)} elements of {name}, {element(name, indices[0])} the first"


def _held(ran: SmallLaunch) -> str:
    """What every array holds, where it is short enough to be read out."""
    told = []
    for name, array in ran.arrays.items():
        verb = "should hold" if name == ran.task.output else "holds"
        if array.ndim == 0:
            told.append(f"{name} is {float(array):g}")
        elif array.ndim == 1 and array.size <= _MOST_COLUMNS:
            told.append(f"{name} {verb} {', '.join(f'{number:g}' for number in array)}")
        else:
            told.append(f"{name} has {' by '.join(map(str, array.shape))} elements")
    return f"{'; '.join(told)}."
