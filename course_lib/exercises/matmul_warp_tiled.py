"""The matmul whose warps own compact pieces of the tile."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_warp_tiled",
    title="A warp owns a compact piece",
    lesson="09",
    position=2,
    parameters=("A", "B", "C"),
    block=(64,),
    tile=("BN", "BM"),
    thread_tile=("TN", "TM"),
    constants={"BM": 64, "BN": 64, "BK": 8, "TM": 8, "TN": 8},
    block_axes=(1, 2),
    multiples={"N": 4, "K": 4},
    passes=1 / 8,
    points={"right": 3, "bounds": 1, "race-free": 1, "reuse": 1, "conflict-free": 3, "float32": 1},
    starts_from="matmul_wide",
    rung="warp_tiled",
    family="register product",
    sizes=((33, 68, 4), (70, 132, 20), (129, 60, 12), (1, 64, 16), (50, 4, 8)),
)
