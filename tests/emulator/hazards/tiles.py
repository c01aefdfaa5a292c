"""Transposes, matrix products and stencils."""

from hazards.hazard import Hazard

TILE = """
    s = cuda.shared.array((8, 8), float32)
    a, b = cuda.threadIdx.x, cuda.threadIdx.y
    g = 64 * cuda.blockIdx.x
"""
PRODUCT = """
    sA = cuda.shared.array((8, 8), float32)
    sB = cuda.shared.array((8, 8), float32)
    a, b = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for t in range(3):
"""
HAZARDS = (
    Hazard("transpose of a tile in place", TILE + """
    s[b, a] = x[g + 8 * b + a]
    cuda.syncthreads()
    #+ if a < b:
    #+     s[b, a], s[a, b] = s[a, b], s[b, a]
    s[b, a] = s[a, b]                    #! WAR #-
    cuda.syncthreads()
    out[g + 8 * b + a] = s[b, a]
    """, block=(8, 8)),
    Hazard("product: no barrier after loading", PRODUCT + """
        sA[b, a] = x[64 * t + 8 * b + a] #:
        sB[b, a] = x[64 * t + 8 * a + b] #:
        #+ cuda.syncthreads()
        for k in range(8):
            total += sA[b, k] * sB[k, a] #! RAW
        cuda.syncthreads()
    out[64 * cuda.blockIdx.x + 8 * b + a] = total
    """, block=(8, 8)),
)  # fmt: skip
