"""Kernels and arrays that a student may have in the playground."""

import known_kernels

NEIGHBOURS = """\
@cuda.jit(device=True)
def twice(v):
    return v + v

@cuda.jit
def unused(x):
    x[0] = 1

@cuda.jit
def neighbours(x, y):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = twice(s[63 - t])
"""
TILED = f"TILE = 8\n\n{known_kernels.TILED}"
FLOATS = "dtype=np.float32"
VECTORS = {"x": f"np.arange(64, {FLOATS})", "y": f"np.zeros(64, {FLOATS})"}
MATRICES = {
    "A": f"np.ones((16, 16), {FLOATS})",
    "B": f"np.eye(16, {FLOATS})",
    "C": f"np.zeros((16, 16), {FLOATS})",
}
