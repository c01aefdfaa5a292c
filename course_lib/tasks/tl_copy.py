"""Copy an array tile by tile, in Triton: a tile of addresses takes the place of an index."""

from dataclasses import replace

from course_lib.registry.kinds import TRITON
from course_lib.tasks import ct_copy

TASK = replace(
    ct_copy.TASK,
    id="tl_copy",
    title="Copy tile by tile, in Triton",
    kind=TRITON,
    position=2,
    hints=(
        "`tl.arange(0, TILE)` counts within a tile. Where does the tile of this program begin?",
        "`x` is the address of x[0], and `x + places` is a tile of addresses, one for each "
        "element.",
    ),
    given='''\
@triton.jit
def tl_copy(x, out, TILE: tl.constexpr):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    ...
''',
    answer='''\
@triton.jit
def tl_copy(x, out, TILE: tl.constexpr):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    places = tl.program_id(0) * TILE + tl.arange(0, TILE)
    tile = tl.load(x + places)
    tl.store(out + places, tile)
''',
    another='''\
@triton.jit
def tl_copy(x, out, TILE: tl.constexpr):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    first = tl.program_id(0) * TILE
    for i in tl.static_range(0, TILE, 8):
        places = first + i + tl.arange(0, 8)
        tl.store(out + places, tl.load(x + places))
''',
    compared="This version copies eight elements at a time. You choose the size of a tile; the "
    "launch does not.",
    meaning="In Triton you count elements and compute addresses; in cuTile you counted tiles.",
)
