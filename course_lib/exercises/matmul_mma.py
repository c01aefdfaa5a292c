"""The matmul on tensor cores, block by block, with edges."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_mma",
    title="A matrix product on tensor cores",
    lesson="10",
    parameters=("A", "B", "C"),
    dtypes={"A": "float16", "B": "float16"},
    block=(128,),
    tile=("BN", "BM"),
    constants={"BM": 64, "BN": 64, "BK": 16},
    block_axes=(1, 2),
    points={
        "right": 3,
        "bounds": 1,
        "race-free": 2,
        "reuse": 1,
        "tensor": 2,
        "float32": 1,
    },
    rung="tensor_core_f16",
    family="register product",
    sizes=((33, 67, 5), (70, 130, 20), (129, 60, 11), (1, 65, 17), (50, 1, 8)),
    gives={"add_product": 1695083491},
)
