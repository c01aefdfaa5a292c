"""The transducer's loss: NeMo's kernels, those of warprnnt_numba, and SpeechBrain's."""

from __future__ import annotations

from recipes.recipe import fixed, full, launch, real, whole

B, T, U, V = 2, 5, 4, 6  # items, frames, labels and one more, words
CELLS = B * T * U
LOGARITHM = {"low": -3.0, "high": -0.1, "kind": "f4"}
NAMES = {
    "acts": real(CELLS * V, **LOGARITHM), "denom": real(CELLS, **LOGARITHM), "sigma": 0.05,
    "alphas": full(CELLS, kind="f4"), "betas": full(CELLS, kind="f4"), "clamp": 0.3,
    "llForward": full(B, kind="f4"), "llBackward": full(B, kind="f4"), "minibatch": B, "maxT": T,
    "maxU": U, "alphabet_size": V, "blank_": V - 1, "blank": V - 1, "fastemit_lambda": 0.01,
    "xlen": fixed([T, T - 1], "i8"), "ylen": fixed([U - 1, U - 2], "i8"),
    "mlabels": whole(B, U - 1, high=V - 3), "logll": real(B, **LOGARITHM),
    "grads": full(CELLS * V, kind="f4"), "label_grads": full(CELLS * V, kind="f4"),
    "duration_grads": full(CELLS * 3, kind="f4"), "duration_acts": real(CELLS * 3, **LOGARITHM),
    "durations": fixed([0, 1, 2], "i8"), "num_durations": 3, "num_big_blanks": 2,
    "big_blank_duration": fixed([2, 3], "i8"), "lock": full(B, U + 1, kind="i4"),
}  # fmt: skip
FORWARD = {"alphas": real(CELLS, **LOGARITHM), "betas": real(CELLS, **LOGARITHM)}
ROWS = {
    "I_opid": 1, "R_opid": 1, "num_rows": 150, "acts": real(6 * 150, low=-2, kind="f4"),
    "output": full(6, kind="f4"),
}  # fmt: skip
LAUNCHES = {
    name: launch(B, U)
    for name in (
        "compute_alphas_kernel compute_betas_kernel compute_multiblank_alphas_kernel "
        "compute_multiblank_betas_kernel compute_tdt_alphas_kernel compute_tdt_betas_kernel "
        "compute_alphas_kernel_atomic_locks compute_betas_kernel_atomic_locks"
    ).split()
} | {
    "compute_grad_kernel": launch(CELLS, 256, **FORWARD),
    "compute_multiblank_grad_kernel": launch(CELLS, 256, **FORWARD),
    "compute_tdt_grad_kernel": launch(CELLS, 256, **FORWARD),
    "_reduce_rows": launch(6, 128, **ROWS),
    "_reduce_minus": launch(6, 128, **ROWS | {"I_opid": 0, "R_opid": 0}),
    "compute_costs_data": launch(1, 32, source=real(9, kind="f4"), dest=full(9, kind="f4")),
    "spec_augment_kernel": launch(
        (10, 12), 8, x=real(8, 10, 12, kind="f4"), x_len=whole(8, low=8, high=13),
        freq_starts=whole(8, 2, high=8), freq_widths=whole(8, 2, high=4),
        time_starts=whole(8, 2, high=9), time_widths=whole(8, 2, high=4), mask_value=0.0,
    ),
}  # fmt: skip
AROUND: dict[str, object] = {}

# SpeechBrain keeps the same numbers in arrays of several dimensions.
SPEECHBRAIN = {
    "log_probs": real(B, T, U, V, **LOGARITHM), "labels": whole(B, U - 1, high=V - 1, kind="i4"),
    "alpha": full(B, T, U, kind="f4"), "beta": full(B, T, U, kind="f4"), "blank": V - 1,
    "log_p": full(B, kind="f4"), "T": fixed([T, T - 1], "i4"), "U": fixed([U - 1, U - 2], "i4"),
    "lock": full(B, U, kind="i4"), "grads": full(B, T, U, V, kind="f4"),
}  # fmt: skip
LAUNCHES |= {
    "cu_kernel_forward": launch(B, U, **SPEECHBRAIN),
    "cu_kernel_backward": launch(B, U, **SPEECHBRAIN),
    "cu_kernel_compute_grad": launch(
        T, B, **SPEECHBRAIN | {"alpha": real(B, T, U, kind="f4"), "beta": real(B, T, U, kind="f4")}
    ),
}
