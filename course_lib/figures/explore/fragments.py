"""Let a reader choose a tensor-core instruction and a lane, and see which elements it holds."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from course_lib.devices import WARP_SIZE
from course_lib.emulator.functions.tensor_cores import (
    COLUMNS,
    ROWS,
    a_matrices,
    b_matrices,
    c_matrices,
)
from course_lib.figures.interactive import (
    Changes,
    Control,
    Examples,
    Grid,
    Interactive,
    Scene,
    layers_over,
)
from course_lib.wording.words import counted

Element = tuple[int, int]  # row and column
Held = tuple[tuple[Element, ...], ...]  # the elements of each of a lane's registers

_CELL_WIDTH, _CELL_HEIGHT, _TOP = 19.0, 16.0, 64.0
_RIGHT_OF_A, _LEFT_OF_B, _LEFT_OF_C = 318.0, 346.0, 540.0
_STRONG = {"A": "a", "B": "b", "C": "c"}


@dataclass(frozen=True)
class _Instruction:
    """An instruction D = A B + C of a warp; A is 16 x k, B k x 8, C and D are 16 x 8."""

    name: str
    format: str
    k: int
    per_word: int  # elements of A or B in a register of 32 bits
    since: str

    @property
    def words(self) -> dict[str, int]:
        """Registers that a lane gives for each matrix."""
        numbers = ROWS * self.k // WARP_SIZE, self.k * COLUMNS // WARP_SIZE
        return {"A": numbers[0] // self.per_word, "B": numbers[1] // self.per_word, "C": 4}

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        return {"A": (ROWS, self.k), "B": (self.k, COLUMNS), "C": (ROWS, COLUMNS)}

    @property
    def multiply_adds(self) -> int:
        return ROWS * COLUMNS * self.k


_INSTRUCTIONS = (
    _Instruction("m16n8k8 f16", "float16", 8, 2, "Turing"),
    _Instruction("m16n8k16 bf16", "bfloat16", 16, 2, "Ampere"),
    _Instruction("m16n8k8 tf32", "tf32", 8, 1, "Ampere"),
)
_START, _LANE = 1, 5  # the instruction of rung 10, and a lane that is not the first of its group


def explore_fragments() -> Interactive:
    """Choose instruction and lane; see its elements of A, B and C, register by register."""
    controls = (
        Control(
            "which",
            "instruction",
            [instruction.name for instruction in _INSTRUCTIONS],
            _START,
            "choice",
        ),
        Control("lane", "lane", [str(lane) for lane in range(WARP_SIZE)], _LANE),
    )
    layer = layers_over({"which": _INSTRUCTIONS, "lane": range(WARP_SIZE)})
    keys = ("which", "lane")
    layers = [layer(("which",), _shape_state), layer(keys, _lane_state)]
    words = (layer(keys, _lane_words), layer(("which",), _warp_words))
    own = [
        _line(name, number, register)
        for name in "ABC"
        for number, register in enumerate(held_by_lanes(_START)[name][_LANE])
    ]
    return Interactive(
        "Fragments: what one lane holds",
        _draw(), controls, layers, words,
        "The matrices A, B and C of one tensor-core instruction side by side. The elements of "
        "the chosen lane are marked with the names of the registers that hold them; the other "
        "three lanes of its group hold the rest of the tinted rows and column.",
        Examples(
            key="A number is a lane, 4 g + t: rows g and g + 8 of A and C, column g of B; "
            f"of lane {_LANE}, the registers",
            note=f"Each element has the number of its lane. Lane {_LANE}: {', '.join(own)}.",
            scene=_draw(is_numbered=True),
        ),
    )  # fmt: skip


# --- Which lane holds what, as the emulator says --------------------------------------------------


@cache
def held_by_lanes(which: int) -> dict[str, tuple[Held, ...]]:
    """For each matrix and lane the elements of its registers, lower half first.

    Each register gets numbers of its own, the emulator puts them together to matrices as it does
    for `mma`, and there we look where they have gone.
    """
    instruction = _INSTRUCTIONS[which]
    return {
        name: _where(
            _numbered(name, count, instruction.per_word),
            count,
            1 if name == "C" else instruction.per_word,
        )
        for name, count in instruction.words.items()
    }


def _numbered(name: str, count: int, per_word: int) -> np.ndarray:
    """The matrix in which each element is the number of the place that holds it."""
    if name == "C":
        places = np.arange(count * WARP_SIZE).reshape(count, 1, WARP_SIZE)
        in_c: np.ndarray = c_matrices(places)[0]
        return in_c
    kind = np.uint16 if per_word == 2 else np.uint32
    numbers = np.arange(count * WARP_SIZE * per_word, dtype=kind)
    words = numbers.view(np.uint32).reshape(count, 1, WARP_SIZE)
    gather = a_matrices if name == "A" else b_matrices
    gathered: np.ndarray = gather(words, lambda these: these.view(kind))[0]
    return gathered


def _where(matrix: np.ndarray, count: int, per_word: int) -> tuple[Held, ...]:
    at = {int(n): (int(row), int(column)) for (row, column), n in np.ndenumerate(matrix)}
    return tuple(
        tuple(
            tuple(at[(word * WARP_SIZE + lane) * per_word + half] for half in range(per_word))
            for word in range(count)
        )
        for lane in range(WARP_SIZE)
    )


def _held(instruction: _Instruction, name: str, lane: int) -> Held:
    return held_by_lanes(_INSTRUCTIONS.index(instruction))[name][lane]


def _group(instruction: _Instruction, name: str, lane: int) -> list[Element]:
    """What the four lanes of a group hold together: whole rows, or a whole column."""
    first = lane // 4 * 4
    return [
        element
        for other in range(first, first + 4)
        for element in _flat(_held(instruction, name, other))
    ]


def _flat(held: Held) -> list[Element]:
    return [element for register in held for element in register]


# --- What is drawn once ---------------------------------------------------------------------------


def _draw(is_numbered: bool = False) -> Scene:
    """The matrices; with the lane in each element as the instruction at the start has it."""
    scene = Scene(720, 430)
    for name in "ABC":
        strong = _STRONG[name]
        scene.text(0, _TOP - 26, "", css=f"{strong} bold", name=f"{name} head")
        scene.text(0, _TOP - 9, "", css="small muted", name=f"{name} size")
        scene.path("M0 0", css="cell", name=f"{name} cells")
        scene.path("M0 0", css=f"{strong}-soft", name=f"{name} group")
        for lane, held in enumerate(held_by_lanes(_START)[name] if is_numbered else ()):
            for row, column in _flat(held) if lane != _LANE else ():
                x, y = _grid(name, _INSTRUCTIONS[_START]).corner(row, column + 0.5)
                scene.text(x, y + 12.5, str(lane), "small muted", "middle")
        scene.path("M0 0", css="lit", name=f"{name} lane")
        for number in range(8 if name == "A" else 4):
            scene.text(0, 0, "", css="small", anchor="middle", name=f"{name} mark {number}")
        for number in range(4):
            y = _TOP + 16 * _CELL_HEIGHT + 34 + 20 * number
            scene.text(0, y, "", css="small mono", name=f"{name} line {number}")
    scene.text((_RIGHT_OF_A + _LEFT_OF_B) / 2, _TOP + 68, "·", css="large", anchor="middle")
    scene.text(_LEFT_OF_C - 20, _TOP + 68, "+", css="large", anchor="middle")
    return scene


def _grid(name: str, instruction: _Instruction) -> Grid:
    """The place of a matrix; A ends beside B, however wide it is."""
    left = {"A": _RIGHT_OF_A - _CELL_WIDTH * instruction.k, "B": _LEFT_OF_B, "C": _LEFT_OF_C}[name]
    return Grid(left, _TOP, instruction.shapes[name], _CELL_WIDTH, _CELL_HEIGHT)


# --- What depends on the controls -----------------------------------------------------------------


def _shape_state(instruction: _Instruction) -> Changes:
    state: Changes = {}
    for name, shape in instruction.shapes.items():
        grid = _grid(name, instruction)
        format_ = "float32" if name == "C" else instruction.format
        state[f"{name} head"] = {"x": grid.x, "text": "C and D" if name == "C" else name}
        state[f"{name} size"] = {"x": grid.x, "text": f"{shape[0]} × {shape[1]}, {format_}"}
        state[f"{name} cells"] = {"d": grid.outline() + grid.lattice()}
        for number in range(4):
            state[f"{name} line {number}"] = {"x": grid.x}
    return state


def _lane_state(instruction: _Instruction, lane: int) -> Changes:
    state: Changes = {}
    for name in "ABC":
        grid, held = _grid(name, instruction), _held(instruction, name, lane)
        state[f"{name} group"] = {
            "d": "".join(grid.box(*element) for element in sorted(_group(instruction, name, lane)))
        }
        state[f"{name} lane"] = {"d": "".join(grid.box(*cell) for cell in sorted(_flat(held)))}
        marks = [(element, word) for word, register in enumerate(held) for element in register]
        for number, ((row, column), word) in enumerate(marks):
            x, y = grid.corner(row, column + 0.5)
            text = f"{name.lower()}{word}"
            state[f"{name} mark {number}"] = {"x": x, "y": y + 12.5, "text": text}
        for number, register in enumerate(held):
            state[f"{name} line {number}"] = {"text": _line(name, number, register)}
    return state


def _line(name: str, number: int, register: Sequence[Element]) -> str:
    elements = " ".join(f"{name}[{row},{column}]" for row, column in register)
    return f"{name.lower()}{number} {elements}"


def _lane_words(instruction: _Instruction, lane: int) -> str:
    words = instruction.words
    rows = sorted({row for row, _ in _flat(_held(instruction, "A", lane))})
    column = _flat(_held(instruction, "B", lane))[0][1]
    return (
        f"Lane {lane} = 4 · {lane // 4} + {lane % 4} holds a share of rows {rows[0]} and "
        f"{rows[1]} of A in {counted(words['A'], 'register')}, a share of column {column} of B in "
        f"{counted(words['B'], 'register')}, and four sums of C in the same two rows. The tinted "
        f"cells are what lanes {lane // 4 * 4} to {lane // 4 * 4 + 3} hold together."
    )


def _warp_words(instruction: _Instruction) -> str:
    return (
        f"The instruction does {instruction.multiply_adds:,} multiply-adds for a warp, "
        f"{instruction.multiply_adds // WARP_SIZE} times as many as an FFMA. "
        f"{instruction.since} was the first generation of GPUs to have it."
    )
