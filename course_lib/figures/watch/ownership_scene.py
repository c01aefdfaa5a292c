"""Who owns which element of C in a run: read from a film, and drawn to be clicked through."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.emulator import Kernel
from course_lib.emulator.film import Film, MemoryOperation
from course_lib.figures.interactive import Changes, Grid, Layer, Scene
from course_lib.figures.interactive.scene import fills_its_box
from course_lib.wording.words import counted, span

Cell = tuple[int, int]


@dataclass
class Deeds:
    """What one thread did: the elements that it wrote, and those of A and B that it fetched."""

    wrote: list[Cell] = field(default_factory=list)
    of_a: set[Cell] = field(default_factory=set)
    of_b: set[Cell] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Ownership:
    """Who wrote what in a launch over a matrix of `shape` = (rows, columns)."""

    shape: tuple[int, int]
    # grid, block: the launch, as (x, y)
    grid: tuple[int, int]
    block: tuple[int, int]
    deeds: list[Deeds]  # one for each thread of the launch, block after block
    writers: np.ndarray  # how many threads wrote each element
    wrong: np.ndarray  # where the result is not A @ B

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The blocks as (x, y), in the order of their numbers."""
        return [(x, y) for y in range(self.grid[1]) for x in range(self.grid[0])]

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.threads // WARP_SIZE)

    @property
    def idle(self) -> int:
        """Threads that wrote nothing."""
        return sum(not deeds.wrote for deeds in self.deeds)

    def of(self, block: int, thread: int) -> Deeds:
        """What a thread of a block did, both by number."""
        return self.deeds[block * self.threads + thread]

    def place(self, thread: int) -> tuple[int, int]:
        """A thread's (x, y) within its block."""
        return thread % self.block[0], thread // self.block[0]

    def cells_of(self, block: int) -> set[Cell]:
        """Every element that a block wrote."""
        first = block * self.threads
        return {cell for deeds in self.deeds[first : first + self.threads] for cell in deeds.wrote}

    def expected(self, block: int, thread: int, x_is: str) -> Cell:
        """The element of cuda.grid(2), if x is the column, or the row."""
        (bx, by), (tx, ty) = self.blocks[block], self.place(thread)
        x, y = bx * self.block[0] + tx, by * self.block[1] + ty
        return (y, x) if x_is == "column" else (x, y)

    @property
    def mapping(self) -> str:
        """ "column" or "row": what x is, if every thread wrote the element of cuda.grid(2).

        "" for any other mapping.
        """
        for x_is in ("column", "row"):
            if all(
                deeds.wrote == [self.expected(*divmod(number, self.threads), x_is)]
                for number, deeds in enumerate(self.deeds)
                if deeds.wrote
            ):
                return x_is
        return ""


def ownership(run: Film, names: tuple[str, ...], c: np.ndarray, product: np.ndarray) -> Ownership:
    """Who wrote what in a film of a kernel with the parameters A, B, C, of these `names`; in the
    end `c` holds what should be `product`.
    """
    deeds = [Deeds() for _ in range(run.space.size)]
    writers = np.zeros(c.shape, int)
    for touch in _touches(run):
        cells = [(int(row), int(column)) for row, column in touch.indices[:, :2]]
        for lane, cell in zip(touch.lanes, cells, strict=True):
            mine = deeds[lane]
            if touch.array == names[2] and touch.kind != "load":
                if cell not in mine.wrote:
                    mine.wrote.append(cell)
                    writers[cell] += 1
            elif touch.array in names[:2] and touch.kind == "load":
                (mine.of_a if touch.array == names[0] else mine.of_b).add(cell)
    grid, block = run.profile.grid, run.profile.block
    with np.errstate(all="ignore"):
        wrong = ~np.isclose(c, product)
    return Ownership(c.shape, grid[:2], block[:2], deeds, writers, wrong)


def _touches(run: Film) -> Iterable[MemoryOperation]:
    for moment in run.moments:
        if (
            isinstance(moment, MemoryOperation)
            and moment.space == "global"
            and moment.indices.shape[1] == 2
        ):
            yield moment


# --- The drawing: C with its blocks, one block's threads, and the row of A and column of B --------


_STRIP = 34  # how thick A and B are drawn
_WARP_COLOURS = ("a", "b", "d", "c")


