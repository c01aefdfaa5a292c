"""Copy an array tile by tile, in cuTile: an index counts tiles, and no thread is in sight."""

from course_lib.registry.exercise import Task
from course_lib.registry.kinds import CUTILE

TASK = Task(
    id="ct_copy",
    title="Copy tile by tile, in cuTile",
    lesson="13",
    kind=CUTILE,
    position=1,
    parameters=("x", "out"),
    output="out",
    constants={"TILE": 16},
    other_constants=({"TILE": 32},),
    grid=("64",),
    block=("TILE",),
    shapes=("64", "64"),
    reference=lambda x: x,
    formula="out = x",
    hints=(
        "`ct.bid(0)` is the number of this program. Does the `index` of `ct.load` count elements "
        "or tiles?",
        "The `index` of `ct.load` counts tiles, not elements. So program 1 loads tile 1, and it "
        "need not know at which element this tile begins.",
    ),
    given='''\
@ct.kernel
def ct_copy(x, out, TILE: ct.Constant[int]):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    ...
''',
    answer='''\
@ct.kernel
def ct_copy(x, out, TILE: ct.Constant[int]):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    i = ct.bid(0)
    tile = ct.load(x, index=(i,), shape=(TILE,))
    ct.store(out, index=(i,), tile=tile)
''',
    another='''\
@ct.kernel
def ct_copy(x, out, TILE: ct.Constant[int]):
    """out = x. Each program copies one tile of TILE elements, and TILE divides the size of x."""
    places = ct.bid(0) * TILE + ct.arange(TILE, dtype=ct.int32)
    ct.scatter(out, places, ct.gather(x, places))
''',
    compared="This version computes an index for each element, as a thread would. `gather` takes "
    "these indices in any order.",
    par=3,
    meaning="There are no threads and no element indices. You name a tile, and the compiler "
    "decides which thread copies which element.",
)
