"""The matmul whose two buffers the hardware fills by itself."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_async",
    title="Copies that need no register",
    lesson="09b",
    position=2,
    parameters=("A", "B", "C"),
    block=(64,),
    tile=("BN", "BM"),
    thread_tile=("TN", "TM"),
    constants={"BM": 64, "BN": 64, "BK": 8, "TM": 8, "TN": 8},
    block_axes=(1, 2),
    multiples={"N": 4, "K": 4},
    overlaps=True,
    asynchronous=True,
    points={"right": 3, "bounds": 1, "race-free": 2, "reuse": 1, "asynchronous": 2, "float32": 1},
    starts_from="matmul_two_buffers",
    rung="cp_async",
    family="register product",
    sizes=((33, 68, 4), (70, 132, 20), (129, 60, 12), (1, 64, 16), (50, 4, 8)),
)
