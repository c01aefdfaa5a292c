"""Sums, maxima and prefix sums in shared memory."""

from hazards.hazard import Hazard

SHARED = """
    s = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    g = cuda.grid(1)
    s[i] = x[g]
"""

HAZARDS = (
    Hazard("tree without barriers between its levels", SHARED + """
    cuda.syncthreads()
    step = 32
    while step > 0:
        if i < step:
            s[i] += s[i + step]          #! RAW
        #+ cuda.syncthreads()
        step //= 2
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("the last warp leaves out its barriers", SHARED + """
    cuda.syncthreads()
    if i < 32:
        s[i] += s[i + 32]                #:
    cuda.syncthreads()
    if i < 32:
        for k in range(5):
            step = 16 >> k
            #+ if i < step:
            #+     s[i] += s[i + step]
            s[i] += s[(i + step) % 32]   #! RAW WAR #-
            #+ cuda.syncwarp()
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("all threads add to one cell", """
    s = cuda.shared.array(1, float32)
    i = cuda.threadIdx.x
    if i == 0:
        s[0] = 0
    cuda.syncthreads()
    s[0] += x[i]                         #! WAR WAW #-
    #+ cuda.atomic.add(s, 0, x[i])
    cuda.syncthreads()
    if i == 0:
        out[cuda.blockIdx.x] = s[0]
    """),
    Hazard("scan, read and written in one line", SHARED + """
    cuda.syncthreads()
    step = 1
    while step < 64:
        if i >= step:                    #-
            s[i] += s[i - step]          #! WAR #-
        #+ value = s[i]
        #+ if i >= step:
        #+     value += s[i - step]
        #+ cuda.syncthreads()
        #+ s[i] = value
        cuda.syncthreads()
        step *= 2
    out[g] = s[i]
    """),
)  # fmt: skip