@dataclass(eq=False)
class OwnerStory:
    """What is drawn at rest, and what changes with each block and thread."""

    owned: Ownership
    kernel: Kernel
    depth: int
    errors: list[str]
    staged: bool

    def __post_init__(self) -> None:
        owned = self.owned
        rows, columns = owned.shape
        size = min(250 / columns, 250 / rows, 22)
        left, top = 14 + _STRIP + 26, 40 + _STRIP + 26
        self.of_a = Grid(14, top, (rows, 1), _STRIP, size)
        self.of_b = Grid(left, 40, (1, columns), size, _STRIP)
        self.c = Grid(left, top, (rows, columns), size)
        across = self._seats_across()
        down = -(-owned.threads // across)
        self.seats = Grid(372.0, 74.0, (down, across), min(290 / across, 270 / down, 36))
        self.first = min(1, len(owned.blocks) - 1)
        self.start_thread = self._some_thread()

    def _some_thread(self) -> int:
        """A thread that owns something, not the very first one."""
        wide = self.owned.block[0]
        wished = min(2, self.owned.block[1] - 1) * wide + min(3, wide - 1)
        busy = [t for t in range(self.owned.threads) if self.owned.of(self.first, t).wrote]
        return wished if wished in busy or not busy else busy[0]

    def _seats_across(self) -> int:
        """As many as the block is wide; a block that is one long row is folded."""
        wide, high = self.owned.block
        if wide > WARP_SIZE or (high == 1 and wide > 16):
            return 16 if self.owned.threads <= 256 else WARP_SIZE
        return wide

    def _seat(self, thread: int) -> Cell:
        """Row and column of a thread's square."""
        return divmod(thread, self.seats.shape[1])

    @property
    def bottom(self) -> float:
        return max(self.c.bottom, self.seats.bottom)

    # at rest

    def scene(self) -> Scene:
        scene = Scene(720, self.bottom + (102 if self._trouble() else 76))
        self._draw_strips(scene)
        self._draw_c(scene)
        self._draw_zoom(scene)
        self._draw_facts(scene)
        return scene

    def _draw_strips(self, scene: Scene) -> None:
        a, b, _ = self.kernel.parameters[:3]
        left, top = self.c.x, self.c.y
        scene.text(14, top - 8, a, "bold a")
        scene.path(self.of_a.outline(), "a-soft")
        scene.path("", "a", "rowband")
        scene.text(left - 8, 40 + _STRIP / 2 + 5, b, "bold b", "end")
        scene.path(self.of_b.outline(), "b-soft")
        scene.path("", "b", "columnband")
        scene.text(left, 28, "", "small", name="columnname")
        scene.text(left, 40 + _STRIP + 18, "", "small", name="rowname")

    def _draw_c(self, scene: Scene) -> None:
        rows, columns = self.owned.shape
        scene.path(self.c.outline(), "hatch")
        for number, (x, y) in enumerate(self.owned.blocks):
            cells = self.owned.cells_of(number)
            label = f"block ({x}, {y})" + ("" if cells else ", which wrote nothing")
            scene.path(self.c.squares(cells), "", f"tile{number}", label)
        if self.c.wide >= 7:
            scene.path(self.c.lattice(), "lattice")
        writers = self.owned.writers
        bad = np.argwhere((writers > 1) | (self.owned.wrong & (writers > 0))).tolist()
        scene.path(self.c.squares(map(tuple, bad)), "hatch-trouble bare through")
        scene.path("", "outline", name="chosen")
        scene.path("", "lit through", "element")
        words = f"{self.kernel.parameters[2]}, {rows} × {columns}"
        scene.text(self.c.right, self.c.bottom + 18, words, "bold c", "end")

    def _draw_zoom(self, scene: Scene) -> None:
        x0, y0, seat = self.seats.x, self.seats.y, self.seats.wide
        scene.text(x0, y0 - 46, "", "bold", name="zoomtitle")
        scene.text(x0, y0 - 27, "", "bold c", name="mine")
        named = seat >= 30 and self.seats.shape[1] == self.owned.block[0]
        caption = "in each thread: ty,tx" if named else "in each thread: its lane"
        caption = caption if seat >= 18 else "one square for each thread"
        scene.text(x0, y0 - 9, f"{caption}; hatched: writes nothing", "small muted")
        for number in range(self.owned.threads):
            tx, ty = self.owned.place(number)
            x, y = self.seats.corner(*self._seat(number))
            # Of very many squares none has a name of its own: the control says who is chosen.
            label = f"ty {ty}, tx {tx}" if self.owned.threads <= 256 else None
            scene.rect(x, y, seat, seat, self._warp_css(number), f"seat{number}", label)
            words = f"{ty},{tx}" if named else str(number % WARP_SIZE) if seat >= 18 else ""
            if words:
                scene.text(x + seat / 2, y + seat / 2 + 4.5, words, "small", "middle")
        self._draw_warps(scene)
        scene.rect(x0, y0, seat, seat, "outline", "me")

    def _warp_css(self, thread: int) -> str:
        return f"{_WARP_COLOURS[thread // WARP_SIZE % 4]}-soft"

    def _draw_warps(self, scene: Scene) -> None:
        """The border of each warp, and its number where there is room."""
        seat, wide = self.seats.wide, self.seats.shape[1]
        every = max(1, -(-14 // int(seat * max(1, WARP_SIZE // wide))))
        for warp in range(self.owned.warps):
            first = warp * WARP_SIZE
            last = min(first + WARP_SIZE, self.owned.threads) - 1
            seats = {self._seat(thread) for thread in range(first, last + 1)}
            scene.path(self.seats.border(seats), "outline")
            if warp % every == 0:
                middle = self.seats.y + (first // wide + last // wide + 1) / 2 * seat
                scene.text(self.seats.right + 6, middle + 4, f"warp {warp}", "small")

    @property
    def facts(self) -> tuple[str, str]:
        """The launch, and what it leaves out."""
        owned = self.owned
        (gx, gy), (bx, by) = owned.grid, owned.block
        rows, columns = owned.shape
        warps = counted(owned.warps, "warp")
        return (
            f"grid {gx} × {gy} = {gx * gy} blocks · {bx} × {by} = {owned.threads} threads per "
            f"block ({warps})",
            f"{len(owned.deeds)} threads for {rows * columns} elements · {self._left_out()}",
        )

    def _draw_facts(self, scene: Scene) -> None:
        y = self.bottom + 46
        for line, words in enumerate(self.facts):
            scene.text(14, y + 20 * line, words, "small muted")
        trouble = self._trouble()
        if trouble:
            scene.text(14, y + 42, f"⚠ {trouble}", "trouble")

    def _left_out(self) -> str:
        """Threads without an element, and elements without a thread."""
        owned, missing = self.owned, int((self.owned.writers == 0).sum())
        idle = f"{owned.idle} write nothing" if owned.idle else "every thread writes"
        if not missing:
            return f"{idle} · every element is written"
        return f"{idle} · {counted(missing, 'element')} nobody writes"

    def _trouble(self) -> str:
        owned = self.owned
        several = int((owned.writers > 1).sum())
        wrong = int((owned.wrong & (owned.writers > 0)).sum())
        if several:
            return f"{several} elements have several writers"
        if wrong:
            return f"{wrong} written elements are not those of A @ B"
        return "The emulator reports an error" if self.errors else ""

    # states

    def layers(self) -> list[Layer]:
        return [
            Layer(["block"], self._patch_block),
            Layer(["thread"], self._patch_thread),
            Layer(["block", "thread"], self._patch_element),
        ]

    def _patch_block(self, block: int) -> Changes:
        x, y = self.owned.blocks[block]
        cells = self.owned.cells_of(block)
        patch: Changes = {
            f"tile{block}": {"class": "c-soft"},
            "chosen": {"d": self.c.border(cells)},
            "zoomtitle": {"text": f"The threads of block ({x}, {y})"},
        }
        for thread in range(self.owned.threads):
            if not self.owned.of(block, thread).wrote:
                patch[f"seat{thread}"] = {"class": "hatch"}
        return patch

    def _patch_thread(self, thread: int) -> Changes:
        x, y = self.seats.corner(*self._seat(thread))
        return {"me": {"x": x, "y": y}}

    def _patch_element(self, block: int, thread: int) -> Changes:
        wrote = self.owned.of(block, thread).wrote
        a, b, c = self.kernel.parameters[:3]
        rows, columns = {row for row, _ in wrote}, {column for _, column in wrote}
        return {
            "columnname": {"text": _numbers("column", columns, f"of {b}")},
            "rowname": {"text": _numbers("row", rows, f"of {a}")},
            "mine": {"text": _element_name(wrote, c)},
            "element": {"d": self.c.squares(wrote)},
            "rowband": {"d": self.of_a.squares((row, 0) for row in rows)},
            "columnband": {"d": self.of_b.squares((0, column) for column in columns)},
        }

    def clicks(self) -> dict[str, tuple[str, int]]:
        clicks = {}
        for number in range(len(self.owned.blocks)):
            if self.owned.cells_of(number):
                clicks[f"tile{number}"] = ("block", number)
        for number in range(self.owned.threads):
            clicks[f"seat{number}"] = ("thread", number)
        return clicks

    # words

    def words(self) -> list[Layer]:
        # A sentence for every thread of every block is long: each says one thing, so that few
        # different ones are kept.
        both = ["block", "thread"]
        return [
            Layer(["block"], self._say_block),
            Layer(["thread"], self._say_thread),
            Layer(both, self._say_row),
            Layer(both, self._say_column),
            Layer(both, self._say_fetched),
            Layer([], {(): self._say_all()}),
        ]

    def _say_block(self, block: int) -> str:
        x, y = self.owned.blocks[block]
        cells = self.owned.cells_of(block)
        name = self.kernel.parameters[2]
        if not cells:
            return f"Block ({x}, {y}) has written nothing."
        return f"Block ({x}, {y}) has written {_region(cells)} of {name}."

    def _say_thread(self, thread: int) -> str:
        tx, ty = self.owned.place(thread)
        warp, lane = divmod(thread, WARP_SIZE)
        return (
            f"Thread tx {tx}, ty {ty} is number {thread} of its block, lane {lane} of warp {warp}."
        )

    def _say_row(self, block: int, thread: int) -> str:
        wrote = self.owned.of(block, thread).wrote
        a, _, c = self.kernel.parameters[:3]
        if not wrote:
            return f"It has written nothing{self._why_idle(block, thread)}"
        if len(wrote) > 1:
            return f"It has written {len(wrote)} elements of {c}: {_region(set(wrote))}."
        return (
            f"It has written an element in row {wrote[0][0]} of {c}, so it needs that row of {a};"
        )

    def _say_column(self, block: int, thread: int) -> str:
        wrote = self.owned.of(block, thread).wrote
        if len(wrote) != 1:
            return ""
        wrong = " Its value is wrong!" if self.owned.wrong[wrote[0]] else ""
        return f"in column {wrote[0][1]}, so that column of {self.kernel.parameters[1]}.{wrong}"

    def _say_fetched(self, block: int, thread: int) -> str:
        did = self.owned.of(block, thread)
        a, b = self.kernel.parameters[:2]
        if not did.of_a and not did.of_b:
            return "It asks global memory for nothing."
        count = f"{counted(len(did.of_a), 'element')} of {a} and {len(did.of_b)} of {b}"
        if self.staged and did.wrote and max(len(did.of_a), len(did.of_b)) < self.depth:
            return (
                f"It loads {count} itself, of the {self.depth} of each that it needs: the others "
                "of its block load the rest."
            )
        return f"It asks global memory for {count}."

    def _why_idle(self, block: int, thread: int) -> str:
        row, column = self.owned.expected(block, thread, self.owned.mapping or "column")
        rows, columns = self.owned.shape
        if self.owned.mapping and (row >= rows or column >= columns):
            return ": its element would lie outside."
        return "."

    def _say_all(self) -> str:
        told = {
            "column": "tx counts columns of C, so a warp runs along rows.",
            "row": "tx counts rows of C, so a warp runs down columns.",
            "": "This is not the mapping of cuda.grid(2).",
        }[self.owned.mapping if self.owned.cells_of(0) else ""]
        if not any(deeds.wrote for deeds in self.owned.deeds):
            told = f"No thread has written anything to {self.kernel.parameters[2]}."
        if self.errors:
            told += f" The emulator reports: {self.errors[0]}"
        return told


def _numbers(word: str, numbers: set[int], of: str) -> str:
    if not numbers:
        return ""
    first, last = min(numbers), max(numbers)
    return f"{word} {first} {of}" if first == last else f"{word}s {first} … {last} {of}"


def _region(cells: set[Cell]) -> str:
    rows, columns = (sorted(axis) for axis in zip(*cells, strict=True))
    down, across = range(rows[0], rows[-1] + 1), range(columns[0], columns[-1] + 1)
    told = f"{span('row', down)}, {span('column', across)}"
    return told if fills_its_box(cells) else f"{len(cells)} elements within {told}"


def _element_name(wrote: list[Cell], name: str) -> str:
    if not wrote:
        return "writes nothing"
    row, column = wrote[0]
    return f"owns {name}[{row}, {column}]" + (f" and {len(wrote) - 1} more" if wrote[1:] else "")
