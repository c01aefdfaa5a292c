import math

from numba import cuda, float32


@cuda.jit
def attention(Q, K, V, O):  # <- missing-answer
    """O = softmax(Q Kᵀ / √32) V."""
