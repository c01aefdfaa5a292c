"""The product of matrices that are stored column after column, by blocks whose threads stand in a
row: which thread computes which element is for the answer to say."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="matmul_column_major",
    title="Matrices that are stored column by column",
    lesson="03",
    parameters=("A", "B", "C"),
    block=(256,),
    tile=(8, 32),
    points={"right": 3, "bounds": 2, "coalesced": 4, "float32": 1},
    family="product",
    order="F",
    sizes=((45, 19, 37), (31, 33, 17), (65, 9, 5), (40, 23, 50), (1, 33, 31)),
)
