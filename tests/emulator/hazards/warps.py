"""Threads of one warp that are taken to run in step."""

from hazards.hazard import Hazard

SHARED = """
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    lane = i % 32
    g = cuda.grid(1)
"""

HAZARDS = (
    Hazard("a neighbour in the same warp", SHARED + """
    s[i] = x[g]                          #:
    #+ cuda.syncwarp()
    out[g] = s[i ^ 1]                    #! RAW
    """),
    Hazard("syncwarp does not reach across warps", SHARED + """
    s[i] = x[g]
    cuda.syncwarp()                      #! RAW #-
    #+ cuda.syncthreads()
    out[g] = s[63 - i]                   #:
    """),
    Hazard("a shuffle orders no memory", SHARED + """
    s[i] = x[g]                          #:
    n = cuda.shfl_sync(0xFFFFFFFF, i, 0)
    #+ cuda.syncwarp()
    out[g] = s[i ^ 1] + n                #! RAW
    """),
    Hazard("the first warp adds up what all warps left", SHARED + """
    n = x[g]
    for k in range(5):
        n += cuda.shfl_down_sync(0xFFFFFFFF, n, 16 >> k)
    if lane == 0:
        s[i // 32] = n
    cuda.syncwarp()                      #! RAW #-
    #+ cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = s[0] + s[1]       #:
    """),
    Hazard("a syncwarp that one lane comes to", SHARED + """
    s[i] = x[g]                          #:
    if lane == 0:                        #-
        cuda.syncwarp()                  #! DIVERGES #-
    #+ cuda.syncwarp()
    out[g] = s[i ^ 1]                    #! RAW
    """),
    Hazard("some lanes have waited once more", SHARED + """
    if lane < 16:
        cuda.syncwarp(0xFFFF)
    s[i] = x[g]                          #:
    #+ cuda.syncwarp()
    out[g] = s[i ^ 1]                    #! RAW
    """),
    Hazard("a syncwarp in each branch", SHARED + """
    s[i] = x[g]                          #:
    #+ if lane < 16:
    #+     cuda.syncwarp()
    #+ else:
    #+     cuda.syncwarp()
    out[g] = s[i ^ 16]                   #! RAW
    """),
)  # fmt: skip
