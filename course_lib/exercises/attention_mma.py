"""Attention in one kernel on tensor cores: the scores never leave the registers."""

from course_lib.registry.exercise import Exercise

EXERCISE = Exercise(
    id="attention_mma",
    title="Attention on tensor cores",
    lesson="11b",
    parameters=("Q", "K", "V", "O"),
    dtypes={"Q": "bfloat16", "K": "bfloat16", "V": "bfloat16"},
    output="O",
    block=(128,),
    tile=(64,),
    points={
        "right": 4,
        "bounds": 1,
        "race-free": 2,
        "reuse": 1,
        "tensor": 1,
        "float32": 1,
    },
    family="attention on tensor cores",
    sizes=((70, 33, 1), (7, 20, 1), (5, 1, 60_000), (20, 40, 60), (130, 70, 1)),
    gives={
        "piece_at": 1519166475,
        "start_copy": 3507629897,
        "add_product": 2851213659,
        "score_tile": 568114440,
        "quad_sum": 1647252483,
        "online_rows": 3320803632,
        "mix_values": 1403890813,
    },
)
