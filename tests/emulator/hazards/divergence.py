"""Barriers that not all threads of a block reach."""

from hazards.hazard import Hazard

START = """
    i = cuda.threadIdx.x
    g = cuda.grid(1)
"""

HAZARDS = (
    Hazard("a barrier for half of a warp", START + """
    if i % 2 == 0:                       #-
        cuda.syncthreads()               #! DIVERGES #-
    #+ cuda.syncthreads()
    out[g] = i + 1
    """),
    Hazard("a barrier of its own in each branch", START + """
    if i < 32:
        out[g] = 1
        cuda.syncthreads()               #! DIVERGES #-
    else:
        out[g] = 2
        cuda.syncthreads()               #! DIVERGES #-
    #+ cuda.syncthreads()
    """),
    Hazard("a whole warp returns first", START + """
    if i >= 32:                          #-
        return                           #-
    cuda.syncthreads()                   #! DIVERGES
    #+ if i >= 32:
    #+     return
    out[g] = x[g]
    """),
    Hazard("the corner of a two-dimensional block returns first", """
    a, b = cuda.grid(2)
    if a >= 30 or b >= 7:                #-
        return                           #-
    cuda.syncthreads()                   #! DIVERGES
    #+ if a >= 30 or b >= 7:
    #+     return
    out[b * 32 + a] = x[a]
    """, grid=(4, 1), block=(8, 8)),
    Hazard("some threads break", START + """
    for k in range(4):
        if k == i:                       #-
            break                        #-
        cuda.syncthreads()               #! DIVERGES
    out[g] = i + 1
    """),
    Hazard("a device function returns early for some", START + """
    out[g] = half(i)
    """, before="""
    @cuda.jit(device=True)
    def half(i):
        if i < 20:                       #-
            return 1                     #-
        cuda.syncthreads()               #! DIVERGES
        return 2
    """),
    Hazard("a vote at a barrier behind a short circuit", START + """
    n = i < 5 and cuda.syncthreads_or(i == 2) > 0    #! DIVERGES #-
    #+ n = cuda.syncthreads_or(i == 2) > 0
    out[g] = 2 if n else 1
    """),
    Hazard("those who are gone leave cells empty", """
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    g = cuda.grid(1)
    if g >= 100:                         #-
        return                           #-
    #+ s[i] = x[g] if g < 100 else float32(0)
    s[i] = x[g]                          #-
    cuda.syncthreads()                   #! DIVERGES
    #+ if g < 100:
    #+     out[g] = s[63 - i]
    out[g] = s[63 - i]                   #! UNWRITTEN #-
    """),
)  # fmt: skip
