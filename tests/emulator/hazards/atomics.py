"""Atomics mixed with plain reads and writes, which they do not order."""

from hazards.hazard import Hazard

BINS = """
    bins = cuda.shared.array(16, int32)
    i = cuda.threadIdx.x
    g = cuda.grid(1)
"""

HAZARDS = (
    Hazard("a sum is read while others still add", BINS + """
    if i == 0:
        bins[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, 0, i)          #:
    #+ cuda.syncthreads()
    out[g] = bins[0]                     #! RAW
    """),
    Hazard("the largest is looked at before it is raised", BINS + """
    if i == 0:
        bins[0] = -1
    cuda.syncthreads()
    if bins[0] < i:                      #: #-
        cuda.atomic.max(bins, 0, i)      #! WAR #-
    #+ cuda.atomic.max(bins, 0, i)
    cuda.syncthreads()
    out[g] = bins[0] + 1
    """),
    Hazard("a list grows and its length is read", """
    held = cuda.shared.array(64, float32)
    length = cuda.shared.array(1, int32)
    i = cuda.threadIdx.x
    if i == 0:
        length[0] = 0
    cuda.syncthreads()
    if i % 3 == 0:
        held[cuda.atomic.add(length, 0, 1)] = float32(1) #:
    #+ cuda.syncthreads()
    if i < length[0]:                    #! RAW
        out[cuda.grid(1)] = held[i]      #! RAW #-
        #+ out[cuda.grid(1)] = held[i]
    """),
    Hazard("a plain write beside a compare-and-swap", BINS + """
    if i == 0:
        bins[0] = 0
    cuda.syncthreads()
    cuda.atomic.cas(bins, 0, 0, 7)       #:
    #+ cuda.syncthreads()
    if i == 33:
        bins[0] = 9                      #! WAW
    cuda.syncthreads()
    out[g] = bins[0]
    """),
    Hazard("a syncwarp after atomics of the whole block", BINS + """
    if i == 0:
        bins[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, 0, 1)          #:
    cuda.syncwarp()                      #-
    #+ cuda.syncthreads()
    out[g] = bins[0]                     #! RAW
    """),
)  # fmt: skip
