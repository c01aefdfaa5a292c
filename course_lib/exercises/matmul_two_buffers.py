"""The matmul that asks for its next tile before it multiplies the one that is here."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_two_buffers",
    title="The next tile is on its way",
    lesson="09b",
    parameters=("A", "B", "C"),
    block=(64,),
    tile=("BN", "BM"),
    thread_tile=("TN", "TM"),
    constants={"BM": 64, "BN": 64, "BK": 8, "TM": 8, "TN": 8},
    block_axes=(1, 2),
    multiples={"N": 4, "K": 4},
    overlaps=True,
    points={"right": 3, "bounds": 1, "race-free": 2, "reuse": 1, "overlap": 2, "float32": 1},
    starts_from="matmul_warp_tiled",
    rung="double_buffered",
    family="register product",
    sizes=((33, 68, 4), (70, 132, 20), (129, 60, 12), (1, 64, 16), (50, 4, 8)),
    gives={"bring": 3356844707, "put": 738166718},
)
