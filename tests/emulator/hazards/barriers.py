"""Barriers that are missing, in the wrong place, or of the wrong kind."""

from hazards.hazard import Hazard

SHARED = """
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    g = cuda.grid(1)
"""

HAZARDS = (
    Hazard("a neighbour's cell is read", SHARED + """
    s[i] = x[g]                          #:
    #+ cuda.syncthreads()
    out[g] = s[(i + 1) % 64]             #! RAW
    """),
    Hazard("the barrier stands before the write", SHARED + """
    cuda.syncthreads()                   #-
    s[i] = x[g]                          #:
    #+ cuda.syncthreads()
    out[g] = s[63 - i]                   #! RAW
    """),
    Hazard("a fence is no barrier", SHARED + """
    s[i] = x[g]                          #:
    cuda.threadfence_block()             #-
    #+ cuda.syncthreads()
    out[g] = s[63 - i]                   #! RAW
    """),
    Hazard("reversed in place", SHARED + """
    s[i] = x[g]
    cuda.syncthreads()
    s[i] = s[63 - i]                     #! WAR #-
    #+ value = s[63 - i]
    #+ cuda.syncthreads()
    #+ s[i] = value
    out[g] = s[i]
    """),
    Hazard("tile loop without its second barrier", SHARED + """
    total = float32(0)
    for t in range(3):
        s[i] = x[64 * t + i]             #! WAR
        cuda.syncthreads()
        total += s[63 - i]               #:
        #+ cuda.syncthreads()
    out[g] = total
    """),
    Hazard("a barrier in every second turn only", SHARED + """
    total = float32(0)
    for t in range(4):
        s[i] = x[64 * t + i]             #:
        if t % 2 == 0:                   #-
            cuda.syncthreads()           #-
        #+ cuda.syncthreads()
        total += s[63 - i]               #! RAW
        cuda.syncthreads()
    out[g] = total
    """),
    Hazard("a block of three axes", """
    s = cuda.shared.array((4, 4, 4), float32)
    a, b, c = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    i = a + 4 * (b + 4 * c)
    s[c, b, a] = x[i]                    #:
    #+ cuda.syncthreads()
    out[64 * cuda.blockIdx.x + i] = s[a, b, c]   #! RAW
    """, block=(4, 4, 4)),
    Hazard("the barrier stands in a branch that not all blocks take", SHARED + """
    s[i] = x[g]                          #:
    if cuda.blockIdx.x == 0:             #-
        cuda.syncthreads()               #-
    #+ cuda.syncthreads()
    out[g] = s[63 - i]                   #! RAW
    """),
    Hazard("two lines write one cell", SHARED + """
    s[i] = x[g]                          #:
    #+ cuda.syncthreads()
    s[63 - i] = x[g]                     #! WAW
    cuda.syncthreads()
    out[g] = s[i]
    """),
    Hazard("a vote within the warp in place of one at a barrier", SHARED + """
    s[i] = x[g]                          #:
    some = cuda.any_sync(0xFFFFFFFF, i == 3)     #-
    #+ some = cuda.syncthreads_or(i == 3)
    out[g] = s[63 - i] if some else s[i] #! RAW
    """, block=64),
)  # fmt: skip
