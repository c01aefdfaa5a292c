"""Draw the race: a lane of time for each warp, the kernel's lines, and what becomes of C."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.emulator import Kernel
from course_lib.figures.interactive import Changes, Grid, Scene, arrow_path, painted
from course_lib.figures.watch.hazard import Beat, Showing
from course_lib.wording.findings import Finding
from course_lib.wording.words import element, joined, plural, shortened

_LEFT, _RIGHT = 96.0, 706.0
_TOP, _PITCH, _HIGH = 44.0, 70.0, 34.0
_LINE = 17.0
_MOST_LINES = 14
_CHARACTER = 7.3  # width of a small monospaced one
_CSS = {"load": "a-soft", "multiply": "c-soft", "use": "c-soft", "store": "d-soft"}
_DOES = {"load": "loads", "multiply": "multiplies", "use": "uses", "store": "stores"}
_MAP = 520.0


@dataclass(eq=False)
class RaceStory:
    """All runs, and how each of them looks at each moment."""

    kernel: Kernel  # with all its barriers
    output: str  # its name for what it writes
    block: Sequence[int]
    tile: int  # edge of C
    shown: Mapping[tuple[int, int], Showing]  # a run for each choice of barriers and order
    removed: Sequence[tuple[int, ...]]  # by the choice of barriers, the lines that were taken out
    races: Sequence[Finding | None]  # and the race to tell of

    def __post_init__(self) -> None:
        self.warps = -(-int(np.prod(self.block)) // WARP_SIZE)
        self.longest = max(len(showing.beats) for showing in self.shown.values())
        self.bars = max(len(showing.openings) for showing in self.shown.values())
        self.waits = max(len(showing.waits) for showing in self.shown.values())
        room = int((_MAP - 14 - self._code_left) / _CHARACTER)
        self.code = _code_lines(self.kernel, self.shown[0, 0], room)
        self.below = _TOP + self.warps * _PITCH + 44
        self.map = Grid(_MAP, self.below + 12, (self.tile, self.tile), 136 / self.tile)

    def moments(self) -> list[str]:
        """What the control of time shows."""
        return [f"{at} of {self.longest}" for at in range(self.longest + 1)]

    # -- at rest ---------------------------------------------------------------------------------

    def scene(self) -> Scene:
        """Everything that any run needs; what a run does not need it hides."""
        size = max(len(self.code) * _LINE, 190)
        scene = Scene(720, self.below + size + 26)
        self._draw_lanes(scene)
        self._draw_code(scene)
        self._draw_result(scene)
        return scene

    def _draw_lanes(self, scene: Scene) -> None:
        for warp in range(self.warps):
            y = _middle(warp)
            scene.text(14, y + 5, f"warp {warp}", "bold")
            scene.line(_LEFT, y, _RIGHT, y, "faint")
        for number in range(self.waits):
            scene.line(0, 0, 0, 0, "dotted thick", f"wait{number}")
            scene.text(0, 0, "", "small muted halo", "middle", f"waits{number}")
        for beat in range(self.longest):
            for warp in range(self.warps):
                name = f"box{beat}.{warp}"
                scene.rect(0, _middle(warp) - _HIGH / 2, 1, _HIGH, "cell", name, rx=4)
                scene.text(0, _middle(warp) + 5, "", "small", "middle", f"t{name}")
        low = _TOP + self.warps * _PITCH - 8
        for number in range(self.bars):
            scene.line(0, _TOP - 18, 0, low, "ink thick", f"bar{number}")
            scene.text(0, _TOP - 24, "", "small", "middle", f"bars{number}")
        scene.path("", "arrow trouble", "why")
        scene.text(0, 0, "", "trouble small halo", name="whytext")
        scene.path(f"M0 {low} l-6 11 h12 z", "ink", "now")
        letters = min(self._column(run) for run in self.shown.values()) < 54
        key = key_of(self.shown.values()) if letters else ""
        scene.text(_LEFT, low + 30, f"time →{key}", "small muted")

    def _draw_code(self, scene: Scene) -> None:
        x = self._code_left
        scene.text(14, self.below, "how far each warp has come", "bold")
        for number, (_, words) in enumerate(self.code):
            y = self.below + 22 + number * _LINE
            scene.text(x, y, words, "small mono", name=f"code{number}")
        for number in self._sync_rows():
            y = self.below + 22 + number * _LINE
            scene.text(x + 250, y, "", "small trouble", name=f"gone{number}")
        for warp in range(self.warps):
            scene.text(14 + 34 * warp, 0, f"w{warp}▸", "small bold", name=f"pc{warp}")

    @property
    def _code_left(self) -> float:
        return 20 + 34.0 * self.warps

    def _sync_rows(self) -> list[int]:
        lines = {line for lines in self.removed for line in lines}
        return [number for number, (line, _) in enumerate(self.code) if line in lines]

    def _draw_result(self, scene: Scene) -> None:
        scene.text(_MAP, self.below, f"{self.output} in the end", "bold c")
        scene.path(self.map.outline(), "c-soft", "map")
        scene.path("", "hatch-trouble bare", "wrong")
        scene.path(self.map.lattice(), "lattice")
        scene.text(_MAP, self.map.bottom + 20, "", "bold", name="result")
        scene.text(_MAP, self.map.bottom + 38, "", "small muted", name="result2")

    # -- what a run looks like -------------------------------------------------------------------

    def patch_run(self, barriers: int, order: int) -> Changes:
        """Where the boxes, the waits and the barriers of a run are."""
        run = self.shown[barriers, order]
        patch: Changes = {}
        for beat in range(self.longest):
            for warp in range(self.warps):
                patch |= self._patch_box(run, beat, warp)
        for number in range(self.waits):
            patch |= self._patch_wait(run, number)
        for number in range(self.bars):
            patch |= self._patch_bar(run, number)
        patch["wrong"] = {"d": self.map.squares(map(tuple, np.argwhere(run.wrong).tolist()))}
        return patch

    def _column(self, run: Showing) -> float:
        return (_RIGHT - _LEFT) / len(run.beats)

    def _patch_box(self, run: Showing, beat: int, warp: int) -> Changes:
        name, wide = f"box{beat}.{warp}", self._column(run)
        if beat >= len(run.beats) or warp not in run.beats[beat].warps:
            return {name: {"hidden": True}, f"t{name}": {"hidden": True}}
        x = _LEFT + beat * wide
        return {name: {"x": x + 2, "width": wide - 4}, f"t{name}": {"x": x + wide / 2}}

    def _patch_wait(self, run: Showing, number: int) -> Changes:
        line, words = f"wait{number}", f"waits{number}"
        if number >= len(run.waits) or run.waits[number].after == run.waits[number].until:
            return {line: {"hidden": True}, words: {"hidden": True}}
        wait, wide = run.waits[number], self._column(run)
        x1, x2, y = _LEFT + wait.after * wide + 3, _LEFT + wait.until * wide - 4, _middle(wait.warp)
        text = "waits" if x2 - x1 > 40 else ""
        return {
            line: {"x1": x1, "x2": x2, "y1": y, "y2": y},
            words: {"x": (x1 + x2) / 2, "y": y + 4, "text": text},
        }

    def _patch_bar(self, run: Showing, number: int) -> Changes:
        line, words = f"bar{number}", f"bars{number}"
        if number >= len(run.openings):
            return {line: {"hidden": True}, words: {"hidden": True}}
        after, place = run.openings[number]
        x = _LEFT + after * self._column(run)
        text = f"barrier, line {place}"
        return {line: {"x1": x, "x2": x}, words: {"x": min(x, _RIGHT - 30), "text": text}}

    # -- what a moment looks like ----------------------------------------------------------------

    def patch_moment(self, barriers: int, order: int, at: int) -> Changes:
        """What has happened is coloured, what is to come is paper; where each warp stands."""
        run = self.shown[barriers, order]
        patch: Changes = {}
        for number, beat in enumerate(run.beats):
            for warp in beat.warps:
                bad = number < at and any(read.warps[0] == warp for read in beat.wrong)
                room = self._column(run) - (14 if bad else 0)
                word = beat.kind if room >= 56 else beat.kind[:4] if room >= 40 else beat.kind[0]
                looks = (_CSS[beat.kind], "small") if number < at else ("cell", "small muted")
                if bad:
                    looks, word = ("trouble-soft", "small trouble"), f"✗ {word}"
                patch |= painted(f"box{number}.{warp}", *looks, text=word)
        now = _LEFT + min(at, len(run.beats)) * self._column(run)
        patch["now"] = {"transform": f"translate({now:.1f} 0)"}
        patch |= self._patch_why(run, at)
        patch |= self._patch_result(run, at)
        for warp in range(self.warps):
            row = self._row_of(run, warp, at)
            patch[f"pc{warp}"] = (
                {"hidden": True} if row is None else {"y": self.below + 22 + row * _LINE}
            )
        return patch

    def _patch_why(self, run: Showing, at: int) -> Changes:
        """An arrow from the latest wrong read to the write that was late or early."""
        wrong = next((beat.wrong[0] for beat in reversed(run.beats[:at]) if beat.wrong), None)
        if wrong is None or wrong.culprit is None or not wrong.is_between_warps:
            return {"why": {"hidden": True}, "whytext": {"hidden": True}}
        wide, (reader, writer) = self._column(run), wrong.warps
        x1 = _LEFT + (wrong.read.beat + 0.5) * wide
        x2 = _LEFT + (wrong.culprit.beat + 0.5) * wide
        down = 1 if writer > reader else -1
        y1, y2 = _middle(reader) + down * _HIGH / 2, _middle(writer) - down * (_HIGH / 2 + 2)
        beside = {"x": min(x1, x2) - 8, "text-anchor": "end"}
        if max(x1, x2) < _RIGHT - 150:
            beside = {"x": max(x1, x2) + 8, "text-anchor": "start"}
        words = "written too late" if wrong.late else "overwritten too early"
        return {
            "why": {"d": arrow_path(x1, y1, x2, y2)},
            "whytext": {**beside, "y": (y1 + y2) / 2 + 4, "text": words},
        }

    def _patch_result(self, run: Showing, at: int) -> Changes:
        """What has become of C, once the run is over."""
        if at < len(run.beats):
            return {
                "map": {"class": "cell"},
                "wrong": {"hidden": True},
                "result": {"text": "not done yet"},
                "result2": {"text": "what will it be?"},
            }
        wrong = int(run.wrong.sum())
        return {
            "result": {"text": f"{wrong} of {run.wrong.size} wrong"},
            "result2": {"text": _kinds_of_wrong(wrong, run.nan)},
        }

    def _row_of(self, run: Showing, warp: int, at: int) -> int | None:
        """The row of the code in which a warp stands after so many beats."""
        begun = [number for number, beat in enumerate(run.beats[:at]) if warp in beat.warps]
        if not begun:
            return None
        # Having come to a barrier a warp stays there in the picture until it does something else.
        reached = [
            wait.line for wait in run.waits if wait.warp == warp and begun[-1] < wait.after <= at
        ]
        lines = {reached[-1]} if reached else run.beats[begun[-1]].lines
        rows = {line: row for row, (line, _) in enumerate(self.code)}
        return max((rows[line] for line in lines if line in rows), default=None)

    def patch_code(self, barriers: int) -> Changes:
        """A barrier that was taken out is dim, and says so."""
        patch: Changes = {}
        for row in self._sync_rows():
            if self.code[row][0] in self.removed[barriers]:
                patch[f"code{row}"] = {"class": "small mono muted dim"}
                patch[f"gone{row}"] = {"text": "✗ removed"}
        return patch

    # -- words -----------------------------------------------------------------------------------

    def words(self, barriers: int, order: int, at: int) -> str:
        """What has just happened; at the end, what came of it."""
        run = self.shown[barriers, order]
        if at == 0:
            return self._say_start(barriers)
        if at > len(run.beats):
            return "This run is over. " + self._say_end(barriers, run)
        told = self._say_beat(run, at - 1)
        return told + (" " + self._say_end(barriers, run) if at == len(run.beats) else "")

    def _say_start(self, barriers: int) -> str:
        gone = self.removed[barriers]
        if not gone:
            taken = "No barrier has been removed."
        elif len(gone) == 1:
            taken = f"The barrier in line {gone[0]} has been removed."
        else:
            taken = f"The barriers in lines {joined(map(str, gone))} have been removed."
        return f"{taken} Press step, and watch who runs ahead."

    def _say_beat(self, run: Showing, number: int) -> str:
        beat = run.beats[number]
        who = _warps_in_words(beat.warps, self.warps)
        verb = beat.kind if len(beat.warps) > 1 else _DOES[beat.kind]
        lines = sorted(beat.lines)
        where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
        told = f"{who} {verb} ({where})."
        if beat.wrong:
            told += " " + self._say_wrong(beat)
        opened = [line for after, line in run.openings if after == number + 1]
        waiting = [
            wait for wait in run.waits if wait.after == number + 1 and wait.until > number + 1
        ]
        if opened:
            told += f" All threads have reached the barrier in line {opened[0]}: it opens."
        elif waiting:
            told += f" Then warp {waiting[0].warp} waits at the barrier in line {waiting[0].line}."
        return told

    def _say_wrong(self, beat: Beat) -> str:
        wrong = beat.wrong[0]
        array, cell = wrong.read.place
        name = element(array, cell)
        got = "nothing defined (NaN)" if np.isnan(wrong.read.value) else f"{wrong.read.value:g}"
        told = (
            f"✗ {self._thread(wrong.lane)} reads {name} at line {wrong.read.line}: it gets {got} "
            f"instead of {wrong.should:g}"
        )
        if wrong.culprit is not None:
            does = "writes that cell only later" if wrong.late else "has overwritten it already"
            writer = self._thread(wrong.culprit.lane)
            told += f", because {writer} {does} (line {wrong.culprit.line})"
        count = len(beat.wrong)
        return told + (f". In all, {count} such reads." if count > 1 else ".")

    def _thread(self, lane: int) -> str:
        wide = self.block[0]
        return f"thread ({lane % wide}, {lane // wide}) of warp {lane // WARP_SIZE}"

    def _say_end(self, barriers: int, run: Showing) -> str:
        wrong, name = int(run.wrong.sum()), self.output
        race = self.races[barriers]
        if wrong:
            told = f"In the end {wrong} of {run.wrong.size} elements of {name} are wrong"
            told += f", {run.nan} of them NaN." if run.nan else ", and none looks broken."
        else:
            told = f"In the end every element of {name} is right."
        if race is None:
            return told + " It would be right in any order, because the emulator finds no race."
        lucky = "" if wrong else "But only this time. "
        return f"{told} {lucky}In every order, the emulator reports: {race}"


def key_of(runs: Iterable[Showing]) -> str:
    """What the letters in narrow boxes stand for."""
    kinds = dict.fromkeys(beat.kind for run in runs for beat in run.beats)
    return "".join(f"{', ' if number else '; '}{k[0]} {k}" for number, k in enumerate(kinds))


def _middle(warp: int) -> float:
    return _TOP + warp * _PITCH + _PITCH / 2 - 8


def _kinds_of_wrong(wrong: int, nan: int) -> str:
    if not wrong:
        return "as they should be"
    if nan == wrong:
        return "all of them NaN"
    return f"{nan} NaN, {wrong - nan} plausible numbers" if nan else "all plausible numbers"


def _warps_in_words(warps: frozenset[int], count: int) -> str:
    if len(warps) == count:
        return "All warps"
    names = [str(warp) for warp in sorted(warps)]
    return f"{plural('Warp', len(names))} {joined(names)}"


def _code_lines(kernel: Kernel, run: Showing, room: int) -> list[tuple[int, str]]:
    """The lines from the first load to the store, with their numbers."""
    lines = {line for beat in run.beats for line in beat.lines}
    lines |= {line for _, line in run.openings}
    first, last = min(lines), max(lines)
    texts = kernel.lines
    chosen = [
        (line, texts[line])
        for line in range(first, last + 1)
        if line in texts and texts[line].split("#")[0].strip()
    ]
    if len(chosen) > _MOST_LINES:
        chosen = [(line, text) for line, text in chosen if line in lines]
    chosen = chosen[:_MOST_LINES]
    margin = min(len(text) - len(text.lstrip()) for _, text in chosen)
    return [(line, _cut(f"{line:3} {text[margin:]}", room)) for line, text in chosen]


def _cut(text: str, room: int) -> str:
    return shortened(text.split("  #")[0].rstrip(), room)
