"""When a producer and its consumers are done: a ring of stages, as a plain function."""

from course_lib.registry.exercise import Task, Values, WrongIdea
from course_lib.registry.kinds import FUNCTION


def ends_of(tiles: int, stages: int, copy: int, multiply: int) -> list[tuple[int, int, int]]:
    """For each tile: when its copy begins, when its product begins, and when that ends."""
    found: list[tuple[int, int, int]] = []
    for tile in range(tiles):
        empty = found[tile - stages][2] if tile >= stages else 0
        begins = max(empty + copy, found[-1][2] if found else 0)
        found.append((empty, begins, begins + multiply))
    return found


def _end(tiles: int, stages: int, copy: int, multiply: int) -> int:
    return ends_of(tiles, stages, copy, multiply)[-1][2]


def _with(tiles, stages, copy, multiply, *, empty, begins):
    """The same with other rules for when a copy and when a product begins."""
    ends: list[int] = []
    for tile in range(tiles):
        start = empty(ends, tile, stages)
        ends.append(begins(start + copy, ends[-1] if ends else 0) + multiply)
    return ends[-1]


def _stage_before(ends, tile, stages):
    return ends[tile - stages] if tile >= stages else 0


TASK = Task(
    id="ring_end",
    title="A ring of stages",
    lesson="10b",
    position=3,
    kind=FUNCTION,
    parameters=("tiles", "stages", "copy", "multiply"),
    reference=_end,
    arguments=(
        (1, 1, 5, 2),
        (2, 1, 5, 2),
        (4, 2, 3, 2),
        (8, 4, 6, 2),
        (8, 4, 9, 2),
        (5, 3, 1, 4),
        (16, 2, 10, 3),
        (16, 5, 10, 3),
        (3, 4, 7, 1),
        (9, 3, 2, 2),
        (12, 6, 11, 2),
        (7, 1, 3, 3),
    ),
    values=Values(
        gives="ticks",
        along="stages",
        at=(1, 2, 3, 4, 5, 6),
        rows={
            "copy takes 3": lambda stages: (16, stages, 3, 2),
            "copy takes 6": lambda stages: (16, stages, 6, 2),
            "copy takes 9": lambda stages: (16, stages, 9, 2),
        },
        shows="There are 16 tiles, and each product takes 2 ticks. Beyond a certain number of "
        "stages, one more stage changes nothing.",
        look="cells",
    ),
    wrong_ideas=(
        WrongIdea(
            lambda tiles, stages, copy, multiply: tiles * (copy + multiply),
            "in your formula, every copy waits for the previous product, as if there were only "
            "one stage",
            "With two stages, which product has to end before tile 2 can be copied?",
        ),
        WrongIdea(
            lambda tiles, stages, copy, multiply: copy + tiles * multiply,
            "in your formula, only the first product waits for a copy, as if there were a stage "
            "for every tile",
            "Which product has to end before the copy of tile number `stages` can begin?",
        ),
        WrongIdea(
            lambda *of: _with(*of, empty=_stage_before, begins=lambda full, before: full),
            "in your formula, a product begins as soon as its tile is full, even if the previous "
            "product is still running",
            "A product begins when its tile is full and the previous product has ended. Which of "
            "these two moments comes later?",
        ),
        WrongIdea(
            lambda *of: _with(*of, empty=_stage_before, begins=lambda full, before: full + before),
            "you add up two moments, but a product begins at the later of the two",
            "A product begins when its tile is full and the previous product has ended. Which of "
            "these two moments comes later?",
        ),
        WrongIdea(
            lambda *of: _with(*of, empty=lambda ends, tile, stages: tile * of[2], begins=max),
            "in your formula, each copy waits for the previous copy but not for an empty stage",
            "Several copies can run at the same time, but a copy can begin only when its stage is "
            "empty.",
        ),
        WrongIdea(
            lambda *of: _with(
                *of,
                empty=lambda ends, tile, stages: max(
                    tile * of[2], _stage_before(ends, tile, stages)
                ),
                begins=max,
            ),
            "in your formula, copies run one after another, although they could run at the same "
            "time",
            "If two stages are empty at tick 0, when do the copies into them begin?",
        ),
        WrongIdea(
            lambda *of: _with(
                *of,
                empty=lambda ends, tile, stages: (
                    ends[tile - stages + 1]
                    if tile >= stages > 1
                    else (ends[-1] if ends and stages == 1 else 0)
                ),
                begins=max,
            ),
            "in your formula, there is one stage fewer than there should be",
            "With two stages, tile 2 takes the stage of tile 0. Which product must its copy wait "
            "for?",
        ),
        WrongIdea(
            lambda tiles, stages, copy, multiply: (
                _with(tiles, stages, copy, multiply, empty=_stage_before, begins=max) - multiply
            ),
            "you returned the moment when the last product begins",
            "How long does the last product take?",
        ),
    ),
    hints=(
        "Keep a list of the ticks at which the products end. When is the stage of tile number "
        "`tile` empty?",
        "Before tile number `tile`, its stage held tile `tile - stages`. The copy begins when the "
        "product of that earlier tile has ended, and it takes `copy` ticks. The first `stages` "
        "copies begin at tick 0.",
        "A product begins at the later of two moments: when its tile is full, and when the "
        "previous product has ended.",
    ),
    given='''\
def ring_end(tiles, stages, copy, multiply):
    """Return the tick at which the last product ends, if tile t goes into stage t % stages.

    Each copy starts as soon as its stage is empty, and the products run one after another.
    """
    ends = []
    for tile in range(tiles):
        ...
    return ends[-1]
''',
    answer='''\
def ring_end(tiles, stages, copy, multiply):
    """Return the tick at which the last product ends, if tile t goes into stage t % stages.

    Each copy starts as soon as its stage is empty, and the products run one after another.
    """
    ends = []
    for tile in range(tiles):
        empty = ends[tile - stages] if tile >= stages else 0
        before = ends[tile - 1] if tile > 0 else 0
        ends.append(max(empty + copy, before) + multiply)
    return ends[-1]
''',
    another='''\
def ring_end(tiles, stages, copy, multiply):
    """Return the tick at which the last product ends, if tile t goes into stage t % stages.

    Each copy starts as soon as its stage is empty, and the products run one after another.
    """
    free = [0] * stages
    end = 0
    for tile in range(tiles):
        end = max(end, free[tile % stages] + copy) + multiply
        free[tile % stages] = end
    return end
''',
    compared="This version keeps one number for each stage, as the hardware does with a barrier.",
    par=3,
    meaning="A ring needs no barrier at which all warps wait for each other. The producer waits "
    "only for an empty stage, and a consumer waits only for a full one.",
)
