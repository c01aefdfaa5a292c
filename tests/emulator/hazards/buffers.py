"""Double buffers, rings and prefetches with one buffer or one barrier too few."""

from __future__ import annotations

from hazards.hazard import Hazard

START = """
    i = cuda.threadIdx.x
    g = cuda.grid(1)
    total = float32(0)
"""

HAZARDS = (
    Hazard("one buffer in place of two", START + """
    s = cuda.shared.array((2, 64), float32)
    for t in range(4):
        now = 0                          #-
        #+ now = t % 2
        s[now, i] = x[64 * t + i]        #! WAR
        cuda.syncthreads()
        total += s[now, 63 - i]          #:
    out[g] = total
    """),
    Hazard("two buffers that overlap by one cell", START + """
    s = cuda.shared.array(128, float32)
    for t in range(4):
        start = 63 * (t % 2)             #-
        #+ start = 64 * (t % 2)
        s[start + i] = x[64 * t + i]     #! WAR
        cuda.syncthreads()
        total += s[start + (i + 1) % 64] #:
    out[g] = total
    """),
    Hazard("a ring of two where three are needed", START + """
    s = cuda.shared.array((3, 64), float32)
    s[0, i] = x[i]
    s[1, i] = x[64 + i]
    cuda.syncthreads()
    for t in range(4):
        total += s[t % 2, 63 - i]        #: #-
        s[t % 2, i] = x[128 + i]         #! WAR #-
        #+ total += s[t % 3, 63 - i]
        #+ s[(t + 2) % 3, i] = x[128 + i]
        cuda.syncthreads()
    out[g] = total
    """),
    Hazard("a prefetched value is stored too early", START + """
    s = cuda.shared.array(64, float32)
    s[i] = x[i]
    cuda.syncthreads()
    for t in range(3):
        following = x[64 * t + i]
        total += s[63 - i]               #:
        #+ cuda.syncthreads()
        s[i] = following                 #! WAR
        cuda.syncthreads()
    out[g] = total
    """),
    Hazard("names of two buffers swapped without a barrier", START + """
    front = cuda.shared.array(64, float32)
    back = cuda.shared.array(64, float32)
    front[i] = x[g]                      #:
    #+ cuda.syncthreads()
    for t in range(2):
        back[i] = front[63 - i]          #! RAW #-
        front[i] = back[63 - i]          #! RAW WAR #-
        #+ back[i] = front[63 - i]
        #+ cuda.syncthreads()
        #+ front[i] = back[63 - i]
        #+ cuda.syncthreads()
    out[g] = front[i]
    """),
)  # fmt: skip
