"""Draw the way of a block along K: phases, tiles, totals and counters, and their words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.figures.interactive import Changes, Grid, Scene, painted
from course_lib.figures.watch.walk import Cell, Stage, Walk
from course_lib.wording.findings import CODES
from course_lib.wording.words import counted, joined, plural, region

_CHIPS = (
    ("load", "load tiles"),
    ("barrier1", "barrier 1"),
    ("multiply", "multiply"),
    ("barrier2", "barrier 2"),
    ("store", "store C"),
)
_STRIP = 86  # where the matrices begin
_LEFT = 14
_SUMS = 8  # that are told of a picture


@dataclass(eq=False)
class StepStory:
    """What each phase shows and says."""

    matrices: Sequence[np.ndarray]  # A, B and C
    way: Walk  # the phases of the followed block
    wrong: np.ndarray  # where C is not A @ B
    is_ours: bool  # whether the kernel is the course's own

    def __post_init__(self) -> None:
        self.names = self.way.names
        self.stages = self.way.stages
        self.errors = self.way.run.profile.errors
        a, b, c = self.matrices
        self.cell = min(26.0, (692 - 2 * 44) / (a.shape[1] + b.shape[1] + c.shape[1]))
        shapes = [matrix.shape for matrix in self.matrices]
        self.grids = self._in_a_row(_STRIP + 24, dict(zip("ABC", shapes, strict=True)))
        held = self.stages[0].shared
        tiles = {f"s{n}-": np.atleast_2d(array).shape for n, array in enumerate(held.values())}
        top = max(grid.bottom for grid in self.grids.values()) + 46
        below = self._in_a_row(top, {**tiles, "r": tuple(map(len, self.window))})
        self.totals = below.pop("r")
        self.tiles = dict(zip(held, below.values(), strict=True))
        self.below = max(tile.bottom for tile in (*self.tiles.values(), self.totals)) + 26

    # places

    def _in_a_row(self, top: float, shapes: Mapping[str, Cell]) -> dict[str, Grid]:
        """Matrices beside each other, with room for their names, by their prefix."""
        grids, x = {}, float(_LEFT)
        for prefix, (rows, columns) in shapes.items():
            grids[prefix] = Grid(x, top, (rows, columns), self.cell, prefix=prefix)
            x = max(grids[prefix].right + 36, x + 170)
        return grids

    @property
    def window(self) -> tuple[list[int], list[int]]:
        """The rows and columns of C that the block owns."""
        cells = set(self.way.owners.values())
        if not cells:
            return [0], [0]
        return sorted({row for row, _ in cells}), sorted({column for _, column in cells})

    # drawing

    def scene(self) -> Scene:
        scene = Scene(720, self.below + (98 if self.errors else 76))
        self._draw_strip(scene)
        self._draw_matrices(scene)
        self._draw_tiles(scene)
        self._draw_counters(scene)
        return scene

    def _draw_strip(self, scene: Scene) -> None:
        for number, (kind, words) in enumerate(_CHIPS):
            x = _LEFT + 140 * number
            missing = kind.startswith("barrier") and not self._has(kind)
            css = "dashed" if missing else "wash"
            scene.rect(x, 8, 114, 30, css, kind, rx=6)
            label = "no barrier" if missing else words
            text_css = "trouble" if missing else ""
            scene.text(x + 57, 28, label, text_css, "middle", f"t{kind}")
            if number < 4:
                scene.arrow(x + 116, 23, x + 138, 23)
        back = f"M{_LEFT + 477} 40 V58 H{_LEFT + 57} V43"
        scene.path(back, "arrow")
        scene.path(f"M{_LEFT + 52} 49 L{_LEFT + 57} 41 L{_LEFT + 62} 49", "arrow")
        scene.text(_LEFT + 70, 75, "", "bold", name="step")

    def _has(self, chip: str) -> bool:
        return self.way.barrier_after("load" if chip == "barrier1" else "multiply")

    def _draw_matrices(self, scene: Scene) -> None:
        names = dict(zip("ABC", self.names, strict=True))
        for name, matrix in zip("AB", self.matrices, strict=False):
            grid = self.grids[name]
            scene.text(grid.x, grid.y - 8, f"{names[name]}, global", f"bold {name.lower()}")
            grid.draw(scene, lambda cell, held=matrix: _shown(held[cell]))  # type: ignore[misc]
        grid = self.grids["C"]
        scene.text(grid.x, grid.y - 8, f"{names['C']}, global", "bold c")
        grid.draw(scene, lambda cell: "·", "muted")
        rows, columns = self.window
        if self.way.owners:
            size = rows[-1] - rows[0] + 1, columns[-1] - columns[0] + 1
            scene.path(grid.box(rows[0], columns[0], *size), "outline dashed")

    def _draw_tiles(self, scene: Scene) -> None:
        for number, (name, grid) in enumerate(self.tiles.items()):
            colour = "ab"[number] if number < 2 else "d"
            scene.text(grid.x, grid.y - 8, f"{name}, shared", f"bold {colour}")
            grid.draw(scene, lambda cell: "?", "muted")
        grid = self.totals
        scene.text(grid.x, grid.y - 8, "totals, in registers", "bold c")
        grid.draw(scene, lambda cell: "·", "muted")
        followed = self.way.owners.get(self.way.followed) if self.way.followed is not None else None
        if followed:
            scene.path(grid.box(*self._in_window(followed)), "outline")

    def _draw_counters(self, scene: Scene) -> None:
        y = self.below
        scene.text(_LEFT, y, "", "mono", name="sum")
        captions = ("loaded from global", "reads from shared", "reads ÷ loaded", "FLOP so far")
        for number, caption in enumerate(captions):
            x = _LEFT + 176 * number
            scene.text(x, y + 34, "0", "large bold", name=f"count{number}")
            scene.text(x, y + 54, caption, "small muted")
        if self.errors:
            first = self.errors[0]
            where = f", line {first.line}" if first.line is not None else ""
            words = f"⚠ The emulator reports: {CODES[first.code].title}{where}"
            scene.text(_LEFT, y + 84, words, "trouble")

    def _in_window(self, cell: Cell) -> Cell:
        rows, columns = self.window
        return rows.index(cell[0]), columns.index(cell[1])

    # states

    def labels(self) -> list[str]:
        last = len(self.stages) - 1
        return [f"{at} of {last}" for at in range(last + 1)]

    def chip(self, at: int) -> str:
        """Which chip of the strip is lit."""
        kind = self.stages[at].kind
        if kind != "barrier":
            return kind
        before = self.stages[at - 1].kind if at else "start"
        return "barrier1" if before in ("load", "start") else "barrier2"

    def patch(self, at: int) -> Changes:
        stage = self.stages[at]
        before = self.stages[at - 1] if at else stage
        patch: Changes = {}
        if stage.kind != "start":
            chip = self.chip(at)
            patch |= painted(chip, "lit", "lit")
        patch["step"] = {"text": self._step_words(stage)}
        self._patch_global(patch, at)
        self._patch_tiles(patch, stage)
        self._patch_totals(patch, stage, before)
        patch["sum"] = {"text": self._sum(at)}
        reuse = f"{stage.reads / stage.loaded:.2f}".rstrip("0").rstrip(".") if stage.loaded else "–"
        for number, value in enumerate((stage.loaded, stage.reads, reuse, stage.flops)):
            patch[f"count{number}"] = {"text": str(value)}
        return patch

    def _step_words(self, stage: Stage) -> str:
        steps = self.way.steps
        if stage.kind == "start":
            return f"once for each of the {steps} tiles along K"
        if stage.kind == "store":
            return f"all {steps} tiles are done"
        return f"once for each of the {steps} tiles along K: now tile {stage.step} of {steps}"

    def _patch_global(self, patch: Changes, at: int) -> None:
        stage = self.stages[at]
        for letter, name in zip("AB", self.names, strict=False):
            grid = self.grids[letter]
            css, now = letter.lower(), stage.fetched.get(name, set())
            for cell in sorted(now):
                patch |= painted(grid.name(cell), css, f"small on-{css}")
            for cell in set() if now else self._on_bench(at, name):
                patch[grid.name(cell)] = {"class": f"{css}-soft"}
        grid = self.grids["C"]
        for cell, value in stage.stored.items():
            looks, sign = ("c", "small on-c"), ""
            if self.wrong[cell]:
                looks, sign = ("trouble-soft", "small trouble"), "✗"
            patch |= painted(grid.name(cell), *looks, text=sign + _shown(value))

    def _on_bench(self, at: int, name: str) -> set[Cell]:
        """What the latest load fetched; nothing any more when the block stores."""
        if self.stages[at].kind == "store":
            return set()
        for stage in reversed(self.stages[:at]):
            if name in stage.fetched:
                return stage.fetched[name]
        return set()

    def _patch_tiles(self, patch: Changes, stage: Stage) -> None:
        for number, (name, grid) in enumerate(self.tiles.items()):
            colour = "ab"[number] if number < 2 else "d"
            used, filled = stage.used.get(name, set()), stage.filled.get(name, set())
            for place, value in np.ndenumerate(stage.shared[name]):
                if np.isnan(value) and place not in used:
                    continue
                cell = place if len(place) == 2 else (0, *place)
                css, text = f"{colour}-soft", "small"
                if place in used:
                    css, text = "lit", "small lit"
                elif place in filled:
                    css, text = colour, "small on-b" if colour == "b" else "small on-a"
                patch |= painted(grid.name(cell), css, text, text=_shown(value))

    def _patch_totals(self, patch: Changes, stage: Stage, before: Stage) -> None:
        for lane, cell in self.way.owners.items():
            place = lane - int(self.way.lanes[0])
            value = stage.totals[place]
            if np.isnan(value) and stage.kind == "start":
                continue
            name = self.totals.name(self._in_window(cell))
            changed = stage.kind == "multiply" and value != before.totals[place]
            looks = ("c", "small on-c") if changed else ("c-soft", "small")
            patch |= painted(name, *looks, text=_shown(value))

    # words

    def _who(self) -> str:
        thread = self.way.run.place(self.way.followed)[1]  # type: ignore[arg-type]
        return f"thread ({thread[0]}, {thread[1]})"

    def _sum(self, at: int) -> str:
        """The followed thread's sum in this phase: C[0, 0]: 3 + 3·1 = 6."""
        stage, way = self.stages[at], self.way
        if way.followed is None or not way.accumulator:
            return ""
        row, column = way.owners[way.followed]
        place = way.followed - int(way.lanes[0])
        name = f"{self.names[2]}[{row}, {column}]"
        after = stage.totals[place]
        if stage.kind == "multiply" and at:
            before = self.stages[at - 1].totals[place]
            return f"{self._who()}, {name}: {_addition(before, stage.products, after)}"
        return f"{self._who()}, {name}: total {_shown(after)}"

    def first_sums(self) -> str:
        """What the followed thread adds in the first phases of multiplying."""
        phases = [at for at, stage in enumerate(self.stages) if stage.kind == "multiply"]
        return "; ".join(filter(None, map(self._sum, phases[:_SUMS])))

    def words(self, at: int) -> str:
        stage = self.stages[at]
        told = {
            "start": self._say_start,
            "load": self._say_load,
            "barrier": self._say_barrier,
            "multiply": self._say_multiply,
            "store": self._say_store,
        }[stage.kind](at)
        if at == len(self.stages) - 1:
            told += self._verdict()
        return told

    def _say_start(self, at: int) -> str:
        source = "our own tiled kernel" if self.is_ours else "your kernel"
        return (
            f"Nothing has been loaded yet: the tiles in shared memory are undefined (?). The "
            f"numbers come from a run of {source}. Press step."
        )

    def _say_load(self, at: int) -> str:
        stage = self.stages[at]
        parts = [
            f"{region(stage.fetched[name])} of {name}"
            for name in self.names[:2]
            if stage.fetched.get(name)
        ]
        what = joined(parts, none="nothing from global memory")
        over = ", over the old values" if stage.step > 1 else ""
        missing = "" if self._follows(at) == "barrier" else " No barrier follows!"
        told = f"Load, {self._tile(stage)}: the block fetches {what} into shared memory{over}."
        return told + missing

    def _say_barrier(self, at: int) -> str:
        stage = self.stages[at]
        if self.chip(at) == "barrier1":
            rule = (
                "nobody multiplies before the last thread has loaded. Stocked before anyone uses it"
            )
            return f"Barrier 1{self._lines(stage)}: {rule}."
        rule = "nobody loads before the last thread has multiplied. Everyone done before restocking"
        more = ""
        if self._follows(at) != "load":
            more = " After the last tile it protects nothing any more"
            more += ", but it does no harm."
        return f"Barrier 2{self._lines(stage)}: {rule}.{more}"

    def _say_multiply(self, at: int) -> str:
        stage = self.stages[at]
        used = ", ".join(f"{region(cells)} of {name}" for name, cells in stage.used.items())
        follows = self._follows(at)
        missing = " No barrier follows before the next load!" if follows == "load" else ""
        told = self._sum(at)
        example = f" {told[:1].upper()}{told[1:]}." if told else ""
        return (
            f"Multiply, {self._tile(stage)}: the threads read {used}.{example} No global memory is "
            f"asked.{missing}"
        )

    def _say_store(self, at: int) -> str:
        stage = self.stages[at]
        new = len(stage.stored) - len(self.stages[at - 1].stored)
        return (
            f"Store{self._lines(stage)}: the totals leave the registers, {counted(new, 'element')} "
            f"of {self.names[2]}. In all, {counted(stage.loaded, 'value')} loaded from global "
            f"memory served {stage.reads} reads from shared memory."
        )

    def _tile(self, stage: Stage) -> str:
        return f"tile {stage.step} of {self.way.steps}{self._lines(stage)}"

    def _lines(self, stage: Stage) -> str:
        """Where in the kernel this is; of our own kernel the reader sees no lines."""
        lines = sorted(stage.lines)
        if not lines or self.is_ours:
            return ""
        return f" ({plural('line', len(lines))} {joined(map(str, lines))})"

    def _verdict(self) -> str:
        mine = [cell for cell in self.way.owners.values() if self.wrong[cell]]
        text = ""
        if not self.way.owners:
            text += f" This block has written nothing to {self.names[2]}."
        elif mine:
            text += f" Not as in A @ B: {counted(len(mine), 'element')} of the block (✗)."
        if self.errors:
            text += f" The emulator reports: {self.errors[0]}"
        return text

    def _follows(self, at: int) -> str:
        return self.stages[at + 1].kind if at + 1 < len(self.stages) else ""


def _shown(value: float) -> str:
    """A number as briefly as it goes; ? for what is undefined."""
    return "?" if np.isnan(value) else f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _addition(before: float, factors: Sequence[float], after: float) -> str:
    """3 + 3·1 = 6 where that is what happened, else from where to where the total went."""
    pairs = list(zip(factors[::2], factors[1::2], strict=False))
    total = before + sum(one * two for one, two in pairs)
    if len(factors) % 2 == 0 and pairs and (total == after or np.isnan(after)):
        terms = " + ".join(f"{_shown(one)}·{_shown(two)}" for one, two in pairs)
        return f"{_shown(before)} + {terms} = {_shown(after)}"
    return f"from {_shown(before)} to {_shown(after)}"
